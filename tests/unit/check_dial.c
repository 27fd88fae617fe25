/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "viewer/dial.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "unit.h"

enum { TIMEOUT_MS = 20000 };

/* ---- a slow resolver ---- */

#define SLOW_NAME "slow.invalid"

static GMutex resolver; /* while it is held, the resolver does not answer */

/* Replaces the library's function. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **addresses)
{
	static int (*original)(const char *, const char *, const struct addrinfo *, struct addrinfo **);

	if (strcmp(host, SLOW_NAME) == 0 && !(hints->ai_flags & AI_NUMERICHOST)) {
		g_mutex_lock(&resolver);
		g_mutex_unlock(&resolver);
		return EAI_NONAME;
	}
	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "getaddrinfo");
	return original(host, service, hints, addresses);
}

/* ---- a kernel that watches no more files ---- */

static unsigned watches = UINT_MAX; /* that it still accepts */

/* Replaces the library's function. */
int epoll_ctl(int set, int how, int fd, struct epoll_event *event)
{
	static int (*original)(int, int, int, struct epoll_event *);

	if (how == EPOLL_CTL_ADD && watches-- == 0) {
		watches = 0;
		errno = ENOSPC;
		return -1;
	}
	if (!original)
		*(void **)&original = dlsym(RTLD_NEXT, "epoll_ctl");
	return original(set, how, fd, event);
}

