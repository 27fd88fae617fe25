/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of tracepoints and system calls, and the validation of records. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "event/payload.h"
#include "event/syscalls.h"
#include "event/task_state.h"
#include "event/tracepoints.h"

enum { FIRST_TRACEPOINT = EVENT_PROBE + 1 };

static void each_name(const char *names, void (*fn)(const char *name, int kind), int kind)
{
	char name[128];

	for (const char *p = names; *p; p += strspn(p, " ")) {
		size_t len = strcspn(p, " ");

		snprintf(name, sizeof(name), "%.*s", (int)len, p);
		fn(name, kind);
		p += len;
	}
}

static void finds_its_kind(const char *name, int kind)
{
	char call[128];

	snprintf(call, sizeof(call), "%s", name);
	if (call[strlen(call) - 1] == '*')
		memcpy(call + strlen(call) - 1, "xyz", 4);
	ck_assert_msg((int)tracepoint_find(call, NULL) == kind, "%s is not found as its own row", name);
}

/* Every row has names, and every name leads to its row and to no other. */
START_TEST(test_every_name_finds_its_row)
{
	for (int kind = FIRST_TRACEPOINT; kind < EVENT_KINDS; kind++) {
		ck_assert_ptr_nonnull(tracepoint_desc(kind)->names);
		each_name(tracepoint_desc(kind)->names, finds_its_kind, kind);
	}
}
END_TEST

START_TEST(test_names_across_versions)
{
	const char *rest;

	ck_assert_int_eq(tracepoint_find("softirq_entry", NULL), EVENT_SOFTIRQ_ENTRY);
	ck_assert_int_eq(tracepoint_find("irq_softirq_entry", NULL), EVENT_SOFTIRQ_ENTRY);
	ck_assert_int_eq(tracepoint_find("netif_receive_skb", NULL), EVENT_NET_RECEIVE);
	ck_assert_int_eq(tracepoint_find("hrtimer_expire_entry", NULL), EVENT_HRTIMER_ENTRY);
	ck_assert_int_eq(tracepoint_find("sched_ttwu", NULL), EVENT_SCHED_WAKEUP);
	ck_assert_int_eq(tracepoint_find("syscall_entry_openat", &rest), EVENT_SYSCALL_ENTRY);
	ck_assert_str_eq(rest, "openat");
	ck_assert_int_eq(tracepoint_find("compat_syscall_exit_read", &rest), EVENT_SYSCALL_EXIT);
	ck_assert_str_eq(rest, "read");
	ck_assert_int_eq(tracepoint_find("sys_open", &rest), EVENT_SYSCALL_ENTRY);
	ck_assert_str_eq(rest, "open");
	ck_assert_int_eq(tracepoint_find("exit_syscall", &rest), EVENT_SYSCALL_EXIT);
	ck_assert_str_eq(rest, "");
	ck_assert_int_eq(tracepoint_find("timer_hrtimer_start", &rest), EVENT_OTHER);
	ck_assert_ptr_null(rest);
	ck_assert_int_eq(tracepoint_find("x86_irq_vectors_local_timer_entry", NULL), EVENT_LOCAL_TIMER_ENTRY);
	ck_assert_int_eq(tracepoint_find("net_napi_gro_receive_exit", NULL), EVENT_RECEIVING_EXIT);
	ck_assert_int_eq(tracepoint_find("inet_sock_local_out", NULL), EVENT_SOCK_SEND);
	ck_assert_int_eq(tracepoint_find("sched_switc", NULL), EVENT_OTHER);
	ck_assert_int_eq(tracepoint_find("sched_switch2", NULL), EVENT_OTHER);
}
END_TEST

/* Function probes that the program reads are also counted as probes. */
START_TEST(test_probes)
{
	static const char *const probes[] = {
		"do_IRQ_entry",
		"do_IRQ_return",
		"do_IRQ_exit",
		"netif_receive_skb_internal_entry",
		"netif_receive_skb_internal_return",
	};

	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		ck_assert_msg(tracepoint_is_probe(tracepoint_find(probes[i], NULL)), "%s", probes[i]);
	ck_assert(tracepoint_is_probe(EVENT_PROBE));
	for (int kind = EVENT_NONE; kind < EVENT_PROBE; kind++)
		ck_assert(!tracepoint_is_probe(kind));
	ck_assert(!tracepoint_is_probe(EVENT_RECEIVING_ENTRY) && !tracepoint_is_probe(EVENT_IPI_ENTRY));
}
END_TEST

