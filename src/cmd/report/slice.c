/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lttngtop report slice: writes an interval of recordings, or chosen events in it, as new recordings. */
#include "cmd/report/report.h"

#include <errno.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/fail.h"
#include "cmd/report/events.h"
#include "event/payload.h"
#include "feed/slice.h"
#include "ingest/visit.h"
#include "play/feed_sync.h"
#include "play/sync_options.h"
#include "sidecar/write.h"

/* The slice is built in here and moved out when complete, so that the remains of a killed run are recognisable. */
#define UNFINISHED ".unfinished-slice"

enum { NFTW_FDS = 16, DIRECTORY_MODE = 0750 /* like the recording's */ };

struct report_slice {
	struct report *report;
	const char *directory;
	bool made;  /* it did not exist before */
	char *work; /* where it is built */
	struct report_events events;
	struct slice_sum sum;
	unsigned traces;

	/* If events are chosen. */
	GPtrArray *parts; /* struct slice_part * */
	struct slice_chosen *chosen;
	char *failure; /* why an event could not be written; NULL: all could */
};

/* A recording of which events are chosen. */
struct slice_part {
	struct recording *recording;
	char *directory;
	int64_t shift_ns;
	struct slice_trace *trace;
};

/* ---- the directory ---- */

static enum lt_status make_directory(const char *path)
{
	if (g_mkdir_with_parents(path, DIRECTORY_MODE) == 0)
		return LT_OK;
	return error_set("cannot create '%s': %s", path, g_strerror(errno));
}

static enum lt_status begin_directory(struct report_slice *s)
{
	GDir *dir;
	bool empty;

	s->made = !g_file_test(s->directory, G_FILE_TEST_EXISTS);
	if (make_directory(s->directory) != LT_OK)
		return LT_ERROR;
	dir = g_dir_open(s->directory, 0, NULL);
	empty = dir && !g_dir_read_name(dir);
	if (dir)
		g_dir_close(dir);
	s->work = g_build_filename(s->directory, UNFINISHED, NULL);
	if (g_file_test(s->work, G_FILE_TEST_EXISTS))
		return error_set("directory '%s' is not empty: remove '%s', which an unfinished slice has left",
				 s->directory, s->work);
	if (!empty)
		return error_set("directory '%s' is not empty", s->directory);
	return make_directory(s->work);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return g_remove(path);
}

static void drop_directory(struct report_slice *s)
{
	nftw(s->work, remove_one, NFTW_FDS, FTW_DEPTH | FTW_PHYS);
	if (s->made)
		g_rmdir(s->directory);
}

static enum lt_status finish_directory(struct report_slice *s)
{
	GDir *dir = g_dir_open(s->work, 0, NULL);
	enum lt_status status = LT_OK;
	const char *name;

	while (dir && status == LT_OK && (name = g_dir_read_name(dir))) {
		char *from = g_build_filename(s->work, name, NULL), *to = g_build_filename(s->directory, name, NULL);

		if (g_rename(from, to) != 0)
			status = error_set("cannot create '%s': %s", to, g_strerror(errno));
		g_free(from);
		g_free(to);
	}
	if (dir)
		g_dir_close(dir);
	g_rmdir(s->work);
	return status;
}

/* Hostnames and directory names are untrusted: makes a single file name. */
static char *safe_name(const char *name)
{
	char text[128];

	text_sanitise(text, sizeof(text), name, strlen(name));
	g_strdelimit(text, "/\\", '_');
	if (!*text || *text == '.')
		return g_strconcat("_", text, NULL);
	return g_strdup(text);
}

/* DIR/HOST/kernel; for a second recording of the same host and domain DIR/HOST-2/kernel. */
static char *directory_of(const struct report_slice *s, const char *host, const struct recording *r)
{
	char *name = safe_name(host), *path = g_build_filename(s->work, name, r->path, NULL);

	for (unsigned n = 2; g_file_test(path, G_FILE_TEST_EXISTS); n++) {
		char *other = g_strdup_printf("%s-%u", name, n);

		g_free(path);
		path = g_build_filename(s->work, other, r->path, NULL);
		g_free(other);
	}
	g_free(name);
	return path;
}

/* ---- the traces ---- */

