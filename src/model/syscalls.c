/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls: which one a thread is in, and for each thread and call how often, how long and with which errors. What
 * a call does to fds is up to files.c.
 *
 *   heads[thread row] ─▶ call row ─next─▶ call row ─next─▶ NO_ROW      TABLE_SYSCALL
 *                            └─errors─▶ error row ─▶ error row ─▶ NO_ROW  TABLE_SYSERR
 *
 * The chains only serve to end a thread's rows along with it; rows are found by (thread row, call).
 */
#include "base/netfs.h"
#include "model/files.h"
#include "model/mounts.h"
#include "model/parts_internal.h"

#include <errno.h>
#include <sys/socket.h>

enum { NUMBERS = 512, ERRNO_MAX = 4095, GIVEN_LEAST = 128 };

/* A call as named by the entry or exit event. */
struct call_name {
	strid name;
	const struct syscall_desc *desc;
};

struct call_link {
	uint32_t next;
	uint32_t errors;
};

struct syscalls {
	struct map64 calls;  /* thread row << 32 | name -> TABLE_SYSCALL row */
	struct map64 errors; /* TABLE_SYSCALL row << 32 | errno -> TABLE_SYSERR row */
	GArray *heads;       /* uint32_t, by thread row */
	GArray *links;       /* struct call_link, by TABLE_SYSCALL row */
	GArray *error_links; /* uint32_t, by TABLE_SYSERR row */
	strid sigreturn[2], unknown;
	struct call_name numbers[NUMBERS]; /* for syscall_entry_unknown; name STRID_NONE: not looked up yet */
};

void syscalls_create(struct model *m)
{
	m->syscalls = g_new0(struct syscalls, 1);
	m->syscalls->heads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	m->syscalls->links = g_array_new(FALSE, FALSE, sizeof(struct call_link));
	m->syscalls->error_links = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	m->syscalls->sigreturn[0] = strpool_intern_z("rt_sigreturn");
	m->syscalls->sigreturn[1] = strpool_intern_z("sigreturn");
	m->syscalls->unknown = strpool_intern_z("unknown");
}

static void forget_given(struct thread *t)
{
	g_free(t->given);
	t->given = NULL;
	t->given_size = t->call.given_len = 0;
}

void syscalls_destroy(struct model *m)
{
	struct syscalls *s = m->syscalls;

	for (guint i = 0; i < m->threads->len; i++)
		if (g_ptr_array_index(m->threads, i))
			forget_given(thread_info(m, i));
	map64_release(&s->calls);
	map64_release(&s->errors);
	g_array_free(s->heads, TRUE);
	g_array_free(s->links, TRUE);
	g_array_free(s->error_links, TRUE);
	g_free(s);
	m->syscalls = NULL;
}

static uint64_t key_of(uint32_t row, uint32_t low)
{
	return (uint64_t)row << 32 | low;
}

/* ---- names ---- */

/* The call with a number that the tracer had no name for; not for 32-bit programs. */
static struct call_name call_of_number(const struct model *m, int64_t nr)
{
	static const struct call_name none;
	struct syscalls *s = m->syscalls;
	const char *name;

	if (nr < 0 || nr >= NUMBERS)
		return none;
	/* it is only known once all classes are */
	if (nr < SYSCALL_NUMBERS_SHARED && !m->is_x86_64)
		return (struct call_name){ s->unknown, NULL };
	if (!s->numbers[nr].name) {
		name = syscall_name_of_number(nr, m->is_x86_64);
		s->numbers[nr].name = name ? strpool_intern_z(name) : s->unknown;
		s->numbers[nr].desc = name ? syscall_find(name) : NULL;
	}
	return s->numbers[nr];
}

strid syscalls_compat_name(const struct model *m, int64_t nr)
{
	const struct syscalls *s = m->syscalls;

	if (m->is_x86_64 && nr == SYSCALL_COMPAT_RT_SIGRETURN)
		return s->sigreturn[0];
	return m->is_x86_64 && nr == SYSCALL_COMPAT_SIGRETURN ? s->sigreturn[1] : STRID_NONE;
}

/* By the class of the event, else by its number; name STRID_NONE if neither gives it. */
static struct call_name call_of_event(struct model *m, const struct apply *a, bool has_nr, int64_t nr)
{
	struct call_name call = { STRID_NONE, NULL };

	if (!a->class)
		return call;
	call.name = a->class->call;
	call.desc = a->class->desc;
	if (!call.name && has_nr && a->class->compat)
		call.name = syscalls_compat_name(m, nr);
	else if (!call.name && has_nr)
		call = call_of_number(m, nr);
	return call;
}

