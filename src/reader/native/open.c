/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "ctf/index.h"
#include "ctf/metadata.h"
#include "reader/native/internal.h"
#include "reader/native/native.h"
#include "source/source.h"

/* A recording: the directories of one trace, such as the archives of a rotated session. */

static struct native_reader *native(struct reader *r)
{
	return (struct native_reader *)(void *)r;
}

/* ---- metadata ---- */

struct metadata {
	char *text; /* owned */
	const char *path;
};

static void swap(struct metadata *a, struct metadata *b)
{
	const struct metadata was = *a;

	*a = *b;
	*b = was;
}

/* What is wrong with it, to be freed; NULL: nothing. */
static char *find_fault(const char *text)
{
	struct layout *layout;

	error_clear();
	if (layout_parse(text, &layout) != LT_OK)
		return g_strdup(error_text());
	layout_destroy(layout);
	return NULL;
}

/*
 * Of two texts of which neither begins with the other, one may be damaged: then *best becomes the valid one, and the
 * other is reported. LT_AGAIN: both are valid. LT_ERROR: neither is; the library is not tried, as it might not
 * terminate.
 */
static enum lt_status choose_valid(struct native_reader *n, struct metadata *best, struct metadata *other)
{
	char *fault = find_fault(best->text), *others = find_fault(other->text);
	enum lt_status status = LT_OK;

	if (fault && others) {
		status = error_set("%s", fault);
	} else if (!fault && !others) {
		error_set("its directories have different metadata");
		status = LT_AGAIN;
	} else {
		if (fault)
			swap(best, other);
		if (n->base.args.part == 0)
			reader_note_trouble(&n->base, other->path, fault ? fault : others);
	}
	g_free(fault);
	g_free(others);
	return status;
}

/* The longest metadata of the directories: later metadata contains all earlier declarations. */
static enum lt_status read_metadata(struct native_reader *n, const struct reader_args *args, struct metadata *best)
{
	enum lt_status status = LT_OK;

	for (const char *const *path = args->paths; *path && status == LT_OK; path++) {
		struct metadata other = { metadata_read(*path, METADATA_MAX), *path };

		if (!other.text)
			continue; /* skip a directory that has disappeared since it was found */
		if (!best->text ||
		    strlen(metadata_declarations(other.text)) > strlen(metadata_declarations(best->text)))
			swap(best, &other);
		if (other.text &&
		    !g_str_has_prefix(metadata_declarations(best->text), metadata_declarations(other.text)))
			status = choose_valid(n, best, &other);
		g_free(other.text);
	}
	if (best->text || status != LT_OK)
		return status;
	error_set("cannot read its metadata: %s", g_strerror(errno));
	return LT_AGAIN;
}

static enum lt_status read_trace(struct native_reader *n, const struct reader_args *args)
{
	struct metadata metadata = { 0 };
	struct layout *layout;
	enum lt_status status = read_metadata(n, args, &metadata);

	/* Metadata that cannot be parsed is damaged; the library is not tried, as it might not terminate. */
	if (status == LT_OK)
		status =
			layout_parse(metadata.text, &layout) == LT_OK ? native_trace_init(&n->trace, layout) : LT_ERROR;
	g_free(metadata.text);
	return status;
}

/* ---- streams ---- */

/* The number at the end of the name, or else a hash of the name. */
static uint64_t number_of(const char *name)
{
	size_t end = strlen(name), begin = end;

	while (begin > 0 && isdigit((unsigned char)name[begin - 1]))
		begin--;
	return begin < end ? g_ascii_strtoull(name + begin, NULL, 10) : g_str_hash(name);
}

static struct native_stream *find_stream(struct native_reader *n, const struct packet_head *head, const char *name)
{
	const bool has_instance = packet_has(head, PACKET_STREAM_INSTANCE_ID);

