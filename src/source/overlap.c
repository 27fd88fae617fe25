/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/overlap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "ctf/index.h"
#include "ctf/metadata.h"
#include "ctf/packet_file.h"
#include "source/source.h"

enum {
	METADATA_HEAD = 64 * 1024, /* bytes that contain the clock */
	LAST_BYTES_MAX = 64 << 20, /* of a packet whose end is in doubt */
	ENOUGH = 2,                /* packets in a row that overlap: the times of one may be damaged */
};

/* A file of a stream. Times are in cycles. */
struct overlap_file {
	char *path;
	const char *name;      /* in path */
	const char *directory; /* borrowed */
	const struct layout_stream *stream;
	bool has_instance;
	uint64_t instance;
	uint64_t begin, end; /* of its packets */
};

/* The packets of a file, one after the other. */
struct overlap_cursor {
	const struct layout *layout;
	const struct overlap_file *file;
	int fd;
	uint64_t size;
	uint64_t at, next_at; /* of the packet, and of what follows it */
	struct packet_head head, next;
	bool has_head, has_next;
};

/* ---- packets ---- */

static uint64_t begin_of(const struct packet_head *head)
{
	return head->values[PACKET_TIMESTAMP_BEGIN];
}

static uint64_t end_of(const struct packet_head *head)
{
	return head->values[PACKET_TIMESTAMP_END];
}

static bool has_times(const struct packet_head *head)
{
	return packet_has(head, PACKET_TIMESTAMP_BEGIN) && packet_has(head, PACKET_TIMESTAMP_END) &&
	       begin_of(head) <= end_of(head);
}

/* Moves *at to the first packet from there on that has times; *bytes: its length. false: there is none. */
static bool find_packet(const struct layout *l, int fd, uint64_t size, uint64_t *at, uint64_t *bytes,
			struct packet_head *head)
{
	while (*at < size) {
		*bytes = packet_file_read_head(l, fd, *at, head) == LT_OK ? packet_bytes(head, size - *at) : 0;
		if (*bytes && has_times(head))
			return true;
		*at = *bytes ? *at + MIN(*bytes, size - *at) : packet_file_search(l, NULL, fd, *at + 1, size, head);
	}
	return false;
}

static void look_ahead(struct overlap_cursor *c)
{
	uint64_t at = c->next_at, bytes;

	c->has_next = find_packet(c->layout, c->fd, c->size, &at, &bytes, &c->next);
	c->next_at = at;
}

static void step(struct overlap_cursor *c)
{
	c->at = c->next_at;
	c->head = c->next;
	c->has_head = c->has_next;
	if (!c->has_head)
		return;
	c->next_at += MIN(packet_bytes(&c->head, c->size - c->at), c->size - c->at);
	look_ahead(c);
}

