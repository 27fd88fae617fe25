/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>

#include "clock/map_build.h"

/* Slopes are 1 + excess / 2^50: an error below 1 ns over a week. */
enum { SLOPE_BITS = 50 };
#define SLOPE_ONE (INT64_C(1) << SLOPE_BITS)

/* Limits the slope of every line of a map: clocks whose rates differ by more are not usable. */
#define EXCESS_MAX (SLOPE_ONE / 2)

struct knot {
	uint64_t host_ns, ref_ns; /* modulo 2^64: may be before 1970 */
	int64_t excess;           /* of the line to the next knot, or after the last one */
};

struct clock_map {
	GArray *knots; /* struct knot */
	int64_t lead;  /* excess of the line to the first knot */
	unsigned epoch;
};

struct clock_map *clock_map_create(void)
{
	struct clock_map *map = g_new0(struct clock_map, 1);

	map->knots = g_array_new(false, false, sizeof(struct knot));
	return map;
}

void clock_map_destroy(struct clock_map *map)
{
	if (!map)
		return;
	g_array_free(map->knots, true);
	g_free(map);
}

static struct knot *knot_at(const struct clock_map *map, unsigned n)
{
	return &g_array_index(map->knots, struct knot, n);
}

static void empty(struct clock_map *map)
{
	g_array_set_size(map->knots, 0);
	map->lead = 0;
}

void clock_map_reset(struct clock_map *map)
{
	if (map->knots->len)
		map->epoch++;
	empty(map);
}

void clock_map_begin_epoch(struct clock_map *map)
{
	empty(map);
	map->epoch++;
}

/* dh * excess, rounded down; dh may be negative. */
static __int128 stretch(__int128 dh, int64_t excess)
{
	return (dh * excess) >> SLOPE_BITS;
}

static __int128 distance(uint64_t t_ns, int64_t knot_ns)
{
	return (__int128)t_ns - knot_ns;
}

/* How much reference time passes from a knot to host_ns. */
static __int128 rise(const struct knot *k, uint64_t host_ns, int64_t excess)
{
	const __int128 dh = distance(host_ns, (int64_t)k->host_ns);

	return dh + stretch(dh, excess);
}

/* The time that is so far from a knot, or the nearest that can be represented. */
static uint64_t moved(int64_t knot_ns, __int128 by_ns)
{
	return (uint64_t)CLAMP(knot_ns + by_ns, 0, (__int128)UINT64_MAX);
}

static int64_t excess_of(double slope_excess)
{
	return CLAMP(slope_excess, -0.5, 0.5) * (double)SLOPE_ONE;
}

/* Finds the line that covers host_ns: its knot and slope. */
static const struct knot *line_at_host(const struct clock_map *map, uint64_t host_ns, int64_t *excess)
{
	unsigned lo = 0, hi = map->knots->len;

	if (host_ns >= knot_at(map, hi - 1)->host_ns) {
		lo = hi - 1;
	} else {
		while (hi - lo > 1) {
			unsigned mid = lo + (hi - lo) / 2;

			if (knot_at(map, mid)->host_ns <= host_ns)
				lo = mid;
			else
				hi = mid;
		}
	}
	*excess = host_ns < knot_at(map, lo)->host_ns ? map->lead : knot_at(map, lo)->excess;
	return knot_at(map, lo);
}

static const struct knot *line_at_ref(const struct clock_map *map, uint64_t ref_ns, int64_t *excess)
{
	unsigned lo = 0, hi = map->knots->len;

	while (hi - lo > 1) {
		unsigned mid = lo + (hi - lo) / 2;

		if (knot_at(map, mid)->ref_ns <= ref_ns)
			lo = mid;
		else
			hi = mid;
	}
	*excess = ref_ns < knot_at(map, lo)->ref_ns ? map->lead : knot_at(map, lo)->excess;
	return knot_at(map, lo);
}

uint64_t clock_to_ref(const struct clock_map *map, uint64_t host_ns)
{
	const struct knot *k;
	int64_t excess;

	if (!map || !map->knots->len)
		return host_ns;
	k = line_at_host(map, host_ns, &excess);
	return moved((int64_t)k->ref_ns, rise(k, host_ns, excess));
}

uint64_t clock_from_ref(const struct clock_map *map, uint64_t ref_ns)
{
	const struct knot *k;
	int64_t excess;
	__int128 dr, dh;

	if (!map || !map->knots->len)
		return ref_ns;
	k = line_at_ref(map, ref_ns, &excess);
	dr = distance(ref_ns, (int64_t)k->ref_ns);
	dh = dr * SLOPE_ONE / (SLOPE_ONE + excess);
	/* The earliest time whose image is at or after ref_ns. */
	while (dh + stretch(dh, excess) < dr)
		dh++;
	return moved((int64_t)k->host_ns, dh);
}

