/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/plan.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nstime.h"
#include "control/context.h"
#include "control/perf.h"
#include "control/relay.h"

enum {
	NAME_BYTES_MAX = 255,
	SESSION_BYTES_MAX = 254,
	SUBBUFS = 4,
	FILES = 4,
	FILE_SUBBUFS_MIN = 2, /* a packet must fit into a file */
	SUBBUF_BYTES_MIN = 16 << 10,
	CONSUMER_LAG_US = 4 * US_PER_S, /* for which LTTng's consumer daemon may get no CPU */
	SWITCH_TIMER_US = US_PER_S,     /* closes packets of idle CPUs, too, so that a crash loses little */
};

/* Per CPU: a burst that fills a quarter can wait for the consumer while the rest fills. */
static const uint64_t kernel_buffer_bytes[RECORD_SETS] = {
	[RECORD_SET_NONE] = 1 << 20,
	[RECORD_SET_MINIMAL] = 1 << 20,
	[RECORD_SET_WAITS] = 4 << 20,
	[RECORD_SET_FULL] = 8 << 20,
};
static const uint64_t user_buffer_bytes = 2 << 20;

static void event_clear(void *data)
{
	struct record_event *e = data;

	g_free(e->name);
	g_free(e->symbol);
}

static void context_clear(void *data)
{
	struct record_context *context = data;

	g_free(context->name);
}

static void channel_clear(void *data)
{
	struct record_channel *c = data;

	g_array_free(c->events, TRUE);
	g_array_free(c->contexts, TRUE);
}

static uint64_t floor_power_of_two(uint64_t n)
{
	return UINT64_C(1) << (63 - __builtin_clzll(n));
}

/*
 * Each live timer closes a sub-buffer, however little it holds: once all are closed, the tracer loses events, however
 * large the buffer is. So the same memory is divided into more of them where that timer is short.
 */
static unsigned count_subbufs(const struct record_plan *plan, uint64_t buffer_bytes)
{
	unsigned n = SUBBUFS;

	while (plan->mode == RECORD_LIVE && (uint64_t)n * plan->live_timer_us < CONSUMER_LAG_US &&
	       buffer_bytes / (2 * n) >= SUBBUF_BYTES_MIN)
		n *= 2;
	return n;
}

static struct record_channel *add_channel(struct record_plan *plan, enum record_domain domain, uint64_t buffer_bytes)
{
	const unsigned subbufs = count_subbufs(plan, buffer_bytes);
	struct record_channel c = {
		.domain = domain,
		.name = domain == RECORD_KERNEL ? "kernel" : "user",
		.subbuf_bytes = floor_power_of_two(buffer_bytes / subbufs),
		.subbufs = subbufs,
		.switch_timer_us = plan->mode == RECORD_TO_DISK ? SWITCH_TIMER_US : 0,
		.overwrite = plan->mode == RECORD_SNAPSHOT,
		.events = g_array_new(FALSE, FALSE, sizeof(struct record_event)),
		.contexts = g_array_new(FALSE, FALSE, sizeof(struct record_context)),
	};

	g_array_set_clear_func(c.events, event_clear);
	g_array_set_clear_func(c.contexts, context_clear);
	g_array_append_val(plan->channels, c);
	return &g_array_index(plan->channels, struct record_channel, plan->channels->len - 1);
}

static struct record_event *find_event(const struct record_channel *c, enum record_event_kind kind, const char *name)
{
	for (unsigned i = 0; i < c->events->len; i++) {
		struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->kind == kind && !strcmp(e->name, name))
			return e;
	}
	return NULL;
}

/* meaning: of a set's event; NULL: asked for by name, which takes precedence. */
static void add_event(struct record_channel *c, enum record_event_kind kind, const char *name, const char *meaning)
{
	const struct record_event e = { .kind = kind, .name = g_strdup(name), .meaning = meaning, .asked = !meaning };
	struct record_event *known = find_event(c, kind, name);

	if (known) {
		event_clear(known);
		*known = e;
	} else {
		g_array_append_val(c->events, e);
	}
}

/* meaning: of a set's context; NULL: asked for by name, which takes precedence. */
static void add_context(struct record_channel *c, const char *name, const char *meaning)
{
	const struct record_context context = { .name = g_strdup(name), .meaning = meaning, .asked = !meaning };

	for (unsigned i = 0; i < c->contexts->len; i++) {
		if (!strcmp(g_array_index(c->contexts, struct record_context, i).name, name)) {
			g_array_remove_index(c->contexts, i);
			break;
		}
	}
	g_array_append_val(c->contexts, context);
}

static bool has_control(const char *text)
{
	while (*text && !g_ascii_iscntrl(*text))
		text++;
	return *text;
}

