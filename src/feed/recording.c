/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "feed/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "ctf/metadata.h"
#include "ctf/packet_file.h"
#include "viewer/viewer.h"

static void destroy_stream(gpointer data)
{
	struct recorded_stream *s = data;
	struct recorded_copy *copy;

	for (guint i = 0; i < s->packets->len; i++)
		while ((copy = recorded_packet(s, i)->copies) != NULL) {
			g_array_index(s->packets, struct recorded_packet, i).copies = copy->next;
			g_free(copy);
		}
	g_free(s->name);
	g_ptr_array_free(s->paths, TRUE);
	g_array_free(s->packets, TRUE);
	g_free(s);
}

/* Sanitises the path, which goes to the user's terminal. */
static void warn(struct recording *r, const char *path, const char *what)
{
	char text[256];

	text_sanitise(text, sizeof(text), path, strlen(path));
	log_warning("%s: %s", text, what);
	r->damaged++;
}

/* ---- finding packets ---- */

/* A file whose packets are being listed. */
struct recording_scan {
	struct recording *r;
	int fd;
	uint64_t length;
	const char *path; /* the stream's copy once there is one */
	const char *name; /* without directory */
	bool is_damaged;
	struct recorded_stream *stream;
	const struct layout_stream *class; /* of the stream; NULL: not known yet */
	struct cutter cutter;              /* finds the ends of packets that do not contain them */
};

/* The stream a packet belongs to: same instance number or, without such numbers, same file name. */
static struct recorded_stream *find_stream(struct recording *r, const struct packet_head *head, const char *name)
{
	struct recorded_stream *s;

	for (guint i = 0; i < r->streams->len; i++) {
		s = g_ptr_array_index(r->streams, i);
		if (s->id == head->stream->id && (packet_has(head, PACKET_STREAM_INSTANCE_ID)
							  ? s->instance == head->values[PACKET_STREAM_INSTANCE_ID]
							  : !strcmp(s->name, name)))
			return s;
	}
	s = g_new0(struct recorded_stream, 1);
	s->name = g_strdup(name);
	s->id = head->stream->id;
	s->instance = head->values[PACKET_STREAM_INSTANCE_ID];
	s->paths = g_ptr_array_new_with_free_func(g_free);
	s->packets = g_array_new(FALSE, FALSE, sizeof(struct recorded_packet));
	g_ptr_array_add(r->streams, s);
	return s;
}