/* ---- entry ---- */

/* The thread the event happened in; NO_ROW if unknown. */
static uint32_t caller(struct model *m, const struct apply *a)
{
	if (a->thread != NO_ROW)
		return a->thread;
	return a->ev->tid > 0 ? thread_of_tid(m, a->ev->tid) : NO_ROW;
}

/*
 * Sets the members of the entry from the six raw arguments of a call that was recorded without names, and returns which
 * ones. fds and commands are ints: their upper half is not significant.
 */
static uint32_t name_raw_arguments(struct ev_syscall_entry *p, const struct syscall_desc *desc)
{
	uint32_t present = 0;

	for (unsigned i = 0; i < desc->n_fields; i++) {
		const struct syscall_field *f = &desc->fields[i];

		if (f->raw_arg < 0 || f->raw_arg >= 6)
			continue;
		*(uint64_t *)(void *)((char *)p + f->offset) = p->args[f->raw_arg];
		present |= UINT32_C(1) << f->bit;
	}
	return present;
}

/*
 * Most calls that only name a file neither wait nor open it: programs try many names, and not each of them deserves its
 * place in the pool.
 */
static void note_path(struct thread *t, struct call_in_flight *call, const char *text, uint32_t len)
{
	if (call->desc->action != SYSCALL_PATH) {
		call->path = strpool_intern_path(text, len);
		return;
	}
	if (len > t->given_size) {
		t->given_size = MAX(len, GIVEN_LEAST);
		t->given = g_realloc(t->given, t->given_size);
	}
	memcpy(t->given, text, len);
	call->given_len = len;
}

strid syscalls_path(struct model *m, uint32_t thread)
{
	struct thread *t = thread_info(m, thread);
	struct call_in_flight *call = &t->call;

	if (!call->active)
		return STRID_NONE;
	if (!call->path && call->given_len)
		call->path = strpool_intern_path(t->given, call->given_len);
	/* what memfd_create() and mq_open() are given is not a path */
	if (!call->path || (call->desc && call->desc->made != FD_NONE && call->desc->made != FD_FILE))
		return call->path;
	return mounts_path_opened(m, thread, call);
}

static void note_arguments(struct model *m, uint32_t thread, struct call_in_flight *call, const struct apply *a)
{
	const struct event *ev = a->ev;
	const struct ev_syscall_entry *p = event_payload(ev, ev_syscall_entry);
	struct ev_syscall_entry raw;

	call->present = ev->present;
	if (!a->class->call) {
		/* unknown calls have their arguments at the end */
		raw = event_has(ev, ENTRY_ARGS) ? *p : (struct ev_syscall_entry){ .nr = p->nr };
		call->present = name_raw_arguments(&raw, call->desc);
		p = &raw;
	}
	if (call->present >> ENTRY_FD & 1)
		call->fd = (int32_t)p->fd;
	if (call->present >> ENTRY_FD2 & 1)
		call->fd2 = (int32_t)p->fd2;
	call->cmd = (int32_t)p->cmd;
	call->flags = p->flags;
	call->arg = p->arg;
	if (p->path.len && p != &raw)
		note_path(thread_info(m, thread), call, event_text(ev, p->path), p->path.len);
	if (call->desc->action == SYSCALL_CONNECT && call->present >> ENTRY_FAMILY & 1) {
		call->cmd = (int64_t)p->family;
		call->peer = fdkind_peer(p->family, p->port, p->addr);
		if (call->peer)
			call->channel = channels_connect(m, thread, p->family == AF_INET6, p->addr, p->port);
	}
}

/* The arguments of mount(), which has a payload of its own. Its class names it: its number is not needed. */
static LT_COLD void note_mount(struct call_in_flight *call, const struct event *ev)
{
	const struct ev_mount *p = event_payload(ev, ev_mount);
	const char *type = strpool_text(strpool_intern_path(event_text(ev, p->type), p->type.len));

	call->path = strpool_intern_path(event_text(ev, p->directory), p->directory.len);
	call->source = strpool_intern_path(event_text(ev, p->source), p->source.len);
	call->flags = p->flags;
	call->cmd = netfs_is_type(type);
	if (call->cmd)
		call->arg = mounts_server(type, strpool_text(call->source));
}

/* It returns to where the signal arrived, which is not the end of a call: it has no exit. */
static bool has_no_exit(const struct syscalls *s, strid name)
{
	return name && (name == s->sigreturn[0] || name == s->sigreturn[1]);
}

