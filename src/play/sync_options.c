/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "play/sync_options.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "source/source.h"

bool sync_options_live(const struct options *o, unsigned first_word)
{
	for (guint i = first_word; i < o->words->len; i++)
		if (o->follow || source_is_url(g_ptr_array_index(o->words, i)))
			return true;
	return false;
}

void sync_options_warn_recorded(const struct options *o, unsigned first_word)
{
	static const struct {
		const char *name, *hint;
	} of_live[] = {
		{ "duration", ": use --begin and --end for a part of a recording" },
		{ "from-start", ": recordings are always read from their start" },
		{ "stall-limit", ", and has no effect on recordings" },
		{ "max-sessions", ", and has no effect on recordings" },
		{ "max-lag", ", and has no effect on recordings" },
	};

	if (sync_options_live(o, first_word))
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(of_live); i++)
		if (options_given(o, of_live[i].name))
			log_warning("--%s is for live sessions%s", of_live[i].name, of_live[i].hint);
}

/* "-1500", "1500ns", "-1.5ms" */
static enum lt_status parse_signed_ns(const char *text, int64_t *ns)
{
	const bool minus = text[0] == '-';
	const char *digits = minus || text[0] == '+' ? text + 1 : text;
	uint64_t length;

	if (!g_ascii_string_to_unsigned(digits, 10, 0, INT64_MAX, &length, NULL) &&
	    (timetext_parse_duration(digits, &length) != LT_OK || length > INT64_MAX))
		return error_set("'%s' is not a number of nanoseconds", text);
	*ns = minus ? -(int64_t)length : (int64_t)length;
	return LT_OK;
}

/* HOST=NS; a hostname may contain '='. ref: the host chosen as reference, or NULL. */
static enum lt_status set_offset(struct clocks *clocks, const char *text, const char *ref)
{
	const char *equals = strrchr(text, '=');
	int64_t offset_ns = 0;
	char *host;

	if (!equals || equals == text)
		return error_set("option '--offset': '%s' is not of the form HOST=NS", text);
	if (parse_signed_ns(equals + 1, &offset_ns) != LT_OK)
		return error_wrap("option '--offset'");
	host = g_strndup(text, (gsize)(equals - text));
	if (offset_ns && g_strcmp0(host, ref) == 0) {
		g_free(host);
		return error_set("option '--offset': '%s' is the reference: its time cannot be changed", ref);
	}
	clocks_set_offset(clocks, host, offset_ns);
	g_free(host);
	return LT_OK;
}

enum lt_status sync_options_clocks(const struct options *o, enum clocks_use use, struct clocks **out)
{
	uint16_t *ports = g_new(uint16_t, o->ignore_port->len);
	struct clock_options options = { .ref = o->ref, .ignore_ports = ports, .n_ignore_ports = o->ignore_port->len };
	enum lt_status status = LT_OK;

	for (guint i = 0; i < o->ignore_port->len; i++)
		ports[i] = (uint16_t)g_array_index(o->ignore_port, int32_t, i);
	*out = clocks_create(&options, use);
	for (guint i = 0; i < o->offset->len && status == LT_OK; i++)
		status = set_offset(*out, g_ptr_array_index(o->offset, i), o->ref);
	g_free(ports);
	if (status != LT_OK)
		g_clear_pointer(out, clocks_destroy);
	return status;
}

static bool is_host(struct ingest *in, const char *name, size_t len)
{
	for (unsigned i = 0; i < ingest_host_count(in); i++) {
		const char *host = ingest_host(in, i)->name;

		if (strlen(host) == len && memcmp(host, name, len) == 0)
			return true;
	}
	return false;
}

enum lt_status sync_options_check_hosts(const struct options *o, struct ingest *in)
{
	if (o->ref && !is_host(in, o->ref, strlen(o->ref)))
		return error_set("option '--ref': there is no host '%s'", o->ref);
	for (guint i = 0; i < o->offset->len; i++) {
		const char *text = g_ptr_array_index(o->offset, i);
		size_t len = (size_t)(strrchr(text, '=') - text);

		if (!is_host(in, text, len))
			return error_set("option '--offset': there is no host '%.*s'", (int)len, text);
	}
	return LT_OK;
}
