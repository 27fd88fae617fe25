/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/error.h"
#include "base/fd.h"
#include "ctf/index.h"
#include "reader/native/follow_internal.h"

static struct followed_stream *followed(struct native_stream *n)
{
	return (struct followed_stream *)(void *)n;
}

/* ---- files ---- */

static void finish_file(struct followed_file *file)
{
	close_fd(&file->fd);
	close_fd(&file->index_fd);
	file->stream = NULL;
	file->next = NULL;
	file->is_done = true;
}

void followed_file_free(gpointer data)
{
	struct followed_file *file = data;

	finish_file(file);
	g_free(file->path);
	g_free(file);
}

struct followed_file *followed_file_open(struct native_follow *f, struct followed_trace *t, const char *path,
					 const struct followed_id *id)
{
	struct followed_file *file;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return NULL;
	file = g_new0(struct followed_file, 1);
	file->id = *id;
	file->path = g_strdup(path);
	file->trace = t;
	file->fd = fd;
	file->index_fd = -1;
	file->since_ns = f->live.last_ns;
	return file;
}

static void see_time(struct native_follow *f, const struct native_trace *t, uint64_t cycles)
{
	uint64_t ns;

	if (t && native_clock_ns(&t->clock, cycles, &ns))
		f->newest_ns = MAX(f->newest_ns, ns);
}

/* LTTng writes a packet's index entry after the packet. */
static void look_at_index(struct native_follow *f, struct followed_file *file)
{
	struct index_packet last;
	uint64_t end;

	if (!index_read_last(file->index_fd, &last) ||
	    __builtin_add_overflow(last.offset, last.packet_bits / 8, &end) || end > file->size)
		return;
	file->complete = MAX(file->complete, end);
	see_time(f, live_trace_newest(file->trace->live), last.end);
}

/* Without an index, a packet is complete when all its bytes are in the file. */
static void look_at_packets(struct native_follow *f, struct followed_file *file)
{
	const struct native_trace *t = live_trace_newest(file->trace->live);
	struct packet_head head;
	uint64_t bytes;

	while (t && file->complete < file->size &&
	       packet_file_read_head(t->layout, file->fd, file->complete, &head) == LT_OK) {
		bytes = packet_bytes(&head, file->size - file->complete);
		if (!bytes || bytes > file->size - file->complete)
			break;
		file->complete += bytes;
		see_time(f, t, head.values[PACKET_TIMESTAMP_END]);
	}
	error_clear();
}

/* ---- the stream of a file ---- */

static struct followed_stream *find_stream(struct native_follow *f, const struct followed_file *file,
					   const struct packet_head *head, const char *name)
{
	const bool has_instance = packet_has(head, PACKET_STREAM_INSTANCE_ID);

	for (guint i = 0; i < f->live.streams->len; i++) {
		struct followed_stream *s = g_ptr_array_index(f->live.streams, i);
		const struct native_stream *n = &s->base.base;

		if (s->base.trace == file->trace->live && !s->base.is_gone && n->base.class_id == head->stream->id &&
		    n->has_instance == has_instance &&
		    (has_instance ? n->instance == head->values[PACKET_STREAM_INSTANCE_ID]
				  : strcmp(n->base.name, name) == 0))
			return s;
	}
	return NULL;
}

static enum lt_status take_packet(struct native_stream *n, struct packet_head *head);
static bool try_again(struct native_stream *n);

static struct followed_stream *add_stream(struct native_follow *f, const struct followed_file *file,
					  const struct packet_head *head, const char *name)
{
	struct followed_stream *s = g_new0(struct followed_stream, 1);
	struct native_stream *n = &s->base.base;

	live_stream_init(&s->base, &f->live, file->trace->live, name);
	s->follow = f;
	s->base.until_ns = file->since_ns;
	n->take_packet = take_packet;
	n->try_again = try_again;
	n->has_instance = packet_has(head, PACKET_STREAM_INSTANCE_ID);
	n->instance = head->values[PACKET_STREAM_INSTANCE_ID];
	n->base.class_id = head->stream->id;
	g_ptr_array_add(f->live.streams, s);
	return s;
}

/*
 * Queues the file after those with an earlier start. If it comes before the one that is being read, reading that
 * continues afterwards: it may still be written.
 */
static void queue_file(struct followed_stream *s, struct followed_file *file)
{
	struct native_cursor *c = &s->base.base.at;
	struct followed_file **at = &s->file;

	while (*at && (*at)->first <= file->first)
		at = &(*at)->next;
	if (at == &s->file && *at) {
		(*at)->read = c->offset;
		c->offset = 0;
	}
	file->next = *at;
	*at = file;
	file->stream = s;
}

/* Determined by its first valid packet. */
static void find_stream_of_file(struct native_follow *f, struct followed_file *file)
{
	const struct native_trace *t = live_trace_newest(file->trace->live);
	char *name = g_path_get_basename(file->path);
	enum lt_status status = LT_AGAIN;
	struct followed_stream *s;
	struct packet_head head;

	if (t)
		status = packet_file_first(t->layout, file->fd, file->complete, &head);
	if (status == LT_OK) {
		file->first = head.values[PACKET_TIMESTAMP_BEGIN];
		s = find_stream(f, file, &head, name);
		queue_file(s ? s : add_stream(f, file, &head, name), file);
	} else if (status == LT_ERROR) {
		native_follow_note(file->trace, file->path, error_text());
		finish_file(file);
	}
	error_clear();
	g_free(name);
}

