/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces, interrupts and perf counters: model/{net,irq,perf}.c on hand-built events. */
#include "unit.h"

#include "base/nstime.h"
#include "events.h"

enum { BEGIN = 1000, SLEEP = 1 };

static void begin(struct events *e)
{
	events_init(e);
	model_begin(e->m, BEGIN);
}

/* ---- interfaces ---- */

static const struct netif_row *netif(struct events *e, const char *name)
{
	const struct state_table *t = &e->m->state.tables[TABLE_NETIF];
	const struct netif_row *found = NULL;

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const struct netif_row *r = STATE_ROW(&e->m->state, NETIF, netif, row);

		if (strcmp(strpool_text((strid)r->name), name) == 0) {
			ck_assert_ptr_null(found);
			found = r;
		}
	}
	ck_assert_msg(found != NULL, "no interface %s", name);
	return found;
}

#define RX(e, t, on, bytes) EVENT(e, t, 0, 0, NET_RECEIVE, net, .name = str(&rec, on), .len = bytes)
#define QUEUE(e, t, on, bytes, ...) EVENT(e, t, 0, 0, NET_QUEUE, net, .name = str(&rec, on), .len = bytes, __VA_ARGS__)
#define XMIT(e, t, on, bytes, result) \
	EVENT(e, t, 0, 0, NET_XMIT, net_xmit, .name = str(&rec, on), .len = bytes, .rc = result)

/*
 * The events for received packets lack the link header, those for sent ones have it; sent bytes are those the driver
 * took.
 */
START_TEST(test_ethernet)
{
	struct events e;

	begin(&e);
	XMIT(&e, 1100, "eth0", 74, 0);
	QUEUE(&e, 1110, "eth0", 3000, .ip_version = 4, .tot_len = 2986);
	XMIT(&e, 1120, "eth0", 1514, 0);
	XMIT(&e, 1130, "eth0", 1540, 16);
	RX(&e, 1140, "eth0", 60);
	ck_assert_uint_eq(netif(&e, "eth0")->tx_packets, 2);
	ck_assert_uint_eq(netif(&e, "eth0")->tx_bytes, 74 + 1514);
	ck_assert_uint_eq(netif(&e, "eth0")->rx_packets, 1);
	ck_assert_uint_eq(netif(&e, "eth0")->rx_bytes, 74);
	ck_assert_uint_eq(HOST_ROW(e.m)->tx_bytes, 74 + 1514);
	ck_assert_uint_eq(HOST_ROW(e.m)->rx_bytes, 74);
	events_release(&e);
}
END_TEST

START_TEST(test_loopback)
{
	struct events e;

	begin(&e);
	EVENT(&e, 1100, 0, 7, DUMP_NETIF, dump_netif, .name = str(&rec, "lo"));
	XMIT(&e, 1100, "lo", 74, 0);
	RX(&e, 1100, "lo", 60);
	ck_assert_uint_eq(netif(&e, "lo")->tx_bytes, 60);
	ck_assert_uint_eq(netif(&e, "lo")->rx_bytes, 60);
	ck_assert_uint_eq(HOST_ROW(e.m)->tx_bytes, 0);
	ck_assert_uint_eq(HOST_ROW(e.m)->rx_bytes, 0);
	events_release(&e);
}
END_TEST

/* A sent packet as long as its IP header says: the interface has no link header. */
START_TEST(test_tunnel_without_link_header)
{
	struct events e;

	begin(&e);
	RX(&e, 1100, "tun0", 100);
	ck_assert_uint_eq(netif(&e, "tun0")->rx_bytes, 114);
	QUEUE(&e, 1110, "tun0", 100, .ip_version = 4, .tot_len = 100);
	RX(&e, 1120, "tun0", 100);
	ck_assert_uint_eq(netif(&e, "tun0")->rx_bytes, 214);
	QUEUE(&e, 1130, "wg0", 100, .ip_version = 6, .tot_len = 60);
	RX(&e, 1140, "wg0", 100);
	ck_assert_uint_eq(netif(&e, "wg0")->rx_bytes, 100);
	/* without an IP header in the event, nothing is known */
	QUEUE(&e, 1150, "eth0", 0, .ip_version = 0);
	RX(&e, 1160, "eth0", 100);
	ck_assert_uint_eq(netif(&e, "eth0")->rx_bytes, 114);
	events_release(&e);
}
END_TEST

/* If net_dev_xmit is not recorded, queued packets count. */
START_TEST(test_sent_without_xmit)
{
	struct events e;

	begin(&e);
	QUEUE(&e, 1100, "eth0", 3000, .ip_version = 4, .tot_len = 2986);
	ck_assert_uint_eq(netif(&e, "eth0")->tx_packets, 1);
	ck_assert_uint_eq(netif(&e, "eth0")->tx_bytes, 3000);
	events_release(&e);
}
END_TEST

