/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "viewer/dial.h"

#include <errno.h>
#include <glib.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "base/error.h"
#include "base/fd.h"
#include "base/nstime.h"

/* ---- looking up ---- */

/* A request to the resolver. Concurrent identical requests share it, and the resolving thread holds a reference too. */
struct lookup {
	gint users; /* atomic */
	int family;
	char *host, *service;
	GMutex lock; /* protects the next two */
	bool is_answered;
	GArray *listeners; /* int: an eventfd for each waiting dial: the kernel limits epoll paths to one file */
	/* written by the thread until then */
	int problem; /* of getaddrinfo() */
	struct addrinfo *addresses;
};

static GPtrArray *lookups; /* not answered yet; NULL: there are none */

static void lookup_release(struct lookup *l)
{
	if (!g_atomic_int_dec_and_test(&l->users))
		return;
	if (l->addresses)
		freeaddrinfo(l->addresses);
	g_array_free(l->listeners, TRUE);
	g_mutex_clear(&l->lock);
	g_free(l->host);
	g_free(l->service);
	g_free(l);
}

static void ask(struct lookup *l, int flags)
{
	const struct addrinfo hints = { .ai_family = l->family, .ai_socktype = SOCK_STREAM, .ai_flags = flags };

	l->problem = getaddrinfo(l->host, l->service, &hints, &l->addresses);
}

static void answer(struct lookup *l)
{
	g_mutex_lock(&l->lock);
	l->is_answered = true;
	for (guint i = 0; i < l->listeners->len; i++)
		eventfd_write(g_array_index(l->listeners, int, i), 1);
	g_mutex_unlock(&l->lock);
}

static gpointer ask_resolver(gpointer lookup)
{
	struct lookup *l = lookup;

	ask(l, 0);
	answer(l);
	lookup_release(l);
	return NULL;
}

static bool is_answered(struct lookup *l)
{
	bool is;

	g_mutex_lock(&l->lock);
	is = l->is_answered;
	g_mutex_unlock(&l->lock);
	return is;
}

/* Makes the eventfd readable, permanently, once there is an answer. Undone by lookup_leave(). */
static void lookup_listen(struct lookup *l, int fd)
{
	g_mutex_lock(&l->lock);
	g_array_append_val(l->listeners, fd);
	if (l->is_answered)
		eventfd_write(fd, 1);
	g_mutex_unlock(&l->lock);
}

static void lookup_leave(struct lookup *l, int fd)
{
	guint i = 0;

	g_mutex_lock(&l->lock);
	while (g_array_index(l->listeners, int, i) != fd)
		i++;
	g_array_remove_index_fast(l->listeners, i);
	g_mutex_unlock(&l->lock);
}

static void forget_answered(void)
{
	for (guint i = lookups ? lookups->len : 0; i-- > 0;) {
		struct lookup *l = g_ptr_array_index(lookups, i);

		if (is_answered(l)) {
			g_ptr_array_remove_index_fast(lookups, i);
			lookup_release(l);
		}
	}
	if (lookups && lookups->len == 0) {
		g_ptr_array_free(lookups, TRUE);
		lookups = NULL;
	}
}

static struct lookup *find_lookup(const struct lookup *wanted)
{
	for (guint i = 0; lookups && i < lookups->len; i++) {
		struct lookup *l = g_ptr_array_index(lookups, i);

		if (l->family == wanted->family && strcmp(l->host, wanted->host) == 0 &&
		    strcmp(l->service, wanted->service) == 0)
			return l;
	}
	return NULL;
}