/* Whether lttng takes it as a single name: not a list, an option or a text with blanks. */
static enum lt_status check_name(const char *name)
{
	if (has_control(name) || !*name || *name == '-' || strlen(name) > NAME_BYTES_MAX ||
	    name[strcspn(name, ", \t\n\"'\\/")])
		return error_set("'%s' is not a valid name", name);
	return LT_OK;
}

enum lt_status record_session_check(const char *name)
{
	if (strlen(name) > SESSION_BYTES_MAX)
		return error_set("a session name has at most %d bytes", SESSION_BYTES_MAX);
	if (check_name(name) || *name == '.')
		return error_set("'%s' is not a valid session name: no blanks, commas, quotes, '/', '\\', control "
				 "characters, no '-' or '.' at its start",
				 name);
	return LT_OK;
}

enum lt_status record_session_check_existing(const char *name)
{
	if (!*name || *name == '-' || *name == '.' || strchr(name, '/') || has_control(name))
		return error_set("'%s' is not a valid session name: no '/', control characters, no '-' or '.' at its "
				 "start",
				 name);
	return LT_OK;
}

enum lt_status record_host_check(const char *host)
{
	const char *colon = strchr(host, ':'); /* the only one, if a port follows */

	if (has_control(host) || !*host || *host == '-' || host[strcspn(host, " \t\n'\"\\")])
		return error_set("'%s' is not a valid host: expected HOST or USER@HOST", host);
	if (strchr(host, '['))
		return error_set("'%s' is not a valid host: give the IPv6 address without brackets", host);
	if (colon && !colon[1 + strspn(colon + 1, "0123456789")])
		return error_set("'%s' is not a valid host: ssh takes the port from ~/.ssh/config", host);
	return LT_OK;
}

/* NAME=SYMBOL[+OFFSET] or NAME=0xADDRESS */
static enum lt_status add_kprobe(struct record_channel *c, const char *text)
{
	const char *equals = strchr(text, '='), *where;
	struct record_event e = { .kind = RECORD_KPROBE, .asked = true };
	const char *plus;
	char *end;

	if (!equals)
		return error_set("'%s' is not a valid probe: expected NAME=SYMBOL[+OFFSET] or NAME=0xADDRESS", text);
	where = equals + 1;
	plus = strchr(where, '+');
	if (plus || g_str_has_prefix(where, "0x")) {
		e.offset = g_ascii_strtoull(plus ? plus + 1 : where, &end, 0);
		if (*end || !g_ascii_isdigit(plus ? plus[1] : where[0]))
			return error_set("'%s' is not a valid probe: expected NAME=SYMBOL[+OFFSET] or NAME=0xADDRESS",
					 text);
	}
	if (!g_str_has_prefix(where, "0x"))
		e.symbol = plus ? g_strndup(where, (gsize)(plus - where)) : g_strdup(where);
	e.name = g_strndup(text, (gsize)(equals - text));
	if (check_name(e.name) || (e.symbol && check_name(e.symbol)) || strchr(e.name, '*')) {
		error_set("'%s' is not a valid probe: expected NAME=SYMBOL[+OFFSET] or NAME=0xADDRESS", text);
	} else if (find_event(c, RECORD_KPROBE, e.name)) {
		error_set("probe '%s' is given twice", e.name);
	} else {
		g_array_append_val(c->events, e);
		return LT_OK;
	}
	event_clear(&e);
	return LT_ERROR;
}

static bool any(const GPtrArray *texts)
{
	return texts && texts->len;
}

static bool any_number(const GArray *numbers)
{
	return numbers && numbers->len;
}

static enum lt_status add_kernel(struct record_plan *plan, const struct record_request *r, enum record_set set,
				 uint32_t additions)
{
	const enum record_set context_set = MAX(set, RECORD_SET_MINIMAL);
	struct record_channel *c =
		add_channel(plan, RECORD_KERNEL, r->buffer_bytes ? r->buffer_bytes : kernel_buffer_bytes[set]);
	unsigned n;
	const struct record_set_event *events = record_set_events(&n);
	const struct record_set_context *contexts;

	for (unsigned i = 0; i < n; i++)
		if (events[i].set <= set || additions >> events[i].set & 1)
			add_event(c, events[i].kind, events[i].name, events[i].meaning);
	contexts = record_set_contexts(&n);
	for (unsigned i = 0; i < n; i++)
		if (contexts[i].set <= context_set)
			add_context(c, contexts[i].name, contexts[i].meaning);

	for (unsigned i = 0; any(r->events) && i < r->events->len; i++) {
		const char *name = g_ptr_array_index(r->events, i);

		if (check_name(name))
			return error_wrap("option '--event'");
		add_event(c, RECORD_TRACEPOINT, name, NULL);
	}
	for (unsigned i = 0; any(r->kprobes) && i < r->kprobes->len; i++)
		if (add_kprobe(c, g_ptr_array_index(r->kprobes, i)))
			return error_wrap("option '--kprobe'");
	for (unsigned i = 0; any(r->contexts) && i < r->contexts->len; i++) {
		const char *name = g_ptr_array_index(r->contexts, i);

		if (!context_is_known(name))
			return error_set("option '--context': unknown context '%s': see 'lttng add-context --list'",
					 name);
		add_context(c, name, NULL);
	}
	for (unsigned i = 0; any(r->perf) && i < r->perf->len; i++) {
		const struct perf_counter *counter = perf_counter_find(g_ptr_array_index(r->perf, i));
		char *name;

		if (!counter)
			return error_set("option '--perf': unknown counter '%s': see 'lttng add-context --list'",
					 (const char *)g_ptr_array_index(r->perf, i));
		name = g_strconcat(PERF_CONTEXT_PREFIX, counter->name, NULL);
		add_context(c, name, NULL);
		g_free(name);
	}
	return LT_OK;
}