void apply_syscall_entry(struct model *m, const struct apply *a)
{
	const struct ev_syscall_entry *p = event_payload(a->ev, ev_syscall_entry);
	uint32_t thread = caller(m, a);
	struct call_in_flight *call;
	struct call_name name;
	struct thread_row *r;

	if (thread == NO_ROW)
		return;
	name = call_of_event(m, a, event_has(a->ev, ENTRY_NR), p->nr);
	if (has_no_exit(m->syscalls, name.name)) {
		syscalls_forget(m, thread);
		mode_set_inside(m, a->cpu, thread, INSIDE_PROGRAM);
		return;
	}
	mode_set_inside(m, a->cpu, thread, INSIDE_KERNEL);
	thread_info(m, thread)->cpus = a->cpu ? cpu_bit(m, a->cpu) : 0;
	call = &thread_info(m, thread)->call;
	*call = (struct call_in_flight){
		.active = true,
		.name = name.name,
		.desc = name.desc,
		.entry_ns = m->now_ns,
		.fd = -1,
		.fd2 = -1,
		.file = { NO_ROW, 0, 0 },
		.file2 = { NO_ROW, 0, 0 },
	};
	if (a->ev->kind == EVENT_MOUNT_ENTRY) {
		note_mount(call, a->ev);
	} else if (call->desc) {
		note_arguments(m, thread, call, a);
		files_syscall_entry(m, thread, call);
	}
	r = THREAD_ROW(m, thread);
	r->syscall = call->name;
	r->syscall_ns = m->now_ns;
	r->syscall_fd = (uint64_t)(call->fd >= 0 ? call->fd : -1);
	state_touch(&m->state, TABLE_THREAD, thread);
}

/* ---- exit ---- */

static void grow_links(GArray *links, uint32_t row, unsigned size)
{
	guint old = links->len;

	if (row < old)
		return;
	g_array_set_size(links, MAX(row + 1, 2 * old));
	memset(links->data + (size_t)old * size, 0xff, (size_t)(links->len - old) * size); /* NO_ROW */
}

uint32_t syscalls_row(struct model *m, uint32_t thread, strid name)
{
	struct syscalls *s = m->syscalls;
	uint64_t key = key_of(thread, name);
	uint32_t row = map64_get(&s->calls, key), *head;
	struct syscall_row *r;
	struct call_link *link;

	if (row != MAP64_NONE)
		return row;
	row = state_add(&m->state, TABLE_SYSCALL);
	r = STATE_ROW(&m->state, SYSCALL, syscall, row);
	r->thread_uid = THREAD_ROW(m, thread)->uid;
	r->name = name;
	map64_put(&s->calls, key, row);
	grow_links(s->heads, thread, sizeof(uint32_t));
	grow_links(s->links, row, sizeof(struct call_link));
	head = &g_array_index(s->heads, uint32_t, thread);
	link = &g_array_index(s->links, struct call_link, row);
	*link = (struct call_link){ .next = *head, .errors = NO_ROW };
	*head = row;
	return row;
}

static uint32_t error_row(struct model *m, uint32_t call, int64_t error)
{
	struct syscalls *s = m->syscalls;
	const struct syscall_row *c = STATE_ROW(&m->state, SYSCALL, syscall, call);
	uint64_t key = key_of(call, (uint32_t)error);
	uint32_t row = map64_get(&s->errors, key);
	struct syserr_row *r;
	struct call_link *link;

	if (row != MAP64_NONE)
		return row;
	row = state_add(&m->state, TABLE_SYSERR);
	r = STATE_ROW(&m->state, SYSERR, syserr, row);
	r->thread_uid = c->thread_uid;
	r->name = c->name;
	r->error = (uint64_t)error;
	map64_put(&s->errors, key, row);
	grow_links(s->error_links, row, sizeof(uint32_t));
	link = &g_array_index(s->links, struct call_link, call);
	g_array_index(s->error_links, uint32_t, row) = link->errors;
	link->errors = row;
	return row;
}

uint32_t syscalls_error_row(struct model *m, uint32_t thread, strid name, int64_t error)
{
	return error_row(m, syscalls_row(m, thread, name), error);
}

static void count_error(struct model *m, uint32_t call, int64_t error)
{
	uint32_t row = error_row(m, call, error);

	STATE_ROW(&m->state, SYSERR, syserr, row)->count++;
	state_touch(&m->state, TABLE_SYSERR, row);
}