/* The host that a recording belongs to; NULL: it is not shown or could not be read. */
static const struct report_host *host_of(const struct report *r, const struct recording *recording)
{
	const struct recorded_stream *stream = g_ptr_array_index(recording->streams, 0);

	for (unsigned i = 0; i < r->n_hosts; i++)
		if (r->hosts[i]->shown >= 0 &&
		    feed_comes_from(r->hosts[i]->source, g_ptr_array_index(stream->paths, 0)))
			return r->hosts[i];
	return NULL;
}

/* The hosts' clocks may drift: align them in the middle. */
static int64_t shift_of(const struct report_host *h, const struct slice_range *range)
{
	const uint64_t end_ns = MIN(range->end_ns, MAX(h->source->end_hint_ns, range->begin_ns));
	const uint64_t middle_ns = range->begin_ns + (end_ns - range->begin_ns) / 2;

	return (int64_t)(clock_to_ref(h->source->map, middle_ns) - middle_ns);
}

/* A machine's side-car is also valid for part of its recording: copies it to DIR/HOST, the parent of all its traces. */
static void copy_sidecars(const struct recording *r, const char *directory, int64_t shift_ns)
{
	const struct recorded_stream *stream = g_ptr_array_index(r->streams, 0);
	char *host = g_strndup(directory, strlen(directory) - strlen(r->path)), *copied = NULL;

	for (guint i = 0; i < stream->paths->len; i++) {
		char *trace = g_path_get_dirname(g_ptr_array_index(stream->paths, i));
		char *path = source_sidecar_of(trace);

		if (path && g_strcmp0(path, copied) != 0 && sidecar_copy(path, host, shift_ns) != LT_OK) {
			log_warning("command lines and user names are missing from the slice: %s", error_text());
			error_clear();
		}
		g_free(trace);
		g_free(copied);
		copied = path;
	}
	g_free(copied);
	g_free(host);
}

static struct slice_range range_of(const struct report_slice *s, const struct report_host *h)
{
	struct slice_range range = {
		.begin_ns = report_host_time(h, s->events.begin_ns),
		.end_ns = report_host_time(h, s->events.end_ns),
	};

	range.shift_ns = shift_of(h, &range);
	return range;
}

/* Removes the directory of a trace without events, and its host's unless that has other traces. */
static void remove_empty(const struct report_slice *s, const char *directory)
{
	char *path = g_strdup(directory);

	while (strcmp(path, s->work) != 0 && g_rmdir(path) == 0)
		*strrchr(path, '/') = '\0';
	g_free(path);
}

static void finish_trace(struct report_slice *s, const struct recording *r, const char *directory, int64_t shift_ns,
			 bool is_written)
{
	if (!is_written) {
		remove_empty(s, directory);
		return;
	}
	s->traces++;
	copy_sidecars(r, directory, shift_ns);
}

static enum lt_status write_trace(struct report_slice *s, const struct report_host *h, const struct recording *r)
{
	const struct slice_range range = range_of(s, h);
	const uint64_t before = s->sum.packets;
	char *directory = directory_of(s, h->source->name, r);
	enum lt_status status = make_directory(directory);

	if (status == LT_OK)
		status = slice_write(r, directory, &range, &report_stop, &s->sum);
	if (status == LT_OK)
		finish_trace(s, r, directory, range.shift_ns, s->sum.packets > before);
	g_free(directory);
	return status;
}

/* Its events are written as they are chosen. */
static enum lt_status add_part(struct report_slice *s, const struct report_host *h, struct recording *r)
{
	struct slice_part *part = g_new0(struct slice_part, 1);
	const struct slice_range range = range_of(s, h);

	part->recording = r;
	part->directory = directory_of(s, h->source->name, r);
	part->shift_ns = range.shift_ns;
	g_ptr_array_add(s->parts, part);
	if (make_directory(part->directory) != LT_OK)
		return LT_ERROR;
	part->trace = slice_chosen_add(s->chosen, r, part->directory, &range);
	return LT_OK;
}

static void free_part(gpointer data)
{
	struct slice_part *part = data;

	recording_close(part->recording);
	g_free(part->directory);
	g_free(part);
}

/* The SOURCE below which the slice is written; NULL: none. */
static const char *source_around(const struct report_slice *s)
{
	const struct options *o = s->report->options;
	char *directory = realpath(s->directory, NULL);
	const char *around = NULL;

	for (guint i = s->report->first_source; i < o->words->len && directory && !around; i++) {
		char *source = realpath(g_ptr_array_index(o->words, i), NULL);
		const size_t len = source ? strlen(source) : 0;

		if (source && strncmp(directory, source, len) == 0 && (directory[len] == '/' || len == 1))
			around = g_ptr_array_index(o->words, i);
		free(source);
	}
	free(directory);
	return around;
}