	for (unsigned i = 0; i < n->base.n_streams; i++) {
		struct native_stream *s = (struct native_stream *)(void *)n->base.streams[i];

		if (s->group->stream == head->stream && s->has_instance == has_instance &&
		    (has_instance ? s->instance == head->values[PACKET_STREAM_INSTANCE_ID]
				  : strcmp(s->base.name, name) == 0))
			return s;
	}
	return NULL;
}

struct native_stream *native_add_stream(struct native_reader *n, const struct packet_head *head, const char *name)
{
	struct native_stream *s = g_new0(struct native_stream, 1);
	const unsigned n_slots = n->trace.layout->n_slots;

	stream_init(&s->base, &n->base, &native_stream_type);
	s->trace = &n->trace;
	s->group = native_trace_group(&n->trace, head->stream);
	s->has_instance = packet_has(head, PACKET_STREAM_INSTANCE_ID);
	s->instance = head->values[PACKET_STREAM_INSTANCE_ID];
	s->take_packet = native_map_packet;
	s->files = g_array_new(FALSE, FALSE, sizeof(struct native_file));
	s->slots = g_new0(uint64_t, n_slots);
	s->marked_slots = g_new0(uint64_t, n_slots);
	s->at.fd = -1;
	s->skip_to_ns = n->base.args.begin_ns;
	s->base.name = g_strdup(name);
	s->base.group = head->stream;
	s->base.class_id = head->stream->id;
	s->base.has_clock = true;
	reader_add_stream(&n->base, &s->base);
	return s;
}

/* All streams of a CPU go to the same worker, determined by the file alone. */
static bool is_ours(const struct native_reader *n, const struct packet_head *head, const char *name)
{
	const uint64_t number = packet_has(head, PACKET_CPU_ID) ? head->values[PACKET_CPU_ID] : number_of(name);

	return reader_takes(&n->base, number);
}

/*
 * Whether it is not a data file's. A directory may be anything, such as another trace or the indexes, which are only a
 * help, unless it has the index of a data file.
 */
static bool is_other_directory(const char *path)
{
	struct stat st;
	char *index;
	bool has_index;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	index = index_path(path);
	has_index = access(index, F_OK) == 0;
	g_free(index);
	return !has_index;
}

/* Finds the first valid packet of the file, which identifies its stream. LT_END: the file is empty. */
static enum lt_status find_head(struct native_reader *n, int fd, struct packet_head *head)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set("%s", error_of_errno(errno));
	if (S_ISREG(st.st_mode))
		return packet_file_first(n->trace.layout, fd, (uint64_t)st.st_size, head);
	return error_set("not a regular file");
}

/*
 * Of a file that has no packet, what its index says of those that it had: enough to find their stream. false: there
 * were none, or there may be none yet.
 */
static bool head_by_index(const struct native_reader *n, const char *path, struct packet_head *head)
{
	const GPtrArray *streams = n->trace.layout->streams;
	struct index_missing missing;

	*head = (struct packet_head){ 0 };
	if (n->base.args.is_unfinished || !native_find_missing(path, 0, &missing))
		return false;
	for (guint i = 0; i < streams->len && !head->stream; i++)
		if (((const struct layout_stream *)g_ptr_array_index(streams, i))->id == missing.stream_class)
			head->stream = g_ptr_array_index(streams, i);
	head->values[PACKET_TIMESTAMP_BEGIN] = missing.begin;
	head->values[PACKET_STREAM_INSTANCE_ID] = missing.instance;
	head->places[PACKET_STREAM_INSTANCE_ID].size = missing.has_instance;
	return head->stream != NULL;
}

/* The head of the file's first packet. false: there is none, and the reason is noted, by one of the workers. */
static bool open_head(struct native_reader *n, const char *path, const char *name, struct packet_head *head)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const enum lt_status status = find_head(n, fd, head);

	if (status == LT_ERROR && reader_takes(&n->base, number_of(name)))
		reader_note_trouble(&n->base, path, error_text());
	error_clear();
	if (fd >= 0)
		close(fd);
	return status == LT_OK || (status == LT_END && head_by_index(n, path, head));
}

