/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clock/pair.h"

#include <math.h>

#include "base/nstime.h"

enum {
	SAMPLES_MAX = 1 << 18, /* of each direction; when full, the oldest quarter is dropped */
	/* of all pairs, each of which has the same share: a few hundred MiB each */
	ALL_SAMPLES_MAX = 1 << 24,
	ALL_BUCKETS_MAX = 1 << 20,
	LEAST_SHARE = 256,
	BUCKETS_MAX = 3600, /* live: an hour, counting only seconds with traffic */
	/* How much a frequency may wander within a window; NTP's corrections and temperature stay below it. */
	WANDER_PPB = 1000,
};

#define LEAST_WINDOW_NS NS_PER_S

struct clock_pair *clock_pair_create(unsigned a, unsigned b, const struct clock_options *options)
{
	struct clock_pair *p = g_new0(struct clock_pair, 1);
	double rho_ppm = options->rho_ppm > 0 ? options->rho_ppm : CLOCK_RHO_PPM;

	p->a = a;
	p->b = b;
	p->state = CLOCK_ABSENT;
	p->window = clock_window_create(CLAMP(rho_ppm * 1e3, 1, 1e9), WANDER_PPB);
	for (int d = CLOCK_FROM_A; d <= CLOCK_FROM_B; d++)
		p->samples[d] = g_array_new(false, false, sizeof(struct clock_sample));
	return p;
}

void clock_pair_destroy(struct clock_pair *p)
{
	clock_window_destroy(p->window);
	for (int d = CLOCK_FROM_A; d <= CLOCK_FROM_B; d++)
		g_array_free(p->samples[d], true);
	clock_map_destroy(p->whole);
	clock_pair_join(p);
	g_free(p);
}

void clock_pair_add(struct clock_pair *p, int direction, const struct clock_sample *sample,
		    const struct clock_sample *certain, unsigned pairs)
{
	const unsigned samples_max = CLAMP(ALL_SAMPLES_MAX / 2 / pairs, LEAST_SHARE, SAMPLES_MAX);
	GArray *samples = p->samples[direction];
	bool from_a = direction == CLOCK_FROM_A;

	if (samples->len >= samples_max)
		g_array_remove_range(samples, 0, samples->len - samples_max / 4 * 3);
	g_array_append_val(samples, *sample);
	p->n_samples[direction]++;
	p->matched++;
	p->last_match_ns[0] = MAX(p->last_match_ns[0], from_a ? sample->sent_ns : sample->received_ns);
	p->last_match_ns[1] = MAX(p->last_match_ns[1], from_a ? sample->received_ns : sample->sent_ns);
	if (certain && clock_window_add(p->window, from_a, from_a ? certain->sent_ns : certain->received_ns,
					from_a ? (int64_t)(certain->received_ns - certain->sent_ns)
					       : (int64_t)(certain->sent_ns - certain->received_ns))) {
		p->used++;
		p->seen[direction] = true;
		clock_window_coarsen(p->window, MAX(ALL_BUCKETS_MAX / pairs, LEAST_SHARE));
	}
	if (p->state == CLOCK_ABSENT && (p->seen[0] || p->seen[1]))
		p->state = CLOCK_INCOMPLETE;
}

void clock_pair_join(struct clock_pair *p)
{
	if (p->stretches)
		g_array_free(p->stretches, true);
	p->stretches = NULL;
}

void clock_pair_split(struct clock_pair *p)
{
	clock_pair_join(p);
	p->stretches = clock_window_split(p->window);
}

static const struct clock_stretch *stretch_at(const struct clock_pair *p, guint n)
{
	return &g_array_index(p->stretches, struct clock_stretch, n);
}

struct clock_window *clock_pair_end(const struct clock_pair *p, bool last)
{
	if (!p->stretches)
		return p->window;
	return p->stretches->len ? stretch_at(p, last ? p->stretches->len - 1 : 0)->window : NULL;
}

/* NULL: a clock jumped about then. */
static struct clock_window *window_at(const struct clock_pair *p, uint64_t x_ns)
{
	if (!p->stretches)
		return p->window;
	for (guint n = 0; n < p->stretches->len; n++)
		if (x_ns >= stretch_at(p, n)->first_ns && x_ns <= stretch_at(p, n)->last_ns)
			return stretch_at(p, n)->window;
	return NULL;
}

static enum clock_window_result solve(struct clock_window *w, uint64_t x_ns, uint64_t window_ns, bool centred,
				      struct clock_bound *out)
{
	uint64_t from_ns = x_ns > window_ns ? x_ns - window_ns : 0;

