/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_MODEL_CONTEXT_H
#define LT_MODEL_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strpool.h"
#include "model/internal.h"
#include "model/waitlog.h"

/*
 * What a CPU does instead of running its task: interrupts, softirqs, timers and the reception of packets, nested,
 * innermost last; and what a thread that is woken there was waiting for.
 *
 *   irq 24 ─ softirq NET_RX ─ … ─ receiving eth0 ─ sched_waking: tid 7 waited for the network, "eth0"
 *
 * A level lasts until its own exit, or until the CPU switches threads or loses events: only on real-time kernels may a
 * softirq be preempted, and then its later wake-ups are those of its thread. Inside model/ only.
 */
struct context {
	enum wait_context kind;  /* innermost */
	enum wait_context below; /* RECEIVING: the context in which the packet is received; else the same as kind */
	uint32_t nr;             /* of below: IRQ number or softirq vector, else 0 */
	bool disk;               /* a disk request was completed in it */
	strid cause; /* what the work there is for: disk, interface, IRQ …; STRID_NONE: no name, or a task */
};

/* Where the CPU is now. cpu NULL: in a task. */
struct context context_now(const struct model *m, const struct cpu *cpu);

/* Why a thread that is woken there was blocked. In a task: WAIT_BLOCKED; the waker determines the reason. */
enum wait_state context_explains(const struct context *c);

/* Enters and leaves levels. To be called after the event's own handler. */
void context_apply(const struct apply *a);

/* Whether context_apply() does anything for events of this kind. */
static inline bool context_uses(enum event_kind kind)
{
	switch (kind) {
	case EVENT_IRQ_ENTRY:
	case EVENT_IRQ_EXIT:
	case EVENT_SOFTIRQ_ENTRY:
	case EVENT_SOFTIRQ_EXIT:
	case EVENT_HRTIMER_ENTRY:
	case EVENT_HRTIMER_EXIT:
	case EVENT_LOCAL_TIMER_ENTRY:
	case EVENT_LOCAL_TIMER_EXIT:
	case EVENT_IPI_ENTRY:
	case EVENT_IPI_EXIT:
	case EVENT_DO_IRQ_ENTRY:
	case EVENT_DO_IRQ_EXIT:
	case EVENT_RECEIVING_ENTRY:
	case EVENT_RECEIVING_EXIT:
	case EVENT_RECEIVING_PROBE_ENTRY:
	case EVENT_RECEIVING_PROBE_EXIT:
		return true;
	default:
		return false;
	}
}

/*
 * A disk request was completed on the CPU (NULL: unknown), in whatever context it is, or in the thread of an interrupt;
 * a packet came in through the interface. Rows of their tables.
 */
void context_note_disk(const struct model *m, struct cpu *cpu, uint32_t row);
void context_note_netif(struct cpu *cpu, uint32_t row);

/* The CPU is in a task: it switched threads. Or what it is doing is unknown: events were lost. */
void context_reset(struct cpu *cpu);

#endif
