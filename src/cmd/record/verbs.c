/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `lttngtop record VERB`: stops a session, shows its status, takes snapshots, repeats its state dump. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nstime.h"
#include "base/text.h"
#include "base/timetext.h"
#include "cli/fail.h"
#include "cli/output.h"
#include "cmd/record/count.h"
#include "cmd/record/record.h"
#include "cmd/record/relay_list.h"
#include "cmd/record/sidecar.h"
#include "control/commands.h"
#include "control/cost.h"
#include "control/ctl.h"
#include "control/daemon.h"
#include "control/place.h"
#include "control/plan.h"
#include "control/process.h"
#include "control/relay.h"
#include "control/remote.h"
#include "source/source.h"

enum { NO_ROOM_BYTES = 1 << 16, NAME_MAX_SHOWN = 1024 };

void record_print_view(FILE *out, const char *source)
{
	char *const words[] = { (char *)"lttngtop", (char *)source, NULL };
	char *line = commands_quote(words);

	log_print(out, "view it: %s", line);
	g_free(line);
}

void record_print_result(FILE *out, const char *directory)
{
	GPtrArray *specs = g_ptr_array_new();

	if (source_find(directory, specs, NULL) == LT_OK)
		record_print_view(out, directory);
	else
		log_print(out, "nothing was recorded: none of the session's events occurred, or no program has them");
	error_clear();
	for (guint i = 0; i < specs->len; i++)
		source_spec_free(g_ptr_array_index(specs, i));
	g_ptr_array_free(specs, TRUE);
}

void record_print_cost(FILE *out, const char *directory, bool is_named)
{
	const uint64_t used_ns = cost_consumer_ns();
	struct sidecar_cost cost = sidecar_read_cost(directory);
	struct record_count counted;
	char events[48] = "";
	/* daemons that were restarted count from 0 */
	const bool is_known = cost.consumer_before_ns && cost.consumer_before_ns <= MAX(used_ns, 1);
	bool is_whole;

	cost.bytes = cost_size_bytes(directory);
	cost.consumer_ns = used_ns - (is_known ? MIN(cost.consumer_before_ns, used_ns) : 0);
	is_whole = record_count(directory, &counted);
	cost.events = counted.events;
	if (is_whole || cost.events)
		g_snprintf(events, sizeof(events), "%s%" PRIu64 " events, ", is_whole ? "" : "more than ", cost.events);
	log_print(out, "cost: %s%.1f MB on disk, %.3f s of CPU by LTTng's consumer daemons%s", events,
		  (double)cost.bytes / 1e6, (double)cost.consumer_ns / (double)NS_PER_S,
		  is_known ? "" : " since they started");
	if (!is_whole)
		cost.events = 0;
	if (!is_known)
		cost.consumer_ns = 0;
	record_sidecar_update(directory, is_named, &cost, counted.functions);
	g_array_free(counted.functions, TRUE);
}

void record_print_lost(const struct session_lost *lost)
{
	if (lost->events || lost->packets)
		log_say("the tracer lost %" PRIu64 " events and %" PRIu64
			" packets: a larger --buffer-size or a smaller --set may help",
			lost->events, lost->packets);
}

void record_print_verb(FILE *out, const char *label, const char *verb, const GPtrArray *hosts, const char *output,
		       const char *session)
{
	GPtrArray *words = g_ptr_array_new();
	char *line;

	g_ptr_array_add(words, (char *)"lttngtop");
	g_ptr_array_add(words, (char *)"record");
	g_ptr_array_add(words, (char *)verb);
	for (unsigned i = 0; i < hosts->len; i++) {
		g_ptr_array_add(words, (char *)"--host");
		g_ptr_array_add(words, g_ptr_array_index(hosts, i));
	}
	if (output) {
		g_ptr_array_add(words, (char *)"--output");
		g_ptr_array_add(words, (char *)output);
	}
	g_ptr_array_add(words, (char *)session);
	g_ptr_array_add(words, NULL);
	line = commands_quote((char *const *)words->pdata);
	log_print(out, "%s: %s", label, line);
	g_free(line);
	g_ptr_array_free(words, TRUE);
}