unsigned clock_map_epoch(const struct clock_map *map)
{
	return map ? map->epoch : 0;
}

/* Removes every other knot of the older half; the map becomes slightly coarser there. */
static void thin(struct clock_map *map)
{
	unsigned half = map->knots->len / 2, to = 1;

	for (unsigned from = 2; from < map->knots->len; from++)
		if (from >= half || from % 2 == 0)
			*knot_at(map, to++) = *knot_at(map, from);
	g_array_set_size(map->knots, to);
	for (unsigned n = 0; n + 1 < to && n < half; n++) {
		struct knot *k = knot_at(map, n);
		const struct knot *next = knot_at(map, n + 1);
		int64_t dh = (int64_t)(next->host_ns - k->host_ns);

		k->excess = (int64_t)(((__int128)(next->ref_ns - k->ref_ns) - dh) * SLOPE_ONE / dh);
	}
}

void clock_map_add(struct clock_map *map, uint64_t host_ns, uint64_t ref_ns, double slope_excess)
{
	struct knot knot = { .host_ns = host_ns, .ref_ns = ref_ns, .excess = excess_of(slope_excess) };

	if (map->knots->len) {
		struct knot *last = knot_at(map, map->knots->len - 1);
		int64_t dh = (int64_t)(host_ns - last->host_ns);
		__int128 excess;

		if (dh <= 0) {
			last->excess = knot.excess;
			return;
		}
		excess = ((__int128)(int64_t)(ref_ns - last->ref_ns) - dh) * SLOPE_ONE / dh;
		last->excess = (int64_t)CLAMP(excess, -(__int128)EXCESS_MAX, (__int128)EXCESS_MAX);
		if (last->excess != excess)
			knot.ref_ns = last->ref_ns + (uint64_t)(dh + stretch(dh, last->excess));
	} else {
		map->lead = knot.excess;
	}
	g_array_append_val(map->knots, knot);
	if (map->knots->len > CLOCK_MAP_KNOTS)
		thin(map);
}

void clock_map_cut(struct clock_map *map, uint64_t host_ns)
{
	int64_t excess;
	const struct knot *k = line_at_host(map, host_ns, &excess);
	struct knot knot = {
		.host_ns = host_ns,
		.ref_ns = k->ref_ns + (uint64_t)rise(k, host_ns, excess),
		.excess = excess,
	};
	unsigned n = map->knots->len;

	while (n > 1 && knot_at(map, n - 1)->host_ns >= host_ns)
		n--;
	g_array_set_size(map->knots, n);
	if (knot_at(map, n - 1)->host_ns >= host_ns)
		return;
	g_array_append_val(map->knots, knot);
}

unsigned clock_map_knots(const struct clock_map *map)
{
	return map->knots->len;
}

void clock_map_knot(const struct clock_map *map, unsigned n, uint64_t *host_ns, uint64_t *ref_ns)
{
	*host_ns = knot_at(map, n)->host_ns;
	*ref_ns = knot_at(map, n)->ref_ns;
}

double clock_map_slope_excess(const struct clock_map *map, uint64_t host_ns)
{
	int64_t excess = 0;

	if (map->knots->len)
		line_at_host(map, host_ns, &excess);
	return (double)excess / (double)SLOPE_ONE;
}

/* ---- as bytes ---- */

enum { KNOT_PACKED = 3 * sizeof(uint64_t) };

void clock_map_pack(const struct clock_map *map, GByteArray *out)
{
	pack_u64(out, (uint64_t)map->lead);
	pack_u64(out, map->epoch);
	pack_u64(out, map->knots->len);
	for (unsigned n = 0; n < map->knots->len; n++) {
		pack_u64(out, knot_at(map, n)->host_ns);
		pack_u64(out, knot_at(map, n)->ref_ns);
		pack_u64(out, (uint64_t)knot_at(map, n)->excess);
	}
}

static int64_t unpack_excess(struct unpack *in)
{
	int64_t excess = (int64_t)unpack_u64(in);

	in->failed |= excess < -EXCESS_MAX || excess > EXCESS_MAX;
	return in->failed ? 0 : excess;
}

void clock_map_unpack(struct clock_map *map, struct unpack *in)
{
	size_t n;

	map->lead = unpack_excess(in);
	map->epoch = (unsigned)unpack_upto(in, UINT_MAX);
	n = unpack_count(in, KNOT_PACKED);
	in->failed |= n > CLOCK_MAP_KNOTS;
	for (size_t i = 0; i < n && !in->failed; i++) {
		struct knot knot;

		knot.host_ns = unpack_u64(in);
		knot.ref_ns = unpack_u64(in);
		knot.excess = unpack_excess(in);
		in->failed |= i && knot.host_ns <= knot_at(map, (unsigned)i - 1)->host_ns;
		g_array_append_val(map->knots, knot);
	}
}
