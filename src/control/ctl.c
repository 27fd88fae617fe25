/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/ctl.h"

#include <dlfcn.h>
#include <glib.h>
#include <lttng/lttng.h>
#include <stdbool.h>

#include "config.h"

/*
 * The functions of liblttng-ctl that control/ calls, under their own names. The library is loaded by the first call:
 * with what it needs (libxml2, ICU, libstdc++) it takes longer to load than everything else together, and most runs do
 * not control a tracer. Machines that only look at traces need not have it. Weak, so that tests can replace the
 * functions. Threads: see ctl_load().
 */

static const char *library_name = "liblttng-ctl.so.0";
static const char *loaded; /* the name of library; NULL: not loaded yet */
static void *library;      /* NULL: it could not be loaded */
static char reason[512];   /* why not */

void ctl_set_library(const char *name)
{
	library_name = name;
}

const char *ctl_load(void)
{
	if (loaded != library_name) {
		loaded = library_name;
		library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
		if (!library)
			g_strlcpy(reason, dlerror(), sizeof(reason));
	}
	return library ? NULL : reason;
}

/* NULL: there is no such library, or no such function in it. */
static void *find_function(const char *name)
{
	return ctl_load() ? NULL : dlsym(library, name);
}

/* Headers before 2.15 do not declare lttng_session_descriptor_set_trace_format(). */
void ctl_set_ctf_1_8(struct lttng_session_descriptor *d)
{
	enum { CTF_1_8 = 1 };
	int (*set_trace_format)(struct lttng_session_descriptor * d, int format) = (int (*)(
		struct lttng_session_descriptor *, int))find_function("lttng_session_descriptor_set_trace_format");

	if (set_trace_format)
		set_trace_format(d, CTF_1_8);
}