enum lt_status record_wrap_output(const char *directory)
{
	if (place_room(directory).free_bytes < NO_ROOM_BYTES)
		return error_wrap("the disk is full; what was recorded before is in '%s'", directory);
	return error_wrap("recording into '%s'", directory);
}

enum lt_status record_fetch(FILE *out, const GPtrArray *hosts, const char *session, const char *output, GPtrArray *done)
{
	char *failed;
	bool any;

	if (!hosts->len)
		return LT_OK;
	record_sidecar_leave(hosts, session, NULL);
	failed = remote_fetch(hosts, session, output, done, &any) ? g_strdup(error_text()) : NULL;
	if (any) {
		record_sidecar_fetched(done, output);
		log_print(out, "fetched into %s", output);
		record_print_view(out, output);
	}
	return error_join(failed, LT_OK);
}

void record_print_rest(FILE *out, const GPtrArray *hosts, const GPtrArray *done, const char *session,
		       const char *output)
{
	GPtrArray *rest = g_ptr_array_new();

	for (unsigned i = 0; i < hosts->len; i++)
		if (!g_ptr_array_find((GPtrArray *)done, g_ptr_array_index(hosts, i), NULL))
			g_ptr_array_add(rest, g_ptr_array_index(hosts, i));
	record_print_verb(out, rest->len < hosts->len ? "end it on the other hosts, later" : "end it later", "stop",
			  rest, output, session);
	g_ptr_array_free(rest, TRUE);
}

enum lt_status record_stop(const char *session, const char *relayd, struct session_lost *lost)
{
	const bool gone = relayd && relay_probe(relayd);
	const enum lt_status status = session_stop(session, lost);
	char *reason;

	if (status == LT_INTERRUPTED || (!status && !gone))
		return status;
	if (session_exists(session))
		return error_wrap("session '%s' still exists", session);
	if (daemon_consumer_died())
		return error_wrap("session '%s' has ended early", session);
	if (daemon_check() || !relayd)
		return LT_ERROR;
	reason = g_strdup(error_text());
	error_set("session '%s' has ended, but relayd '%s' %s: what it had not received is lost "
		  "(%s)",
		  session, relayd, gone ? "does not answer" : "had exited before", reason);
	g_free(reason);
	return LT_ERROR;
}

/* Prints where the recording of a session that is neither live nor a flight recorder is, and what it cost. */
static void print_recording(const struct session *s)
{
	if (*s->path == '/') {
		record_print_result(stdout, s->path);
		record_print_cost(stdout, s->path, false);
	} else if (*s->path) {
		log_print(stdout, "sent to %s", s->path);
	}
}

static void print_stopped(const char *session)
{
	log_print(stdout, "session '%s' stopped", session);
}

static int stop(const struct session *s)
{
	struct session_lost lost = { 0 };
	char *relayd = s->live_timer_us ? relay_url_of_session(s->path) : NULL;
	const enum lt_status status = record_stop(s->name, relayd, &lost);

	g_free(relayd);
	if (status == LT_ERROR && !s->live_timer_us && *s->path == '/')
		record_wrap_output(s->path);
	if (status)
		return cmd_fail(LT_EXIT_FAILURE, "record");
	if (s->snapshot && (s->foreign || !record_sidecar_remove(s->path)))
		record_sidecar_update(s->path, false, NULL, NULL);
	print_stopped(s->name);
	if (!s->snapshot)
		record_print_lost(&lost);
	if (!s->snapshot && !s->live_timer_us)
		print_recording(s);
	return LT_EXIT_OK;
}