/* Signals are not for it: the main thread may wait for one, or hold it back for a moment. */
static GThread *start_resolver(struct lookup *l)
{
	sigset_t all, before;
	GThread *thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	thread = g_thread_try_new("resolver", ask_resolver, l, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}

/* Returns the request that a thread will answer: an identical one that is already pending, or this one. */
static struct lookup *send_lookup(struct lookup *l)
{
	struct lookup *same;
	GThread *thread;

	forget_answered();
	same = find_lookup(l);
	if (same) {
		g_atomic_int_inc(&same->users);
		lookup_release(l);
		return same;
	}
	g_atomic_int_inc(&l->users);
	thread = start_resolver(l);
	if (!thread) {
		lookup_release(l);
		l->problem = EAI_AGAIN;
		answer(l);
		return l;
	}
	g_thread_unref(thread);
	g_atomic_int_inc(&l->users);
	if (!lookups)
		lookups = g_ptr_array_new();
	g_ptr_array_add(lookups, l);
	return l;
}

static struct lookup *lookup_start(int family, const char *host, unsigned port)
{
	struct lookup *l = g_new0(struct lookup, 1);

	l->users = 1;
	l->family = family;
	l->host = g_strdup(host);
	l->service = g_strdup_printf("%u", port);
	g_mutex_init(&l->lock);
	l->listeners = g_array_new(FALSE, FALSE, sizeof(int));
	/* A numeric address need not be looked up. */
	ask(l, AI_NUMERICHOST);
	if (l->problem != EAI_NONAME)
		answer(l);
	else
		l = send_lookup(l);
	return l;
}

/* ---- connecting ---- */

struct dial {
	struct lookup *lookup;
	int answered_fd; /* an eventfd: see lookup_listen() */
	bool has_addresses;
	const struct addrinfo *next; /* next address to try */
	int fd;                      /* being connected; -1: none */
	int timer_fd;                /* fires when to give up on the resolver or on this address */
	int epoll_fd;                /* watches all of these */
	unsigned timeout_ms;
	int64_t give_up_us; /* on this address, or on the resolver */
	int64_t until_us;   /* and on all addresses */
};

/* false: see errno. */
static bool watch(const struct dial *d, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events };

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void set_give_up(struct dial *d, int64_t at_us)
{
	const struct itimerspec when = { .it_value = { at_us / US_PER_S, at_us % US_PER_S * (int64_t)NS_PER_US } };

	d->give_up_us = at_us;
	timerfd_settime(d->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static void dial_free(struct dial *d)
{
	close_fd(&d->fd);
	close_fd(&d->answered_fd);
	close_fd(&d->epoll_fd);
	close_fd(&d->timer_fd);
	g_free(d);
}

struct dial *dial_create(int family, const char *host, unsigned port, unsigned timeout_ms)
{
	struct dial *d = g_new0(struct dial, 1);

	d->fd = -1;
	d->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->answered_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->timer_fd < 0 || d->epoll_fd < 0 || d->answered_fd < 0 || !watch(d, d->timer_fd, EPOLLIN) ||
	    !watch(d, d->answered_fd, EPOLLIN)) {
		error_set("cannot wait for a connection: %s", error_of_errno(errno));
		dial_free(d);
		return NULL;
	}
	d->lookup = lookup_start(family, host, port);
	d->timeout_ms = timeout_ms;
	d->until_us = g_get_monotonic_time() + (int64_t)timeout_ms * US_PER_MS;
	lookup_listen(d->lookup, d->answered_fd);
	set_give_up(d, d->until_us);
	return d;
}

void dial_destroy(struct dial *d)
{
	if (!d)
		return;
	lookup_leave(d->lookup, d->answered_fd);
	lookup_release(d->lookup);
	dial_free(d);
}

int dial_fd(const struct dial *d)
{
	return d->epoll_fd;
}

static unsigned count_addresses(const struct addrinfo *a)
{
	unsigned n = 0;

	for (; a; a = a->ai_next)
		n++;
	return n;
}

/* Starts with the next address, which gets its share of the time left. */
static enum lt_status try_next(struct dial *d, int error)
{
	while (d->next) {
		const struct addrinfo *a = d->next;
		const int64_t now_us = g_get_monotonic_time();

		set_give_up(d, now_us + (d->until_us - now_us) / count_addresses(a));
		d->next = a->ai_next;
		d->fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->ai_protocol);
		if (d->fd >= 0 &&
		    (connect(d->fd, a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS || errno == EINTR) &&
		    watch(d, d->fd, EPOLLOUT))
			return LT_AGAIN;
		error = errno;
		close_fd(&d->fd);
	}
	return error_set("cannot connect: %s%s", error_of_errno(error),
			 error == ECONNREFUSED ? ": no lttng-relayd listens there" : "");
}

static enum lt_status take_addresses(struct dial *d)
{
	struct lookup *l = d->lookup;

	if (!is_answered(l)) {
		if (g_get_monotonic_time() < d->give_up_us)
			return LT_AGAIN;
		return error_set("cannot find the address of the host: no answer for %g s",
				 (double)d->timeout_ms / MS_PER_S);
	}
	if (l->problem)
		return error_set("cannot find the address of the host: %s", gai_strerror(l->problem));
	d->has_addresses = true;
	epoll_ctl(d->epoll_fd, EPOLL_CTL_DEL, d->answered_fd, NULL);
	d->next = l->addresses;
	d->until_us = g_get_monotonic_time() + (int64_t)d->timeout_ms * US_PER_MS;
	return try_next(d, EHOSTUNREACH);
}

/* LT_OK: connected. LT_AGAIN: not yet. */
static enum lt_status finish_connecting(struct dial *d)
{
	struct pollfd p = { .fd = d->fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int error = 0;

	if (poll(&p, 1, 0) > 0) {
		if (getsockopt(d->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
			error = errno;
	} else if (g_get_monotonic_time() < d->give_up_us) {
		return LT_AGAIN;
	} else {
		error = ETIMEDOUT;
	}
	if (!error)
		return LT_OK;
	close_fd(&d->fd);
	return try_next(d, error);
}

enum lt_status dial_next(struct dial *d, int *fd)
{
	enum lt_status status = d->has_addresses ? LT_AGAIN : take_addresses(d);
	const int one = 1;

	if (status == LT_AGAIN && d->has_addresses)
		status = finish_connecting(d);
	if (status != LT_OK)
		return status;
	setsockopt(d->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	epoll_ctl(d->epoll_fd, EPOLL_CTL_DEL, d->fd, NULL);
	*fd = d->fd;
	d->fd = -1;
	return LT_OK;
}
