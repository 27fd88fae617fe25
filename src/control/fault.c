/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/fault.h"

#include <fnmatch.h>
#include <glib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "control/perf.h"

#define COUNTERS PERF_CONTEXT_PREFIX "*"

static const struct tracer_fault faults[] = {
	{ .context = "prio",
	  .versions = "2.13.[0-9]|2.13.10",
	  .harm = "crashes the kernel with it",
	  .remedy = "update to 2.13.11 or later" },
	/* the error path for a counter that cannot be created is broken */
	{ .context = COUNTERS,
	  .counter = true,
	  .harm = "crashes the kernel if the machine lacks it",
	  .remedy = "leave it out" },
	/* lttng_cpuhp_perf_counter_dead() waits for a lock that its caller holds */
	{ .context = COUNTERS,
	  .beside = "cpuhp_*",
	  .harm = "hangs the kernel when a CPU is taken online or offline",
	  .remedy = "record hotplug without perf counters" },
	{ .context = COUNTERS,
	  .bearable = true,
	  .harm = "hangs the kernel when a CPU is taken online or offline",
	  .remedy = "do not hotplug CPUs while it is recorded" },
};

const struct tracer_fault *fault_find(const char *context)
{
	for (size_t i = 0; i < G_N_ELEMENTS(faults); i++)
		if (!fnmatch(faults[i].context, context, 0) && !faults[i].beside && !faults[i].bearable)
			return &faults[i];
	return NULL;
}

static bool has_tracepoint(const struct record_channel *c, const char *pattern)
{
	for (unsigned i = 0; i < c->events->len; i++) {
		const struct record_event *e = &g_array_index(c->events, struct record_event, i);

		if (e->kind == RECORD_TRACEPOINT && !fnmatch(pattern, e->name, 0))
			return true;
	}
	return false;
}

/* Whether the machine must be examined: the plan alone does not decide. */
static bool depends_on_machine(const struct tracer_fault *fault)
{
	return fault->versions || fault->counter;
}

/* Whether this context of the channel can trigger the fault. */
static bool concerns(const struct tracer_fault *fault, const struct record_channel *c, const char *context)
{
	return !fnmatch(fault->context, context, 0) && (!fault->beside || has_tracepoint(c, fault->beside));
}

static bool matches(const struct tracer_fault *fault, const char *version)
{
	char *number = g_strndup(version, strcspn(version, "-\n"));
	char **patterns = g_strsplit(fault->versions, "|", -1);
	bool found = false;

	for (char **p = patterns; *p && !found; p++)
		found = !fnmatch(*p, number, 0);
	g_strfreev(patterns);
	g_free(number);
	return found;
}

const struct tracer_fault *fault_of_version(const char *version, unsigned i)
{
	for (size_t k = 0; k < G_N_ELEMENTS(faults); k++)
		if (faults[k].versions && matches(&faults[k], version) && !i--)
			return &faults[k];
	return NULL;
}

static enum lt_status check_version(const struct tracer_fault *fault, const char *context)
{
	char *version = NULL;
	enum lt_status status = LT_OK;

	if (!g_file_get_contents(TRACER_VERSION_FILE, &version, NULL, NULL))
		status = error_set(
			"context '%s': some versions of lttng-modules crash the kernel with it, and '%s', which names "
			"the version in use, cannot be read",
			context, TRACER_VERSION_FILE);
	else if (matches(fault, version))
		status = error_set("context '%s': lttng-modules %s %s: %s", context, g_strchomp(version), fault->harm,
				   fault->remedy);
	g_free(version);
	return status;
}

/* LT_ERROR: this machine has the fault. */
static enum lt_status check_here(const struct tracer_fault *fault, const char *context)
{
	if (fault->counter)
		return perf_counter_probe(perf_counter_find(context));
	if (fault->versions)
		return check_version(fault, context);
	return error_set("context '%s' %s: %s", context, fault->harm, fault->remedy);
}

static enum lt_status refuse(void)
{
	char *reason = g_strdup(error_text());

	error_set("%s (--unsafe overrides this)", reason);
	g_free(reason);
	return LT_ERROR;
}

enum lt_status fault_check(const struct record_plan *plan)
{
	const struct record_channel *c = record_plan_channel(plan, RECORD_KERNEL);

	for (size_t i = 0; c && i < G_N_ELEMENTS(faults); i++) {
		for (unsigned k = 0; k < c->contexts->len; k++) {
			const char *context = g_array_index(c->contexts, struct record_context, k).name;

			if (!concerns(&faults[i], c, context) || (plan->hosts->len && depends_on_machine(&faults[i])) ||
			    !check_here(&faults[i], context))
				continue;
			if (!faults[i].bearable && !plan->unsafe)
				return refuse();
			log_warning("%s", error_text());
			if (faults[i].bearable)
				break; /* reported once */
		}
	}
	return LT_OK;
}

/* ---- the same, in shell ---- */

/* A command that prints text and fails; with plan.unsafe it only prints. The text is placed in double quotes. */
static char *refusal(const struct record_plan *plan, const char *text)
{
	return g_strdup_printf(plan->unsafe ? "echo \"%s\" >&2" : "{ echo \"%s\" >&2; false; }", text);
}

static char *version_guard(const struct record_plan *plan, const struct tracer_fault *fault, const char *context)
{
	char *known = g_strdup_printf("context %s: lttng-modules $v %s: %s", context, fault->harm, fault->remedy);
	char *unknown =
		g_strdup_printf("context %s: some versions of lttng-modules crash the kernel with it, and the version "
				"here is unknown",
				context);
	char *refusals[] = { refusal(plan, known), refusal(plan, unknown) };
	char *guard = g_strdup_printf("{ v=$(cat " TRACER_VERSION_FILE " 2>/dev/null || "
				      "/sbin/modinfo -F version lttng_tracer 2>/dev/null) || %s; } && "
				      "case ${v%%%%-*} in %s) %s;; esac",
				      refusals[1], fault->versions, refusals[0]);

	g_free(known);
	g_free(unknown);
	g_free(refusals[0]);
	g_free(refusals[1]);
	return guard;
}

/* NULL: every machine has the counter. */
static char *counter_guard(const struct record_plan *plan, const char *context)
{
	const struct perf_counter *counter = perf_counter_find(context);
	char *test = perf_counter_test(counter);
	char *text = g_strdup_printf("this machine does not list counter %s: the kernel may "
				     "crash",
				     counter->name);
	char *refused = refusal(plan, text);
	char *guard = test ? g_strdup_printf("{ %s || %s; }", test, refused) : NULL;

	g_free(test);
	g_free(text);
	g_free(refused);
	return guard;
}

char *fault_guards(const struct record_plan *plan)
{
	const struct record_channel *c = record_plan_channel(plan, RECORD_KERNEL);
	GString *guards = g_string_new(NULL);

	for (size_t i = 0; c && i < G_N_ELEMENTS(faults); i++) {
		for (unsigned k = 0; k < c->contexts->len; k++) {
			const char *context = g_array_index(c->contexts, struct record_context, k).name;
			char *guard = NULL;

			if (concerns(&faults[i], c, context) && faults[i].versions)
				guard = version_guard(plan, &faults[i], context);
			else if (concerns(&faults[i], c, context) && faults[i].counter)
				guard = counter_guard(plan, context);
			if (guard)
				g_string_append_printf(guards, "%s%s", guards->len ? " && " : "", guard);
			g_free(guard);
		}
	}
	return g_string_free(guards, !guards->len);
}
