/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/host.h"

#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/nstime.h"
#include "base/strpool.h"
#include "base/timetext.h"
#include "event/payload.h"
#include "ingest/kernel.h"

/* While anything runs, timer ticks and kernel threads cause events more often than this. */
#define STILL_NS (2 * NS_PER_S)

/* Side-cars of one host: each snapshot of a recording may have its own. */
enum { SIDECARS_MAX = 64 };

enum { OWN_SIDECAR_EVERY_US = 5 * US_PER_S };

/* The state dump is among the first events, unless it was missed. */
#define DUMP_AWAITED_NS (2 * NS_PER_S)

/* A clock that is set back by less remains the same one: events are dropped as late until it has caught up. */
#define SET_BACK_NS (2 * NS_PER_S)

#define UNDUMPED "no state dump seen: run 'lttngtop record refresh SESSION' on that host"

/* Takes ownership of hostname and clock. */
static struct host *host_create(char *hostname, char *clock)
{
	struct host *h = g_new0(struct host, 1);

	h->hostname = hostname;
	h->clock = clock;
	h->merge = merge_create();
	h->inputs = g_ptr_array_new();
	h->sidecars = g_ptr_array_new_with_free_func(g_free);
	h->kernels = g_ptr_array_new_with_free_func(kernel_session_free);
	lag_forget(&h->lag);
	h->public.begin_ns = TIME_UNKNOWN;
	h->public.model = model_create();
	model_set_figures(h->public.model, MODEL_ALL_FIGURES & ~(1u << TABLE_FILE));
	wait_log_init(&h->log);
	return h;
}

struct host *host_restore(const char *hostname, const char *clock, const struct ingest_host *known)
{
	struct host *h = host_create(g_strdup(hostname), g_strdup(clock));
	struct model *model = h->public.model;

	h->public = *known;
	h->public.model = model;
	h->public.name = g_strdup(known->name);
	h->public.source = g_strdup(known->source);
	h->public.tracer = g_strdup(known->tracer);
	return h;
}

void host_free(void *data)
{
	struct host *h = data;

	merge_destroy(h->merge);
	g_ptr_array_free(h->inputs, TRUE);
	g_ptr_array_free(h->kernels, TRUE);
	programs_release(&h->programs);
	g_free(h->repeated);
	if (!h->is_forgotten)
		model_destroy(h->public.model);
	g_ptr_array_free(h->sidecars, TRUE);
	sidecar_destroy((struct sidecar *)h->public.sidecar);
	wait_log_release(&h->log);
	g_free(h->public.name);
	g_free(h->public.tracer);
	g_free(h->public.source);
	g_free(h->public.trouble);
	g_free(h->away_why);
	g_free(h->hostname);
	g_free(h->clock);
	g_free(h);
}

static bool declare_alike(const struct model *a, const struct model *b)
{
	for (int kind = 0; kind < EVENT_KINDS; kind++)
		if (model_declares(a, (enum event_kind)kind) != model_declares(b, (enum event_kind)kind))
			return false;
	return true;
}

/* A model with nothing but what the traces of another one declared. */
static struct model *husk_of(const struct model *of)
{
	struct model *model = model_create();

	model_set_figures(model, 0);
	for (int kind = 0; kind < EVENT_KINDS; kind++)
		if (model_declares(of, (enum event_kind)kind))
			model_set_declares(model, (enum event_kind)kind);
	return model;
}

void host_forget(struct host *host, GPtrArray *husks)
{
	struct model *model = NULL;

	g_assert(host->public.replaced && host->public.ended);
	if (host->is_forgotten)
		return;
	for (guint i = 0; i < husks->len && !model; i++)
		if (declare_alike(g_ptr_array_index(husks, i), host->public.model))
			model = g_ptr_array_index(husks, i);
	if (!model) {
		model = husk_of(host->public.model);
		g_ptr_array_add(husks, model);
	}
	model_destroy(host->public.model);
	host->public.model = model;
	host->is_forgotten = true;
	wait_log_release(&host->log);
	wait_log_init(&host->log);
}

static const char *disk_name(const void *sidecar, unsigned major, unsigned minor)
{
	return sidecar_disk(sidecar, major, minor);
}

static const char *function_name(const void *sidecar, uint64_t address)
{
	return sidecar_function(sidecar, address);
}

static struct sidecar *sidecar_of(struct host *h)
{
	if (!h->public.sidecar) {
		h->public.sidecar = sidecar_create();
		model_set_disk_names(h->public.model, disk_name, h->public.sidecar);
		model_set_symbols(h->public.model, function_name, h->public.sidecar);
	}
	return (struct sidecar *)h->public.sidecar;
}

