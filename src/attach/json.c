/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/json.h"

#include <errno.h>

static json_t *text_or_null(strid id)
{
	return id ? json_string(strpool_text(id)) : json_null();
}

static json_t *args_of(const struct attach_record *r)
{
	json_t *args = json_object();

	for (guint i = 0; i < r->args->len; i++) {
		const struct attach_arg *arg = &g_array_index(r->args, struct attach_arg, i);
		const size_t name_len = strlen(arg->name);

		if (arg->omitted)
			continue;
		if (!arg->text)
			json_object_set_new(args, arg->name, json_null());
		else if (!r->call && strncmp(arg->text, arg->name, name_len) == 0 && arg->text[name_len] == '=')
			json_object_set_new(args, arg->name, json_string(arg->text + name_len + 1));
		else
			json_object_set_new(args, arg->name, json_string(arg->text));
	}
	return args;
}

static const char *status_name(enum call_status status)
{
	switch (status) {
	case CALL_SUCCESSFUL:
		return "successful";
	case CALL_FAILED:
		return "failed";
	case CALL_UNFINISHED:
		return "unfinished";
	default:
		return "unavailable";
	}
}

static void add_call(json_t *o, struct ingest *in, const struct attach_record *r, const struct attach_wait *wait)
{
	const bool returned = r->status == CALL_SUCCESSFUL || r->status == CALL_FAILED;
	const char *error = r->status == CALL_FAILED ? consts_errno(-r->ret) : NULL;
	/* rt_sigreturn() and sigreturn() end with their entry */
	const bool lasts = r->has_entry && (r->status != CALL_UNFINISHED || r->ts_ns > r->entry_ns);

	json_object_set_new(o, "name", json_string(strpool_text(r->name)));
	json_object_set_new(o, "args", args_of(r));
	json_object_set_new(o, "status", json_string(status_name(r->status)));
	json_object_set_new(o, "ret", returned ? json_integer((json_int_t)r->ret) : json_null());
	json_object_set_new(o, "result", json_string(r->result));
	json_object_set_new(o, "error", error ? json_string(error) : json_null());
	json_object_set_new(o, "begin_ns", r->has_entry ? json_integer((json_int_t)r->entry_ref_ns) : json_null());
	json_object_set_new(o, "duration_ns", lasts ? json_integer((json_int_t)r->duration_ns) : json_null());
	json_object_set_new(o, "off_cpu_ns", lasts ? json_integer((json_int_t)r->off_ns) : json_null());
	json_object_set_new(o, "waits", attach_wait_json(wait, in));
}

static void add_loss(json_t *o, const struct attach_record *r)
{
	json_object_set_new(o, "cpu", r->cpu == EVENT_NO_CPU ? json_null() : json_integer(r->cpu));
	json_object_set_new(o, "events", json_integer((json_int_t)r->lost_events));
	json_object_set_new(o, "packets", json_integer((json_int_t)r->lost_packets));
	json_object_set_new(o, "begin_ns", json_integer((json_int_t)r->entry_ref_ns));
}

bool attach_json_write(FILE *out, struct ingest *in, const struct attach_record *r, const struct attach_wait *wait)
{
	static const char *const events[] = {
		[ATTACH_EXIT] = "call", [ATTACH_SIGNAL] = "signal", [ATTACH_NEW] = "attached",
		[ATTACH_GONE] = "exit", [ATTACH_SCHED] = "sched",   [ATTACH_LOST] = "lost",
	};
	json_t *o;
	int error = 0;

	if (r->kind == ATTACH_ENTRY)
		return true;
	o = json_object();
	json_object_set_new(o, "event", json_string(events[r->kind]));
	json_object_set_new(o, "ts_ns", json_integer((json_int_t)r->ref_ns));
	json_object_set_new(o, "host", json_string(strpool_text(strpool_intern_z(ingest_host(in, r->host)->name))));
	json_object_set_new(o, "tid", r->tid >= 0 ? json_integer(r->tid) : json_null());
	json_object_set_new(o, "pid", r->pid >= 0 ? json_integer(r->pid) : json_null());
	json_object_set_new(o, "comm", text_or_null(r->comm));
	if (r->kind == ATTACH_EXIT)
		add_call(o, in, r, wait);
	else
		json_object_set_new(o, "text", json_string(r->text));
	if (r->kind == ATTACH_LOST)
		add_loss(o, r);
	if (json_dumpf(o, out, JSON_COMPACT) || fputc('\n', out) == EOF)
		error = errno;
	json_decref(o);
	errno = error;
	return !error;
}
