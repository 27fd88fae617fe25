/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/filter.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "view/internal.h"

static void clear_container(void *term)
{
	g_free(((struct view_container_term *)term)->name);
	g_free(((struct view_container_term *)term)->glob);
}

void view_filter_init(struct view_filter *f)
{
	memset(f, 0, sizeof(*f));
	f->hosts = g_ptr_array_new_with_free_func(g_free);
	f->comms = g_ptr_array_new_with_free_func(g_free);
	f->texts = g_ptr_array_new_with_free_func(g_free);
	f->tids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	f->pids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	f->containers = g_array_new(FALSE, FALSE, sizeof(struct view_container_term));
	g_array_set_clear_func(f->containers, clear_container);
	f->trees = g_array_new(FALSE, FALSE, sizeof(int64_t));
}

void view_filter_release(struct view_filter *f)
{
	g_ptr_array_free(f->hosts, TRUE);
	g_ptr_array_free(f->comms, TRUE);
	g_ptr_array_free(f->texts, TRUE);
	g_array_free(f->tids, TRUE);
	g_array_free(f->pids, TRUE);
	g_array_free(f->containers, TRUE);
	g_array_free(f->trees, TRUE);
	memset(f, 0, sizeof(*f));
}

void view_filter_clear(struct view_filter *f)
{
	g_ptr_array_set_size(f->hosts, 0);
	g_ptr_array_set_size(f->comms, 0);
	g_ptr_array_set_size(f->texts, 0);
	g_array_set_size(f->tids, 0);
	g_array_set_size(f->pids, 0);
	g_array_set_size(f->containers, 0);
	g_array_set_size(f->trees, 0);
	f->files_id = 0;
}

bool view_filter_empty(const struct view_filter *f)
{
	return !f->hosts->len && !f->comms->len && !f->texts->len && !f->tids->len && !f->pids->len &&
	       !f->containers->len && !f->trees->len && !f->files_id;
}

void view_filter_add_host(struct view_filter *f, const char *glob)
{
	g_ptr_array_add(f->hosts, g_strdup(glob));
}

void view_filter_add_comm(struct view_filter *f, const char *glob)
{
	g_ptr_array_add(f->comms, g_strdup(glob));
}

void view_filter_add_tid(struct view_filter *f, int64_t tid)
{
	g_array_append_val(f->tids, tid);
}

void view_filter_add_pid(struct view_filter *f, int64_t pid)
{
	g_array_append_val(f->pids, pid);
}

/* A name typed without wildcards may stand anywhere. */
static char *typed_glob(const char *text)
{
	return strpbrk(text, "*?[") ? g_strdup(text) : g_strdup_printf("*%s*", text);
}

static bool parse_number(const char *text, int64_t *n)
{
	char *end;

	if (!g_ascii_isdigit(*text))
		return false;
	*n = g_ascii_strtoll(text, &end, 10);
	return *end == '\0';
}

static bool add_host(struct view_filter *f, const char *arg)
{
	g_ptr_array_add(f->hosts, typed_glob(arg));
	return true;
}

static bool add_comm(struct view_filter *f, const char *arg)
{
	g_ptr_array_add(f->comms, typed_glob(arg));
	return true;
}

static bool add_number(GArray *numbers, const char *arg)
{
	int64_t n;

	if (!parse_number(arg, &n))
		return false;
	g_array_append_val(numbers, n);
	return true;
}

static bool add_tid(struct view_filter *f, const char *arg)
{
	return add_number(f->tids, arg);
}

static bool add_pid(struct view_filter *f, const char *arg)
{
	return add_number(f->pids, arg);
}

static bool add_container(struct view_filter *f, const char *arg)
{
	struct view_container_term term = { .nested = g_str_has_suffix(arg, "/") };
	char *name = g_strndup(arg, strlen(arg) - term.nested);
	int64_t number = 0;

	if (parse_number(name, &number))
		term.number = (uint64_t)number;
	else if (strcmp(name, VIEW_HOST_NAME) == 0)
		term.host_itself = true;
	else if (*name)
		term.glob = typed_glob(name);
	if (term.glob)
		term.name = g_steal_pointer(&name);
	g_free(name);
	if (!term.number && !term.glob && !term.host_itself)
		return false;
	g_array_append_val(f->containers, term);
	return true;
}

enum lt_status view_filter_add_container(struct view_filter *f, const char *name)
{
	return add_container(f, name) ? LT_OK : error_set("'%s' is not the name of a container", name);
}

static bool add_tree(struct view_filter *f, const char *arg)
{
	return add_number(f->trees, arg);
}

static const struct {
	const char *name; /* with its colon */
	bool (*add)(struct view_filter *f, const char *arg); /* false: it cannot be understood */
	const char *wants;
} terms[] = {
	{ "host:", add_host, "a name" },
	{ "comm:", add_comm, "a name" },
	{ "pid:", add_pid, "a number" },
	{ "tid:", add_tid, "a number" },
	{ "tree:", add_tree, "the number of a process" },
	{ "container:", add_container, "a name" },
};

/* Whether a word is meant as a term: "name:…", but not what the kernel calls "socket:[25052]" or "kworker/0:1". */
static bool is_term(const char *word)
{
	const char *p = word;

	while (g_ascii_isalpha(*p))
		p++;
	return p > word && p[0] == ':' && p[1] != '[';
}

static enum lt_status unknown_term(const char *word)
{
	GString *known = g_string_new(NULL);

	for (unsigned i = 0; i < G_N_ELEMENTS(terms); i++)
		g_string_append_printf(known, "%s %s", i ? "," : "", terms[i].name);
	error_set("unknown term '%.*s': known are%s", (int)strcspn(word, ":") + 1, word, known->str);
	g_string_free(known, TRUE);
	return LT_ERROR;
}