START_TEST(test_interfaces_do_not_meet)
{
	struct events e;
	char name[16];

	begin(&e);
	for (unsigned i = 0; i < 1000; i++) {
		g_snprintf(name, sizeof(name), "veth%u", i);
		RX(&e, 1100 + i, name, i);
	}
	ck_assert_uint_eq(e.m->state.tables[TABLE_NETIF].n_alive, 1000);
	ck_assert_uint_eq(netif(&e, "veth77")->rx_bytes, 77 + 14);
	ck_assert_uint_eq(netif(&e, "veth999")->rx_packets, 1);
	/* the maximum length in the kernel, different only in the last character */
	RX(&e, 3000, "abcdefghijklmno", 1);
	RX(&e, 3000, "abcdefghijklmnp", 2);
	ck_assert_uint_eq(netif(&e, "abcdefghijklmno")->rx_bytes, 15);
	ck_assert_uint_eq(netif(&e, "abcdefghijklmnp")->rx_bytes, 16);
	events_release(&e);
}
END_TEST

static void next_frame(struct events *e)
{
	state_reap(&e->m->state, NULL, NULL);
	state_frame_begin(&e->m->state);
}

/* Containers come and go: a new interface each second. */
START_TEST(test_ever_new_interfaces)
{
	enum { FIRST_S = 10, NEW = 3000, FEW = 300 };
	const struct netif_row *eth0;
	struct events e;
	char name[16];
	uint64_t uid;

	begin(&e);
	RX(&e, 1000, "eth0", 1);
	uid = netif(&e, "eth0")->uid;
	for (unsigned i = 0; i < NEW; i++) {
		const uint64_t t = (FIRST_S + i) * NS_PER_S;

		next_frame(&e);
		g_snprintf(name, sizeof(name), "veth%07x", i);
		RX(&e, t, name, i);
		RX(&e, t + 1, "eth0", 1);
	}
	ck_assert_uint_lt(e.m->state.tables[TABLE_NETIF].n_alive, FEW);
	ck_assert_uint_lt(e.m->state.tables[TABLE_NETIF].n_rows, FEW);
	eth0 = netif(&e, "eth0");
	ck_assert_uint_eq(eth0->uid, uid);
	ck_assert_uint_eq(eth0->rx_packets, NEW + 1);
	/* one that was forgotten comes back, and has forgotten what kind of link it is */
	RX(&e, (FIRST_S + NEW) * NS_PER_S, "veth0000000", 100);
	ck_assert_uint_eq(netif(&e, "veth0000000")->rx_bytes, 114);
	events_release(&e);
}
END_TEST

/* They come all at once: no more than a few thousand are distinguished. */
START_TEST(test_too_many_interfaces)
{
	struct events e;
	char name[16];

	begin(&e);
	for (unsigned i = 0; i < 10000; i++) {
		g_snprintf(name, sizeof(name), "veth%07x", i);
		RX(&e, 1000 + i, name, i);
	}
	next_frame(&e);
	ck_assert_uint_le(e.m->state.tables[TABLE_NETIF].n_alive, 4096);
	ck_assert_uint_eq(netif(&e, "veth000270f")->rx_packets, 1);
	events_release(&e);
}
END_TEST

/* ---- interrupts ---- */

static const struct irq_row *handler_find(struct events *e, bool soft, uint64_t nr, uint64_t cpu)
{
	const struct state_table *t = &e->m->state.tables[TABLE_IRQ];

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const struct irq_row *r = STATE_ROW(&e->m->state, IRQ, irq, row);

		if (r->soft == soft && r->nr == nr && r->cpu == cpu)
			return r;
	}
	return NULL;
}

static const struct irq_row *handler(struct events *e, bool soft, uint64_t nr, uint64_t cpu)
{
	const struct irq_row *r = handler_find(e, soft, nr, cpu);

	ck_assert_msg(r != NULL, "no handler of %d", (int)nr);
	return r;
}

#define HARD_ENTRY(e, t, cpu, nr, text) EVENT(e, t, cpu, 7, IRQ_ENTRY, irq, .irq = nr, .name = str(&rec, text))
#define HARD_EXIT(e, t, cpu, nr) EVENT(e, t, cpu, 7, IRQ_EXIT, irq, .irq = nr)
#define SOFT(e, t, on_cpu, what, nr) EVENT(e, t, on_cpu, 7, SOFTIRQ_##what, softirq, .vec = nr)