static enum lt_status read_bytes(int fd, uint8_t *data, size_t size, uint64_t offset, size_t *got)
{
	for (*got = 0; *got < size;) {
		ssize_t n = pread(fd, data + *got, size - *got, (off_t)(offset + *got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set("%s", g_strerror(errno));
		if (!n)
			break;
		*got += (size_t)n;
	}
	return LT_OK;
}

/* The size of the packet in the file. One that is too long ends where another one starts in it, or with the file. */
static uint64_t size_in_file(const struct recording_scan *s, uint64_t offset, const struct packet_head *head)
{
	const uint64_t size = packet_bytes(head, s->length - offset);
	struct packet_head next;

	if (size <= s->length - offset)
		return size;
	return packet_file_search(s->r->layout, head->stream, s->fd, offset + (head->events_at + 7) / 8, s->length,
				  &next) -
	       offset;
}

/* The packet's end is 0, which is unknown. */
static enum lt_status find_end(struct recording_scan *s, struct recorded_packet *p)
{
	uint8_t *data = recording_read(p);
	enum lt_status status = data ? cutter_begin(&s->cutter, data, p->size) : LT_ERROR;

	g_free(data);
	if (status == LT_ERROR)
		return status;
	error_clear();
	p->end = s->cutter.head.values[PACKET_TIMESTAMP_END];
	return LT_OK;
}

/* Reads the packet at offset. LT_ERROR: it is left out. *size: its size in the file; 0: not known. */
static enum lt_status scan_packet(struct recording_scan *s, uint64_t offset, uint64_t *size)
{
	struct recorded_packet p = { .path = s->path, .offset = offset };
	struct packet_head head;
	const enum lt_status status = packet_file_read_head(s->r->layout, s->fd, offset, &head);
	uint64_t end_ns;

	*size = 0;
	if (status != LT_OK)
		return status == LT_END ? error_set("the file was truncated") : LT_ERROR;
	*size = size_in_file(s, offset, &head);
	if (!*size)
		return error_set("it has an impossible size");
	if (!packet_has(&head, PACKET_TIMESTAMP_BEGIN) || !packet_has(&head, PACKET_TIMESTAMP_END))
		return error_set("it has no timestamps");
	p.content_bits = packet_has(&head, PACKET_CONTENT_SIZE) ? head.values[PACKET_CONTENT_SIZE] : 8 * *size;
	if (*size > VIEWER_PACKET_MAX)
		return error_set("it is larger than %d MiB", VIEWER_PACKET_MAX >> 20);
	p.size = *size;
	p.begin = head.values[PACKET_TIMESTAMP_BEGIN];
	p.end = head.values[PACKET_TIMESTAMP_END];
	p.seq = head.values[PACKET_SEQ_NUM];
	p.discarded = head.values[PACKET_EVENTS_DISCARDED];
	if (!p.end && find_end(s, &p) != LT_OK)
		return LT_ERROR;
	if (p.end < p.begin)
		return error_set("it ends before it starts");
	if (!layout_time(s->r->layout, p.end, &end_ns) || end_ns > INT64_MAX)
		return error_set("it ends after the year 2262");
	if (!s->stream) {
		s->stream = find_stream(s->r, &head, s->name);
		g_ptr_array_add(s->stream->paths, g_strdup(s->path));
		s->path = g_ptr_array_index(s->stream->paths, s->stream->paths->len - 1);
		s->class = head.stream;
	} else if (s->class != head.stream) {
		return error_set("it belongs to another stream");
	}
	p.path = s->path;
	g_array_append_val(s->stream->packets, p);
	s->r->bytes += p.size;
	return LT_OK;
}

/* Leaves a packet out, for the reason in the error chain; reported once per file, as damage often affects many. */
static void leave_out(struct recording_scan *s, uint64_t offset)
{
	char *what = g_strdup_printf("the packet at byte %" G_GUINT64_FORMAT " is left out: %s", offset, error_text());

	if (!s->is_damaged)
		warn(s->r, s->path, what);
	s->is_damaged = true;
	error_clear();
	g_free(what);
}

static void scan_file(struct recording *r, const char *path, const char *name)
{
	struct recording_scan s = { .r = r, .path = path, .name = name };
	struct packet_head head;
	struct stat st;
	uint64_t size;

	s.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (s.fd < 0 || fstat(s.fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		warn(r, path, s.fd < 0 ? g_strerror(errno) : "not a regular file");
		if (s.fd >= 0)
			close(s.fd);
		return;
	}
	s.length = (uint64_t)st.st_size;
	cutter_init(&s.cutter, r->layout);
	for (uint64_t at = 0; at < s.length; at += size) {
		if (scan_packet(&s, at, &size) != LT_OK)
			leave_out(&s, at);
		if (!size)
			size = packet_file_search(r->layout, s.class, s.fd, at + 1, s.length, &head) - at;
	}
	cutter_release(&s.cutter);
	close(s.fd);
}

static void scan_directory(struct recording *r, const char *directory)
{
	GDir *dir = g_dir_open(directory, 0, NULL);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (source_is_stream_name(name))
			g_ptr_array_add(names, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	else
		warn(r, directory, "cannot list the directory");
	g_ptr_array_sort(names, (GCompareFunc)(void *)g_strcmp0);
	for (guint i = 0; i < names->len; i++) {
		char *path = g_build_filename(directory, g_ptr_array_index(names, i), NULL);

		if (!g_file_test(path, G_FILE_TEST_IS_DIR))
			scan_file(r, path, g_ptr_array_index(names, i));
		g_free(path);
	}
	g_ptr_array_free(names, TRUE);
}

static int compare_packets(gconstpointer a, gconstpointer b)
{
	const struct recorded_packet *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->seq != y->seq)
		return x->seq < y->seq ? -1 : 1;
	if (x->path == y->path)
		return x->offset < y->offset ? -1 : x->offset > y->offset;
	return 0;
}

static bool is_copy(const struct recorded_packet *a, const struct recorded_packet *b)
{
	return a->path != b->path && a->begin == b->begin && a->end == b->end && a->seq == b->seq &&
	       a->content_bits == b->content_bits;
}

/* Keeps the copy that has more bytes: a file may end within the other one. */
static void add_copy(struct recorded_packet *kept, const struct recorded_packet *p)
{
	const bool is_larger = p->size > kept->size;
	const struct recorded_packet *dropped = is_larger ? kept : p;
	struct recorded_copy *copy = g_new(struct recorded_copy, 1);

	*copy = (struct recorded_copy){ dropped->path, dropped->offset, kept->copies };
	if (is_larger)
		*kept = *p;
	kept->copies = copy;
}

bool recorded_packet_is_at(const struct recorded_packet *p, const char *path, uint64_t offset)
{
	if (p->path == path && p->offset == offset)
		return true;
	for (const struct recorded_copy *copy = p->copies; copy; copy = copy->next)
		if (copy->path == path && copy->offset == offset)
			return true;
	return false;
}

/* Snapshots overlap: several may contain the same packet. */
static void sort_packets(struct recorded_stream *s)
{
	struct recorded_packet *last = NULL;
	guint n = 0;

	g_array_sort(s->packets, compare_packets);
	for (guint i = 0; i < s->packets->len; i++) {
		const struct recorded_packet *p = recorded_packet(s, i);

		if (last && is_copy(last, p)) {
			add_copy(last, p);
			continue;
		}
		last = &g_array_index(s->packets, struct recorded_packet, n++);
		*last = *p;
	}
	g_array_set_size(s->packets, n);
}

uint8_t *recording_read(const struct recorded_packet *p)
{
	int fd = open(p->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t *data = NULL;
	size_t got = 0;

	if (fd < 0) {
		error_set("cannot open '%s': %s", p->path, g_strerror(errno));
		return NULL;
	}
	data = g_malloc(p->size);
	if (!read_bytes(fd, data, p->size, p->offset, &got) && got < p->size)
		error_set("file was truncated");
	close(fd);
	if (got == p->size)
		return data;
	error_wrap("cannot read '%s'", p->path);
	g_free(data);
	return NULL;
}

/* ---- the trace as a whole ---- */

/* The time of the first event, or the start of the first packet if that cannot be stepped through. */
static uint64_t stream_begin(const struct recording *r, const struct recorded_stream *s)
{
	uint64_t begin = recorded_packet(s, 0)->begin;
	struct cutter c;
	bool found = false;

	cutter_init(&c, r->layout);
	for (guint i = 0; i < s->packets->len && !found; i++) {
		uint8_t *data = recording_read(recorded_packet(s, i));

		found = !data || cutter_first_event(&c, data, recorded_packet(s, i)->size, &begin) != LT_END;
		g_free(data);
	}
	cutter_release(&c);
	error_clear();
	return begin;
}

static void find_range(struct recording *r)
{
	r->begin_ns = UINT64_MAX;
	for (guint i = 0; i < r->streams->len; i++) {
		const struct recorded_stream *s = g_ptr_array_index(r->streams, i);
		uint64_t largest = 0;

		r->begin_ns = MIN(r->begin_ns, layout_to_ns(r->layout, stream_begin(r, s)));
		for (guint k = 0; k < s->packets->len; k++) {
			r->end_ns = MAX(r->end_ns, layout_to_ns(r->layout, recorded_packet(s, k)->end));
			largest = MAX(largest, recorded_packet(s, k)->size);
		}
		r->bytes_at_once += largest;
	}
}

/* Takes the longest copy: a session's metadata only grows. */
static enum lt_status read_metadata(struct recording *r, const struct source_spec *spec)
{
	for (guint i = 0; i < spec->paths->len; i++) {
		const char *directory = g_ptr_array_index(spec->paths, i);
		char *text = metadata_read(directory, METADATA_MAX);

		if (!text) {
			warn(r, directory, "cannot read its metadata");
		} else if (!r->text || strlen(text) > strlen(r->text)) {
			g_free(r->text);
			r->text = text;
		} else {
			g_free(text);
		}
	}
	if (!r->text)
		return error_set("no readable metadata");
	if (layout_parse(r->text, &r->layout))
		return LT_ERROR;
	return r->layout->n_clocks > 1 ? error_set("its timestamps use several clocks, which is not supported") : LT_OK;
}

/* "…/kernel" → "kernel", "…/ust/uid/0/64-bit" → "ust/uid/0/64-bit", otherwise "ctf". */
static char *path_in_session(const char *directory)
{
	static const char *const users[] = { "/ust/uid/", "/ust/pid/" };
	char *path = g_canonicalize_filename(directory, NULL), *result;
	const char *found = NULL;

	if (g_str_has_suffix(path, "/kernel") || g_str_has_suffix(path, "/ust"))
		found = strrchr(path, '/');
	for (size_t i = 0; i < G_N_ELEMENTS(users) && !found; i++)
		found = g_strrstr(path, users[i]);
	result = g_strdup(found ? found + 1 : "ctf");
	g_free(path);
	return result;
}

static void set_names(struct recording *r, const struct source_spec *spec)
{
	const char *hostname = layout_env(r->layout, "hostname"), *session = layout_env(r->layout, "trace_name");

	r->hostname = g_strdup(hostname && *hostname ? hostname : spec->host_hint);
	r->session = g_strdup(session && *session ? session : spec->host_hint);
	r->clock_uuid = g_strdup(r->layout->clock ? r->layout->clock->uuid : NULL);
	r->path = path_in_session(g_ptr_array_index(spec->paths, 0));
}

static enum lt_status read_trace(struct recording *r, const struct source_spec *spec)
{
	if (read_metadata(r, spec))
		return LT_ERROR;
	for (guint i = 0; i < spec->paths->len; i++)
		scan_directory(r, g_ptr_array_index(spec->paths, i));
	if (!r->streams->len)
		return r->damaged ? error_set("no usable packets") : LT_END;
	for (guint i = 0; i < r->streams->len; i++)
		sort_packets(g_ptr_array_index(r->streams, i));
	find_range(r);
	set_names(r, spec);
	if (r->layout->n_unknown)
		log_info("%s: cannot decode %u event classes; packets that contain them are fed uncut", r->name,
			 r->layout->n_unknown);
	return LT_OK;
}

enum lt_status recording_open(const struct source_spec *spec, struct recording **out)
{
	struct recording *r = g_new0(struct recording, 1);
	enum lt_status status;
	char shown[256];

	text_sanitise(shown, sizeof(shown), spec->name, strlen(spec->name));
	r->name = g_strdup(shown);
	r->streams = g_ptr_array_new_with_free_func(destroy_stream);
	status = read_trace(r, spec);
	if (status == LT_ERROR)
		error_wrap("trace '%s'", r->name);
	if (status == LT_OK)
		*out = r;
	else
		recording_close(r);
	return status;
}

void recording_close(struct recording *r)
{
	if (!r)
		return;
	g_ptr_array_free(r->streams, TRUE);
	layout_destroy(r->layout);
	g_free(r->name);
	g_free(r->hostname);
	g_free(r->session);
	g_free(r->clock_uuid);
	g_free(r->path);
	g_free(r->text);
	g_free(r);
}
