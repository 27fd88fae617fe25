/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "event/wanted.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Format of the text: "CLASSES BEGIN END", then " r" for renames, " e" for ends, " tTID", " pPID", " nLENGTH:GLOB". */

void fields_wanted_init(struct fields_wanted *w)
{
	*w = (struct fields_wanted){
		.tids = g_array_new(FALSE, FALSE, sizeof(int32_t)),
		.pids = g_array_new(FALSE, FALSE, sizeof(int32_t)),
		.names = g_ptr_array_new_with_free_func(g_free),
		.end_ns = UINT64_MAX,
	};
}

void fields_wanted_release(struct fields_wanted *w)
{
	g_array_free(w->tids, TRUE);
	g_array_free(w->pids, TRUE);
	g_ptr_array_free(w->names, TRUE);
}

static bool is_call(const char *name)
{
	return g_str_has_prefix(name, "syscall_") || g_str_has_prefix(name, "compat_syscall_") ||
	       strcmp(name, "exit_syscall") == 0;
}

static bool is_sched(const char *name)
{
	return g_str_has_prefix(name, "sched_") || g_str_has_prefix(name, "signal_") || strstr(name, "page_fault");
}

bool fields_wanted_class(const struct fields_wanted *w, const char *name)
{
	switch (w->classes) {
	case WANTED_NOTHING:
		return false;
	case WANTED_CALLS:
		return is_call(name);
	case WANTED_CALLS_AND_SCHED:
		return is_call(name) || is_sched(name);
	case WANTED_ALL:
		return true;
	}
	return false;
}

bool fields_wanted_renames(const char *name)
{
	static const char *const names[] = { "execve", "execveat", "prctl", NULL };
	static const char *const prefixes[] = { "syscall_entry_", "syscall_exit_" };

	if (g_str_has_prefix(name, "compat_"))
		name += strlen("compat_");
	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (g_str_has_prefix(name, prefixes[i]))
			return g_strv_contains(names, name + strlen(prefixes[i]));
	return false;
}

bool fields_wanted_ends(const char *name)
{
	static const char *const names[] = { "signal_deliver", "syscall_entry_exit_group",
					     "compat_syscall_entry_exit_group", NULL };

	return g_strv_contains(names, name);
}

static void append_numbers(GString *text, char letter, const GArray *numbers)
{
	for (guint i = 0; i < numbers->len; i++)
		g_string_append_printf(text, " %c%" PRId32, letter, g_array_index(numbers, int32_t, i));
}

char *fields_wanted_text(const struct fields_wanted *w)
{
	GString *text = g_string_new(NULL);
	gsize without_threads;

	if (!w) {
		g_string_printf(text, "%d 0 0", WANTED_NOTHING);
		return g_string_free(text, FALSE);
	}
	g_string_printf(text, "%d %" PRIu64 " %" PRIu64, w->classes, w->begin_ns, w->end_ns);
	without_threads = text->len;
	if (w->renames)
		g_string_append(text, " r");
	if (w->ends)
		g_string_append(text, " e");
	append_numbers(text, 't', w->tids);
	append_numbers(text, 'p', w->pids);
	for (guint i = 0; i < w->names->len; i++) {
		const char *name = g_ptr_array_index(w->names, i);

		g_string_append_printf(text, " n%zu:%s", strlen(name), name);
	}
	if (text->len > FIELDS_WANTED_TEXT_MAX)
		g_string_truncate(text, without_threads);
	return g_string_free(text, FALSE);
}

static bool parse_number(const char **text, uint64_t *number)
{
	char *end;

	if (!g_ascii_isdigit(**text))
		return false;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return errno == 0;
}

/* " r", " e", " t12", " p12", " n4:name". */
static bool parse_thread(struct fields_wanted *w, const char **text)
{
	uint64_t number;
	int32_t id;
	char letter;

	if (*(*text)++ != ' ')
		return false;
	letter = *(*text)++;
	if (letter == 'r' || letter == 'e') {
		*(letter == 'r' ? &w->renames : &w->ends) = true;
		return true;
	}
	if (!letter || !parse_number(text, &number))
		return false;
	id = (int32_t)number;
	if (letter == 't' && number <= INT32_MAX) {
		g_array_append_val(w->tids, id);
		return true;
	}
	if (letter == 'p' && number <= INT32_MAX) {
		g_array_append_val(w->pids, id);
		return true;
	}
	if (letter != 'n' || **text != ':' || number > strlen(*text + 1))
		return false;
	g_ptr_array_add(w->names, g_strndup(*text + 1, number));
	*text += 1 + number;
	return true;
}

bool fields_wanted_parse(struct fields_wanted *w, const char *text)
{
	uint64_t classes;

	if (!parse_number(&text, &classes) || classes > WANTED_ALL || *text++ != ' ' ||
	    !parse_number(&text, &w->begin_ns) || *text++ != ' ' || !parse_number(&text, &w->end_ns))
		return false;
	w->classes = (enum wanted_classes)classes;
	while (*text)
		if (!parse_thread(w, &text))
			return false;
	return true;
}