static uint64_t hard_ns(struct events *e, unsigned number, uint64_t t)
{
	const struct cpu_row *r = CPU_ROW(e->m, g_array_index(e->m->cpus, struct cpu, number).row);

	return EVENTS_VALUE(CPU, cpu, r, irq_ns, t);
}

static uint64_t soft_ns(struct events *e, unsigned number, uint64_t t)
{
	const struct cpu_row *r = CPU_ROW(e->m, g_array_index(e->m->cpus, struct cpu, number).row);

	return EVENTS_VALUE(CPU, cpu, r, softirq_ns, t);
}

/* A handler's time includes interrupts during it; the CPU's softirq time does not. */
START_TEST(test_nested_handlers)
{
	struct events e;

	begin(&e);
	SOFT(&e, 1100, 0, ENTRY, 3);
	HARD_ENTRY(&e, 1110, 0, 26, "virtio0");
	ck_assert_uint_eq(hard_ns(&e, 0, 1112), 2);
	HARD_EXIT(&e, 1115, 0, 26);
	ck_assert_uint_eq(soft_ns(&e, 0, 1120), 15);
	SOFT(&e, 1140, 0, EXIT, 3);
	ck_assert_uint_eq(handler(&e, true, 3, 0)->time.sum, 40);
	ck_assert_uint_eq(handler(&e, true, 3, 0)->count, 1);
	ck_assert_uint_eq(handler(&e, false, 26, 0)->time.sum, 5);
	ck_assert_uint_eq(hard_ns(&e, 0, 1200), 5);
	ck_assert_uint_eq(soft_ns(&e, 0, 1200), 35);
	/* an interrupt inside another */
	HARD_ENTRY(&e, 1300, 0, 1, "one");
	HARD_ENTRY(&e, 1310, 0, 2, "two");
	HARD_EXIT(&e, 1320, 0, 2);
	HARD_EXIT(&e, 1330, 0, 1);
	ck_assert_uint_eq(handler(&e, false, 1, 0)->time.sum, 30);
	ck_assert_uint_eq(handler(&e, false, 2, 0)->time.sum, 10);
	ck_assert_uint_eq(hard_ns(&e, 0, 1400), 5 + 30);
	events_release(&e);
}
END_TEST

START_TEST(test_handlers_per_cpu)
{
	struct events e;

	begin(&e);
	HARD_ENTRY(&e, 1100, 0, 26, "virtio0");
	HARD_ENTRY(&e, 1101, 1, 26, "virtio0");
	HARD_EXIT(&e, 1110, 0, 26);
	HARD_EXIT(&e, 1121, 1, 26);
	SOFT(&e, 1130, 1, ENTRY, 26);
	SOFT(&e, 1133, 1, EXIT, 26);
	ck_assert_uint_eq(handler(&e, false, 26, 0)->time.sum, 10);
	ck_assert_uint_eq(handler(&e, false, 26, 1)->time.sum, 20);
	ck_assert_uint_eq(handler(&e, true, 26, 1)->time.sum, 3);
	ck_assert_uint_eq(hard_ns(&e, 0, 1200), 10);
	ck_assert_uint_eq(hard_ns(&e, 1, 1200), 20);
	events_release(&e);
}
END_TEST

START_TEST(test_exit_without_entry)
{
	struct events e;

	begin(&e);
	HARD_EXIT(&e, 1100, 0, 26);
	ck_assert_uint_eq(handler(&e, false, 26, 0)->count, 1);
	ck_assert_uint_eq(handler(&e, false, 26, 0)->time.count, 0);
	/* the active handler is not affected */
	SOFT(&e, 1110, 0, ENTRY, 3);
	HARD_EXIT(&e, 1120, 0, 27);
	SOFT(&e, 1130, 0, EXIT, 3);
	ck_assert_uint_eq(handler(&e, true, 3, 0)->time.sum, 20);
	ck_assert_uint_eq(hard_ns(&e, 0, 1200), 0);
	ck_assert_uint_eq(soft_ns(&e, 0, 1200), 20);
	events_release(&e);
}
END_TEST