static enum lt_status parse_term(struct view_filter *f, const char *word)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(terms); i++) {
		const char *arg = word + strlen(terms[i].name);

		if (!g_str_has_prefix(word, terms[i].name))
			continue;
		if (*arg && terms[i].add(f, arg))
			return LT_OK;
		return error_set("'%s': '%s' wants %s", word, terms[i].name, terms[i].wants);
	}
	return unknown_term(word);
}

enum lt_status view_filter_parse(struct view_filter *f, const char *text)
{
	char **words = g_strsplit_set(text, " \t", -1);
	enum lt_status status = LT_OK;

	for (char **word = words; *word && status == LT_OK; word++) {
		if (is_term(*word))
			status = parse_term(f, *word);
		else if (**word)
			g_ptr_array_add(f->texts, g_strdup(*word));
	}
	g_strfreev(words);
	return status;
}

static bool any_glob(const GPtrArray *globs, const char *name)
{
	for (guint i = 0; i < globs->len; i++)
		if (text_glob(g_ptr_array_index(globs, i), name))
			return true;
	return globs->len == 0;
}

static bool any_number(const GArray *numbers, uint64_t n)
{
	for (guint i = 0; i < numbers->len; i++)
		if (g_array_index(numbers, uint64_t, i) == n)
			return true;
	return numbers->len == 0;
}

bool view_filter_host(const struct view_filter *f, const char *name)
{
	return any_glob(f->hosts, name);
}

bool view_text_contains(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

bool view_filter_tid(const struct view_filter *f, uint64_t tid)
{
	return any_number(f->tids, tid);
}

/* The tids of a file's row are those of all threads that use its fd table. */
static bool file_has_tid(const struct view_filter *f, const struct view_rows *r, const struct view_row *row)
{
	const struct view_index *index = &r->internal->indexes[row->key.host];

	return !f->tids->len ||
	       map64_get(&index->tid_files, INTERVAL_ROW(file, &row->row)->files_id) != MAP64_NONE;
}

static bool wants_thread(const struct view_filter *f, const struct view_rows *r, const struct view_row *row)
{
	const struct view_index *index = &r->internal->indexes[row->key.host];
	const struct interval_row *found = view_row_thread(r, row);
	const struct thread_row *thread = found ? INTERVAL_ROW(thread, found) : NULL;

	if (r->table->source == TABLE_FILE) {
		const struct file_row *file = INTERVAL_ROW(file, &row->row);

		if (!any_number(f->pids, file->pid) || !file_has_tid(f, r, row) ||
		    !view_filter_tree(f, index, file->pid))
			return false;
	} else if (!thread) {
		return !f->pids->len && !f->tids->len && !f->comms->len && !f->containers->len &&
		       !f->trees->len;
	} else if (!any_number(f->tids, thread->tid) || !any_number(f->pids, thread->pid)) {
		return false;
	}
	if (!thread)
		return !f->comms->len && !f->containers->len;
	return any_glob(f->comms, strpool_text((strid)thread->comm)) && view_filter_place(f, index, thread);
}

static bool wants_process(const struct view_filter *f, const struct view_rows *r, const struct view_end *end)
{
	const struct view_host *host;
	const struct view_index *index;
	const struct interval_row *thread;

	if (!any_number(f->pids, end->pid) || !any_glob(f->comms, strpool_text(end->comm)))
		return false;
	if (!view_filter_wants_place(f))
		return true;
	/* of hosts that are not wanted nothing was looked up */
	if (end->host == VIEW_NO_HOST || !view_filter_host(f, r->hosts[end->host].name))
		return false;
	host = &r->hosts[end->host];
	index = &r->internal->indexes[end->host];
	thread = host->iv ? view_main_thread(index, host->iv, end->pid) : NULL;
	return thread && view_filter_place(f, index, INTERVAL_ROW(thread, thread));
}

/* Either of the two processes may be the one. */
static bool wants_processes(const struct view_filter *f, const struct view_rows *r, const struct view_row *row)
{
	struct view_end end;

	if (!f->pids->len && !f->comms->len && !view_filter_wants_place(f))
		return true;
	for (int to = 0; to < 2; to++)
		if ((r->table->process ? view_account_end(row, to, &end) : view_relation_end(r, row, to, &end)) &&
		    wants_process(f, r, &end))
			return true;
	return false;
}

static bool wants_text(const struct view_rows *r, const struct view_row *row, const char *part)
{
	struct value v;

	for (unsigned i = 0; i < r->n_columns; i++) {
		if (r->columns[i].unit != COLUMN_TEXT)
			continue;
		view_row_value(r, row, &r->columns[i], &v);
		if (v.kind == VALUE_TEXT && view_text_contains(v.text, part))
			return true;
	}
	return false;
}

bool view_filter_row(const struct view_filter *f, const struct view_rows *r, const struct view_row *row)
{
	if (view_table_of_threads(r->table) && !wants_thread(f, r, row))
		return false;
	if (r->table == &view_containers_table && !view_container_row_wanted(f, r, row))
		return false;
	if ((r->table->source == TABLE_RELATION || r->table->process) && !wants_processes(f, r, row))
		return false;
	if (r->table->source == TABLE_FILE) {
		const struct file_row *file = INTERVAL_ROW(file, &row->row);

		if (f->files_id && file->files_id != f->files_id)
			return false;
	}
	for (guint i = 0; i < f->texts->len; i++)
		if (!wants_text(r, row, g_ptr_array_index(f->texts, i)))
			return false;
	return true;
}