/* A socket on 127.0.0.1, and its port; it listens with this backlog, or not at all if that is -1. */
static int make_socket(int backlog, unsigned *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	if (backlog >= 0)
		ck_assert_int_eq(listen(fd, backlog), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*port = ntohs(address.sin_port);
	return fd;
}

/* Waits only on dial_fd(). */
static enum lt_status dial(int family, const char *host, unsigned port, unsigned timeout_ms, int *fd)
{
	struct dial *d = dial_create(family, host, port, timeout_ms);
	struct pollfd p = { .fd = dial_fd(d), .events = POLLIN };
	enum lt_status status;

	while ((status = dial_next(d, fd)) == LT_AGAIN)
		ck_assert_int_eq(poll(&p, 1, 3 * TIMEOUT_MS), 1);
	dial_destroy(d);
	return status;
}

/* By address, and by a name that a thread looks up: the connection works and does not block. */
START_TEST(test_connects)
{
	static const char *const hosts[] = { "127.0.0.1", "localhost" };

	for (unsigned i = 0; i < G_N_ELEMENTS(hosts); i++) {
		unsigned port;
		int fd = -1, other;
		char text[4] = "";
		const int listener = make_socket(4, &port);

		ck_assert_int_eq(dial(AF_INET, hosts[i], port, TIMEOUT_MS, &fd), LT_OK);
		ck_assert(fcntl(fd, F_GETFL) & O_NONBLOCK);
		ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		other = accept(listener, NULL, NULL);
		ck_assert_int_eq(send(fd, "abc", 4, 0), 4);
		ck_assert_int_eq(recv(other, text, sizeof(text), MSG_WAITALL), 4);
		ck_assert_str_eq(text, "abc");
		close(other);
		close(fd);
		close(listener);
	}
}
END_TEST

START_TEST(test_refused)
{
	unsigned port;
	int fd = -1;
	const int unused = make_socket(-1, &port);

	ck_assert_int_eq(dial(AF_UNSPEC, "127.0.0.1", port, TIMEOUT_MS, &fd), LT_ERROR);
	ck_assert_str_eq(error_text(), "cannot connect: Connection refused: no lttng-relayd listens there");
	ck_assert_int_eq(fd, -1);
	close(unused);
}
END_TEST

/* A listener with a full queue does not answer at all. */
START_TEST(test_no_answer)
{
	enum { SHORT_MS = 300 };
	const int64_t begin_us = g_get_monotonic_time();
	int waiting[8], fd = -1;
	unsigned port, n = 0;
	const int listener = make_socket(0, &port);
	enum lt_status status;

	do {
		status = dial(AF_UNSPEC, "127.0.0.1", port, SHORT_MS, &fd);
		if (status == LT_OK)
			waiting[n++] = fd;
	} while (status == LT_OK && n < G_N_ELEMENTS(waiting));
	ck_assert_int_eq(status, LT_ERROR);
	ck_assert_str_eq(error_text(), "cannot connect: Connection timed out");
	ck_assert_int_ge(g_get_monotonic_time() - begin_us, SHORT_MS * 1000);
	while (n > 0)
		close(waiting[--n]);
	close(listener);
}
END_TEST

/* Names that do not exist, several at once: each question is asked once, and every dial gets its answer. */
START_TEST(test_no_such_host)
{
	struct dial *dials[20];
	int fd = -1;

	for (unsigned i = 0; i < G_N_ELEMENTS(dials); i++)
		dials[i] = dial_create(AF_UNSPEC, "name.invalid", 1, TIMEOUT_MS);
	/* destroying one does not affect the others */
	dial_destroy(dials[0]);
	for (unsigned i = 1; i < G_N_ELEMENTS(dials); i++) {
		struct pollfd p = { .fd = dial_fd(dials[i]), .events = POLLIN };
		enum lt_status status;

		while ((status = dial_next(dials[i], &fd)) == LT_AGAIN)
			ck_assert_int_eq(poll(&p, 1, 3 * TIMEOUT_MS), 1);
		ck_assert_int_eq(status, LT_ERROR);
		ck_assert_ptr_nonnull(strstr(error_text(), "cannot find the address of the host"));
		dial_destroy(dials[i]);
	}
}
END_TEST

/*
 * More dials for one name than the nested epoll sets that the kernel allows on one file: the answer wakes each of
 * them, in sets like the monitor's.
 */
START_TEST(test_many_ask)
{
	enum { MANY = 300 };
	struct epoll_event event = { .events = EPOLLIN };
	const int loop = epoll_create1(EPOLL_CLOEXEC), all = epoll_create1(EPOLL_CLOEXEC);
	struct dial *dials[MANY];
	unsigned heard = 0;

	ck_assert_int_eq(epoll_ctl(loop, EPOLL_CTL_ADD, all, &event), 0);
	g_mutex_lock(&resolver);
	for (unsigned i = 0; i < MANY; i++) {
		const int own = epoll_create1(EPOLL_CLOEXEC);

		dials[i] = dial_create(AF_UNSPEC, SLOW_NAME, 1, TIMEOUT_MS);
		event.data.u32 = i;
		ck_assert_int_eq(epoll_ctl(own, EPOLL_CTL_ADD, dial_fd(dials[i]), &event), 0);
		ck_assert_int_eq(epoll_ctl(all, EPOLL_CTL_ADD, own, &event), 0);
	}
	ck_assert_int_eq(epoll_wait(all, &event, 1, 0), 0);
	g_mutex_unlock(&resolver);
	while (heard < MANY) {
		int fd;

		ck_assert_int_eq(epoll_wait(all, &event, 1, 3 * TIMEOUT_MS), 1);
		ck_assert_int_eq(dial_next(dials[event.data.u32], &fd), LT_ERROR);
		dial_destroy(dials[event.data.u32]);
		heard++;
	}
}
END_TEST

static struct dial *dial_create_with(int files, unsigned port)
{
	struct rlimit before, few;
	struct dial *d;

	getrlimit(RLIMIT_NOFILE, &before);
	few = (struct rlimit){ (rlim_t)files, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	d = dial_create(AF_UNSPEC, "127.0.0.1", port, TIMEOUT_MS);
	if (d) {
		int fd;

		ck_assert_int_eq(dial_next(d, &fd), LT_ERROR);
	}
	setrlimit(RLIMIT_NOFILE, &before);
	return d;
}

/* Nothing would ever wake a dial without its descriptors. */
START_TEST(test_too_many_open_files)
{
	enum { NEEDED = 3 }; /* and one more for the connection */
	unsigned port;
	const int listener = make_socket(4, &port), lowest = dup(listener);
	struct dial *d;

	close(lowest);
	for (int n = 0; n < NEEDED; n++) {
		ck_assert_ptr_null(dial_create_with(lowest + n, port));
		ck_assert_str_eq(error_text(), "cannot wait for a connection: " ERROR_TOO_MANY_FILES);
		ck_assert_int_eq(dup(listener), lowest); /* all are closed again */
		close(lowest);
	}
	d = dial_create_with(lowest + NEEDED, port);
	ck_assert_ptr_nonnull(d);
	ck_assert_str_eq(error_text(), "cannot connect: " ERROR_TOO_MANY_FILES);
	dial_destroy(d);
	close(listener);
}
END_TEST

/* Nor would anything wake one whose descriptors are not watched. */
START_TEST(test_too_many_watched_files)
{
	enum { NEEDED = 2 }; /* and one more for the connection */
	unsigned port;
	const int listener = make_socket(4, &port), lowest = dup(listener);
	int fd = -1;

	close(lowest);
	for (watches = 0; watches < NEEDED; watches++) {
		const unsigned n = watches;

		ck_assert_ptr_null(dial_create(AF_UNSPEC, "127.0.0.1", port, TIMEOUT_MS));
		ck_assert_str_eq(error_text(), "cannot wait for a connection: No space left on device");
		ck_assert_int_eq(dup(listener), lowest); /* all are closed again */
		close(lowest);
		watches = n;
	}
	ck_assert_int_eq(dial(AF_UNSPEC, "127.0.0.1", port, TIMEOUT_MS, &fd), LT_ERROR);
	ck_assert_str_eq(error_text(), "cannot connect: No space left on device");
	close(listener);
}
END_TEST

UNIT_MAIN("dial", test_connects, test_refused, test_no_answer, test_no_such_host, test_many_ask,
	  test_too_many_open_files, test_too_many_watched_files)