START_TEST(test_entry_without_exit)
{
	struct events e;

	begin(&e);
	/* the same one again: it was restarted */
	HARD_ENTRY(&e, 1100, 0, 26, "virtio0");
	HARD_ENTRY(&e, 1150, 0, 26, "virtio0");
	HARD_EXIT(&e, 1160, 0, 26);
	ck_assert_uint_eq(handler(&e, false, 26, 0)->count, 1);
	ck_assert_uint_eq(handler(&e, false, 26, 0)->time.sum, 10);
	ck_assert_uint_eq(g_array_index(e.m->cpus, struct cpu, 0).irq_depth, 0);
	/* a handler without an exit ends with the one it interrupted */
	HARD_ENTRY(&e, 1200, 0, 1, "one");
	HARD_ENTRY(&e, 1210, 0, 2, "two");
	HARD_EXIT(&e, 1230, 0, 1);
	ck_assert_uint_eq(handler(&e, false, 1, 0)->time.sum, 30);
	ck_assert_uint_eq(handler(&e, false, 2, 0)->count, 0);
	ck_assert_uint_eq(hard_ns(&e, 0, 1300), 60 + 30);
	/* softirqs do not run inside handlers: the active one has ended */
	HARD_ENTRY(&e, 1300, 0, 1, "one");
	SOFT(&e, 1310, 0, ENTRY, 3);
	SOFT(&e, 1315, 0, EXIT, 3);
	ck_assert_uint_eq(soft_ns(&e, 0, 1320), 5);
	ck_assert_uint_eq(hard_ns(&e, 0, 1320), 60 + 30 + 10);
	events_release(&e);
}
END_TEST

/* Nested deeper than on any CPU: no harm. */
START_TEST(test_endless_nesting)
{
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < 100; i++)
		HARD_ENTRY(&e, 1100 + i, 0, i, "deep");
	ck_assert_uint_le(g_array_index(e.m->cpus, struct cpu, 0).irq_depth, IRQ_DEPTH_MAX);
	HARD_EXIT(&e, 1205, 0, 99);
	ck_assert_uint_eq(handler(&e, false, 99, 0)->time.sum, 6);
	HARD_EXIT(&e, 1210, 0, 0);
	ck_assert_uint_eq(handler(&e, false, 0, 0)->time.sum, 110);
	events_release(&e);
}
END_TEST

/* A CPU that switches threads is not in a handler; the time until then belonged to one. */
START_TEST(test_switch_ends_handlers)
{
	struct events e;

	begin(&e);
	HARD_ENTRY(&e, 1100, 0, 26, "virtio0");
	events_switch(&e, 1150, 0, 7, SLEEP, 8, "eight");
	ck_assert_uint_eq(hard_ns(&e, 0, 1200), 50);
	HARD_EXIT(&e, 1250, 0, 26);
	ck_assert_uint_eq(handler(&e, false, 26, 0)->count, 1);
	ck_assert_uint_eq(handler(&e, false, 26, 0)->time.count, 0);
	events_release(&e);
}
END_TEST

/* The first raise since the last entry counts; a raise of the same vector while it runs belongs to the next entry. */
START_TEST(test_raise_to_entry)
{
	struct events e;

	begin(&e);
	SOFT(&e, 1100, 0, RAISE, 3);
	SOFT(&e, 1105, 0, RAISE, 3);
	SOFT(&e, 1106, 1, RAISE, 3);
	SOFT(&e, 1130, 0, ENTRY, 3);
	SOFT(&e, 1140, 0, RAISE, 3);
	SOFT(&e, 1150, 0, EXIT, 3);
	ck_assert_uint_eq(handler(&e, true, 3, 0)->raise.count, 1);
	ck_assert_uint_eq(handler(&e, true, 3, 0)->raise.sum, 30);
	SOFT(&e, 1160, 0, ENTRY, 3);
	SOFT(&e, 1170, 0, EXIT, 3);
	SOFT(&e, 1180, 0, ENTRY, 3);
	SOFT(&e, 1190, 0, EXIT, 3);
	ck_assert_uint_eq(handler(&e, true, 3, 0)->raise.count, 2);
	ck_assert_uint_eq(handler(&e, true, 3, 0)->raise.sum, 30 + 20);
	ck_assert_uint_eq(handler(&e, true, 3, 0)->count, 3);
	/* a switch does not cancel a raise, lost events do */
	SOFT(&e, 1200, 0, RAISE, 9);
	events_switch(&e, 1210, 0, 7, SLEEP, 8, "eight");
	SOFT(&e, 1220, 0, ENTRY, 9);
	SOFT(&e, 1225, 0, EXIT, 9);
	ck_assert_uint_eq(handler(&e, true, 9, 0)->raise.sum, 20);
	SOFT(&e, 1230, 0, RAISE, 9);
	events_lose(&e, 1300, 5, 1290);
	SOFT(&e, 1310, 0, ENTRY, 9);
	ck_assert_uint_eq(handler(&e, true, 9, 0)->raise.count, 1);
	SOFT(&e, 1320, 0, EXIT, 9);
	SOFT(&e, 1330, 0, RAISE, 1);
	events_lose(&e, 1335, 5, 1325);
	SOFT(&e, 1340, 0, RAISE, 1);
	SOFT(&e, 1342, 0, ENTRY, 1);
	ck_assert_uint_eq(handler(&e, true, 1, 0)->raise.sum, 2);
	events_release(&e);
}
END_TEST

