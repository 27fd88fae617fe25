/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "viewer/internal.h"

/* The answer to WIRE_LIST. Limits beyond anything that a relayd sends. */
enum { SESSIONS_MAX = 65536, NAME_MAX_BYTES = 4096 };

#define ENTRY_MAX (sizeof(struct wire_session_new) + 2 * NAME_MAX_BYTES)
_Static_assert(ENTRY_MAX <= CONNECTION_IN, "entries are taken whole");

enum lt_status viewer_take_list_head(struct viewer *v)
{
	const struct wire_word *w = viewer_look(v, sizeof(*w));

	if (!w)
		return LT_AGAIN;
	v->entries_left = GUINT32_FROM_BE(w->word);
	if (v->entries_left > SESSIONS_MAX)
		return viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "%u sessions", v->entries_left);
	viewer_skip(v, sizeof(*w));
	v->is_listed = false;
	v->part = PART_SESSIONS;
	return LT_END;
}

static void set_entry(struct viewer *v, const struct wire_session *w, char *host, char *name)
{
	g_free(v->entry_host);
	g_free(v->entry_name);
	v->entry_host = host;
	v->entry_name = name;
	v->session = (struct viewer_session){
		.id = GUINT64_FROM_BE(w->id),
		.host = host,
		.name = name,
		.timer_us = GUINT32_FROM_BE(w->timer_us),
		.clients = GUINT32_FROM_BE(w->clients),
		.streams = GUINT32_FROM_BE(w->streams),
	};
}

/* LT_OK: the entry is v->session. */
static enum lt_status take_old_entry(struct viewer *v)
{
	const struct wire_session_old *w = viewer_look(v, sizeof(*w));

	if (!w)
		return LT_AGAIN;
	set_entry(v, &w->session, g_strndup(w->host, sizeof(w->host)), g_strndup(w->name, sizeof(w->name)));
	viewer_skip(v, sizeof(*w));
	return LT_OK;
}

static enum lt_status take_new_entry(struct viewer *v)
{
	const struct wire_session_new *w = viewer_look(v, sizeof(*w));
	uint32_t host_len, name_len;
	const char *names;

	if (!w)
		return LT_AGAIN;
	names = (const char *)(w + 1);
	host_len = GUINT32_FROM_BE(w->host_len);
	name_len = GUINT32_FROM_BE(w->name_len);
	if (host_len > NAME_MAX_BYTES || name_len > NAME_MAX_BYTES)
		return viewer_refuse(v, VIEWER_PROTOCOL, VIEWER_NONSENSE "a name of %u bytes", MAX(host_len, name_len));
	if (!viewer_look(v, sizeof(*w) + host_len + name_len))
		return LT_AGAIN;
	set_entry(v, &w->session, g_strndup(names, host_len), g_strndup(names + host_len, name_len));
	v->session.is_ctf2 = GUINT32_FROM_BE(w->format) != 0;
	viewer_skip(v, sizeof(*w) + host_len + name_len);
	return LT_OK;
}

enum lt_status viewer_take_sessions(struct viewer *v, struct viewer_event *event)
{
	enum lt_status status;

	if (v->entries_left == 0) {
		viewer_finish(v);
		return viewer_take_list(v, event);
	}
	status = v->minor >= WIRE_MINOR_FORMATS ? take_new_entry(v) : take_old_entry(v);
	if (status != LT_OK)
		return status;
	v->entries_left--;
	if (!viewer_take_session(v))
		return LT_END;
	*event = (struct viewer_event){ .kind = VIEWER_SESSION, .session = &v->session };
	return LT_OK;
}
