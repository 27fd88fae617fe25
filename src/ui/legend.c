/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meaning of the first line (header.c) and of the hosts' lines (host_lines.c). */
#include "ui/legend.h"

#include <glib.h>

static const struct legend legends[] = {
	{ "LIVE, LIVE −2s", "the newest data is shown; data from 2 s before it" },
	{ "REPLAY ×1", "a recording is replayed, at this speed" },
	{ "PAUSED, LIVE PAUSED", "the interval stays; LIVE: new data is still read" },
	{ "END, ENDED", "the end of a recording; all live sessions have ended" },
	{ "AWAY 2/2", "no data comes from any of the hosts" },
	{ "[a, b[", "the shown interval; a is included, b is not" },
	{ "lost", "events (ev) and packets (pkt) lost in the interval, or before it; ?: counted later" },
	{ "incomplete, inc", "part of the data is missing; L says why" },
	{ "clocks ±1ms, ±?", "by how much times of hosts may be wrong; ?: unknown" },
	{ "lag", "how far the slowest live host is behind its usual delay" },
	{ "ev/s", "recorded events per second" },
	{ "▁█ 0[██  ]",
	  "how busy each CPU was in the time that is known, on a host's line; -: offline; ?: unknown; then all of them "
	  "in percent" },
	{ "tasks, fds", "threads and open files at the end of the interval; +new −gone in it" },
	{ "disk ↓ ↑", "bytes per second read ↓ and written ↑" },
	{ "net ↓ ↑", "bytes per second received ↓ and sent ↑" },
	{ "K, M, G", "powers of 1024 for bytes, of 1000 for everything else" },
};

const struct legend *legend_get(unsigned i)
{
	return i < G_N_ELEMENTS(legends) ? &legends[i] : NULL;
}