/* A recording and a slice of it cannot be read together. */
static enum lt_status check_place(const struct report_slice *s)
{
	const char *source = source_around(s);

	if (!source)
		return LT_OK;
	return error_set("'%s' lies in '%s', which could then no longer be read: write it elsewhere", s->directory,
			 source);
}

static enum lt_status write_spec(struct report_slice *s, const struct source_spec *spec)
{
	const struct report_host *h;
	struct recording *r;
	enum lt_status status = recording_open(spec, &r);

	if (status == LT_ERROR) {
		log_error("%s", error_text());
		error_clear();
		s->sum.damaged++;
	}
	if (status != LT_OK)
		return LT_OK;
	s->sum.damaged += r->damaged;
	h = host_of(s->report, r);
	if (h && s->chosen)
		return add_part(s, h, r);
	status = h ? write_trace(s, h, r) : LT_OK;
	recording_close(r);
	return status;
}

static void free_spec(gpointer spec)
{
	source_spec_free(spec);
}

static enum lt_status write_traces(struct report_slice *s)
{
	const struct options *o = s->report->options;
	GPtrArray *specs = g_ptr_array_new_with_free_func(free_spec);
	enum lt_status status = LT_OK;

	for (guint i = s->report->first_source; i < o->words->len && status == LT_OK; i++)
		status = source_find(g_ptr_array_index(o->words, i), specs, NULL);
	for (guint i = 0; i < specs->len && status == LT_OK; i++)
		status = write_spec(s, g_ptr_array_index(specs, i));
	g_ptr_array_free(specs, TRUE);
	return status;
}

/* ---- chosen events ---- */

static void take_event(void *user, const struct dump_event *event)
{
	const struct ev_fields *place = event_payload(event->fields, ev_fields);
	struct report_slice *s = user;

	if (s->failure || slice_chosen_take(s->chosen, place->file, place->packet, place->at) != LT_ERROR)
		return;
	s->failure = g_strdup(error_text());
	report_stop = 1;
}

static enum lt_status finish_parts(struct report_slice *s)
{
	enum lt_status status = LT_OK;

	for (guint i = 0; i < s->parts->len && status == LT_OK; i++) {
		const struct slice_part *part = g_ptr_array_index(s->parts, i);
		bool is_written;

		status = slice_chosen_finish(s->chosen, part->trace, &is_written);
		if (status == LT_OK)
			finish_trace(s, part->recording, part->directory, part->shift_ns, is_written);
	}
	return status;
}

static enum lt_status write_chosen(struct report_slice *s)
{
	enum lt_status status;
	char *none;

	s->parts = g_ptr_array_new_with_free_func(free_part);
	s->chosen = slice_chosen_create(&report_stop, &s->sum);
	status = write_traces(s);
	if (status == LT_OK)
		status = report_events_read(&s->events);
	if (s->failure)
		status = error_set("%s", s->failure);
	else if (status == LT_OK && s->report->interrupted)
		status = LT_INTERRUPTED;
	if (status == LT_OK)
		status = finish_parts(s);
	if (status == LT_OK && !s->sum.any) {
		none = report_events_none(&s->events);
		status = error_set("%s", none);
		g_free(none);
	}
	return status;
}

/* ---- the command ---- */

static enum lt_status check_options(const struct report_slice *s)
{
	const struct report *r = s->report;
	const struct options *o = r->options;

	if (o->words->len < 2)
		return error_set("no source given");
	if (!o->slice_output)
		return error_set("slice needs --output DIR");
	if (!*o->slice_output)
		return error_set("option '--output': '' is not a directory's name");
	if (o->json || o->csv || o->dot || o->babeltrace || o->report_interval || o->per_cpu)
		return error_set("slice writes a trace: only --output, --begin, --end, the options that choose events "
				 "and those of clocks apply");
	if (sync_options_live(o, r->first_source))
		return error_set("slice needs recordings");
	if (s->events.chooses && !strcmp(o->reader, "babeltrace2"))
		return error_set("slice cannot choose events with --reader babeltrace2, which does not say where they "
				 "are");
	if (o->limit)
		return error_set("--limit does not apply to slice: choose events with --begin, --end and --where");
	return report_refuse_choice(o, "slice");
}