	return clock_window_solve(w, from_ns, centred ? x_ns + window_ns : x_ns, x_ns, out);
}

enum clock_window_result clock_pair_solve(struct clock_pair *p, uint64_t x_ns, uint64_t window_ns, bool centred,
					  struct clock_bound *out)
{
	struct clock_window *w = centred ? window_at(p, x_ns) : p->window;
	enum clock_window_result result;
	uint64_t first_ns, last_ns, whole_ns;

	if (!w)
		return WINDOW_INFEASIBLE;
	if (!p->seen[0] || !p->seen[1] || !clock_window_span(w, &first_ns, &last_ns))
		return WINDOW_EMPTY;
	/* Long enough for all messages on the side of x that counts. */
	whole_ns = x_ns > first_ns ? x_ns - first_ns : 0;
	if (centred && last_ns > x_ns)
		whole_ns = MAX(whole_ns, last_ns - x_ns);
	result = solve(w, x_ns, window_ns, centred, out);
	while (result == WINDOW_EMPTY && window_ns < whole_ns) {
		window_ns *= 4;
		result = solve(w, x_ns, window_ns, centred, out);
	}
	if (result != WINDOW_INFEASIBLE)
		return result;
	while (result == WINDOW_INFEASIBLE && window_ns / 2 >= LEAST_WINDOW_NS) {
		window_ns /= 2;
		result = solve(w, x_ns, window_ns, centred, out);
	}
	return result == WINDOW_BOUND ? WINDOW_BOUND : WINDOW_INFEASIBLE;
}

void clock_pair_keep(struct clock_pair *p, uint64_t x_ns, enum clock_window_result result,
		     const struct clock_bound *bound)
{
	if (result != WINDOW_BOUND) {
		if (result == WINDOW_INFEASIBLE || p->has_line)
			p->state = CLOCK_FAILED;
		return;
	}
	p->state = bound->both_ways ? CLOCK_ACCURATE : CLOCK_APPROXIMATE;
	p->has_line = true;
	p->line_x_ns = x_ns;
	p->line_d_ns = bound->lo_ns + (bound->hi_ns - bound->lo_ns) / 2;
	p->line_slope = (bound->slope_least + bound->slope_greatest) / 2;
	p->line_half_ns = (double)(bound->hi_ns - bound->lo_ns) / 2 + 1;
}

int64_t clock_pair_line(const struct clock_pair *p, uint64_t x_ns, double rho, double *half_ns)
{
	double since_ns = (double)(int64_t)(x_ns - p->line_x_ns);

	*half_ns = p->line_half_ns + fabs(since_ns) * (rho + fabs(p->line_slope));
	return p->line_d_ns + (int64_t)(since_ns * p->line_slope);
}

void clock_pair_trim(struct clock_pair *p)
{
	clock_window_trim(p->window, BUCKETS_MAX);
}

void clock_pair_forget(struct clock_pair *p, guint latest, bool examined)
{
	for (int d = CLOCK_FROM_A; d <= CLOCK_FROM_B; d++) {
		const guint kept = (guint)MAX(latest, examined ? p->n_samples[d] - p->judged[d] : 0);

		/* rarely, because the remaining samples are moved */
		if (p->samples[d]->len / 2 > kept)
			g_array_remove_range(p->samples[d], 0, p->samples[d]->len - kept);
	}
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

unsigned clock_pair_latencies(const struct clock_pair *p, int direction, uint64_t first, const struct clock_map *map_a,
			      const struct clock_map *map_b, struct clock_latencies *out, uint64_t *negative)
{
	bool from_a = direction == CLOCK_FROM_A;
	const struct clock_map *map_from = from_a ? map_a : map_b, *map_to = from_a ? map_b : map_a;
	const GArray *samples = p->samples[direction];
	uint64_t oldest = p->n_samples[direction] - samples->len;
	unsigned n = 0;
	int64_t *values;

	first = MAX(first, oldest);
	values = g_new(int64_t, p->n_samples[direction] - first + 1);
	for (uint64_t i = first; i < p->n_samples[direction]; i++) {
		const struct clock_sample *s = &g_array_index(samples, struct clock_sample, i - oldest);

		values[n] = (int64_t)(clock_to_ref(map_to, s->received_ns) - clock_to_ref(map_from, s->sent_ns));
		*negative += values[n++] < 0;
	}
	if (n) {
		qsort(values, n, sizeof(*values), by_value);
		*out = (struct clock_latencies){ .min_ns = values[0], .median_ns = values[n / 2] };
	}
	g_free(values);
	return n;
}