/* The fields of a payload lie inside it, do not overlap, and fit into event.present. */
START_TEST(test_fields_fit_their_payload)
{
	static const unsigned words[] = {
		[FIELD_INT] = 1,      [FIELD_COMM] = 2, [FIELD_STR] = 1,  [FIELD_LEVELS] = PID_LEVELS_MAX,
		[FIELD_INT_PAIR] = 2, [FIELD_ARGS] = 6, [FIELD_ADDR] = 2, [FIELD_IP_HEADER] = 1,
		[FIELD_MEMBER] = 1,
	};

	for (int kind = EVENT_NONE + 1; kind < EVENT_KINDS; kind++) {
		const struct tracepoint_desc *d = tracepoint_desc(kind);
		uint64_t used = 0;

		ck_assert_uint_le(d->n_fields, TRACEPOINT_FIELDS_MAX);
		for (unsigned i = 0; i < d->n_fields; i++) {
			unsigned first = d->fields[i].offset / 8, n = words[d->fields[i].type];
			uint64_t mask = ((UINT64_C(1) << n) - 1) << first;

			ck_assert_uint_eq(d->fields[i].offset % 8, 0);
			ck_assert_uint_le(first + n, d->n_words);
			ck_assert_uint_eq(used & mask, 0);
			used |= mask;
		}
	}
}
END_TEST

START_TEST(test_syscall_rows)
{
	const struct syscall_desc *splice = syscall_find("splice"), *open = syscall_find("openat");

	ck_assert_ptr_nonnull(splice);
	ck_assert_int_eq(splice->action, SYSCALL_COPY);
	ck_assert_uint_eq(splice->n_fields, 2);
	ck_assert_uint_eq(splice->fields[1].offset, offsetof(struct ev_syscall_entry, fd2));
	ck_assert_int_eq(splice->fields[1].raw_arg, 2);
	ck_assert(splice->fields[1].names_len == 6 && memcmp(splice->fields[1].names, "fd_out", 6) == 0);
	ck_assert_int_eq(open->made, FD_FILE);
	ck_assert_int_eq(open->fields[1].raw_arg, -1);
	ck_assert_ptr_null(syscall_find("getpid"));
	ck_assert_str_eq(syscall_name_of_number(0, true), "read");
	ck_assert_str_eq(syscall_name_of_number(437, true), "openat2");
	ck_assert_str_eq(syscall_name_of_number(470, true), "listns");
	ck_assert_str_eq(syscall_name_of_number(437, false), "openat2");
	ck_assert_str_eq(syscall_name_of_number(424, false), "pidfd_send_signal");
	ck_assert_ptr_null(syscall_name_of_number(334, false));
	ck_assert_ptr_null(syscall_name_of_number(64, false));
	ck_assert_ptr_null(syscall_name_of_number(-1, false));
	ck_assert_ptr_null(syscall_name_of_number(-1, true));
	ck_assert_ptr_null(syscall_name_of_number(100000, true));
	for (int kind = 0; kind < FD_KINDS; kind++)
		ck_assert_ptr_nonnull(fd_kind_name(kind));
}
END_TEST

/* Every member that a call's row names has its bit of event.present at the place given by the payload's table. */
START_TEST(test_syscall_members_have_their_bits)
{
	static const char *const calls[] = { "openat", "connect", "fcntl", "splice", "execve" };
	const struct tracepoint_desc *d = tracepoint_desc(EVENT_SYSCALL_ENTRY);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct syscall_desc *call = syscall_find(calls[i]);

		for (unsigned f = 0; f < call->n_fields; f++)
			ck_assert_uint_eq(d->fields[call->fields[f].bit].offset, call->fields[f].offset);
	}
}
END_TEST

struct box {
	struct event ev;
	uint64_t words[24];
};

static struct box irq_record(void)
{
	struct box b = { .ev = { .kind = EVENT_IRQ_ENTRY, .cpu = 0, .class_id = 0 } };
	struct ev_irq p = { .irq = 3, .name = { 0, 4 } };

	b.ev.n_words = sizeof(p) / 8;
	p.name.offset = (uint32_t)(sizeof(b.ev) + sizeof(p));
	b.ev.size = p.name.offset + 8;
	memcpy(b.ev.words, &p, sizeof(p));
	return b;
}

START_TEST(test_check_accepts_and_refuses)
{
	struct box b = irq_record();
	struct ev_irq *p = (struct ev_irq *)(void *)b.words;

	ck_assert_ptr_null(event_check(&b.ev, sizeof(b)));
	ck_assert_ptr_nonnull(event_check(&b.ev, b.ev.size - 8)); /* longer than the data */
	ck_assert_ptr_nonnull(event_check(&b.ev, 16));
	b.ev.size += 4;
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	b = irq_record();
	b.ev.size = 24;
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	b = irq_record();
	b.ev.kind = EVENT_KINDS;
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	b = irq_record();
	b.ev.n_words++;
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	b = irq_record();
	b.ev.n_perf = 2; /* would lie after the record */
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	b = irq_record();
	b.ev.cpu = EVENT_CPU_MAX;
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	b = irq_record();
	p->name.len = 9; /* one byte past the record */
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	b = irq_record();
	p->name.offset = 8; /* inside the header */
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	b = irq_record();
	p->name.offset = 0xfffffff8;
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	b = irq_record();
	p->name = (struct event_str){ 0xfffffff8, 0 }; /* also an empty one */
	ck_assert_ptr_nonnull(event_check(&b.ev, sizeof(b)));
	p->name = (struct event_str){ b.ev.size, 0 };
	ck_assert_ptr_null(event_check(&b.ev, sizeof(b)));
	p->name = (struct event_str){ 0, 0 }; /* none */
	ck_assert_ptr_null(event_check(&b.ev, sizeof(b)));
}
END_TEST

