/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/unknown.h"

#include <string.h>

#include "base/similar.h"
#include "base/strpool.h"
#include "event/syscalls.h"

enum { NUMBERS_MAX = 1024 };

/* The names of the call with that number, by the tracer and by strace. False: there is no such call. */
static bool names_of(int64_t nr, const char *names[2])
{
	names[0] = syscall_name_of_number(nr);
	names[1] = names[0] ? syscall_strace_name(names[0]) : NULL;
	return names[0] != NULL;
}

static bool is_known(const char *call)
{
	const char *names[2];

	for (int64_t nr = 0; nr < NUMBERS_MAX; nr++)
		if (names_of(nr, names) && (strcmp(names[0], call) == 0 || (names[1] && strcmp(names[1], call) == 0)))
			return true;
	/* 32-bit programs' calls; names of traces are in the pool, so that it has any name that a row can have */
	return syscall_find(call) || strpool_has_name(call);
}

static const char *find(const struct view_node *node)
{
	const char *found = NULL;

	if (node->kind == VIEW_NODE_FACT && node->fact == VIEW_FACT_CALL && !strpbrk(node->glob, "*?[") &&
	    !is_known(node->glob))
		return node->glob;
	for (guint i = 0; node->parts && i < node->parts->len && !found; i++)
		found = find(g_ptr_array_index(node->parts, i));
	return found;
}

char *view_unknown_call(const struct view_filter *f)
{
	const char *call = f->root ? find(f->root) : NULL;
	struct similar s = { .word = call };
	const char *names[2];

	if (!call)
		return NULL;
	for (int64_t nr = 0; nr < NUMBERS_MAX; nr++)
		if (names_of(nr, names))
			similar_offer(&s, names[1] ? names[1] : names[0]);
	return g_strdup_printf("unknown system call '%s'%s", call, similar_hint(&s, ""));
}