static int snapshot(const struct session *s)
{
	char *path = NULL;

	if (!s->snapshot) {
		error_set("session '%s' does not take snapshots: it was not started with --snapshot", s->name);
		return cmd_fail(LT_EXIT_FAILURE, "record");
	}
	if (session_snapshot(s->name, &path)) {
		if (daemon_consumer_died())
			error_add("what it had in memory is lost");
		else
			error_add("the session still records: once this is fixed, run 'lttngtop record snapshot "
				  "%s' again",
				  s->name);
		return cmd_fail(LT_EXIT_FAILURE, "record");
	}
	record_sidecar_update(s->path, false, NULL, NULL);
	log_print(stdout, "snapshot in %s", path ? path : s->path);
	if (path)
		record_print_view(stdout, path);
	g_free(path);
	return LT_EXIT_OK;
}

/*
 * The sessions that viewers see at a relayd's host, if the relayd is at its usual ports; elsewhere its port for viewers
 * is not known. *viewers: their URL, to be freed. NULL: not known.
 */
static GPtrArray *sessions_of_relayd(const char *relayd, char **viewers)
{
	struct relay_url url;
	struct source_url url_of_viewers = { 0 };
	GPtrArray *list = relay_list_new();
	char *text = NULL;

	if (relay_url_parse(relayd, RELAY_URL_PORTS, &url) == LT_OK &&
	    (!url.ports[0] || url.ports[0] == RELAY_CONTROL_PORT)) {
		char *host = relay_url_host(&url);

		text = g_strdup_printf("%s://%s", url.scheme, host);
		g_free(host);
	}
	if (!text || source_parse_url(text, &url_of_viewers) || relay_list_ask(&url_of_viewers, NS_PER_S, list)) {
		error_clear();
		g_clear_pointer(&list, g_ptr_array_unref);
	}
	relay_url_release(&url);
	source_url_release(&url_of_viewers);
	*viewers = text;
	return list;
}

/* Whether it has a session of that name of this host; other hosts may have one, too. */
static bool list_has(const GPtrArray *list, const char *name)
{
	char shown[NAME_MAX_SHOWN], host[NAME_MAX_SHOWN];

	text_sanitise(shown, sizeof(shown), name, strlen(name));
	text_sanitise(host, sizeof(host), g_get_host_name(), strlen(g_get_host_name()));
	for (guint i = 0; i < list->len; i++) {
		const struct relay_session *s = g_ptr_array_index(list, i);

		if (!strcmp(s->name, shown) && !strcmp(s->host, host))
			return true;
	}
	return false;
}

/* LT_ERROR: nobody receives what the session records; a relayd that was started again does not, either. */
static enum lt_status check_relayd(const struct session *s)
{
	char *relayd = s->live_timer_us && s->active ? relay_url_of_session(s->path) : NULL, *viewers = NULL;
	const bool gone = relayd && relay_probe(relayd);
	GPtrArray *list = relayd && !gone ? sessions_of_relayd(relayd, &viewers) : NULL;
	const bool forgotten = list && !list_has(list, s->name);

	if (forgotten)
		error_set(
			"viewers do not see it at '%s': the relayd there was started later, or is not the one at '%s'",
			viewers, relayd);
	g_free(viewers);
	g_free(relayd);
	if (list)
		g_ptr_array_unref(list);
	if (!gone && !forgotten)
		return LT_OK;
	error_wrap("session '%s'", s->name);
	return error_add("%sstop the session and record again", gone ? "once it runs again, " : "");
}

static int status(const struct session *s)
{
	char timer[TIMETEXT_SIZE] = "", name[NAME_MAX_SHOWN], path[TEXT_MAX + 1];

	text_sanitise(name, sizeof(name), s->name, strlen(s->name)); /* other users' tools may have made it */
	text_sanitise(path, sizeof(path), s->path, strlen(s->path));
	if (s->live_timer_us)
		timetext_format_duration(timer, sizeof(timer), NS_PER_US * s->live_timer_us);
	printf("%s: %s%s%s%s, %s, lost %" PRIu64 " events %" PRIu64 " packets\n", name,
	       s->active ? "recording" : "stopped", s->snapshot ? ", flight recorder" : "",
	       *timer ? ", live every " : "", timer, path, s->lost.events, s->lost.packets);
	return check_relayd(s) ? cmd_fail(LT_EXIT_FAILURE, "record") : LT_EXIT_OK;
}