/* System calls without addresses and arrays have short records, which must not claim to have them. */
START_TEST(test_short_records)
{
	static const struct {
		enum event_kind kind;
		unsigned least, later; /* words; the first field after them */
	} shorts[] = { { EVENT_SYSCALL_ENTRY, 7, 7 }, { EVENT_SYSCALL_EXIT, 2, 2 } };

	for (size_t i = 0; i < sizeof(shorts) / sizeof(*shorts); i++) {
		const struct tracepoint_desc *desc = tracepoint_desc(shorts[i].kind);
		struct box b = { .ev = { .kind = shorts[i].kind, .cpu = 0, .class_id = 0 } };

		for (unsigned n = 0; n <= desc->n_words + 1u; n++) {
			const bool is_short = n == shorts[i].least;

			b.ev.n_words = n;
			b.ev.size = sizeof(b.ev) + 8 * n;
			b.ev.present = 0;
			ck_assert_int_eq(!event_check(&b.ev, sizeof(b)), is_short || n == desc->n_words);
			b.ev.present = (1u << shorts[i].later) - 1;
			ck_assert_int_eq(!event_check(&b.ev, sizeof(b)), is_short || n == desc->n_words);
			for (unsigned bit = shorts[i].later; bit < desc->n_fields; bit++) {
				b.ev.present = 1u << bit;
				ck_assert_int_eq(!event_check(&b.ev, sizeof(b)), n == desc->n_words);
			}
		}
	}
}
END_TEST

/* prev_state of a thread that leaves the CPU, on kernels since 3.9; before 4.14 it had all bits of the task's state. */
START_TEST(test_prev_state)
{
	static const struct {
		int64_t prev_state;
		enum task_state alive, ended; /* ended: after sched_process_exit */
	} cases[] = {
		{ 0, TASK_READY, TASK_READY },
		{ 0x01, TASK_BLOCKED, TASK_BLOCKED },
		{ 0x02, TASK_BLOCKED, TASK_BLOCKED },
		{ 0x82, TASK_BLOCKED, TASK_BLOCKED }, /* killable; before 4.14, where it is 0x02 now */
		{ 0x04, TASK_STOPPED, TASK_STOPPED },
		{ 0x84, TASK_STOPPED, TASK_STOPPED }, /* before 4.14 */
		{ 0x08, TASK_TRACED, TASK_TRACED },
		{ 0x88, TASK_TRACED, TASK_TRACED }, /* before 4.14 */
		{ 0x10, TASK_ENDED, TASK_ENDED },   /* zombie before 3.14, dead since then */
		{ 0x20, TASK_ENDED, TASK_ENDED },
		{ 0x30, TASK_ENDED, TASK_ENDED },
		{ 0x40, TASK_PARKED, TASK_ENDED }, /* dead before 4.14 */
		{ 0x80, TASK_IDLING, TASK_IDLING },
		{ 0x402, TASK_IDLING, TASK_IDLING }, /* 4.2 to 4.13 */
		{ 0x200, TASK_PARKED, TASK_PARKED }, /* 3.9 to 4.13 */
		{ 0x100, TASK_READY, TASK_READY },   /* preempted since 4.14 */
		{ 0x400, TASK_READY, TASK_READY },   /* preempted, 3.9 to 4.1 */
		{ 0x800, TASK_READY, TASK_READY },   /* preempted, 4.2 to 4.7 */
		{ 0x1000, TASK_READY, TASK_READY },  /* preempted, 4.8 to 4.13 */
		{ 0x101, TASK_READY, TASK_READY },   /* preempted, whatever it was about to wait for */
		{ 0x102, TASK_READY, TASK_READY },
		{ 0x2001, TASK_BLOCKED, TASK_BLOCKED }, /* bits without meaning here */
		{ INT64_C(1) << 40, TASK_READY, TASK_READY },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_msg(task_state_of(cases[i].prev_state, false) == cases[i].alive, "0x%llx is %d",
			      (unsigned long long)cases[i].prev_state, task_state_of(cases[i].prev_state, false));
		ck_assert_msg(task_state_of(cases[i].prev_state, true) == cases[i].ended, "0x%llx, ended, is %d",
			      (unsigned long long)cases[i].prev_state, task_state_of(cases[i].prev_state, true));
	}
}
END_TEST

UNIT_MAIN("event", test_every_name_finds_its_row, test_names_across_versions, test_probes,
	  test_fields_fit_their_payload, test_syscall_rows, test_syscall_members_have_their_bits,
	  test_check_accepts_and_refuses, test_short_records, test_prev_state)