/* head: of one of its packets. */
static void add_packets(struct native_reader *n, const char *path, const char *name, const struct packet_head *head)
{
	struct native_file file = { .path = g_strdup(path), .id = fields_name_id(path) };
	struct native_stream *s = find_stream(n, head, name);

	native_clock_ns(&n->trace.clock, head->values[PACKET_TIMESTAMP_BEGIN], &file.begin_ns);
	file.end_ns = native_file_end_ns(&n->trace, path);
	if (!s)
		s = native_add_stream(n, head, name);
	g_array_append_val(s->files, file);
	n->base.end_hint_ns = MAX(n->base.end_hint_ns, file.end_ns);
}

static void add_file(struct native_reader *n, const char *directory, const char *name)
{
	char *path = g_build_filename(directory, name, NULL);
	struct packet_head head;

	if (!is_other_directory(path) && open_head(n, path, name, &head) && is_ours(n, &head, name))
		add_packets(n, path, name, &head);
	g_free(path);
}

static void add_directory(struct native_reader *n, const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (source_is_stream_name(entry->d_name))
			add_file(n, directory, entry->d_name);
	if (dir)
		closedir(dir);
}

/*
 * A file of which only the index is left. The tracer itself may have removed one of several files of a stream, and
 * others remain.
 */
static void add_missing_file(struct native_reader *n, const char *directory, const char *index)
{
	char *name = g_strndup(index, strlen(index) - strlen(".idx"));
	char *path = g_build_filename(directory, name, NULL);
	struct packet_head head;

	if (access(path, F_OK) != 0 && errno == ENOENT && head_by_index(n, path, &head) && is_ours(n, &head, name) &&
	    !find_stream(n, &head, name))
		add_packets(n, path, name, &head);
	g_free(path);
	g_free(name);
}

/* After all files that are there. */
static void add_missing_files(struct native_reader *n, const char *directory)
{
	char *indexes = g_build_filename(directory, "index", NULL);
	DIR *dir = opendir(indexes);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (*entry->d_name != '.' && g_str_has_suffix(entry->d_name, ".idx"))
			add_missing_file(n, directory, entry->d_name);
	if (dir)
		closedir(dir);
	g_free(indexes);
}

/* By their starts; a file that contains another comes before it. */
static int by_time(gconstpointer a, gconstpointer b)
{
	const struct native_file *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* ---- the reader ---- */

static bool describe(struct reader *r, struct trace_desc *desc)
{
	return native_trace_describe(&native(r)->trace, desc);
}

static void visit_classes(struct reader *r, class_visit_fn *visit, void *user)
{
	native_trace_visit(&native(r)->trace, r, visit, user);
}

static void class_added(struct reader *r, const void *key, struct reader_class *plan)
{
	native_trace_add_class(&native(r)->trace, key, plan);
}

static void release(struct reader *r)
{
	native_trace_release(&native(r)->trace);
	g_free(r);
}

const struct reader_ops native_reader_ops = {
	.describe = describe,
	.visit_classes = visit_classes,
	.class_added = class_added,
	.release = release,
};

static enum lt_status native_open(const struct reader_args *args, struct ring_producer *ring, struct reader **out)
{
	struct native_reader *n = g_new0(struct native_reader, 1);
	enum lt_status status;

	reader_init(&n->base, &native_reader_ops, args, ring);
	status = read_trace(n, args);
	if (status != LT_OK) {
		reader_close(&n->base);
		return status;
	}
	for (const char *const *path = args->paths; *path; path++)
		add_directory(n, *path);
	for (const char *const *path = args->paths; *path; path++)
		add_missing_files(n, *path);
	for (unsigned i = 0; i < n->base.n_streams; i++)
		g_array_sort(((struct native_stream *)(void *)n->base.streams[i])->files, by_time);
	*out = &n->base;
	return LT_OK;
}

const struct reader_type reader_native = { .name = "native", .open = native_open };
