/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Views live sessions of one relayd, all in one loop, and writes what came.
 *
 *   view_sessions [-s] [-t MS] [-o DIRECTORY] HOST PORT [TARGET SESSION]...
 *
 * -s: from the start; -t: a relayd that is silent for this long has failed. Without a session: the list.
 * -o: DIRECTORY/NUMBER-TRACE-CHANNEL has the bytes of a stream, NUMBER counting the sessions from 0.
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "viewer/dial.h"
#include "viewer/viewer.h"

enum { VIEWERS_MAX = 1024 };

static const char *const causes[] = {
	[VIEWER_PROTOCOL] = "protocol", [VIEWER_UNREACHABLE] = "unreachable",
	[VIEWER_GONE] = "gone",         [VIEWER_NO_SESSION] = "no session",
	[VIEWER_TAKEN] = "taken",
};

static const char *directory;

static void write_bytes(unsigned number, const struct viewer_stream *s, const void *bytes, size_t len)
{
	char *path = g_strdup_printf("%s/%u-%" PRIu64 "-%s", directory, number, s->trace, s->channel);
	FILE *file = fopen(path, "a");

	if (!file || fwrite(bytes, len, 1, file) != 1 || fclose(file) != 0) {
		fprintf(stderr, "cannot write '%s': %s\n", path, strerror(errno));
		exit(2);
	}
	g_free(path);
}

static void show(unsigned number, const struct viewer_event *e)
{
	const struct viewer_stream *s = e->stream;

	printf("%u ", number);
	switch (e->kind) {
	case VIEWER_SESSION:
		printf("session %s %s timer=%u clients=%u streams=%u ctf2=%d\n", e->session->host, e->session->name,
		       e->session->timer_us, e->session->clients, e->session->streams, e->session->is_ctf2);
		break;
	case VIEWER_LISTED:
		puts("listed");
		break;
	case VIEWER_ATTACHED:
		printf("attached timer=%u\n", e->session->timer_us);
		break;
	case VIEWER_STREAM:
		printf("stream %" PRIu64 " trace=%" PRIu64 " %s %s\n", s->id, s->trace, s->channel,
		       s->is_metadata ? "metadata" : "data");
		break;
	case VIEWER_METADATA:
		printf("metadata %" PRIu64 " %zu\n", s->id, e->len);
		if (directory)
			write_bytes(number, s, e->bytes, e->len);
		break;
	case VIEWER_PACKET:
		printf("packet %" PRIu64 " %zu begin=%" PRIu64 " end=%" PRIu64 "\n", s->id, e->packet->len,
		       e->packet->begin, e->packet->end);
		if (directory)
			write_bytes(number, s, e->packet->bytes, e->packet->len);
		viewer_packet_free(e->packet);
		break;
	case VIEWER_BEACON:
		printf("beacon %" PRIu64 " %" PRIu64 "\n", s->id, e->until);
		break;
	case VIEWER_STREAM_GONE:
		printf("gone %" PRIu64 "\n", s->id);
		viewer_stream_free(e->stream);
		break;
	}
}

/* Takes what there is; false: the viewer is done. */
static bool take(unsigned number, struct viewer *v)
{
	struct viewer_event event;
	enum lt_status status;

	while ((status = viewer_next(v, &event)) == LT_OK) {
		show(number, &event);
		if (event.kind == VIEWER_LISTED)
			return false;
	}
	if (status == LT_END)
		printf("%u end\n", number);
	else if (status == LT_ERROR)
		printf("%u failed: %s (%s)\n", number, error_text(), causes[viewer_cause(v)]);
	fflush(stdout);
	return status == LT_AGAIN;
}

/* -1: error chain. */
static int connect_to(const char *host, unsigned port, unsigned timeout_ms)
{
	struct dial *d = dial_create(AF_UNSPEC, host, port, timeout_ms ? timeout_ms : VIEWER_TIMEOUT_MS);
	struct pollfd p = { .fd = dial_fd(d), .events = POLLIN };
	enum lt_status status;
	int fd = -1;

	while ((status = dial_next(d, &fd)) == LT_AGAIN)
		poll(&p, 1, -1);
	dial_destroy(d);
	return fd;
}

static void wait_for_any(struct viewer *const *viewers, unsigned n)
{
	const int64_t now_us = g_get_monotonic_time();
	struct pollfd fds[VIEWERS_MAX];
	int64_t due_us = INT64_MAX;

	for (unsigned i = 0; i < n; i++) {
		fds[i] = (struct pollfd){ .fd = -1 };
		if (!viewers[i])
			continue;
		fds[i] = (struct pollfd){ viewer_fd(viewers[i]), (short)viewer_events(viewers[i]), 0 };
		due_us = MIN(due_us, viewer_due_us(viewers[i]));
	}
	poll(fds, n, due_us == INT64_MAX ? -1 : (int)CLAMP((due_us - now_us + 999) / 1000, 0, 60000));
}

int main(int argc, char **argv)
{
	struct viewer_options options = { 0 };
	struct viewer *viewers[VIEWERS_MAX] = { NULL };
	unsigned n, open;
	int option;

	while ((option = getopt(argc, argv, "st:o:")) != -1) {
		if (option == 's')
			options.from_start = true;
		else if (option == 't')
			options.timeout_ms = (unsigned)atoi(optarg);
		else if (option == 'o')
			directory = optarg;
		else
			return 2;
	}
	if (argc - optind < 2 || (argc - optind) % 2 != 0 || (argc - optind) / 2 > VIEWERS_MAX)
		return 2;
	n = argc - optind == 2 ? 1 : (unsigned)(argc - optind) / 2 - 1;
	for (unsigned i = 0; i < n; i++) {
		options.target = argv[optind + 2 + 2 * i];
		options.session = options.target ? argv[optind + 3 + 2 * i] : NULL;
		options.fd = connect_to(argv[optind], (unsigned)atoi(argv[optind + 1]), options.timeout_ms);
		viewers[i] = options.fd < 0 ? NULL : viewer_create(&options);
		if (!viewers[i])
			printf("%u failed: %s (unreachable)\n", i, error_text());
	}
	do {
		open = 0;
		for (unsigned i = 0; i < n; i++) {
			if (viewers[i] && !take(i, viewers[i])) {
				viewer_destroy(viewers[i]);
				viewers[i] = NULL;
			}
			open += viewers[i] != NULL;
		}
		if (open)
			wait_for_any(viewers, n);
	} while (open);
	return 0;
}
