/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/babeltrace2/live_internal.h"

#include <string.h>

#include "base/error.h"

/*
 * Why the library gave up, from the texts of its causes: it has no codes. The
 * first row that one of them contains says it.
 */
static const struct phrase {
	const char *part;  /* of a cause's message */
	enum failed_cause cause;
	const char *text;
	bool with_reason;  /* what stands behind the part is told too */
} phrases[] = {
	{ "already a viewer attached", FAILED_TAKEN, "another viewer is attached to this session", false },
	{ "Unable to connect to the requested live viewer session", FAILED_NO_SESSION, "no such session", false },
	{ "Session id ", FAILED_NO_SESSION, "the session is gone", false },
	{ "Not a live session", FAILED_NO_SESSION, "not a live session: created without '--live'", false },
	{ "Message's timestamp is less than", FAILED_BACKWARD, "time went back in the session", false },
	{ "have a late message", FAILED_BACKWARD, "time went back in the session", false },
	/* The same in a stream without a beacon so far: the library takes the time of its last one, none. */
	{ "cycles=9223372036854775808", FAILED_BACKWARD, "time went back in the session", false },
	{ "Cannot lookup hostname", FAILED_UNREACHABLE, "cannot find the address of the host", false },
	{ "Connection failed: ", FAILED_UNREACHABLE, "cannot connect", true },
	{ "Incompatible lttng-relayd protocol", FAILED_UNREACHABLE, "what answers speaks another protocol", false },
	{ "Viewer handshake failed", FAILED_UNREACHABLE, "what answers is no lttng-relayd", false },
	{ "Remote side has closed connection", FAILED_GONE, "the relayd went away", false },
	{ "Error receiving from Relay: ", FAILED_GONE, "the relayd went away", true },
	{ "Error sending to Relay: ", FAILED_GONE, "the relayd went away", true },
};

/* The message that contains the part, from there on; NULL if none does. */
static const char *find_part(const bt_error *error, const char *part)
{
	const char *found = NULL;

	for (uint64_t i = 0; i < bt_error_get_cause_count(error) && !found; i++)
		found = strstr(bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, i)), part);
	return found;
}

enum lt_status live_library_error(enum failed_cause *cause)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *found = NULL;
	char *reason;

	for (size_t i = 0; error && i < G_N_ELEMENTS(phrases) && !found; i++) {
		const struct phrase *p = &phrases[i];

		found = find_part(error, p->part);
		if (!found)
			continue;
		found += strlen(p->part);
		*cause = p->cause;
		error_set("%s%s%.*s", p->text, p->with_reason ? ": " : "",
			  p->with_reason ? (int)strcspn(found, "\n") : 0, found);
	}
	if (error && found) {
		bt_error_release(error);
		return LT_ERROR;
	}
	if (error)
		bt_current_thread_move_error(error);
	reason = lib_take_error();
	*cause = FAILED_OTHER;
	error_set("reading broke off: %s", reason);
	g_free(reason);
	return LT_ERROR;
}