static enum lt_status add_user(struct record_plan *plan, const struct record_request *r)
{
	static const char *const contexts[] = { "vpid", "vtid", "procname" };
	struct record_channel *c =
		add_channel(plan, RECORD_USER, r->buffer_bytes ? r->buffer_bytes : user_buffer_bytes);

	for (unsigned i = 0; i < r->ust->len; i++) {
		const char *name = g_ptr_array_index(r->ust, i);

		if (check_name(name))
			return error_wrap("option '--ust'");
		add_event(c, RECORD_TRACEPOINT, name, NULL);
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(contexts); i++)
		add_context(c, contexts[i], NULL);
	add_context(c, "pid_ns", "PID namespaces of programs, which identify their containers"); /* since LTTng 2.12 */
	return LT_OK;
}

/* Kernel events: those asked for, else the default set, unless only user space was asked for. */
static enum lt_status add_channels(struct record_plan *plan, const struct record_request *r)
{
	const bool kernel_events = any(r->events) || any(r->kprobes);
	const bool kernel_options = any(r->perf) || any(r->contexts) || any_number(r->pids);
	enum record_set set = any(r->ust) && !kernel_events && !kernel_options ? RECORD_SET_NONE : RECORD_SET_FULL;
	uint32_t additions = 0;

	if (r->set && record_set_find(r->set, &set, &additions))
		return error_wrap("option '--set'");
	if (r->buffer_bytes && r->buffer_bytes < SUBBUFS * SUBBUF_BYTES_MIN)
		return error_set("option '--buffer-size': must be at least 64 KiB");
	plan->set = record_set_words(set, additions);
	if (set || additions || kernel_events) {
		if (add_kernel(plan, r, set, additions))
			return LT_ERROR;
	} else if (kernel_options) {
		return error_set("'--perf', '--context' and '--pid' need kernel events, and '--set none' leaves none");
	}
	if (any(r->ust) && add_user(plan, r))
		return LT_ERROR;
	if (!plan->channels->len)
		return error_set("nothing to record: '--set none' needs '--event', '--kprobe' or '--ust'");
	return LT_OK;
}

char *record_default_output(const char *session)
{
	const char *home = g_getenv("LTTNG_HOME");

	return g_build_filename(home ? home : g_get_home_dir(), "lttng-traces", session, NULL);
}

static enum lt_status set_destination(struct record_plan *plan, const struct record_request *r)
{
	if (r->live && r->output)
		return error_set("'--live' and '--output' cannot be used together");
	if (r->live && r->snapshot)
		return error_set("'--live' and '--snapshot' cannot be used together");
	if (r->live) {
		plan->mode = RECORD_LIVE;
		plan->url = relay_url(r->live);
		plan->view_port = r->view_port ? r->view_port : RELAY_VIEW_PORT;
		plan->statedump_ns = r->statedump_ns;
		plan->live_timer_us = (unsigned)MIN(MAX(r->live_timer_ns / NS_PER_US, 1), UINT32_MAX);
		return plan->url ? LT_OK : error_wrap("option '--live'");
	}
	plan->mode = r->snapshot ? RECORD_SNAPSHOT : RECORD_TO_DISK;
	if (r->output)
		plan->output = g_canonicalize_filename(r->output, NULL);
	else
		plan->output = record_default_output(plan->session);
	return LT_OK;
}

static enum lt_status set_hosts(struct record_plan *plan, const struct record_request *r)
{
	for (unsigned i = 0; any(r->hosts) && i < r->hosts->len; i++) {
		const char *host = g_ptr_array_index(r->hosts, i);

		if (record_host_check(host))
			return error_wrap("option '--host'");
		for (unsigned k = 0; k < i; k++)
			if (!strcmp(g_ptr_array_index(plan->hosts, k), host))
				return error_set("host '%s' is given twice", host);
		g_ptr_array_add(plan->hosts, g_strdup(host));
	}
	if (plan->hosts->len && r->track_command)
		return error_set("'--track-command' cannot be used with '--host'");
	return LT_OK;
}

