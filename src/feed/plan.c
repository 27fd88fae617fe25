/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/plan.h"

#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"

enum {
	SUFFIX_MAX = 8,              /* "-1000000" */
	BYTES_AT_ONCE_MAX = INT_MAX, /* of packets: one of each stream is in memory */
};

static bool is_name_character(char c)
{
	return g_ascii_isalnum(c) || (c && strchr("._-+@,=~", c));
}

static size_t longest(bool is_host)
{
	return is_host ? PRODUCER_HOST_MAX : PRODUCER_NAME_MAX - SUFFIX_MAX;
}

bool feed_plan_is_name(const char *text, bool is_host)
{
	size_t len = strlen(text);

	if (!len || len > longest(is_host) || *text == '.')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_name_character(text[i]))
			return false;
	return true;
}

/* The text with as few changes as feed_plan_is_name() requires. The caller frees it. */
static char *make_name(const char *text, bool is_host)
{
	char *name = g_strndup(*text ? text : "_", longest(is_host));

	for (char *p = name; *p; p++)
		if (!is_name_character(*p) || (p == name && *p == '.'))
			*p = '_';
	return name;
}

static bool has_path(const struct fed_session *s, const char *path)
{
	for (guint i = 0; i < s->recordings->len; i++)
		if (!strcmp(((struct recording *)g_ptr_array_index(s->recordings, i))->path, path))
			return true;
	return false;
}

static struct fed_session *find_session(const struct feed_plan *p, const char *hostname, const char *name)
{
	for (guint i = 0; i < p->sessions->len; i++) {
		struct fed_session *s = g_ptr_array_index(p->sessions, i);

		if (!strcmp(s->hostname, hostname) && !strcmp(s->name, name))
			return s;
	}
	return NULL;
}

/* Whether the recording is another domain of the session: same host, recording, machine and format. */
static bool belongs(const struct fed_session *s, const struct recording *r)
{
	const struct recording *first = g_ptr_array_index(s->recordings, 0);

	return !strcmp(first->hostname, r->hostname) && !strcmp(first->session, r->session) &&
	       g_strcmp0(first->clock_uuid, r->clock_uuid) == 0 && first->layout->format == r->layout->format &&
	       !has_path(s, r->path);
}

static void add_recording(struct feed_plan *p, struct recording *r, const char *hostname, const char *name)
{
	char *host = make_name(hostname ? hostname : r->hostname, true);
	char *base = make_name(name ? name : r->session, false), *own;
	struct fed_session *s;

	for (guint i = 0; i < p->sessions->len; i++) {
		if (belongs(g_ptr_array_index(p->sessions, i), r)) {
			fed_session_add(g_ptr_array_index(p->sessions, i), r);
			g_free(host);
			g_free(base);
			return;
		}
	}
	own = g_strdup(base);
	for (unsigned n = 2; find_session(p, host, own); n++) {
		g_free(own);
		own = g_strdup_printf("%s-%u", base, n);
	}
	g_free(base);
	s = fed_session_create(host, own, r);
	s->is_renamed = hostname != NULL;
	g_ptr_array_add(p->sessions, s);
}

static void destroy_session(gpointer data)
{
	fed_session_destroy(data);
}

/* Returns as recording_open(); an error is reported. */
static enum lt_status open_recording(struct feed_plan *p, const struct source_spec *spec, struct recording **out)
{
	const enum lt_status status = recording_open(spec, out);
	struct recording *r = *out;

	if (status == LT_ERROR)
		log_error("%s", error_text());
	if (status != LT_OK)
		return status;
	if (r->bytes_at_once <= BYTES_AT_ONCE_MAX - p->bytes_at_once) {
		p->bytes_at_once += r->bytes_at_once;
		return LT_OK;
	}
	log_error("trace '%s': with it, more than %u MiB of packets would be in memory at once", r->name,
		  BYTES_AT_ONCE_MAX >> 20);
	recording_close(r);
	return LT_ERROR;
}

enum lt_status feed_plan_make(struct feed_plan *p, const GPtrArray *specs, const char *hostname, const char *name)
{
	*p = (struct feed_plan){ .sessions = g_ptr_array_new_with_free_func(destroy_session) };
	for (guint i = 0; i < specs->len; i++) {
		struct recording *r = NULL;
		const enum lt_status status = open_recording(p, g_ptr_array_index(specs, i), &r);

		p->left_out += status == LT_ERROR;
		if (status != LT_OK)
			continue;
		p->damaged += r->damaged;
		add_recording(p, r, hostname, name);
	}
	return p->sessions->len ? LT_OK : error_set("none of the traces can be fed");
}

void feed_plan_release(struct feed_plan *p)
{
	g_ptr_array_free(p->sessions, TRUE);
}