START_TEST(test_handler_names)
{
	struct events e;

	begin(&e);
	HARD_EXIT(&e, 1100, 0, 5);
	ck_assert_uint_eq(handler(&e, false, 5, 0)->name, STRID_NONE);
	HARD_ENTRY(&e, 1110, 0, 5, "first");
	HARD_ENTRY(&e, 1120, 0, 5, "second");
	ck_assert_str_eq(strpool_text((strid)handler(&e, false, 5, 0)->name), "first");
	EVENT(&e, 1130, 0, 7, DUMP_IRQ, dump_irq, .irq = 6, .name = str(&rec, "PCI-MSI"), .action = str(&rec, "disk"));
	EVENT(&e, 1130, 0, 7, DUMP_IRQ, dump_irq, .irq = 6, .name = str(&rec, "PCI-MSI"), .action = str(&rec, "net"));
	EVENT(&e, 1130, 0, 7, DUMP_IRQ, dump_irq, .irq = 7, .name = str(&rec, "chip"));
	HARD_EXIT(&e, 1140, 0, 6);
	HARD_EXIT(&e, 1140, 0, 7);
	ck_assert_str_eq(strpool_text((strid)handler(&e, false, 6, 0)->name), "disk");
	ck_assert_str_eq(strpool_text((strid)handler(&e, false, 7, 0)->name), "chip");
	SOFT(&e, 1150, 0, ENTRY, 0);
	SOFT(&e, 1151, 0, EXIT, 0);
	SOFT(&e, 1152, 0, ENTRY, 9);
	SOFT(&e, 1153, 0, EXIT, 9);
	SOFT(&e, 1152, 0, ENTRY, 11);
	ck_assert_str_eq(strpool_text((strid)handler(&e, true, 0, 0)->name), "HI");
	ck_assert_str_eq(strpool_text((strid)handler(&e, true, 9, 0)->name), "RCU");
	ck_assert_str_eq(strpool_text((strid)handler(&e, true, 11, 0)->name), "11");
	events_release(&e);
}
END_TEST

/* Impossible numbers are ignored. */
/* Numbers that no machine has so many of: the rest counts as one handler, on no CPU in particular. */
START_TEST(test_too_many_handlers)
{
	enum { NUMBERS = 100000, ROWS_MAX = 20000 };
	const uint64_t none = (uint64_t)-1;
	uint64_t count = 0;
	struct events e;

	begin(&e);
	for (unsigned i = 0; i < NUMBERS; i++) {
		EVENT(&e, 1000 + 4 * i, 0, 7, DUMP_IRQ, dump_irq, .irq = i, .action = str(&rec, "virtio0"));
		HARD_ENTRY(&e, 1001 + 4 * i, i % 2, i, "virtio0");
		HARD_EXIT(&e, 1003 + 4 * i, i % 2, i);
	}
	ck_assert_uint_lt(e.m->state.tables[TABLE_IRQ].n_alive, ROWS_MAX);
	ck_assert_uint_lt(e.m->irq_names.count, ROWS_MAX);
	for (uint32_t row = STATE_NO_ROW; (row = state_next(&e.m->state.tables[TABLE_IRQ], row)) != STATE_NO_ROW;)
		count += STATE_ROW(&e.m->state, IRQ, irq, row)->count;
	ck_assert_uint_eq(count, NUMBERS);
	ck_assert_str_eq(strpool_text((strid)handler(&e, false, none, none)->name), "other");
	ck_assert_uint_eq(handler(&e, false, none, none)->time.sum, 2 * handler(&e, false, none, none)->count);
	/* those seen before, and softirqs, are still distinguished */
	HARD_EXIT(&e, 1000000, 1, 77);
	ck_assert_uint_eq(handler(&e, false, 77, 1)->count, 2);
	SOFT(&e, 1000001, 1, EXIT, 3);
	ck_assert_uint_eq(handler(&e, true, 3, 1)->count, 1);
	events_release(&e);
}
END_TEST