/* Whether there is a session of that name, or a recording where it would be by default. */
static bool is_used(const struct record_request *r, const char *name)
{
	char *output = record_default_output(name);
	const bool is = g_file_test(output, G_FILE_TEST_EXISTS) || (r->session_is_taken && r->session_is_taken(name));

	g_free(output);
	return is;
}

/* Named after the time; a number is added if the name is used by one from the same second. */
static char *default_session(const struct record_request *r)
{
	GDateTime *now = g_date_time_new_now_local();
	char *text = g_date_time_format(now, RECORD_SESSION_PREFIX "%Y%m%d-%H%M%S");
	char *name = g_strdup(text);

	for (unsigned n = 2; is_used(r, name); n++) {
		g_free(name);
		name = g_strdup_printf("%s-%u", text, n);
	}
	g_date_time_unref(now);
	g_free(text);
	return name;
}

static enum lt_status fill(struct record_plan *plan, const struct record_request *r)
{
	if (r->session && record_session_check(r->session))
		return error_wrap("option '--session'");
	plan->session = r->session ? g_strdup(r->session) : default_session(r);
	if (set_destination(plan, r) || add_channels(plan, r) || set_hosts(plan, r))
		return LT_ERROR;
	if (any_number(r->pids))
		g_array_append_vals(plan->pids, r->pids->data, r->pids->len);
	if (any_number(r->vpids))
		g_array_append_vals(plan->vpids, r->vpids->data, r->vpids->len);
	if (r->track_command && !(r->command && r->command[0]))
		return error_set("'--track-command' needs a command");
	plan->track_command = r->track_command;
	plan->unsafe = r->unsafe;
	if (r->command && r->command[0])
		plan->command = g_strdupv((char **)r->command);
	return LT_OK;
}

struct record_plan *record_plan_create(const struct record_request *request)
{
	struct record_plan *plan = g_new0(struct record_plan, 1);

	plan->channels = g_array_new(FALSE, FALSE, sizeof(struct record_channel));
	g_array_set_clear_func(plan->channels, channel_clear);
	plan->pids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	plan->vpids = g_array_new(FALSE, FALSE, sizeof(int32_t));
	plan->hosts = g_ptr_array_new_with_free_func(g_free);
	if (!fill(plan, request))
		return plan;
	record_plan_destroy(plan);
	return NULL;
}

void record_plan_destroy(struct record_plan *plan)
{
	g_free(plan->session);
	g_free(plan->output);
	g_free(plan->url);
	g_free(plan->call_filter);
	g_free(plan->messages.script);
	g_strfreev(plan->command);
	g_array_free(plan->channels, TRUE);
	g_array_free(plan->pids, TRUE);
	g_array_free(plan->vpids, TRUE);
	g_ptr_array_free(plan->hosts, TRUE);
	g_free(plan);
}

struct record_channel *record_plan_channel(const struct record_plan *plan, enum record_domain domain)
{
	for (unsigned i = 0; i < plan->channels->len; i++) {
		struct record_channel *c = &g_array_index(plan->channels, struct record_channel, i);

		if (c->domain == domain)
			return c;
	}
	return NULL;
}

static uint64_t count_all_cpus(const struct record_plan *plan)
{
	return (uint64_t)MAX(sysconf(_SC_NPROCESSORS_CONF), 1) * MAX(plan->hosts->len, 1);
}

uint64_t record_plan_buffers_bytes(const struct record_plan *plan)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < plan->channels->len; i++) {
		const struct record_channel *c = &g_array_index(plan->channels, struct record_channel, i);

		bytes += c->subbuf_bytes * c->subbufs;
	}
	return bytes * count_all_cpus(plan);
}

void record_plan_limit(struct record_plan *plan, uint64_t bytes)
{
	const uint64_t streams = plan->channels->len * count_all_cpus(plan);

	for (unsigned i = 0; i < plan->channels->len; i++) {
		struct record_channel *c = &g_array_index(plan->channels, struct record_channel, i);

		c->files = FILES;
		c->file_bytes = MAX(bytes / streams / FILES, FILE_SUBBUFS_MIN * c->subbuf_bytes);
	}
}

char *record_plan_source(const struct record_plan *plan)
{
	GString *source;
	char *host;

	if (plan->mode != RECORD_LIVE)
		return g_strdup(plan->output);
	host = relay_host(plan->url);
	source = g_string_new("net://");
	g_string_append(source, host);
	if (plan->view_port != RELAY_VIEW_PORT)
		g_string_append_printf(source, ":%u", plan->view_port);
	if (!plan->hosts->len)
		g_string_append_printf(source, "/host/%s/%s", g_get_host_name(), plan->session);
	g_free(host);
	return g_string_free(source, FALSE);
}
