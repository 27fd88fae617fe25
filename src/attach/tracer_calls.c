/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of chosen threads, from entry to exit. */
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>

#include "attach/decode.h"
#include "attach/tracer_internal.h"
#include "base/text.h"

static void clear_arg(gpointer data)
{
	g_free(((struct attach_arg *)data)->text);
}

void tracer_call_forget(struct call_now *now)
{
	if (now->args)
		g_array_free(now->args, TRUE);
	*now = (struct call_now){ 0 };
}

/* ---- what fds are ---- */

/* The thread whose call is being decoded. */
struct caller {
	const struct attach_tracer *t;
	const struct model *model;
	int32_t tid;
	uint64_t ts_ns;
	bool matched; /* one of its paths is selected */
};

static bool is_socket(enum fd_kind kind)
{
	return kind == FD_SOCKET || kind == FD_SOCKET_INET || kind == FD_SOCKET_UNIX || kind == FD_SOCKET_OTHER;
}

static bool look_fd(const struct caller *caller, int64_t fd, struct model_fd *file)
{
	const struct attach_tracer_options *o = caller->t->options;

	const bool open = model_look_fd(caller->model, caller->tid, fd, file);

	/* an fd opened before the trace starts appears on first use, but nothing is known about it */
	if (open && (file->path || file->peer || file->kind != FD_UNKNOWN))
		return true;
	return (o->look_fd && o->look_fd(o->user, caller->tid, fd, caller->ts_ns, file)) || open;
}

/* "<tcp 10.0.0.1:41022→10.0.0.3:5432>", or what is known of it. */
static void name_socket(GString *out, const struct model_fd *file, bool ascii)
{
	const bool tcp = file->protocol == IPPROTO_TCP, udp = file->protocol == IPPROTO_UDP;

	g_string_append_printf(out, "<%s ", tcp ? "tcp" : udp ? "udp" : fd_kind_name(file->kind));
	if (file->local)
		g_string_append_printf(out, "%s%s", strpool_text(file->local), ascii ? "->" : "→");
	g_string_append_printf(out, "%s>", strpool_text(file->peer));
}

/* What the kernel, and with it strace -y, calls a file that has no path. */
static const char *nameless(enum fd_kind kind)
{
	static const char *const names[FD_KINDS] = {
		[FD_EPOLL] = "anon_inode:[eventpoll]",   [FD_EVENTFD] = "anon_inode:[eventfd]",
		[FD_TIMERFD] = "anon_inode:[timerfd]",   [FD_SIGNALFD] = "anon_inode:[signalfd]",
		[FD_FANOTIFY] = "anon_inode:[fanotify]", [FD_INOTIFY] = "anon_inode:inotify",
		[FD_PIDFD] = "anon_inode:[pidfd]",       [FD_PERF] = "anon_inode:[perf_event]",
		[FD_IO_URING] = "anon_inode:[io_uring]",
	};

	return kind < FD_KINDS && names[kind] ? names[kind] : fd_kind_name(kind);
}

static void name_fd(void *data, GString *out, int64_t fd)
{
	const struct caller *caller = data;
	struct model_fd file;

	if (!look_fd(caller, fd, &file))
		return;
	if (file.peer && is_socket(file.kind) && caller->t->options->paths > 1)
		name_socket(out, &file, caller->t->options->ascii);
	else if (file.path)
		g_string_append_printf(out, "<%s>", strpool_text(file.path));
	else if (file.kind != FD_UNKNOWN && file.kind != FD_FILE)
		g_string_append_printf(out, is_socket(file.kind) ? "<socket:%s>" : "<%s>", nameless(file.kind));
}

static void saw_fd(void *data, int64_t fd)
{
	struct caller *caller = data;
	const struct attach_filter *filter = caller->t->options->filter;
	struct model_fd file;

	if (!caller->matched && look_fd(caller, fd, &file))
		caller->matched = (file.path && attach_filter_path(filter, strpool_text(file.path))) ||
				  (file.peer && attach_filter_path(filter, strpool_text(file.peer)));
}

static void saw_path(void *data, int64_t dirfd, const char *path, size_t len)
{
	struct caller *caller = data;
	const struct attach_filter *filter = caller->t->options->filter;
	char plain[TEXT_MAX + 1], joined[TEXT_MAX + 1];

	if (caller->matched)
		return;
	text_sanitise(plain, sizeof(plain), path, len);
	caller->matched = attach_filter_path(filter, plain) ||
			  (model_look_path(caller->model, caller->tid, dirfd, plain, joined, sizeof(joined)) &&
			   attach_filter_path(filter, joined));
}