static void count_call(struct model *m, uint32_t thread, const struct call_in_flight *call, int64_t ret)
{
	uint32_t row = syscalls_row(m, thread, call->name);
	struct syscall_row *r = STATE_ROW(&m->state, SYSCALL, syscall, row);

	r->count++;
	if (call->active && m->now_ns >= call->entry_ns)
		DIST_ADD(m, SYSCALL, syscall, row, time, m->now_ns - call->entry_ns, thread, call->name);
	if (ret < 0 && ret >= -ERRNO_MAX) {
		r->errors++;
		count_error(m, row, -ret);
	}
	state_touch(&m->state, TABLE_SYSCALL, row);
}

/* Whether a new thread returns from the call that its parent made: clone, fork and vfork return 0 in the child only. */
static bool is_birth(const struct call_in_flight *call, int64_t ret)
{
	return !call->active && ret == 0 && call->desc && call->desc->action == SYSCALL_CLONE;
}

/* The call that an exit of that name ends; NULL: its entry was before the record, lost, or the parent's. */
static struct call_in_flight *call_ended(struct model *m, uint32_t thread, strid name)
{
	struct thread *t = thread_info(m, thread);

	t->entered_ns = t->left_ns;
	if (!t->call.active || (name && name != t->call.name))
		return NULL;
	t->entered_ns = t->call.entry_ns;
	if (G_LIKELY(m->lost_until_ns <= t->call.entry_ns) || !lost_in_call(m, thread))
		return &t->call;
	t->entered_ns = m->now_ns;
	return NULL;
}

void apply_syscall_exit(struct model *m, const struct apply *a)
{
	const struct ev_syscall_exit *p = event_payload(a->ev, ev_syscall_exit);
	uint32_t thread = caller(m, a);
	struct call_in_flight unseen = { .fd = -1, .fd2 = -1, .file = { NO_ROW, 0, 0 }, .file2 = { NO_ROW, 0, 0 } };
	struct call_in_flight *call;
	struct call_name name;

	if (thread == NO_ROW)
		return;
	name = call_of_event(m, a, event_has(a->ev, EXIT_NR), p->nr);
	call = call_ended(m, thread, name.name);
	if (!call) {
		call = &unseen;
		call->name = name.name;
		call->desc = name.desc;
	}
	if (!call->name)
		call->name = m->syscalls->unknown;
	if (!is_birth(call, p->ret)) {
		THREAD_ROW(m, thread)->syscalls++;
		if (m->counts_calls)
			count_call(m, thread, call, p->ret);
	}
	if (call->desc && call->desc->action == SYSCALL_EXEC && p->ret >= 0 && !m->execs_seen)
		thread_set_exe(m, thread, call->path);
	if (call->desc)
		files_syscall_exit(m, a, thread, call, p->ret);
	syscalls_forget(m, thread);
	mode_set_inside(m, a->cpu, thread, INSIDE_PROGRAM);
}

void syscalls_forget(struct model *m, uint32_t thread)
{
	struct thread_row *r = THREAD_ROW(m, thread);

	thread_info(m, thread)->call.active = false;
	thread_info(m, thread)->left_ns = m->now_ns;
	r->syscall = STRID_NONE;
	r->syscall_ns = 0;
	r->syscall_fd = (uint64_t)-1;
	state_touch(&m->state, TABLE_THREAD, thread);
}

void syscalls_thread_end(struct model *m, uint32_t thread)
{
	struct syscalls *s = m->syscalls;
	uint32_t call, error;

	forget_given(thread_info(m, thread));
	if (thread >= s->heads->len)
		return;
	call = g_array_index(s->heads, uint32_t, thread);
	g_array_index(s->heads, uint32_t, thread) = NO_ROW;
	while (call != NO_ROW) {
		const struct call_link *link = &g_array_index(s->links, struct call_link, call);

		map64_del(&s->calls, key_of(thread, (strid)STATE_ROW(&m->state, SYSCALL, syscall, call)->name));
		for (error = link->errors; error != NO_ROW; error = g_array_index(s->error_links, uint32_t, error)) {
			map64_del(&s->errors,
				  key_of(call, (uint32_t)STATE_ROW(&m->state, SYSERR, syserr, error)->error));
			state_end(&m->state, TABLE_SYSERR, error);
		}
		buckets_end(m, TABLE_SYSCALL, call);
		state_end(&m->state, TABLE_SYSCALL, call);
		call = link->next;
	}
}
