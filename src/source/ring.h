/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SOURCE_RING_H
#define LT_SOURCE_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

/*
 * A byte ring in shared memory between one worker (producer) and the parent
 * (consumer): records of event/event.h, contiguous, 8-byte aligned. A record
 * that does not fit before the end of the buffer is preceded by padding (a
 * word whose size field covers it and whose kind is EVENT_NONE).
 *
 *   head: bytes ever written, advanced by the producer     (release / acquire)
 *   tail: bytes ever consumed, advanced by the consumer
 *
 * Each side sleeps on an eventfd only when it finds the ring empty (full), and
 * only then the other side writes to it. A full ring blocks the producer:
 * nothing is ever dropped.
 *
 * The consumer trusts nothing in the shared memory: it keeps its own tail and
 * capacity, checks that head lies within a capacity of it, and copies no length twice.
 */