static struct caller caller_of(const struct attach_tracer *t, const struct ingest_visit *v, int32_t tid)
{
	return (struct caller){
		.t = t,
		.model = ingest_host(t->in, v->host)->model,
		.tid = tid,
		.ts_ns = v->event->ts_ns,
		.matched = !t->options->filter->paths->len,
	};
}

static struct decode decoder(const struct ingest_visit *v, struct caller *caller)
{
	struct decode d = {
		.out = caller->t->text,
		.shape = v->shape,
		.ev = v->fields,
		.dirfd = AT_FDCWD,
		.data = caller,
	};

	if (caller->t->options->paths)
		d.name_fd = name_fd;
	if (!caller->matched) {
		d.saw_fd = saw_fd;
		d.saw_path = saw_path;
	}
	return d;
}

/* What has been decoded; the caller frees it. */
static char *take_text(struct decode *d)
{
	char *text = g_strndup(d->out->str, d->out->len);

	g_string_truncate(d->out, 0);
	return text;
}

/* ---- arguments ---- */

/* Takes every field of a call without a row as an argument, under the field's name. */
static void take_fields(struct call_now *now, struct decode *d, const char *const *skip)
{
	const struct shape *shape = d->shape;
	const uint32_t root = shape->parts[FIELDS_PAYLOAD];
	uint32_t field = root + 1;

	if (shape->fields[root].kind != SHAPE_STRUCT)
		return;
	for (uint32_t i = 0; i < shape->fields[root].count; i++, field = shape->fields[field].next) {
		struct attach_arg arg = { .name = strpool_text(strpool_intern_z(shape->fields[field].name)) };

		if (g_strv_contains(skip, shape->fields[field].name))
			continue;
		decode_field(d, field);
		arg.text = take_text(d);
		g_array_append_val(now->args, arg);
	}
}

/* number: the register that holds it; -1: it is a field. */
static void take_arg(struct attach_arg *arg, struct decode *d, const struct call_arg *how, int number)
{
	enum decoded decoded;

	decoded = number >= 0 ? decode_register(d, how, (unsigned)number) : decode_arg(d, how);
	if (decoded == DECODED_NOTHING) {
		g_string_truncate(d->out, 0);
		return;
	}
	g_free(arg->text);
	arg->text = take_text(d);
	arg->omitted = decoded == DECODED_OMITTED;
}

/* Whether the exit has what the caller passed: in the fields for fds to wait for, it has those that are ready. */
static bool exit_has(const struct call_arg *how)
{
	return how->type != ARG_POLLFDS && how->type != ARG_FDSET;
}

static const char *const not_arguments[] = { "id", "ret", NULL };

static void take_entry(struct call_now *now, struct decode *d, bool by_registers)
{
	now->args = g_array_new(FALSE, TRUE, sizeof(struct attach_arg));
	g_array_set_clear_func(now->args, clear_arg);
	if (!now->call) {
		take_fields(now, d, not_arguments);
		return;
	}
	for (unsigned i = 0; i < now->call->n_args; i++) {
		struct attach_arg arg = { .name = now->call->args[i].names[0], .late = now->call->args[i].out };

		take_arg(&arg, d, &now->call->args[i], by_registers ? (int)i : -1);
		arg.late = arg.late && !by_registers;
		arg.late = arg.late || (!arg.text && exit_has(&now->call->args[i]));
		g_array_append_val(now->args, arg);
	}
	decode_integer(d->shape, d->ev, "cmd", &now->cmd);
}

/* The entry was not seen: take what the exit has. */
static void take_late_entry(struct call_now *now)
{
	now->args = g_array_new(FALSE, TRUE, sizeof(struct attach_arg));
	g_array_set_clear_func(now->args, clear_arg);
	for (unsigned i = 0; now->call && i < now->call->n_args; i++) {
		const struct call_arg *how = &now->call->args[i];
		struct attach_arg arg = { .name = how->names[0], .late = exit_has(how) };

		g_array_append_val(now->args, arg);
	}
}

