/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Those who connect to a relayd for a command do not wait for a resolver that does not answer. */
#include <glib.h>
#include <netdb.h>
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "control/relay.h"
#include "feed/connection.h"
#include "unit.h"

#define NAME "slow.invalid"

static GMutex resolver; /* while it is held, the resolver does not answer */

static sigset_t resolver_mask; /* the signals that its thread blocks */

/* Replaces the library's function. */
int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **addresses)
{
	(void)host, (void)service, (void)addresses;
	if (!(hints->ai_flags & AI_NUMERICHOST)) {
		pthread_sigmask(SIG_SETMASK, NULL, &resolver_mask);
		g_mutex_lock(&resolver);
		g_mutex_unlock(&resolver);
	}
	return EAI_NONAME;
}

static enum lt_status feed_to(unsigned timeout_ms, sig_atomic_t stop)
{
	const stop_flag stopped = stop;
	struct feed_connection c;
	enum lt_status status;

	connection_init(&c, timeout_ms, &stopped);
	status = connection_open(&c, AF_UNSPEC, NAME, 5342);
	connection_close(&c);
	return status;
}

START_TEST(test_feed)
{
	g_mutex_lock(&resolver);
	ck_assert_int_eq(feed_to(3600000, 1), LT_INTERRUPTED);
	ck_assert_int_eq(feed_to(10, 0), LT_ERROR);
	ck_assert_str_eq(error_text(), "lttng-relayd at " NAME ":5342: cannot find the address of the host: "
				       "no answer for 0.01 s");
	g_mutex_unlock(&resolver);
}
END_TEST

START_TEST(test_record)
{
	g_mutex_lock(&resolver);
	ck_assert_int_eq(relay_probe("net://" NAME), LT_ERROR);
	ck_assert_str_eq(error_text(), "cannot reach relayd 'net://" NAME "' from this machine: "
				       "cannot find the address of the host: no answer for 5 s");
	/* a signal that the recorder holds back for a moment must not be taken by the other thread */
	ck_assert(sigismember(&resolver_mask, SIGINT) == 1 && sigismember(&resolver_mask, SIGCHLD) == 1);
	g_mutex_unlock(&resolver);
}
END_TEST

UNIT_MAIN("resolver", test_feed, test_record)