static void print_refreshed(const char *session)
{
	log_print(stdout, "state dump of session '%s' repeated", session);
}

static int refresh(const struct session *s)
{
	if (session_refresh(s->name))
		return cmd_fail(LT_EXIT_FAILURE, "record");
	if (s->live_timer_us)
		record_sidecar_send();
	print_refreshed(s->name);
	return check_relayd(s) ? cmd_fail(LT_EXIT_FAILURE, "record") : LT_EXIT_OK;
}

static const struct record_verb {
	const char *name;
	int (*run)(const struct session *s);
	bool fetches; /* recordings from other hosts */
} verbs[] = { { "stop", stop, true },
	      { "status", status, false },
	      { "snapshot", snapshot, true },
	      { "refresh", refresh, false } };

const struct record_verb *record_verb_find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* Stops a session on other hosts or takes a snapshot there, and fetches recordings that were not streamed. */
static enum lt_status end_remotely(const struct record_verb *verb, const struct options *o, const char *session)
{
	char *output = o->output ? g_canonicalize_filename(o->output, NULL) : record_default_output(session);
	GPtrArray *ended = g_ptr_array_new(), *fetched = g_ptr_array_new();
	const bool stops = verb->run == stop;
	enum lt_status status =
		stops ? remote_stop(o->record_host, session, ended) : remote_snapshot(o->record_host, session, ended);
	char *failed;

	if (status && !stops)
		error_wrap("taking a snapshot of session '%s'", session);
	failed = status ? g_strdup(error_text()) : NULL;
	if (!status && stops)
		print_stopped(session);
	status = error_join(failed, record_fetch(stdout, ended, session, output, fetched));
	if (status && stops && (fetched->len || process_is_interrupted()))
		record_print_rest(stdout, o->record_host, fetched, session, output);
	g_ptr_array_free(fetched, TRUE);
	g_ptr_array_free(ended, TRUE);
	g_free(output);
	return status;
}

static int run_verb_remotely(const struct record_verb *verb, const struct options *o, const char *name)
{
	char *session = g_strdup(name);
	enum lt_status done = LT_ERROR;

	for (unsigned i = 0; i < o->record_host->len; i++)
		if (record_host_check(g_ptr_array_index(o->record_host, i)))
			return cmd_fail(LT_EXIT_USAGE, "record");
	if (!session && verb->run != status)
		session = remote_find(o->record_host);
	if (verb->run == status)
		done = remote_list(o->record_host, session);
	else if (session && verb->run == refresh)
		done = record_sidecar_refresh(o->record_host, session);
	else if (session)
		done = end_remotely(verb, o, session);
	if (verb->run == refresh && !done)
		print_refreshed(session);
	g_free(session);
	return done ? cmd_fail(LT_EXIT_FAILURE, "record") : LT_EXIT_OK;
}