/*
 * Nothing happens in the interval: whether that is because it is outside the recordings, which only their events tell.
 * If so, says when they are.
 */
static bool is_outside(const struct report_slice *s)
{
	struct report *r = s->report;

	report_advance(r, UINT64_MAX);
	report_clear_progress(r);
	return !r->interrupted && report_warn_outside(r, s->events.begin_ns, s->events.known_end_ns);
}

static int tell(const struct report_slice *s)
{
	/* what could not be opened is missing, too */
	bool incomplete = s->sum.damaged || s->sum.unknown || ingest_broken(s->report->in);

	if (s->sum.uncut == 1)
		log_say("1 packet could not be cut and contains other events, too");
	else if (s->sum.uncut)
		log_say("%" PRIu64 " packets could not be cut and contain other events, too", s->sum.uncut);
	if (s->sum.unknown)
		log_say("events are missing, %" PRIu64 ": their packets were left out, their recording has "
			"changed, or babeltrace2 had to read it",
			s->sum.unknown);
	/* of chosen events not every packet is looked at, but all have been read */
	if (s->chosen)
		incomplete |= report_is_incomplete(s->report);
	else
		incomplete = report_say_incomplete((struct view_lost){ .events = s->sum.lost_events,
								       .packets = s->sum.lost_packets,
								       .goes_on = s->sum.losing },
						   incomplete);
	printf("%s: %u trace%s, %" PRIu64 " packet%s, %" PRIu64 " byte%s\n", s->directory, s->traces,
	       s->traces == 1 ? "" : "s", s->sum.packets, s->sum.packets == 1 ? "" : "s", s->sum.bytes,
	       s->sum.bytes == 1 ? "" : "s");
	return incomplete ? LT_EXIT_INCOMPLETE : LT_EXIT_OK;
}

static enum lt_status write_all(struct report_slice *s)
{
	enum lt_status status = write_traces(s);

	if (status == LT_OK && !s->sum.any && is_outside(s))
		return error_set("the interval is outside the recording");
	if (status == LT_OK && !s->traces)
		return error_set("no usable packet lies in the interval");
	return status;
}

static int write_slice(void *user, uint64_t known_end_ns)
{
	struct report_slice *s = user;
	enum lt_status status;

	if (report_events_times(&s->events, known_end_ns) != LT_OK)
		return cmd_fail(LT_EXIT_USAGE, "report");
	if (begin_directory(s) != LT_OK)
		return cmd_fail(LT_EXIT_FAILURE, "report");
	status = check_place(s);
	if (status == LT_OK)
		status = s->events.chooses ? write_chosen(s) : write_all(s);
	if (status == LT_OK)
		status = finish_directory(s);
	if (status == LT_OK)
		return tell(s);
	drop_directory(s);
	if (status == LT_INTERRUPTED) {
		error_set("interrupted: nothing was written to '%s'", s->directory);
		return cmd_fail(128 + report_signal, "report");
	}
	return cmd_fail(LT_EXIT_FAILURE, "report");
}

int report_slice(struct report *r)
{
	const struct options *o = r->options;
	struct report_slice s = { .report = r, .directory = o->slice_output };
	struct fields_wanted nothing;
	const struct ingest_visitor times_only = { .wanted = &nothing };
	int status;

	if (report_events_init(&s.events, r) != LT_OK || check_options(&s) != LT_OK || report_set_clocks(r) != LT_OK) {
		report_events_release(&s.events);
		return cmd_fail(LT_EXIT_USAGE, "report");
	}
	fields_wanted_init(&nothing);
	s.events.take = take_event;
	s.events.user = &s;
	report_events_apply(&s.events);
	if (!s.events.chooses)
		r->visitor = &times_only; /* the clocks must be known first */
	report_end_on_interrupt(r);
	report_end_on_signal(SIGTERM);
	report_end_on_signal(SIGHUP);
	status = report_read_sources(r, "report", write_slice, &s);
	slice_chosen_destroy(s.chosen);
	if (s.parts)
		g_ptr_array_free(s.parts, TRUE);
	g_free(s.failure);
	g_free(s.work);
	clocks_destroy(r->clocks);
	view_filter_release(&r->filter);
	fields_wanted_release(&nothing);
	report_events_release(&s.events);
	return status;
}