static bool open_cursor(struct overlap_cursor *c, const struct layout *l, const struct overlap_file *file)
{
	struct stat st;

	*c = (struct overlap_cursor){ .layout = l, .file = file };
	c->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (c->fd < 0 || fstat(c->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	c->size = (uint64_t)st.st_size;
	look_ahead(c);
	step(c);
	return true;
}

static void close_cursor(struct overlap_cursor *c)
{
	if (c->fd >= 0)
		close(c->fd);
}

/* At most the start of the packet after it: one end may be wrong. */
static uint64_t end_at(const struct overlap_cursor *c)
{
	const uint64_t end = end_of(&c->head);

	return c->has_next && begin_of(&c->next) >= begin_of(&c->head) ? MIN(end, begin_of(&c->next)) : end;
}

static uint64_t content_bits(const struct packet_head *head)
{
	return packet_has(head, PACKET_CONTENT_SIZE) ? head->values[PACKET_CONTENT_SIZE] : 0;
}

static bool is_copy(const struct packet_head *a, const struct packet_head *b)
{
	return begin_of(a) == begin_of(b) && end_of(a) == end_of(b) && content_bits(a) == content_bits(b) &&
	       a->values[PACKET_SEQ_NUM] == b->values[PACKET_SEQ_NUM];
}

/* Whether one is a part of the other, cut at one end. */
static bool are_parts(const struct packet_head *a, const struct packet_head *b)
{
	return begin_of(a) == begin_of(b) || end_of(a) == end_of(b);
}

/* The time of the packet's last event, or its start. false: it is too large. */
static bool last_event(const struct overlap_cursor *c, uint64_t *clock)
{
	const uint64_t bytes = MIN(packet_bytes(&c->head, c->size - c->at), c->size - c->at);
	const struct layout_event *event;
	struct packet_head head;
	struct walk w;
	uint8_t *data;
	ssize_t n;

	if (bytes > LAST_BYTES_MAX)
		return false;
	data = g_malloc(bytes);
	n = pread(c->fd, data, bytes, (off_t)c->at);
	walk_init(&w, c->layout, data, n > 0 ? 8 * (uint64_t)n : 0);
	*clock = begin_of(&c->head);
	if (packet_walk_head(c->layout, &w, &head) == LT_OK) {
		w.clock = *clock;
		if (packet_has(&head, PACKET_CONTENT_SIZE))
			w.end = MIN(w.end, head.values[PACKET_CONTENT_SIZE]);
		while (w.at < w.end && walk_event(&w, head.stream, &event))
			*clock = MAX(*clock, w.clock);
	}
	walk_release(&w);
	g_free(data);
	return true;
}

/* Whether only a wrong end makes the packet, the last one of its file, overlap with one that follows it. */
static bool has_wrong_end(const struct overlap_cursor *c, const struct packet_head *other)
{
	uint64_t last;

	if (c->has_next || begin_of(other) < begin_of(&c->head))
		return false;
	if (packet_has(other, PACKET_SEQ_NUM) && other->values[PACKET_SEQ_NUM] <= c->head.values[PACKET_SEQ_NUM])
		return false;
	return last_event(c, &last) && last < begin_of(other);
}

/* ---- clocks ---- */

/* Whether the metadata sets the same clock in both directories. Damaged metadata is not used. */
static bool have_same_clock(const char *a, const char *b)
{
	const char *const directories[] = { a, b };
	struct layout *layouts[2] = { NULL, NULL };
	bool same = true;

	for (unsigned i = 0; i < 2; i++) {
		char *text = metadata_read(directories[i], METADATA_MAX);

		if (!text || layout_parse(text, &layouts[i]) != LT_OK)
			layouts[i] = NULL;
		g_free(text);
	}
	if (layouts[0] && layouts[1])
		same = layout_to_ns(layouts[0], 0) == layout_to_ns(layouts[1], 0);
	for (unsigned i = 0; i < 2; i++)
		if (layouts[i])
			layout_destroy(layouts[i]);
	return same;
}

/* Whether copies in the two directories have the same times. */
static bool may_copy(const char *a, const char *b)
{
	char *one = metadata_read(a, METADATA_HEAD), *other = metadata_read(b, METADATA_HEAD);
	const char *x = one ? metadata_declarations(one) : "", *y = other ? metadata_declarations(other) : "";
	const bool same = strncmp(x, y, MIN(strlen(x), strlen(y))) == 0;

	g_free(one);
	g_free(other);
	return same || have_same_clock(a, b);
}

/* ---- files ---- */

static bool cursors_overlap(struct overlap_cursor *a, struct overlap_cursor *b)
{
	bool copies = false;
	unsigned n = 0; /* in a row */

	while (n < ENOUGH && a->has_head && b->has_head) {
		const unsigned before = n;

		n = 0;
		if (is_copy(&a->head, &b->head)) {
			if (!copies && !may_copy(a->file->directory, b->file->directory))
				return true;
			copies = true;
			step(a);
			step(b);
		} else if (end_at(a) <= begin_of(&b->head)) {
			step(a);
		} else if (end_at(b) <= begin_of(&a->head)) {
			step(b);
		} else if (has_wrong_end(a, &b->head)) {
			step(a);
		} else if (has_wrong_end(b, &a->head)) {
			step(b);
		} else {
			n = are_parts(&a->head, &b->head) ? ENOUGH : before + 1;
			step(a);
			step(b);
		}
	}
	return n >= ENOUGH;
}

static bool files_overlap(const struct layout *l, const struct overlap_file *x, const struct overlap_file *y)
{
	struct overlap_cursor a, b;
	bool found = open_cursor(&a, l, x);

	found = open_cursor(&b, l, y) && found && cursors_overlap(&a, &b);
	close_cursor(&a);
	close_cursor(&b);
	return found;
}

static bool end_by_index(const char *path, uint64_t *end)
{
	char *index = index_path(path);
	const int fd = open(index, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct index_packet last;
	const bool found = fd >= 0 && index_read_last(fd, &last);

	if (found)
		*end = last.end;
	if (fd >= 0)
		close(fd);
	g_free(index);
	return found;
}

static void add_file(GArray *files, const struct layout *l, const char *directory, const char *name)
{
	struct overlap_file file = { .path = g_build_filename(directory, name, NULL), .directory = directory };
	struct overlap_cursor c;

	if (!open_cursor(&c, l, &file) || !c.has_head) {
		close_cursor(&c);
		g_free(file.path);
		return;
	}
	file.name = file.path + strlen(file.path) - strlen(name);
	file.stream = c.head.stream;
	file.has_instance = packet_has(&c.head, PACKET_STREAM_INSTANCE_ID);
	file.instance = c.head.values[PACKET_STREAM_INSTANCE_ID];
	file.begin = begin_of(&c.head);
	if (!end_by_index(file.path, &file.end))
		for (; c.has_head; step(&c))
			file.end = MAX(file.end, end_of(&c.head));
	close_cursor(&c);
	g_array_append_val(files, file);
}

static void add_directory(GArray *files, const struct layout *l, const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (source_is_stream_name(entry->d_name))
			add_file(files, l, directory, entry->d_name);
	if (dir)
		closedir(dir);
}

/* The same stream is the same instance or, without such numbers, has the same file name. */
static int by_stream(const struct overlap_file *x, const struct overlap_file *y)
{
	if (x->stream->id != y->stream->id)
		return x->stream->id < y->stream->id ? -1 : 1;
	if (x->has_instance != y->has_instance)
		return x->has_instance ? -1 : 1;
	if (!x->has_instance)
		return strcmp(x->name, y->name);
	return x->instance < y->instance ? -1 : x->instance > y->instance;
}

static int by_stream_and_time(gconstpointer a, gconstpointer b)
{
	const struct overlap_file *x = a, *y = b;
	const int order = by_stream(x, y);

	if (order)
		return order;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static enum lt_status refuse(const struct overlap_file *x, const struct overlap_file *y)
{
	char a[256], b[256];

	text_sanitise(a, sizeof(a), x->directory, strlen(x->directory));
	text_sanitise(b, sizeof(b), y->directory, strlen(y->directory));
	return error_set("'%s' and '%s' contain the same part of one recording: leave one of them out, or give slices "
			 "that do not overlap",
			 a, b);
}

/* Compares each file with the one before it that reaches furthest. */
static enum lt_status check_files(GArray *files, const struct layout *l)
{
	const struct overlap_file *furthest = NULL;

	g_array_sort(files, by_stream_and_time);
	for (guint i = 0; i < files->len; i++) {
		const struct overlap_file *file = &g_array_index(files, struct overlap_file, i);
		const bool same = furthest && by_stream(furthest, file) == 0;

		if (same && furthest->end > file->begin && furthest->directory != file->directory &&
		    files_overlap(l, furthest, file))
			return refuse(furthest, file);
		if (!same || file->end >= furthest->end)
			furthest = file;
	}
	return LT_OK;
}

/* The largest metadata describes all packets. NULL: it cannot be read. */
static struct layout *read_layout(const char *const *directories, unsigned n)
{
	struct layout *layout = NULL;
	const char *best = NULL;
	off_t most = -1;
	char *text;

	for (unsigned i = 0; i < n; i++) {
		char *path = g_build_filename(directories[i], "metadata", NULL);
		struct stat st;

		if (stat(path, &st) == 0 && st.st_size > most) {
			most = st.st_size;
			best = directories[i];
		}
		g_free(path);
	}
	text = best ? metadata_read(best, METADATA_MAX) : NULL;
	if (text && layout_parse(text, &layout) != LT_OK)
		layout = NULL;
	g_free(text);
	return layout;
}

enum lt_status overlap_check(const char *const *directories, unsigned n)
{
	struct layout *layout = n > 1 ? read_layout(directories, n) : NULL;
	enum lt_status status = LT_OK;
	GArray *files;

	if (layout) {
		files = g_array_new(FALSE, FALSE, sizeof(struct overlap_file));
		for (unsigned i = 0; i < n; i++)
			add_directory(files, layout, directories[i]);
		error_clear();
		status = check_files(files, layout);
		for (guint i = 0; i < files->len; i++)
			g_free(g_array_index(files, struct overlap_file, i).path);
		g_array_free(files, TRUE);
		layout_destroy(layout);
	}
	if (status == LT_OK)
		error_clear();
	return status;
}
