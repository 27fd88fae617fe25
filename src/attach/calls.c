/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/calls.h"

#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/prctl.h>

#include "event/syscalls.h"

static const char *const type_names[ARG_TYPES] = {
	[ARG_INT] = "int",
	[ARG_INT32] = "int32",
	[ARG_HALF] = "half",
	[ARG_NONE] = "none",
	[ARG_UINT] = "uint",
	[ARG_HEX] = "hex",
	[ARG_PTR] = "ptr",
	[ARG_ID] = "id",
	[ARG_MODE] = "mode",
	[ARG_CREATE_MODE] = "create_mode",
	[ARG_IPC_MODE] = "ipc_mode",
	[ARG_SHM_MODE] = "shm_mode",
	[ARG_DEV] = "dev",
	[ARG_QUOTA_CMD] = "quota_cmd",
	[ARG_IOPRIO] = "ioprio",
	[ARG_STR] = "str",
	[ARG_FD] = "fd",
	[ARG_DIRFD] = "dirfd",
	[ARG_FDS] = "fds",
	[ARG_SIG] = "sig",
	[ARG_SOCKADDR] = "sockaddr",
	[ARG_LENGTH] = "length",
	[ARG_PROTOCOL] = "protocol",
	[ARG_SOCKOPT] = "sockopt",
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
	{ 'u', "%statfs", CALL_STATFS_LIKE },
};

struct call_row {
	const char *name, *other, *classes, *args;
};

static const struct call_row rows[] = {
#define CALL(call_name, manual_name, call_classes, call_args) { #call_name, manual_name, call_classes, call_args },
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
		g_error("'%.*s' is not a type of an argument", (int)len, text);
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
	const char *strace_name = syscall_strace_name(row->name);

	*call = (struct call){
		.name = row->name,
		.other = strace_name ? strace_name : row->other,
		.shown = strace_name ? strace_name : row->name,
		.classes = parse_classes(row->classes),
	};
	for (const char *text = row->args; *text;) {
		const size_t len = strcspn(text, " ");

		if (*text == '=')
			call->result = parse_type(text + 1, len - 1, &call->result_set);
		else
			parse_arg(call, text, len);
		text += len;
		text += strspn(text, " ");
	}
}

/* ---- operations ---- */

struct operation_row {
	const char *call;
	uint64_t value;
	const char *types;
};

static struct {
	const char *call;
	struct call_chooser chooser;
} choosers[] = {
#define BY(call_name, field_name, bits) { #call_name, { .field = field_name, .mask = bits } },
#define OPERATION(call_name, call_value, call_types)
#define SAME(call_name, other_name)
#include "attach/operations.def"
};

static const struct operation_row operations[] = {
#define BY(call_name, field_name, bits)
#define OPERATION(call_name, call_value, call_types) { #call_name, call_value, call_types },
#define SAME(call_name, other_name)
#include "attach/operations.def"
};

static const char *const same_operations[][2] = {
#define BY(call_name, field_name, bits)
#define OPERATION(call_name, call_value, call_types)
#define SAME(call_name, other_name) { #call_name, #other_name },
#include "attach/operations.def"
};

static struct call *call_of(const char *name)
{
	struct call *call = g_hash_table_lookup(by_name, name);

	if (!call)
		g_error("operations.def: no call '%s'", name);
	return call;
}

/* The next type in the text: "-" or none is not taken. */
static void take_type(struct arg_operation *op, const char **text)
{
	const size_t len = strcspn(*text, " ");

	op->taken = len && **text != '-';
	if (op->taken)
		op->type = parse_type(*text, len, &op->set);
	*text += len;
	*text += strspn(*text, " ");
}

static void add_chooser(struct call *call, struct call_chooser *chooser)
{
	while (chooser->number < call->n_args && strcmp(call->args[chooser->number].names[0], chooser->field) != 0)
		chooser->number++;
	if (chooser->number == call->n_args)
		g_error("operations.def: %s() has no '%s'", call->name, chooser->field);
	for (unsigned i = chooser->number + 1; i < call->n_args; i++)
		call->args[i].chooser = chooser;
}

static void add_operation(struct call *call, const struct operation_row *row)
{
	const char *types = row->types;

	for (unsigned i = 0; i < call->n_args; i++) {
		struct call_arg *arg = &call->args[i];

		if (!arg->chooser)
			continue;
		arg->operations = g_renew(struct arg_operation, arg->operations, arg->n_operations + 1);
		arg->operations[arg->n_operations] = (struct arg_operation){ .value = row->value };
		take_type(&arg->operations[arg->n_operations++], &types);
	}
	if (*types)
		g_error("operations.def: %s() has fewer arguments than '%s'", row->call, row->types);
}

/* Shares them: they are constant. */
static void copy_operations(struct call *call, const struct call *from)
{
	for (unsigned i = 0; i < call->n_args; i++) {
		call->args[i].chooser = from->args[i].chooser;
		call->args[i].operations = from->args[i].operations;
		call->args[i].n_operations = from->args[i].n_operations;
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
	for (size_t i = 0; i < G_N_ELEMENTS(choosers); i++)
		add_chooser(call_of(choosers[i].call), &choosers[i].chooser);
	for (size_t i = 0; i < G_N_ELEMENTS(operations); i++)
		add_operation(call_of(operations[i].call), &operations[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(same_operations); i++)
		copy_operations(call_of(same_operations[i][0]), call_of(same_operations[i][1]));
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
