/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_BIND_H
#define LT_CTF_BIND_H

#include "base/status.h"
#include "ctf/layout.h"

/*
 * Completes a layout that has streams once all metadata has been read: connects events with their streams, lengths and
 * tags with the fields they name, and times with clocks, and measures the types. LT_ERROR: the layout of packets or
 * event headers is not understood.
 */
enum lt_status bind_layout(struct layout *l);

#endif