START_TEST(test_impossible_numbers)
{
	struct events e;

	begin(&e);
	HARD_ENTRY(&e, 1100, 0, -1, "x");
	HARD_EXIT(&e, 1110, 0, -1);
	HARD_ENTRY(&e, 1100, 0, INT64_MAX, "x");
	SOFT(&e, 1120, 0, RAISE, 32);
	SOFT(&e, 1130, 0, ENTRY, UINT64_MAX);
	SOFT(&e, 1140, 0, EXIT, 32);
	EVENT(&e, 1150, 0, 7, DUMP_IRQ, dump_irq, .irq = -1, .name = str(&rec, "x"));
	HARD_ENTRY(&e, 1160, EVENT_NO_CPU, 1, "x");
	ck_assert_uint_eq(e.m->state.tables[TABLE_IRQ].n_alive, 0);
	events_release(&e);
}
END_TEST

/* ---- perf counters ---- */

static void perf_name(struct events *e, unsigned trace, unsigned index, const char *name, bool per_thread)
{
	struct ev_perf_names p = { .index = index, .per_thread = per_thread };
	struct record r;

	record_init(&r, 0, EVENT_NO_CPU, EVENT_NO_TID, EVENT_PERF_NAMES);
	r.ev.trace = (uint16_t)trace;
	p.name = str(&r, name);
	events_apply(e, &r, &p, sizeof(p));
}

/* An event with the values of two counters. */
static void perf_event(struct events *e, uint64_t t, unsigned cpu, int64_t tid, uint64_t v0, uint64_t v1)
{
	struct record r;

	record_init(&r, t, cpu, tid, EVENT_OTHER);
	r.words[0] = v0;
	r.words[1] = v1;
	r.ev.n_perf = 2;
	r.ev.size += 16;
	ck_assert_ptr_null(event_check(&r.ev, sizeof(r)));
	model_apply(e->m, 0, &r.ev);
}

/* A switch with counter values: they count for the thread that ran until then. */
static void perf_switch(struct events *e, uint64_t t, unsigned cpu, int64_t prev, int64_t next, uint64_t v0,
			uint64_t v1)
{
	struct ev_sched_switch p = { .prev_tid = prev, .prev_state = SLEEP, .next_tid = next };
	struct record r;

	record_init(&r, t, cpu, prev, EVENT_SCHED_SWITCH);
	memcpy(r.ev.words, &p, sizeof(p));
	r.words[r.ev.n_words] = v0;
	r.words[r.ev.n_words + 1] = v1;
	r.ev.n_perf = 2;
	r.ev.size += 16;
	r.ev.present = ~0u;
	ck_assert_ptr_null(event_check(&r.ev, sizeof(r)));
	model_apply(e->m, 0, &r.ev);
}

static uint64_t perf_value(struct events *e, int64_t tid, const char *counter)
{
	const struct state_table *t = &e->m->state.tables[TABLE_PERF];
	const uint64_t uid = events_thread(e, tid)->uid;

	for (uint32_t row = STATE_NO_ROW; (row = state_next(t, row)) != STATE_NO_ROW;) {
		const struct perf_row *r = STATE_ROW(&e->m->state, PERF, perf, row);

		if (r->thread_uid == uid && strcmp(strpool_text((strid)r->counter), counter) == 0)
			return r->value;
	}
	return 0;
}

static void perf_names(struct events *e, bool per_thread)
{
	perf_name(e, 0, 0, "zero", per_thread);
	perf_name(e, 0, 1, "one", per_thread);
}

static void perf_begin(struct events *e, bool per_thread)
{
	begin(e);
	perf_names(e, per_thread);
}

START_TEST(test_cpu_counter_goes_to_who_ran)
{
	struct events e;

	perf_begin(&e, false);
	perf_event(&e, 1100, 0, 7, 1000, 50);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 0);
	perf_event(&e, 1110, 0, 7, 1005, 50);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 5);
	ck_assert_uint_eq(perf_value(&e, 7, "one"), 0);
	ck_assert_uint_eq(e.m->state.tables[TABLE_PERF].n_alive, 1);
	/* each CPU has its own counters */
	perf_event(&e, 1115, 1, 9, 10, 10);
	perf_event(&e, 1116, 1, 9, 13, 10);
	ck_assert_uint_eq(perf_value(&e, 9, "zero"), 3);
	perf_switch(&e, 1120, 0, 7, 8, 1007, 53);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 7);
	ck_assert_uint_eq(perf_value(&e, 7, "one"), 3);
	perf_switch(&e, 1130, 0, 8, 0, 1008, 53);
	ck_assert_uint_eq(perf_value(&e, 8, "zero"), 1);
	/* idle: counts for no thread */
	perf_switch(&e, 1140, 0, 0, 7, 2000, 60);
	perf_event(&e, 1150, 0, 7, 2001, 60);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 8);
	ck_assert_uint_eq(perf_value(&e, 8, "zero"), 1);
	events_release(&e);
}
END_TEST

