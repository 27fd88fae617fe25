/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/slice_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"

/* Like the files of the recording: not world-readable. */
enum { FILE_MODE = 0640 };

uint64_t slice_cycle(const struct layout *l, uint64_t ns)
{
	uint64_t low = 0, high = UINT64_MAX;

	while (ns < UINT64_MAX && low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (layout_to_ns(l, middle) >= ns)
			high = middle;
		else
			low = middle + 1;
	}
	return high;
}

static enum lt_status write_failed(const struct slice_stream *s)
{
	return error_set("cannot write '%s': %s", s->path, g_strerror(errno));
}

/* Opens a file that does not exist yet or, if it is made, at its end. */
static FILE *open_file(const char *path, bool is_made)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC | (is_made ? O_APPEND : O_CREAT | O_EXCL), FILE_MODE);

	return fd >= 0 ? fdopen(fd, is_made ? "a" : "w") : NULL;
}

enum lt_status slice_write_piece(struct slice_stream *s, const struct cut_piece *piece)
{
	/* it may drop to 0 for one packet and then continue */
	const uint64_t lost = piece->discarded > s->lost_before ? piece->discarded - s->lost_before : 0;

	if (!s->file)
		s->file = open_file(s->path, s->is_made);
	packet_set(&s->cutter.head, piece->data, PACKET_EVENTS_DISCARDED, lost);
	if (!s->file || fwrite(piece->data, 1, piece->size, s->file) != piece->size)
		return write_failed(s);
	s->is_made = true;
	s->sum->lost_events += MAX(lost, s->lost) - s->lost;
	s->lost = MAX(lost, s->lost);
	s->sum->any |= piece->events > 0 || s->cutter.whole;
	s->sum->packets++;
	s->sum->bytes += piece->size;
	return LT_OK;
}

/* Writes what the cutter's packet has in the interval. */
static enum lt_status write_pieces(struct slice_stream *s, uint64_t packet_begin)
{
	enum cut_outcome outcome = CUT_PIECE;
	enum lt_status status = LT_OK;
	struct cut_piece piece;

	while (packet_begin < s->begin && outcome == CUT_PIECE)
		outcome = cutter_take(&s->cutter, s->begin - 1, &piece);
	while (outcome != CUT_HELD && outcome != CUT_DONE && status == LT_OK) {
		outcome = cutter_take(&s->cutter, s->end - 1, &piece);
		if (outcome == CUT_PIECE)
			status = slice_write_piece(s, &piece);
		else if (outcome == CUT_SILENT)
			return LT_OK;
	}
	if (outcome != CUT_HELD || status != LT_OK)
		return status;
	s->sum->uncut++;
	return cutter_take(&s->cutter, UINT64_MAX, &piece) == CUT_PIECE ? slice_write_piece(s, &piece) : LT_OK;
}

uint8_t *slice_read_packet(struct slice_stream *s, const struct recorded_packet *p)
{
	uint8_t *data = recording_read(p);
	enum lt_status status = data ? cutter_begin(&s->cutter, data, p->size) : LT_ERROR;

	s->is_truncated = status == LT_END;
	if (status == LT_ERROR) {
		log_warning("%s: a packet is skipped: %s", s->r->name, error_text());
		s->sum->damaged++;
		g_clear_pointer(&data, g_free);
	}
	error_clear();
	return data;
}

/* Sanitises the path, which goes to the user's terminal. */
static void warn_truncated(const struct recorded_packet *p)
{
	char text[256];

	text_sanitise(text, sizeof(text), p->path, strlen(p->path));
	log_warning("%s: the rest of the packet at byte %" G_GUINT64_FORMAT " is left out: it is not in the file", text,
		    p->offset);
}

static enum lt_status write_after_loss(struct slice_stream *s, const uint8_t *data, uint64_t at)
{
	struct cut_piece piece;

	return cutter_take_after_loss(&s->cutter, data, at, &piece) ? slice_write_piece(s, &piece) : LT_OK;
}

enum lt_status slice_write_loss(struct slice_stream *s, const struct recorded_packet *p, const uint8_t *data)
{
	const uint64_t lost_from = s->cutter.head.values[PACKET_TIMESTAMP_END];
	enum lt_status status = LT_OK;

	if (!s->is_truncated || lost_from >= s->end || p->end < s->begin)
		return LT_OK;
	warn_truncated(p);
	s->sum->damaged++;
	s->sum->lost_packets++;
	/* only between two packets is one missing */
	if (!s->is_made)
		status = write_after_loss(s, data, MAX(lost_from, s->begin));
	return status == LT_OK ? write_after_loss(s, data, MIN(p->end, s->end - 1)) : status;
}