static void add_mount(void *data, const char *dir, const char *type, const char *source)
{
	const struct host *h = data;

	model_add_mount(h->public.model, dir, type, source);
}

/* Takes ownership of path. */
static void add_sidecar(struct host *h, char *path)
{
	if (h->sidecars->len >= SIDECARS_MAX ||
	    g_ptr_array_find_with_equal_func(h->sidecars, path, g_str_equal, NULL)) {
		g_free(path);
		return;
	}
	g_ptr_array_add(h->sidecars, path);
	sidecar_load(sidecar_of(h), path, h->has_hostname ? h->hostname : NULL);
	sidecar_new_mounts(sidecar_of(h), add_mount, h);
}

bool host_hear(struct host *h, const struct event *ev)
{
	const struct event_str message = event_payload(ev, ev_message)->text;
	const char *text = event_text(ev, message);

	if (!sidecar_is_message(text, message.len))
		return false;
	/* the data that we collect ourselves is newer */
	if (!h->own_sidecar_us &&
	    sidecar_hear(sidecar_of(h), text, message.len, h->has_hostname ? h->hostname : NULL)) {
		h->public.heard = true;
		sidecar_new_mounts(sidecar_of(h), add_mount, h);
	}
	return true;
}

void host_refresh_sidecar(struct host *h)
{
	const int64_t now_us = g_get_monotonic_time();

	if (!h->own_sidecar_us || now_us - h->own_sidecar_us < OWN_SIDECAR_EVERY_US)
		return;
	h->own_sidecar_us = now_us;
	sidecar_refresh(sidecar_of(h));
	sidecar_new_mounts(sidecar_of(h), add_mount, h);
}

void host_add_sidecars(struct host *h, const struct source_spec *spec)
{
	for (guint i = 0; i < spec->paths->len; i++) {
		char *path = source_sidecar_of(g_ptr_array_index(spec->paths, i));

		if (path)
			add_sidecar(h, path);
	}
	if (source_spec_is_live(spec) && !h->own_sidecar_us && sidecar_is_own(h->clock)) {
		h->own_sidecar_us = -OWN_SIDECAR_EVERY_US;
		host_refresh_sidecar(h);
	}
}

/* Where it is among the names, which are separated by ", " and may contain that, too; not only a part of one. */
static char *find_source_name(const struct host *h, const char *name)
{
	char *const names = h->public.source;
	const size_t len = strlen(name);

	for (char *at = names; len && (at = strstr(at, name)); at++)
		if ((at == names || (at - names >= 2 && at[-2] == ',' && at[-1] == ' ')) &&
		    (!at[len] || g_str_has_prefix(at + len, ", ")))
			return at;
	return NULL;
}

static void add_source_name(struct host *h, const char *name)
{
	char *registered;

	if (!name[0] || find_source_name(h, name))
		return;
	registered = h->public.source[0] ? g_strconcat(h->public.source, ", ", name, NULL) : g_strdup(name);
	g_free(h->public.source);
	h->public.source = registered;
}

void host_remove_source(struct host *h, const char *name)
{
	char *at = find_source_name(h, name), *end;

	if (!at)
		return;
	end = at + strlen(name);
	if (*end)
		end += strlen(", ");
	else if (at > h->public.source)
		at -= strlen(", ");
	memmove(at, end, strlen(end) + 1);
}

void host_set_tracer(struct host *h, const struct event *ev)
{
	char *tracer;

	if (event_payload(ev, ev_trace)->domain != DOMAIN_KERNEL)
		return;
	tracer = source_text(ev, event_payload(ev, ev_trace)->tracer);
	if (strcmp(tracer, h->public.tracer) != 0) {
		g_free(h->public.tracer);
		h->public.tracer = g_steal_pointer(&tracer);
	}
	g_free(tracer);
}

static bool has_name(const GPtrArray *hosts, const struct host *but, const char *name)
{
	for (guint i = 0; i < hosts->len; i++) {
		const struct ingest_host *other = g_ptr_array_index(hosts, i);

		if (&but->public != other && !(other->live && (other->away || other->ended)) &&
		    strcmp(other->name, name) == 0)
			return true;
	}
	return false;
}

/*
 * A host that comes later gets the next number of its name. The name of a live host that is gone is free again:
 * usually it is the same machine, rebooted.
 */
void host_name_again(struct host *h, const GPtrArray *hosts)
{
	for (unsigned number = 2; has_name(hosts, h, h->public.name); number++) {
		g_free(h->public.name);
		h->public.name = g_strdup_printf("%s#%u", h->hostname, number);
	}
}