/* 64 bits wrap around; a step back means a new counter. */
START_TEST(test_counter_wraps_or_restarts)
{
	struct events e;

	perf_begin(&e, false);
	perf_event(&e, 1100, 0, 7, UINT64_MAX - 1, 900);
	perf_event(&e, 1110, 0, 7, 3, 5);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 5);
	ck_assert_uint_eq(perf_value(&e, 7, "one"), 0);
	perf_event(&e, 1120, 0, 7, 3 + (UINT64_C(1) << 40), 7);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 5 + (UINT64_C(1) << 40));
	ck_assert_uint_eq(perf_value(&e, 7, "one"), 2);
	events_release(&e);
}
END_TEST

START_TEST(test_thread_counter)
{
	struct events e;

	perf_begin(&e, true);
	perf_event(&e, 1100, 0, 7, 100, 0);
	perf_switch(&e, 1110, 0, 7, 8, 104, 0);
	perf_event(&e, 1120, 0, 8, 7000, 0);
	perf_switch(&e, 1130, 0, 8, 0, 7001, 0);
	/* the thread continues on another CPU */
	perf_event(&e, 1140, 1, 7, 106, 0);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 6);
	ck_assert_uint_eq(perf_value(&e, 8, "zero"), 1);
	events_release(&e);
}
END_TEST

/* Two traces of a host have their own counters, each in its own order. */
START_TEST(test_counters_of_two_traces)
{
	struct events e;
	struct record r;

	perf_begin(&e, false);
	events_trace(&e, 1, DOMAIN_KERNEL);
	perf_name(&e, 1, 0, "other", false);
	perf_event(&e, 1100, 0, 7, 100, 0);
	for (unsigned i = 0; i < 2; i++) {
		record_init(&r, 1110 + i, 0, 7, EVENT_OTHER);
		r.ev.trace = 1;
		r.words[0] = 5000 + i;
		r.ev.n_perf = 1;
		r.ev.size += 8;
		model_apply(e.m, 0, &r.ev);
	}
	perf_event(&e, 1120, 0, 7, 102, 0);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 2);
	ck_assert_uint_eq(perf_value(&e, 7, "other"), 1);
	events_release(&e);
}
END_TEST

/* The value of the first counter in a trace of its own. */
static void perf_event_of(struct events *e, unsigned trace, uint64_t t, int64_t tid, uint64_t value)
{
	struct record r;

	record_init(&r, t, 0, tid, EVENT_OTHER);
	r.ev.trace = (uint16_t)trace;
	r.words[0] = value;
	r.ev.n_perf = 1;
	r.ev.size += 8;
	model_apply(e->m, 0, &r.ev);
}

/* Two traces of a host with the same counter. */
static void begin_two_traces(struct events *e, bool per_thread)
{
	begin(e);
	perf_name(e, 0, 0, "zero", per_thread);
	events_trace(e, 1, DOMAIN_KERNEL);
	perf_name(e, 1, 0, "zero", per_thread);
}

/* Two sessions of a host count the same: what both have seen counts once, and a little read later does not add up. */
static void same_counter_of_two_traces(bool per_thread)
{
	struct events e;

	begin_two_traces(&e, per_thread);
	perf_event_of(&e, 0, 1100, 7, 100);
	perf_event_of(&e, 1, 1100, 7, 5000);
	for (unsigned i = 1; i <= 10; i++) {
		perf_event_of(&e, 0, 1100 + 10 * i, 7, 100 + 20 * i);
		/* read before the other, though it comes after it */
		perf_event_of(&e, 1, 1100 + 10 * i, 7, 5000 + 20 * i - 3);
		ck_assert_uint_eq(perf_value(&e, 7, "zero"), 20 * i);
	}
	/* in between, the second alone shows it; once, it is ahead by the difference of when the two read */
	perf_event_of(&e, 1, 1300, 7, 5250);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 253);
	perf_event_of(&e, 0, 1310, 7, 360);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 260);
	/* created again: it starts over */
	perf_event_of(&e, 1, 1320, 7, 10);
	perf_event_of(&e, 1, 1330, 7, 14);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 264);
	events_release(&e);
}

START_TEST(test_same_counter_of_two_traces)
{
	same_counter_of_two_traces(false);
	same_counter_of_two_traces(true);
}
END_TEST