static void take_exit(struct call_now *now, struct decode *d)
{
	if (!now->call) {
		if (!now->active)
			take_fields(now, d, not_arguments);
		return;
	}
	for (unsigned i = 0; i < now->args->len; i++) {
		struct attach_arg *arg = &g_array_index(now->args, struct attach_arg, i);

		if (arg->late)
			take_arg(arg, d, &now->call->args[i], -1);
	}
}

/* ---- entry and exit ---- */

/* Finds name and row, even for events that only have the call's number. false: the call is not shown. */
static bool identify(struct attach_tracer *t, const struct ingest_visit *v, const struct tracer_class *plan,
		     strid *name, const struct call **call)
{
	const char *text = NULL;
	int64_t nr;

	*name = plan->name;
	*call = plan->call;
	if (plan->name)
		return plan->shown;
	if (decode_integer(v->shape, v->fields, "id", &nr))
		text = model_look_call_name(ingest_host(t->in, v->host)->model, nr, plan->compat);
	*name = strpool_intern_z(text ? text : "unknown");
	*call = text ? calls_find(text) : NULL;
	return attach_filter_call(t->options->filter, strpool_text(*name), *call);
}

/* Resumes where the signal interrupted: it is not seen to return, and its entry is its end. */
static bool never_returns(const struct call_now *now)
{
	static const char *const names[] = { "rt_sigreturn", "sigreturn", NULL };

	return g_strv_contains(names, strpool_text(now->name));
}

/* The created thread returns from it, too, with 0: that is its first event, and not a call of its own. */
static bool creates_thread(const struct call_now *now)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork", NULL };

	return g_strv_contains(names, strpool_text(now->name));
}

/* Ignores what the command's process did before it became the command. */
static void await_command(struct attach_tracer *t, const struct ingest_visit *v, const struct tracer_class *plan)
{
	const int32_t command = t->options->select->command;

	if (!command || t->command_runs || tracer_tid(t, v) != command || !plan->name ||
	    strcmp(strpool_text(plan->name), "execve") != 0)
		return;
	t->command_runs = tracer_follow(t, v, command) != NULL;
}

/* The thread whose call is followed: a chosen one, or one that this call may give a name by which it is chosen. */
static struct traced *caller_thread(struct attach_tracer *t, const struct ingest_visit *v,
				    const struct tracer_class *plan)
{
	const int32_t tid = tracer_tid(t, v);
	struct traced *who = tracer_thread(t, v, tid);

	return !who && plan->renames ? tracer_known(t, v->host, tid) : who;
}

static void emit_entry(struct attach_tracer *t, const struct ingest_visit *v, struct traced *who)
{
	struct attach_record *r = tracer_record(t, v, who, ATTACH_ENTRY);

	r->name = who->now.name;
	r->call = who->now.call;
	r->head = attach_args_text(who->now.args, false);
	who->now.begun = v->ref_ns >= t->options->begin_ns;
	tracer_emit(t, r);
}

void tracer_call_entry(struct attach_tracer *t, const struct ingest_visit *v, const struct tracer_class *plan)
{
	struct traced *who;
	struct caller caller;
	struct decode d;
	struct call_now *now;

	await_command(t, v, plan);
	if (plan->ends)
		tracer_exit_code(t, v, plan->ends);
	who = caller_thread(t, v, plan);
	if (!who)
		return;
	now = &who->now;
	if (now->active)
		tracer_call_end(t, v, v->host, who, CALL_UNKNOWN);
	now->active = true;
	now->held = !who->chosen;
	now->entry_ns = v->event->ts_ns;
	now->entry_ref_ns = v->ref_ns;
	now->shown = identify(t, v, plan, &now->name, &now->call);
	if (!now->shown)
		return;
	caller = caller_of(t, v, who->tid);
	d = decoder(v, &caller);
	take_entry(now, &d, !plan->name);
	now->matched = caller.matched;
	if (!t->options->whole_calls && now->matched && !now->held)
		emit_entry(t, v, who);
	if (never_returns(now))
		tracer_call_end(t, v, v->host, who, CALL_UNFINISHED);
}

