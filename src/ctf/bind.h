/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_BIND_H
#define LT_CTF_BIND_H

#include "base/status.h"
#include "ctf/layout.h"

/*
 * Puts the parts of a layout together when all metadata is read: events to
 * their streams, lengths and tags to the fields they name, times to clocks, the sizes of types.
 * LT_ERROR: packets or event headers cannot be understood.
 */
enum lt_status bind_layout(struct layout *l);

#endif
