/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_FRAGMENTS_H
#define LT_CTF_FRAGMENTS_H

#include "base/status.h"
#include "ctf/layout.h"

/*
 * CTF 2 metadata as fragments: JSON objects, each after a record separator: preamble, field-class-alias, trace-class,
 * clock-class, data-stream-class, event-record-class.
 *
 * Fills an empty layout, to be bound next (ctf/bind.h). LT_ERROR: a fragment other than an event record class is
 * malformed; the error chain names its line.
 */
enum lt_status fragments_parse(const char *text, struct layout *l);

#endif