/* A session that starts between two events of the other one has missed some growth, but is not behind from then on. */
static void counter_of_a_later_trace(bool per_thread)
{
	struct events e;

	begin_two_traces(&e, per_thread);
	perf_event_of(&e, 0, 1100, 7, 100);
	/* 3000 were not shown until now */
	perf_event_of(&e, 1, 1130, 7, 8000);
	perf_event_of(&e, 0, 1140, 7, 4100);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 4000);
	perf_event_of(&e, 1, 1140, 7, 9000);
	perf_event_of(&e, 1, 1150, 7, 9200);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 4200);
	perf_event_of(&e, 0, 1160, 7, 4350);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 4250);
	events_release(&e);
}

START_TEST(test_counter_of_a_later_trace)
{
	counter_of_a_later_trace(false);
	counter_of_a_later_trace(true);
}
END_TEST

/* A counter missing from an event: as if the event had not come. */
START_TEST(test_counter_not_in_the_event)
{
	struct events e;

	perf_begin(&e, false);
	perf_event(&e, 1100, 0, 7, 100, EVENT_PERF_NONE);
	perf_event(&e, 1110, 0, 7, 101, 5000);
	ck_assert_uint_eq(perf_value(&e, 7, "one"), 0);
	perf_event(&e, 1120, 0, 7, 102, EVENT_PERF_NONE);
	perf_event(&e, 1130, 0, 7, EVENT_PERF_NONE, 5003);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 2);
	ck_assert_uint_eq(perf_value(&e, 7, "one"), 3);
	events_release(&e);
}
END_TEST

/* More values than names, or no CPU: only the known ones count. */
START_TEST(test_odd_perf_records)
{
	struct events e;

	begin(&e);
	perf_name(&e, 0, 0, "zero", false);
	perf_event(&e, 1100, 0, 7, 1, 1);
	perf_event(&e, 1110, 0, 7, 2, 2);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 1);
	perf_event(&e, 1120, EVENT_NO_CPU, 7, 9, 9);
	perf_event(&e, 1130, 0, 7, 4, 4);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 3);
	ck_assert_uint_eq(e.m->state.tables[TABLE_PERF].n_alive, 1);
	events_release(&e);
}
END_TEST

/* A thread's rows end with it; the next thread with its TID starts from zero. */
START_TEST(test_perf_rows_end_with_the_thread)
{
	struct events e;

	perf_begin(&e, true);
	perf_event(&e, 1100, 0, 7, 100, 5);
	perf_event(&e, 1110, 0, 7, 104, 6);
	ck_assert_uint_eq(e.m->state.tables[TABLE_PERF].n_alive, 2);
	thread_end(e.m, thread_find(e.m, 7));
	ck_assert_uint_eq(e.m->state.tables[TABLE_PERF].n_ended, 2);
	state_reap(model_state(e.m), NULL, NULL);
	state_frame_begin(model_state(e.m));
	ck_assert_uint_eq(e.m->state.tables[TABLE_PERF].n_alive, 0);
	perf_event(&e, 1120, 0, 7, 200, 6);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 0);
	perf_event(&e, 1130, 0, 7, 201, 6);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 1);
	events_release(&e);
}
END_TEST

/* The trace is declared again, with other counters or none: the old ones' rows end with their threads all the same. */
START_TEST(test_perf_rows_of_an_earlier_declaration)
{
	struct events e;

	perf_begin(&e, true);
	perf_event(&e, 1100, 0, 7, 100, 5);
	perf_event(&e, 1110, 0, 7, 104, 6);
	events_trace(&e, 0, DOMAIN_KERNEL);
	perf_names(&e, true);
	/* other counters by now: their first values are no growth */
	perf_event(&e, 1120, 0, 7, 1000104, 7);
	ck_assert_uint_eq(perf_value(&e, 7, "zero"), 4);
	events_trace(&e, 0, DOMAIN_KERNEL);
	thread_end(e.m, thread_find(e.m, 7));
	ck_assert_uint_eq(e.m->state.tables[TABLE_PERF].n_ended, 2);
	events_release(&e);
}
END_TEST

UNIT_MAIN("devices", test_ethernet, test_loopback, test_tunnel_without_link_header, test_sent_without_xmit,
	  test_interfaces_do_not_meet, test_ever_new_interfaces, test_too_many_interfaces, test_too_many_handlers,
	  test_nested_handlers, test_handlers_per_cpu, test_exit_without_entry, test_entry_without_exit,
	  test_endless_nesting, test_switch_ends_handlers, test_raise_to_entry, test_handler_names,
	  test_impossible_numbers, test_cpu_counter_goes_to_who_ran, test_counter_wraps_or_restarts,
	  test_thread_counter, test_counters_of_two_traces, test_same_counter_of_two_traces,
	  test_counter_of_a_later_trace, test_counter_not_in_the_event, test_odd_perf_records,
	  test_perf_rows_end_with_the_thread, test_perf_rows_of_an_earlier_declaration)
