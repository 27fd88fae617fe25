/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/syscalls.h"

#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "event/payload.h"

struct syscall_row {
	struct syscall_desc desc;
	const char *fields;
};

static struct syscall_row rows[] = {
#define SYSCALL(name, action, made, cloexec, fields) { { #name, SYSCALL_##action, FD_##made, cloexec, 0, {} }, fields },
#include "event/syscalls.def"
#undef SYSCALL
};

static const char *const numbers[] = {
#define SYSCALL_NUMBER(nr, name) [nr] = #name,
#include "event/syscall_numbers.def"
#undef SYSCALL_NUMBER
};

static const struct {
	const char *name;
	uint16_t offset;
	uint8_t bit;
} members[] = {
	/* bit: the member's index in fields_syscall_entry of event/tracepoints.c */
	{ "fd", offsetof(struct ev_syscall_entry, fd), 1 },
	{ "fd2", offsetof(struct ev_syscall_entry, fd2), 2 },
	{ "cmd", offsetof(struct ev_syscall_entry, cmd), 3 },
	{ "flags", offsetof(struct ev_syscall_entry, flags), 4 },
	{ "arg", offsetof(struct ev_syscall_entry, arg), 5 },
	{ "path", offsetof(struct ev_syscall_entry, path), 6 },
	{ "family", offsetof(struct ev_syscall_entry, family), 7 },
	{ "port", offsetof(struct ev_syscall_entry, port), 8 },
	{ "addr", offsetof(struct ev_syscall_entry, addr), 9 },
};

static GHashTable *by_name;

/* One "member:field|field@number" of the table. */
static struct syscall_field parse_field(const char *text, size_t len)
{
	const char *colon = memchr(text, ':', len), *end = text + len, *at;
	struct syscall_field f = { .raw_arg = -1 };
	unsigned i;

	g_assert(colon);
	for (i = 0; i < G_N_ELEMENTS(members); i++)
		if (strlen(members[i].name) == (size_t)(colon - text) &&
		    memcmp(members[i].name, text, colon - text) == 0)
			break;
	g_assert(i < G_N_ELEMENTS(members));
	f.offset = members[i].offset;
	f.bit = members[i].bit;
	f.names = colon + 1;
	at = memchr(f.names, '@', end - f.names);
	f.names_len = (at ? at : end) - f.names;
	if (at)
		f.raw_arg = at[1] - '0';
	return f;
}

static void build_table(void)
{
	by_name = g_hash_table_new(g_str_hash, g_str_equal);
	for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
		struct syscall_desc *desc = &rows[i].desc;

		for (const char *p = rows[i].fields; *p; p += strspn(p, " ")) {
			size_t len = strcspn(p, " ");

			g_assert(desc->n_fields < SYSCALL_FIELDS_MAX);
			desc->fields[desc->n_fields++] = parse_field(p, len);
			p += len;
		}
		g_hash_table_insert(by_name, (void *)desc->name, desc);
	}
}

const struct syscall_desc *syscall_find(const char *name)
{
	if (!by_name)
		build_table();
	return g_hash_table_lookup(by_name, name);
}

const char *syscall_strace_name(const char *name)
{
	static const char *const names[][2] = {
		{ "newfstat", "fstat" }, { "newlstat", "lstat" },      { "newstat", "stat" },
		{ "newuname", "uname" }, { "sendfile64", "sendfile" }, { "umount", "umount2" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(names[i][0], name) == 0)
			return names[i][1];
	return NULL;
}

const char *syscall_name_of_number(int64_t nr, bool is_x86_64)
{
	return nr >= (is_x86_64 ? 0 : SYSCALL_NUMBERS_SHARED) && nr < (int64_t)G_N_ELEMENTS(numbers) ? numbers[nr]
												     : NULL;
}

bool syscall_is_known(const char *name)
{
	for (size_t nr = 0; nr < G_N_ELEMENTS(numbers); nr++) {
		const char *strace_name = numbers[nr] ? syscall_strace_name(numbers[nr]) : NULL;

		if (numbers[nr] && (!strcmp(numbers[nr], name) || (strace_name && !strcmp(strace_name, name))))
			return true;
	}
	return syscall_find(name) != NULL;
}

const char *fd_kind_name(enum fd_kind kind)
{
	static const char *const names[FD_KINDS] = {
		[FD_NONE] = "none",        [FD_UNKNOWN] = "unknown",     [FD_FILE] = "file",
		[FD_PIPE] = "pipe",        [FD_SOCKET] = "socket",       [FD_EVENTFD] = "eventfd",
		[FD_EPOLL] = "epoll",      [FD_TIMERFD] = "timerfd",     [FD_SIGNALFD] = "signalfd",
		[FD_MEMFD] = "memfd",      [FD_INOTIFY] = "inotify",     [FD_FANOTIFY] = "fanotify",
		[FD_PIDFD] = "pidfd",      [FD_PERF] = "perf",           [FD_IO_URING] = "io_uring",
		[FD_MQUEUE] = "mqueue",    [FD_OTHER] = "other",         [FD_SOCKET_INET] = "inet",
		[FD_SOCKET_UNIX] = "unix", [FD_SOCKET_OTHER] = "socket", [FD_DEVICE] = "device",
		[FD_BLOCK] = "block",      [FD_PSEUDO] = "pseudo",       [FD_FIFO] = "fifo",
		[FD_NETFS] = "netfs",
	};

	return kind < FD_KINDS ? names[kind] : "unknown";
}