/* The error if there is no session daemon: says where the data of its session is, if that can be found. */
static int fail_without_daemon(const char *name)
{
	char *directory = record_default_output(name ? name : "."), *latest = NULL;
	GDir *dir = name ? NULL : g_dir_open(directory, 0, NULL);
	const char *entry;

	while (dir && (entry = g_dir_read_name(dir))) {
		if (!g_str_has_prefix(entry, RECORD_SESSION_PREFIX) || (latest && strcmp(entry, latest) < 0))
			continue;
		g_free(latest);
		latest = g_strdup(entry);
	}
	if (dir)
		g_dir_close(dir);
	if (latest) {
		g_free(directory);
		directory = record_default_output(latest);
	}
	if (name && g_file_test(directory, G_FILE_TEST_IS_DIR))
		error_set("no session daemon is running, and sessions end with it: what '%s' recorded is in '%s'", name,
			  directory);
	else if (latest)
		error_set("no session daemon is running, and sessions end with it; the latest recording, '%s', is "
			  "in '%s'",
			  latest, directory);
	else if (!daemon_is_refused())
		error_set("no session daemon is running, so there are no sessions");
	g_free(latest);
	g_free(directory);
	return cmd_fail(LT_EXIT_FAILURE, "record");
}

/* Only asks: the daemon may not answer. */
static GPtrArray *list_sessions(void)
{
	GPtrArray *sessions;

	process_admit_signals(true);
	sessions = sessions_list();
	process_admit_signals(false);
	return sessions;
}

static int run_verb_locally(const struct record_verb *verb, const char *name)
{
	GPtrArray *sessions = list_sessions();
	const struct session *session;
	int result = LT_EXIT_OK;

	if (!sessions)
		/* which recording is meant is not guessed while root's daemon may have it, or nothing can be asked */
		return !ctl_load() && daemon_check() && (name || !daemon_is_refused())
			       ? fail_without_daemon(name)
			       : cmd_fail(LT_EXIT_FAILURE, "record");
	if (verb->run == status && !name) {
		for (unsigned i = 0; i < sessions->len; i++)
			if (status(g_ptr_array_index(sessions, i)))
				result = LT_EXIT_FAILURE;
		if (!sessions->len)
			puts("no sessions");
	} else {
		session = sessions_find(sessions, name);
		result = session ? verb->run(session) : cmd_fail(LT_EXIT_FAILURE, "record");
	}
	g_ptr_array_free(sessions, TRUE);
	return result;
}

/* LT_ERROR: an option that only makes sense when a recording is set up. */
static enum lt_status check_options(const struct record_verb *verb, const struct options *o)
{
	static const char *const of_all[] = { "session", "host", "log" };

	for (unsigned i = 0; i < o->given->len; i++) {
		const char *name = g_ptr_array_index(o->given, i);
		bool applies = verb->fetches && strcmp(name, "output") == 0;

		for (size_t k = 0; k < G_N_ELEMENTS(of_all); k++)
			applies |= strcmp(name, of_all[k]) == 0;
		if (!applies)
			return error_set("option '--%s' does not apply to 'record %s'", name, verb->name);
	}
	if (o->output && !*o->output)
		return error_set("option '--output': '' is not a directory's name");
	if (o->output && !o->record_host->len)
		return error_set("with 'record %s', option '--output' needs '--host'", verb->name);
	return LT_OK;
}

/* The session is the word after the verb or that of --session; NULL: none is given. LT_ERROR: wrong usage. */
static enum lt_status find_session(const struct record_verb *verb, const struct options *o, const char **session)
{
	const char *word = o->n_words > 1 ? g_ptr_array_index(o->words, 1) : NULL;

	*session = word ? word : o->session;
	if (o->n_words > 2 || o->words->len > o->n_words)
		return error_set("'%s' takes at most one session and no command", verb->name);
	if (word && o->session && strcmp(word, o->session) != 0)
		return error_set("two sessions are given: '%s' and, by --session, '%s'", word, o->session);
	return *session ? record_session_check_existing(*session) : LT_OK;
}

int record_verb_run(const struct record_verb *verb, const struct options *o)
{
	const char *session;
	int result;

	if (find_session(verb, o, &session) || check_options(verb, o))
		return cmd_fail(LT_EXIT_USAGE, "record");
	process_hold_signals();
	result = o->record_host->len ? run_verb_remotely(verb, o, session) : run_verb_locally(verb, session);
	output_flush(); /* a held signal ends this process */
	process_release_signals();
	return result;
}