static enum lt_status write_packet(struct slice_stream *s, const struct recorded_stream *stream, guint i)
{
	const bool is_last = i + 1 == stream->packets->len;
	const struct recorded_packet *p = recorded_packet(stream, i);
	uint8_t *data = slice_read_packet(s, p);
	enum lt_status status = LT_OK;

	if (data) {
		cutter_extend(&s->cutter, is_last ? UINT64_MAX : recorded_packet(stream, i + 1)->begin);
		status = write_pieces(s, p->begin);
	}
	if (status == LT_OK)
		status = slice_write_loss(s, p, data);
	g_free(data);
	return status;
}

enum lt_status slice_close_file(struct slice_stream *s, enum lt_status status)
{
	if (s->file && fclose(s->file) != 0 && status == LT_OK)
		status = write_failed(s);
	s->file = NULL;
	return status;
}

guint slice_begin_stream(struct slice_stream *s, const struct recorded_stream *stream)
{
	guint i = 0;
	/* as the readers do: the first packet's counter shows that events were lost before its end, but not how many */
	const uint64_t unknown = recorded_packet(stream, 0)->discarded;

	s->lost = 0;
	s->lost_before = unknown - MIN(unknown, 1);
	for (; i < stream->packets->len && recorded_packet(stream, i)->end < s->begin; i++)
		s->lost_before = MAX(s->lost_before, recorded_packet(stream, i)->discarded);
	if (i > 0 && (i == stream->packets->len || recorded_packet(stream, i)->begin >= s->begin))
		i--;
	return i;
}

static uint64_t lost_between(const struct recorded_packet *before, const struct recorded_packet *p)
{
	return p->seq > before->seq + 1 ? p->seq - before->seq - 1 : 0;
}

static enum lt_status write_stream(struct slice_stream *s, const struct recorded_stream *stream, const stop_flag *stop)
{
	const guint first = slice_begin_stream(s, stream);
	enum lt_status status = LT_OK;

	for (guint i = first; i < stream->packets->len && status == LT_OK; i++) {
		const struct recorded_packet *p = recorded_packet(stream, i);
		const uint64_t lost = i ? lost_between(recorded_packet(stream, i - 1), p) : 0;

		if (p->begin >= s->end) {
			s->sum->losing |= lost && recorded_packet(stream, i - 1)->end < s->end;
			break;
		}
		if (i == first || p->end >= s->begin)
			status = *stop ? LT_INTERRUPTED : write_packet(s, stream, i);
		if (p->begin >= s->begin)
			s->sum->lost_packets += lost;
	}
	return slice_close_file(s, status);
}

/* The signature at the start of plain CTF 1.8 metadata; packetised metadata, as LTTng writes it, has its own. */
static const char *signature(const struct layout *l, const char *text)
{
	return l->format == LAYOUT_CTF_1_8 && !g_str_has_prefix(text, "/* CTF 1.8") ? "/* CTF 1.8 */\n\n" : "";
}

enum lt_status slice_write_metadata(const struct recording *r, const char *directory, int64_t shift_ns)
{
	char *path = g_build_filename(directory, "metadata", NULL);
	char *text = layout_edit_text(r->layout, r->text, shift_ns, NULL);
	FILE *file = open_file(path, false);
	bool fine = file && fputs(signature(r->layout, text), file) != EOF && fputs(text, file) != EOF;

	if (file)
		fine = fclose(file) == 0 && fine;
	if (!fine)
		error_set("cannot write '%s': %s", path, g_strerror(errno));
	g_free(text);
	g_free(path);
	return fine ? LT_OK : LT_ERROR;
}

enum lt_status slice_write(const struct recording *r, const char *directory, const struct slice_range *range,
			   const stop_flag *stop, struct slice_sum *sum)
{
	const uint64_t before = sum->packets;
	struct slice_stream s = {
		.r = r,
		.begin = slice_cycle(r->layout, range->begin_ns),
		.end = slice_cycle(r->layout, range->end_ns),
		.sum = sum,
	};
	enum lt_status status = LT_OK;

	for (guint i = 0; i < r->streams->len && status == LT_OK; i++) {
		const struct recorded_stream *stream = g_ptr_array_index(r->streams, i);

		s.is_made = false;
		s.path = g_build_filename(directory, stream->name, NULL);
		cutter_init(&s.cutter, r->layout);
		status = write_stream(&s, stream, stop);
		cutter_release(&s.cutter);
		g_free(s.path);
	}
	if (status == LT_OK && sum->packets > before)
		status = slice_write_metadata(r, directory, range->shift_ns);
	return status;
}
