/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a producer makes of a relayd's replies. */
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "feed/producer.h"
#include "unit.h"

enum { TIMEOUT_MS = 10000, REFUSED = 15, OK = 10 };

static const stop_flag never;

/* A producer that is connected to the sockets that are returned: control, data. */
static void connect_producer(struct producer *p, int *control, int *data)
{
	int pair[2];

	producer_init(p, TIMEOUT_MS, &never);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	p->control.fd = pair[0];
	p->control.peer = g_strdup("the relayd");
	*control = pair[1];
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	p->data.fd = pair[0];
	p->data.peer = g_strdup("the relayd");
	*data = pair[1];
}

static void reply(int control, uint32_t code)
{
	code = GUINT32_TO_BE(code);
	ck_assert_int_eq(send(control, &code, sizeof(code), 0), sizeof(code));
}

/* A relayd closes its connections after an error: what it said before is the reason. */
START_TEST(test_refused_and_closed)
{
	static const struct producer_index index = { .size = 8, .content = 8 };
	struct producer_stream stream = { .handle = 1 };
	struct producer p;
	int control, data;

	for (unsigned closed = 0; closed < 4; closed++) {
		connect_producer(&p, &control, &data);
		for (unsigned i = 0; i < 3; i++)
			producer_send_packet(&p, &stream, &index, (const uint8_t *)"x", 1);
		ck_assert_int_eq(producer_move(&p), LT_OK);
		ck_assert_uint_eq(p.pending, 3);
		reply(control, OK);
		reply(control, REFUSED);
		if (closed & 1)
			shutdown(control, SHUT_RDWR);
		if (closed & 2)
			shutdown(data, SHUT_RDWR);
		ck_assert_int_eq(producer_move(&p), LT_ERROR);
		ck_assert_str_eq(error_text(), "the relayd refuses to take a packet (code 15)");
		error_clear();
		producer_close(&p);
		close(control);
		close(data);
	}
}
END_TEST

START_TEST(test_closed)
{
	struct producer p;
	int control, data;

	for (unsigned closed = 1; closed < 4; closed++) {
		connect_producer(&p, &control, &data);
		if (closed & 1)
			shutdown(control, SHUT_RDWR);
		if (closed & 2)
			shutdown(data, SHUT_RDWR);
		ck_assert_int_eq(producer_move(&p), LT_ERROR);
		ck_assert_str_eq(error_text(), "the relayd closed the connection");
		error_clear();
		producer_close(&p);
		close(control);
		close(data);
	}
}
END_TEST

UNIT_MAIN("feed_producer", test_refused_and_closed, test_closed)