/* Moves the call's data into the record, which ends the call. */
static void hand_over(const struct attach_tracer *t, struct call_now *now, struct attach_record *r)
{
	r->name = now->name;
	r->call = now->call;
	r->begun = now->begun;
	r->has_entry = now->active;
	r->waited = now->waited;
	r->entry_ns = now->active ? now->entry_ns : r->ts_ns;
	r->entry_ref_ns = now->active ? now->entry_ref_ns : r->ref_ns;
	r->early = r->entry_ref_ns < t->options->begin_ns;
	r->duration_ns = r->ts_ns > r->entry_ns ? r->ts_ns - r->entry_ns : 0;
	r->off_ns = now->off_ns;
	if (now->off_since_ns && r->ts_ns > now->off_since_ns)
		r->off_ns += r->ts_ns - now->off_since_ns;
	r->args = now->args;
	now->args = NULL;
	tracer_call_forget(now);
}

/* A thread that was chosen when it entered the call in progress, which may have given it another name. */
static struct traced *renamed_thread(struct attach_tracer *t, unsigned host, int32_t tid)
{
	struct traced *who = tracer_known(t, host, tid);

	if (who && who->now.held)
		tracer_call_forget(&who->now);
	return who && who->now.active ? who : NULL;
}

/* Whether the exit cannot be trusted to end the call entered then: events were lost, or not all calls are followed. */
static bool has_left_since(const struct attach_tracer *t, const struct ingest_visit *v, int32_t tid, uint64_t entry_ns)
{
	return entry_ns < model_look_entered(ingest_host(t->in, v->host)->model, tid);
}

void tracer_call_exit(struct attach_tracer *t, const struct ingest_visit *v, const struct tracer_class *plan)
{
	const int32_t tid = tracer_tid(t, v);
	struct traced *const chosen = tracer_thread(t, v, tid);
	struct traced *who = chosen ? chosen : renamed_thread(t, v->host, tid);
	const struct call *call;
	struct caller caller;
	struct attach_record *r;
	struct call_now *now;
	struct decode d;
	strid name;
	bool shown, is_birth;

	if (!who)
		return;
	now = &who->now;
	shown = identify(t, v, plan, &name, &call);
	if (now->active && (now->name != name || has_left_since(t, v, tid, now->entry_ns)))
		tracer_call_end(t, v, v->host, who, CALL_UNKNOWN);
	if (!now->active && !chosen)
		return;
	if (!now->active) {
		now->name = name;
		now->call = call;
		now->shown = shown;
		now->cmd = -1;
		take_late_entry(now);
	}
	if (!now->shown) {
		tracer_call_forget(now);
		return;
	}
	caller = caller_of(t, v, who->tid);
	caller.matched = caller.matched || now->matched;
	d = decoder(v, &caller);
	take_exit(now, &d);
	r = tracer_record(t, v, who, ATTACH_EXIT);
	decode_integer(v->shape, v->fields, "ret", &r->ret);
	decode_result(&d, now->call, r->ret, (uint64_t)now->cmd);
	r->result = take_text(&d);
	r->status = decode_is_error(r->ret) ? CALL_FAILED : CALL_SUCCESSFUL;
	is_birth = !now->active && r->ret == 0 && creates_thread(now);
	hand_over(t, now, r);
	if (caller.matched && !is_birth)
		tracer_emit(t, r);
	else
		attach_record_free(r);
}

/* The end of the calls in progress, on the host's clock: its last event or, if it has later ones, the time of --end. */
static uint64_t host_end(const struct attach_tracer *t, const struct ingest_host *h)
{
	const uint64_t asked_ns = t->options->end_ns;
	const uint64_t end_ns = asked_ns == UINT64_MAX ? asked_ns : clock_from_ref(h->map, asked_ns);

	return !h->ended && h->next_ns >= end_ns ? end_ns : h->end_ns;
}

void tracer_call_end(struct attach_tracer *t, const struct ingest_visit *v, unsigned host, struct traced *who,
		     enum call_status status)
{
	struct call_now *now = &who->now;
	struct ingest_visit end = { .host = host };
	struct attach_record *r;
	struct event last = { 0 };

	if (!now->shown || !now->matched || now->held) {
		tracer_call_forget(now);
		return;
	}
	if (!v) {
		const struct ingest_host *h = ingest_host(t->in, host);

		last.ts_ns = MAX(host_end(t, h), 1) - 1;
		end.event = &last;
		end.ref_ns = MIN(clock_to_ref(h->map, last.ts_ns), t->options->end_ns - 1);
		v = &end;
	}
	r = tracer_record(t, v, who, ATTACH_EXIT);
	r->status = status;
	r->result = g_strdup("?");
	hand_over(t, now, r);
	tracer_emit(t, r);
}