bool host_has_trace(const struct host *host, const struct event *ev, const char *hint)
{
	const struct ev_trace *p = event_payload(ev, ev_trace);
	char *hostname = p->hostname.len ? source_text(ev, p->hostname) : g_strdup(hint);
	char *clock = source_text(ev, p->clock);
	const bool same = strcmp(host->hostname, hostname) == 0 && strcmp(host->clock, clock) == 0;

	g_free(hostname);
	g_free(clock);
	return same;
}

/* How far the host's clock was set back between its sessions and that of an announced trace; 0: it was not. */
static uint64_t set_back_by(const struct host *host, const struct event *ev)
{
	const uint64_t zero_ns = event_payload(ev, ev_trace)->clock_zero_ns;
	const uint64_t back_ns = host->clock_zero_ns - MIN(zero_ns, host->clock_zero_ns);

	return zero_ns && back_ns > SET_BACK_NS ? back_ns : 0;
}

struct host *host_of_trace(GPtrArray *hosts, const struct event *ev, const char *hint, bool live)
{
	const struct ev_trace *p = event_payload(ev, ev_trace);
	char *hostname = p->hostname.len ? source_text(ev, p->hostname) : g_strdup(hint);
	char *clock = source_text(ev, p->clock);
	struct host *h = NULL;
	unsigned n_others = 0;
	uint64_t back_ns = 0;

	for (guint i = 0; i < hosts->len && !h; i++) {
		struct host *host = g_ptr_array_index(hosts, i);

		if (host->public.replaced || !host_has_trace(host, ev, hint))
			continue;
		back_ns = live ? set_back_by(host, ev) : 0;
		if (back_ns)
			n_others = MAX(n_others, host->n_others + 1);
		else
			h = host;
	}
	if (h) {
		g_free(hostname);
		g_free(clock);
	} else {
		h = host_create(hostname, clock);
		h->has_hostname = p->hostname.len != 0;
		h->public.name = g_strdup(hostname);
		h->public.tracer = source_text(ev, p->tracer);
		h->public.source = g_strdup("");
		h->n_others = n_others;
		host_name_again(h, hosts);
		g_ptr_array_add(hosts, h);
		/* which session started first is not known, and feeds shift clocks, too */
		if (n_others)
			log_warning("%s: the clock of this session is %" PRIu64
				    " s behind that of another one: shown as another host",
				    h->public.name, back_ns / NS_PER_S);
	}
	return h;
}

void host_add_trace(struct host *h, const struct event *ev, const char *source_name)
{
	const struct ev_trace *p = event_payload(ev, ev_trace);

	host_set_tracer(h, ev);
	add_source_name(h, source_name);
	h->clock_zero_ns = MAX(h->clock_zero_ns, p->clock_zero_ns);
	h->public.end_hint_ns = MAX(h->public.end_hint_ns, p->end_hint_ns);
}

/* Sets the status that matters most of those that apply. */
static void report_status(const struct host *host)
{
	const struct ingest_host *h = &host->public;

	if (h->away)
		model_set_status(h->model, HOST_AWAY, host->away_why);
	else if (host->stalled)
		model_set_status(h->model, HOST_SILENT, "silent: the others no longer wait for it");
	else if (h->still)
		model_set_status(h->model, HOST_SILENT, "no events");
	else if (h->trouble)
		model_set_status(h->model, HOST_DEGRADED, h->trouble);
	else
		model_set_status(h->model, h->ended && h->live ? HOST_ENDED : HOST_OK, h->note);
}

bool host_trouble(struct host *host, const char *why)
{
	/* each of its workers may report the same */
	if (g_strcmp0(host->public.trouble, why) == 0)
		return false;
	log_warning("%s: %s", host->public.name, why);
	if (host->public.trouble)
		return true;
	host->public.trouble = g_strdup(why);
	report_status(host);
	return true;
}

static void set_note(struct host *host)
{
	GString *note = g_string_new(host->undumped ? UNDUMPED : "");

	if (host->repeated)
		g_string_append_printf(note, "%s%s", note->len ? "; " : "", host->repeated);
	host->public.note = note->len ? strpool_text(strpool_intern(note->str, note->len)) : NULL;
	g_string_free(note, TRUE);
	report_status(host);
}

void host_set_repeated(struct host *host, const char *what)
{
	if (g_strcmp0(host->repeated, what) == 0)
		return;
	if (what && !host->repeated)
		log_warning("%s: %s", host->public.name, what);
	g_free(host->repeated);
	host->repeated = g_strdup(what);
	set_note(host);
}

