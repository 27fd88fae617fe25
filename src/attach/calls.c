/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/calls.h"

#include <glib.h>
#include <string.h>

#include "event/syscalls.h"

static const char *const type_names[ARG_TYPES] = {
	[ARG_INT] = "int",
	[ARG_UINT] = "uint",
	[ARG_HEX] = "hex",
	[ARG_PTR] = "ptr",
	[ARG_ID] = "id",
	[ARG_MODE] = "mode",
	[ARG_CREATE_MODE] = "create_mode",
	[ARG_DEV] = "dev",
	[ARG_STR] = "str",
	[ARG_FD] = "fd",
	[ARG_DIRFD] = "dirfd",
	[ARG_FDS] = "fds",
	[ARG_SIG] = "sig",
	[ARG_SOCKADDR] = "sockaddr",
	[ARG_LENGTH] = "length",
	[ARG_PROTOCOL] = "protocol",
	[ARG_SOCKOPT] = "sockopt",
	[ARG_FCNTL_ARG] = "fcntl_arg",
	[ARG_POLLFDS] = "pollfds",
	[ARG_EPOLL_EVENT] = "epoll_event",
	[ARG_EPOLL_LIST] = "epoll_list",
	[ARG_FDSET] = "fdset",
	[ARG_TIMESPEC] = "timespec",
	[ARG_FCNTL] = "fcntl",
	[ARG_POLL] = "poll",
	[ARG_SELECT] = "select",
};

static const struct {
	char letter; /* in calls.def; 0: only found as part of others */
	const char *name;
	unsigned bits;
} classes[] = {
	{ 'F', "file", CALL_FILE },
	{ 'D', "desc", CALL_DESC },
	{ 'N', "network", CALL_NETWORK },
	{ 0, "net", CALL_NETWORK },
	{ 'P', "process", CALL_PROCESS },
	{ 'M', "memory", CALL_MEMORY },
	{ 'S', "signal", CALL_SIGNAL },
	{ 'I', "ipc", CALL_IPC },
	{ 'C', "creds", CALL_CREDS },
	{ 'T', "clock", CALL_CLOCK },
	{ 'U', "pure", CALL_PURE },
	{ 's', "stat", CALL_STAT },
	{ 'l', "lstat", CALL_LSTAT },
	{ 'f', "fstat", CALL_FSTAT },
	{ 0, "%stat", CALL_STAT | CALL_LSTAT | CALL_FSTAT },
	{ 'a', "statfs", CALL_STATFS },
	{ 'b', "fstatfs", CALL_FSTATFS },
	{ 0, "%statfs", CALL_STATFS | CALL_FSTATFS },
};

struct call_row {
	struct call call;
	const char *classes, *args;
};

static struct call_row rows[] = {
#define CALL(call_name, manual_name, call_classes, call_args) \
	{ { .name = #call_name, .other = manual_name }, call_classes, call_args },
#include "attach/calls.def"
};

static struct call calls[G_N_ELEMENTS(rows)];
static GHashTable *by_name;

static enum arg_type parse_type(const char *text, size_t len, const struct const_set **set)
{
	for (unsigned i = 0; i < ARG_TYPES; i++)
		if (type_names[i] && strncmp(type_names[i], text, len) == 0 && !type_names[i][len])
			return (enum arg_type)i;
	*set = consts_find(text, len);
	if (!*set)
		g_error("calls.def: '%.*s' is not a type", (int)len, text);
	return ARG_SET;
}

/* "[>]field[|field]:type" */
static void parse_arg(struct call *call, const char *text, size_t len)
{
	struct call_arg *arg = &call->args[call->n_args++];
	const char *colon = memchr(text, ':', len), *end = text + len;
	unsigned n = 0;

	g_assert(call->n_args <= CALL_ARGS_MAX && colon);
	arg->out = *text == '>';
	text += arg->out;
	while (text < colon) {
		const char *next = memchr(text, '|', (size_t)(colon - text));

		next = next ? next : colon;
		g_assert(n < CALL_NAMES_MAX);
		arg->names[n++] = g_strndup(text, (gsize)(next - text));
		text = next + (next < colon);
	}
	arg->type = parse_type(colon + 1, (size_t)(end - colon - 1), &arg->set);
}

static unsigned parse_classes(const char *letters)
{
	unsigned bits = 0;

	for (; *letters; letters++)
		for (unsigned i = 0; i < G_N_ELEMENTS(classes); i++)
			if (classes[i].letter == *letters)
				bits |= classes[i].bits;
	return bits;
}

static void parse_row(struct call *call, const struct call_row *row)
{
	const struct const_set *set = NULL;
	const char *strace_name = syscall_strace_name(row->call.name);

	*call = row->call;
	call->shown = strace_name ? strace_name : call->name;
	if (strace_name)
		call->other = strace_name;
	call->classes = parse_classes(row->classes);
	for (const char *text = row->args; *text;) {
		const size_t len = strcspn(text, " ");

		if (*text == '=')
			call->result = parse_type(text + 1, len - 1, &set);
		else
			parse_arg(call, text, len);
		text += len;
		text += strspn(text, " ");
	}
}

void calls_init(void)
{
	if (by_name)
		return;
	by_name = g_hash_table_new(g_str_hash, g_str_equal);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		parse_row(&calls[i], &rows[i]);
		if (!g_hash_table_insert(by_name, (gpointer)calls[i].name, &calls[i]))
			g_error("calls.def: '%s' twice", calls[i].name);
	}
}

const struct call *calls_find(const char *name)
{
	return g_hash_table_lookup(by_name, name);
}

const struct call *calls_all(unsigned *n)
{
	*n = G_N_ELEMENTS(calls);
	return calls;
}

unsigned calls_class(const char *name)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(classes); i++)
		if (strcmp(classes[i].name, name) == 0)
			return classes[i].bits;
	return 0;
}

const char *calls_class_name(unsigned i)
{
	return i < G_N_ELEMENTS(classes) ? classes[i].name : NULL;
}