void followed_file_look(struct native_follow *f, struct followed_file *file)
{
	const uint64_t complete = file->complete, size = file->size;
	struct stat st;

	if (file->is_done || fstat(file->fd, &st) < 0)
		return;
	file->is_removed = st.st_nlink == 0;
	file->size = (uint64_t)st.st_size;
	if (file->index_fd >= 0)
		look_at_index(f, file);
	else
		look_at_packets(f, file);
	if (file->complete != complete)
		f->news_us = f->now_us;
	if (file->complete != complete || file->size != size)
		file->trace->news_us = f->now_us;
	if (!file->stream && file->complete > 0 && !f->is_incomplete)
		find_stream_of_file(f, file);
}

/* ---- packets ---- */

static const char metadata_changed[] = "the metadata was replaced by another one";

/* The file with the next packet, or NULL. A later file means that the one before it is finished. */
static struct followed_file *file_to_read(struct followed_stream *s)
{
	struct native_cursor *c = &s->base.base.at;
	struct followed_file *file;

	while ((file = s->file) != NULL && (file->is_done || c->offset >= file->complete)) {
		struct followed_file *next = file->next;

		if (!next)
			return NULL;
		followed_file_look(s->follow, file);
		if (!file->is_done && c->offset < file->complete)
			break;
		finish_file(file);
		s->file = next;
		s->base.base.tear.is_set = false;
		c->offset = next->read;
	}
	if (file)
		c->fd = file->fd;
	return file;
}

/* false: the metadata no longer has the stream's class. */
static bool take_version(struct native_stream *n, struct native_trace *newest)
{
	const struct layout_stream *stream = layout_find_stream(newest->layout, n->base.class_id);

	if (!stream)
		return false;
	live_stream_take_version(n, newest);
	n->group = native_trace_group(newest, stream);
	n->base.group = stream;
	return true;
}

static enum lt_status give_up_file(struct followed_stream *s, const char *why)
{
	s->base.base.at.packet_at = s->base.base.at.offset;
	s->base.base.at.why = why;
	s->base.base.at.fd = -1;
	s->file->is_done = true;
	return LT_ERROR;
}

static enum lt_status take_packet(struct native_stream *n, struct packet_head *head)
{
	struct followed_stream *s = followed(n);
	struct followed_file *file = file_to_read(s);

	if (!file)
		return LT_AGAIN;
	if (!take_version(n, live_trace_newest(s->base.trace)))
		return give_up_file(s, metadata_changed);
	return native_map_at(n, file->complete, head);
}

/* Continues in the packet with the newest metadata. */
static void change_version(struct native_stream *n, struct native_trace *newest)
{
	const struct walk before = n->at.walk;
	struct packet_head head;

	if (!take_version(n, newest)) {
		native_give_up_packet(n, metadata_changed);
		return;
	}
	n->at.walk = (struct walk){
		.data = before.data,
		.end = 8 * (uint64_t)n->at.map.len,
		.slots = n->slots,
		.spent = before.spent,
	};
	if (packet_walk_head(newest->layout, &n->at.walk, &head) != LT_OK) {
		error_clear();
		native_give_up_packet(n, metadata_changed);
		return;
	}
	n->at.walk.steps += before.steps;
	n->at.walk.at = before.at;
	n->at.walk.end = before.end;
	n->at.walk.clock = before.clock;
	n->at.state = NATIVE_EVENTS;
}

static bool try_again(struct native_stream *n)
{
	struct followed_stream *s = followed(n);
	struct native_trace *newest = live_trace_newest(s->base.trace);

	if (n->trace != newest) {
		s->undeclared_us = 0;
		change_version(n, newest);
		return true;
	}
	if (!s->undeclared_us)
		s->undeclared_us = s->follow->now_us;
	if (s->gave_up_by != newest && !s->follow->is_over &&
	    (s->base.trace->has_grown || s->follow->now_us - s->undeclared_us < s->follow->patience_us))
		return false;
	s->gave_up_by = newest;
	s->undeclared_us = 0;
	native_give_up_packet(n, n->at.why);
	return true;
}

bool followed_stream_is_gone(const struct followed_stream *s)
{
	const struct followed_file *file = s->file;

	return file && !file->next &&
	       (file->is_done || file->is_removed || (file->trace->has_ended && file->size <= file->complete)) &&
	       !s->base.is_waiting && s->base.base.at.state == NATIVE_NEXT_PACKET &&
	       (file->is_done || s->base.base.at.offset >= file->complete);
}

void followed_stream_end(struct followed_stream *s)
{
	struct followed_file *next;

	for (struct followed_file *file = s->file; file; file = next) {
		next = file->next;
		finish_file(file);
	}
	s->file = NULL;
	s->base.base.at.fd = -1;
	s->base.is_gone = true;
}