void host_look_for_dump(struct host *host)
{
	const struct ingest_host *h = &host->public;
	const bool lacks = h->live && h->begin_ns != TIME_UNKNOWN && h->end_ns > h->begin_ns + DUMP_AWAITED_NS &&
			   model_lacks_dump(h->model);

	if (h->ended || lacks == host->undumped)
		return;
	host->undumped = lacks;
	set_note(host);
}

static int by_name(const void *a, const void *b)
{
	const struct host *x = *(struct host *const *)a, *y = *(struct host *const *)b;
	int order = strcmp(x->hostname, y->hostname);

	return order ? order : strcmp(x->clock, y->clock);
}

void hosts_name(GPtrArray *hosts)
{
	unsigned same = 1;

	g_ptr_array_sort(hosts, by_name);
	for (guint i = 0; i < hosts->len; i++) {
		const struct host *last = i ? g_ptr_array_index(hosts, i - 1) : NULL;
		struct host *h = g_ptr_array_index(hosts, i);

		same = last && strcmp(last->hostname, h->hostname) == 0 ? same + 1 : 1;
		g_free(h->public.name);
		h->public.name = same > 1 ? g_strdup_printf("%s#%u", h->hostname, same) : g_strdup(h->hostname);
	}
}

static void begin(struct host *host, uint64_t begin_ns)
{
	struct ingest_host *h = &host->public;

	h->begin_ns = h->end_ns = h->applied_ns = begin_ns;
	host->begun_us = host->heard_us = g_get_monotonic_time();
	model_begin(h->model, begin_ns);
}

static void log_unrecorded(const struct ingest_host *h, uint64_t t_ns)
{
	char since[TIMETEXT_SIZE];

	/* as the log's own times: in UTC */
	log_info("%s: not recorded for %" PRIu64 " s, from %s UTC", h->name, (t_ns - h->end_ns) / NS_PER_S,
		 timetext_format(since, sizeof(since), h->end_ns, 0, true, true));
}

void host_next_event(struct host *host, uint64_t t_ns)
{
	struct ingest_host *h = &host->public;

	if (h->begin_ns == TIME_UNKNOWN)
		begin(host, t_ns);
	if (host->paused && t_ns > h->end_ns + STILL_NS) {
		log_unrecorded(h, t_ns);
		model_interrupt(h->model, h->end_ns);
		h->gap_begin_ns = h->end_ns;
		h->gap_end_ns = t_ns;
	}
	if (host->back)
		h->gap_end_ns = MAX(t_ns, h->gap_begin_ns);
	host->back = host->paused = false;
}

void host_pause(struct host *host)
{
	host->paused = host->public.begin_ns != TIME_UNKNOWN;
}

void host_set_away(struct host *host, const char *why)
{
	struct ingest_host *h = &host->public;

	h->away = true;
	if (!host->back)
		h->gap_begin_ns = h->gap_end_ns = h->end_ns;
	g_free(host->away_why);
	host->away_why = g_strdup(why);
	report_status(host);
}

void host_set_back(struct host *host, bool live)
{
	struct ingest_host *h = &host->public;

	h->live = h->live || live;
	if (!h->away && !h->ended)
		return;
	if (h->ended) {
		model_interrupt(h->model, h->end_ns);
		h->gap_begin_ns = h->gap_end_ns = h->end_ns;
	}
	h->away = h->ended = false;
	host->back = true;
	h->lag_ns = 0;
	report_status(host);
}

void host_end(struct host *host)
{
	struct ingest_host *h = &host->public;

	if (h->ended && !h->away)
		return;
	h->ended = true;
	h->away = h->over = h->waited_for = h->still = h->silent = host->stalled = false;
	report_status(host);
}

void host_no_event(struct host *host, uint64_t t_ns)
{
	struct ingest_host *h = &host->public;

	if (host->back)
		h->gap_end_ns = MAX(h->gap_end_ns, t_ns);
	if (!h->live || h->still || h->begin_ns == TIME_UNKNOWN || t_ns <= h->end_ns + STILL_NS)
		return;
	/* its state is known: it was idle */
	if (!host->back && !model_is_busy(h->model))
		return;
	h->still = true;
	model_interrupt(h->model, h->end_ns + STILL_NS);
	if (!host->back) {
		h->gap_begin_ns = h->end_ns + STILL_NS;
		h->gap_end_ns = t_ns;
	}
	host->back = true;
	report_status(host);
}

void host_is_back_at_work(struct host *host)
{
	host->public.still = false;
	report_status(host);
}

void host_set_stalled(struct host *host, bool stalled)
{
	if (stalled == host->stalled)
		return;
	host->stalled = host->public.silent = stalled;
	report_status(host);
}