/* A function that returns FAILED if it cannot be found. */
#define FUNCTION(type, failed, name, parameters, arguments)                            \
	__attribute__((weak)) type name parameters                                     \
	{                                                                              \
		__typeof__(name) *function = (__typeof__(name) *)find_function(#name); \
                                                                                       \
		return function ? function arguments : (failed);                       \
	}

#define VOID_FUNCTION(name, parameters, arguments)                                     \
	__attribute__((weak)) void name parameters                                     \
	{                                                                              \
		__typeof__(name) *function = (__typeof__(name) *)find_function(#name); \
                                                                                       \
		if (function)                                                          \
			function arguments;                                            \
	}

#define INT_FUNCTION(name, parameters, arguments) FUNCTION(int, -LTTNG_ERR_UNK, name, parameters, arguments)
#define CODE_FUNCTION(name, parameters, arguments) \
	FUNCTION(enum lttng_error_code, LTTNG_ERR_UNK, name, parameters, arguments)
#define TRACKER_FUNCTION(name, parameters, arguments)                                                                 \
	FUNCTION(enum lttng_process_attr_tracker_handle_status, LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_ERROR, name, \
		 parameters, arguments)

/* clang-format off */
FUNCTION(const char *, "liblttng-ctl cannot be loaded: install LTTng's tools", lttng_strerror, (int code), (code))
FUNCTION(int, 0, lttng_session_daemon_alive, (void), ())

/* sessions */
INT_FUNCTION(lttng_list_sessions, (struct lttng_session **sessions), (sessions))
CODE_FUNCTION(lttng_create_session_ext, (struct lttng_session_descriptor *d), (d))
INT_FUNCTION(lttng_destroy_session, (const char *name), (name))
INT_FUNCTION(lttng_start_tracing, (const char *name), (name))
INT_FUNCTION(lttng_stop_tracing, (const char *name), (name))
INT_FUNCTION(lttng_regenerate_statedump, (const char *name), (name))
CODE_FUNCTION(lttng_session_get_creation_time, (const struct lttng_session *s, uint64_t *time), (s, time))
FUNCTION(struct lttng_session_descriptor *, NULL, lttng_session_descriptor_local_create,
	 (const char *name, const char *path), (name, path))
FUNCTION(struct lttng_session_descriptor *, NULL, lttng_session_descriptor_snapshot_local_create,
	 (const char *name, const char *path), (name, path))
FUNCTION(struct lttng_session_descriptor *, NULL, lttng_session_descriptor_live_network_create,
	 (const char *name, const char *control, const char *data, unsigned long long timer_us),
	 (name, control, data, timer_us))
VOID_FUNCTION(lttng_session_descriptor_destroy, (struct lttng_session_descriptor *d), (d))

/* channels and events */
FUNCTION(struct lttng_handle *, NULL, lttng_create_handle,
	 (const char *session, LTTNG_CTL_CONST struct lttng_domain *domain), (session, domain))
VOID_FUNCTION(lttng_destroy_handle, (struct lttng_handle *h), (h))
INT_FUNCTION(lttng_list_domains, (const char *session, struct lttng_domain **domains), (session, domains))
INT_FUNCTION(lttng_list_channels, (LTTNG_CTL_CONST struct lttng_handle *h, struct lttng_channel **channels),
	     (h, channels))
INT_FUNCTION(lttng_list_tracepoints, (struct lttng_handle *h, struct lttng_event **events), (h, events))
FUNCTION(struct lttng_channel *, NULL, lttng_channel_create, (struct lttng_domain *domain), (domain))
VOID_FUNCTION(lttng_channel_destroy, (struct lttng_channel *c), (c))
INT_FUNCTION(lttng_enable_channel, (struct lttng_handle *h, struct lttng_channel *c), (h, c))
INT_FUNCTION(lttng_channel_get_discarded_event_count,
	     (LTTNG_CTL_CONST struct lttng_channel *c, uint64_t *n), (c, n))
INT_FUNCTION(lttng_channel_get_lost_packet_count,
	     (LTTNG_CTL_CONST struct lttng_channel *c, uint64_t *n), (c, n))
FUNCTION(struct lttng_event *, NULL, lttng_event_create, (void), ())
VOID_FUNCTION(lttng_event_destroy, (struct lttng_event *e), (e))
INT_FUNCTION(lttng_enable_event_with_filter,
	     (struct lttng_handle *h, struct lttng_event *e, const char *channel, const char *filter),
	     (h, e, channel, filter))
INT_FUNCTION(lttng_add_context,
	     (struct lttng_handle *h, struct lttng_event_context *context, const char *event, const char *channel),
	     (h, context, event, channel))

/* the processes that are traced */
CODE_FUNCTION(lttng_session_get_tracker_handle,
	      (const char *session, enum lttng_domain_type domain, enum lttng_process_attr attribute,
	       struct lttng_process_attr_tracker_handle **h),
	      (session, domain, attribute, h))
VOID_FUNCTION(lttng_process_attr_tracker_handle_destroy, (struct lttng_process_attr_tracker_handle *h), (h))
TRACKER_FUNCTION(lttng_process_attr_tracker_handle_set_tracking_policy,
		 (const struct lttng_process_attr_tracker_handle *h, enum lttng_tracking_policy policy), (h, policy))
TRACKER_FUNCTION(lttng_process_attr_process_id_tracker_handle_add_pid,
		 (const struct lttng_process_attr_tracker_handle *h, pid_t pid), (h, pid))
TRACKER_FUNCTION(lttng_process_attr_virtual_process_id_tracker_handle_add_pid,
		 (const struct lttng_process_attr_tracker_handle *h, pid_t pid), (h, pid))

/* snapshots */
INT_FUNCTION(lttng_snapshot_list_output, (const char *session, struct lttng_snapshot_output_list **list),
	     (session, list))
FUNCTION(struct lttng_snapshot_output *, NULL, lttng_snapshot_output_list_get_next,
	 (struct lttng_snapshot_output_list *list), (list))
VOID_FUNCTION(lttng_snapshot_output_list_destroy, (struct lttng_snapshot_output_list *list), (list))
FUNCTION(const char *, NULL, lttng_snapshot_output_get_ctrl_url, (const struct lttng_snapshot_output *output), (output))
INT_FUNCTION(lttng_snapshot_record, (const char *session, struct lttng_snapshot_output *output, int wait),
	     (session, output, wait))
