/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/end.h"

#include <string.h>

#include "base/error.h"
#include "reader/emit.h"

void worker_say_end(struct ring_producer *ring, enum lt_status status, enum failed_cause cause)
{
	struct event *ev;

	if (status == LT_END) {
		emit_end(ring, emit_begin(ring, EVENT_END, 0, 0));
	} else {
		ev = emit_begin(ring, EVENT_FAILED, 0, TEXT_MAX);
		((struct ev_failed *)(void *)ev->words)->cause = cause;
		emit_text(ev, offsetof(struct ev_failed, text), error_text(), strlen(error_text()));
		emit_end(ring, ev);
	}
	ring_publish(ring);
}
