/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Live hosts that packets do not relate are moved to the time of one of them by the arrival of their events, so that no
 * host has to wait until the others' clocks catch up. Only hosts that are off by more than the error of this method are
 * moved; packets take precedence as soon as there are any.
 */
#include "base/nstime.h"
#include "clock/internal.h"

/* The minimum delays of two live sessions differ by at most this, plus their observed variation. */
#define ARRIVAL_HALF_NS ((int64_t)(500 * NS_PER_MS))
#define ARRIVAL_STEP_NS ((int64_t)(100 * NS_PER_MS)) /* granularity of the estimated error */

/* a - b. Delays are below 2^61 ns; shifts derived from earlier ones may have any value. */
static int64_t apart(int64_t a, int64_t b)
{
	const int64_t most = INT64_C(1) << 62;

	return CLAMP(a, -most + 1, most - 1) - CLAMP(b, -most + 1, most - 1);
}

/* Whether the host follows no other host. */
static bool is_free(const struct clock_sync *s, unsigned host)
{
	const struct clock_host *h = clock_host_at(s, host);

	return !h->by_hand && (h->ref == NO_HOST || h->ref == (int)host);
}

unsigned clock_count_followers(const struct clock_sync *s, unsigned host)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->hosts->len; i++)
		n += clock_host_at(s, i)->ref == (int)host;
	return n;
}

/* The reference with most followers; of several, the current common host, or else the first. */
static int greatest_reference(const struct clock_sync *s)
{
	unsigned most = 0;
	int best = NO_HOST;

	for (unsigned i = 0; i < s->hosts->len; i++) {
		const unsigned n = clock_count_followers(s, i);

		if (n > most || (n && n == most && (int)i == s->common)) {
			most = n;
			best = (int)i;
		}
	}
	return best;
}

/*
 * Whether the host's delay can be compared with those of the others. That of a host which is no longer heard cannot:
 * this machine's clock may have been set since, and more than half of the seconds kept of others may be later.
 */
static bool is_recent(const struct clock_sync *s, const struct clock_host *owner)
{
	return s->n_seconds - owner->heard <= CLOCK_ARRIVAL_SECONDS / 2 &&
	       clock_arrival_is_recent(&owner->arrival, s->arrived_ns, CLOCK_LIVE_KEPT_S);
}

static bool has_delay(const struct clock_sync *s, const struct clock_host *owner, int64_t *delay_ns,
		      uint64_t *spread_ns)
{
	return is_recent(s, owner) && clock_arrival_delay(&owner->arrival, delay_ns, spread_ns);
}

/* The host whose clock is nearest to this machine's. */
static int nearest(const struct clock_sync *s)
{
	uint64_t least_ns = UINT64_MAX, spread_ns;
	int best = NO_HOST;

	for (unsigned i = 0; i < s->hosts->len; i++) {
		int64_t delay_ns;

		if (!is_free(s, i) || !has_delay(s, clock_owner(s, i), &delay_ns, &spread_ns) ||
		    (uint64_t)ABS(delay_ns) >= least_ns)
			continue;
		least_ns = (uint64_t)ABS(delay_ns);
		best = (int)i;
	}
	return best;
}

static bool any(const struct clock_sync *s, bool (*is)(const struct clock_host *h))
{
	for (unsigned i = 0; i < s->hosts->len; i++)
		if (is(clock_host_at(s, i)))
			return true;
	return false;
}

static bool is_by_hand(const struct clock_host *h)
{
	return h->by_hand;
}

static bool is_shifted(const struct clock_host *h)
{
	return h->shift_ns != 0;
}

int clock_shift_common(const struct clock_sync *s)
{
	return s->common != NO_HOST && any(s, is_shifted) ? s->common : NO_HOST;
}

/* Chooses the host whose time all others use. Once times are shown in it, it changes only if packets say otherwise. */
static int choose_common(const struct clock_sync *s)
{
	const int chosen = clock_sync_chosen(s), reference = greatest_reference(s), common = clock_shift_common(s);

	if (chosen != NO_HOST || s->options.ref)
		return chosen;
	if (reference != NO_HOST)
		return reference;
	/* a user who gives some offsets knows the others */
	if (any(s, is_by_hand))
		return NO_HOST;
	return common != NO_HOST ? common : nearest(s);
}

/* Makes shifts relative to the clock of another host. */
static bool change_common(struct clock_sync *s, int common)
{
	const int64_t shift_ns = clock_owner(s, (unsigned)common)->shift_ns;

	s->common = common;
	for (unsigned i = 0; i < s->hosts->len && shift_ns; i++)
		if (clock_host_at(s, i)->by_arrival)
			clock_host_at(s, i)->shift_ns = apart(clock_host_at(s, i)->shift_ns, shift_ns);
	clock_owner(s, (unsigned)common)->shift_ns = 0;
	return shift_ns != 0;
}

/* The delay of the common host; of one that is no longer heard, as a host shows it that has its time. */
static bool find_common_delay(const struct clock_sync *s, int64_t *delay_ns, uint64_t *spread_ns)
{
	if (is_recent(s, clock_owner(s, (unsigned)s->common)))
		return has_delay(s, clock_owner(s, (unsigned)s->common), delay_ns, spread_ns);
	for (unsigned i = 0; i < s->hosts->len; i++) {
		const struct clock_host *h = clock_host_at(s, i), *owner = clock_owner(s, i);
		const bool follows = h->ref == s->common;

		if (!(follows || (is_free(s, i) && owner->by_arrival)) || !has_delay(s, owner, delay_ns, spread_ns))
			continue;
		*delay_ns = apart(*delay_ns, follows ? clock_sync_offset(s, i, h->updated_ns) : owner->shift_ns);
		*spread_ns += follows ? 0 : (uint64_t)ARRIVAL_HALF_NS; /* that it may be off */
		return true;
	}
	return false;
}

/* Updates the shift of a clock relative to the common host. Returns whether it changed. */
static bool shift(struct clock_sync *s, struct clock_host *owner, int64_t common_ns, uint64_t common_spread_ns)
{
	int64_t delay_ns, off_ns;
	uint64_t spread_ns, half_ns;

	if (!has_delay(s, owner, &delay_ns, &spread_ns))
		return false;
	off_ns = apart(delay_ns, common_ns);
	half_ns = ARRIVAL_HALF_NS + (spread_ns + common_spread_ns) / ARRIVAL_STEP_NS * ARRIVAL_STEP_NS;
	if ((uint64_t)ABS(off_ns) <= half_ns)
		off_ns = 0;
	owner->by_arrival = owner != clock_owner(s, (unsigned)s->common);
	owner->half_ns = half_ns;
	if (ABS(apart(off_ns, owner->shift_ns)) <= (int64_t)half_ns)
		return false;
	owner->shift_ns = off_ns;
	return true;
}

bool clock_shift(struct clock_sync *s)
{
	const int common = choose_common(s);
	bool changed = false;
	int64_t common_ns;
	uint64_t spread_ns;

	if (common == NO_HOST || is_by_hand(clock_host_at(s, (unsigned)common)))
		return false;
	if (common != s->common)
		changed = change_common(s, common);
	if (!find_common_delay(s, &common_ns, &spread_ns))
		return changed;
	for (unsigned i = 0; i < s->hosts->len; i++)
		if (is_free(s, i))
			changed |= shift(s, clock_owner(s, i), common_ns, spread_ns);
	return changed;
}
