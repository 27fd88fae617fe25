/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/unknown.h"

#include <string.h>

#include "base/similar.h"
#include "base/strpool.h"
#include "event/syscalls.h"

static bool is_known(const char *call)
{
	/* names of traces are in the pool, so that it has any name that a row can have */
	return syscall_is_known(call) || strpool_has_name(call);
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

	if (!call)
		return NULL;
	for (int64_t nr = 0; nr < SYSCALL_NUMBERS_MAX; nr++) {
		const char *name = syscall_name_of_number(nr, true),
			   *strace_name = name ? syscall_strace_name(name) : NULL;

		if (name)
			similar_offer(&s, strace_name ? strace_name : name);
	}
	return g_strdup_printf("unknown system call '%s'%s", call, similar_hint(&s, ""));
}
