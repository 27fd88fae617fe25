/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/program.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "reader/emit.h"
#include "reader/values.h"

/* Executes steps on bytes. */

enum { COMM_BYTES = 16 };

static inline void put(void *words, unsigned to, uint64_t value)
{
	memcpy((char *)words + to, &value, sizeof(value));
}

static inline uint64_t get(const void *words, unsigned to)
{
	uint64_t value;

	memcpy(&value, (const char *)words + to, sizeof(value));
	return value;
}

static uint64_t read_integer(const uint8_t *data, uint64_t at, const struct type *t)
{
	uint64_t value = bits_read(data, at, t->size, t->order);

	if (t->is_signed && t->size < 64 && value >> (t->size - 1))
		value |= ~UINT64_C(0) << t->size;
	return value;
}

static void store_integer(const struct step *s, uint64_t value, struct walk *w, void *words)
{
	switch ((enum store_how)s->store) {
	case STORE_WORD:
		put(words, s->to, value);
		break;
	case STORE_ADDRESS:
		put(words, s->to, GUINT32_TO_BE((uint32_t)value));
		break;
	case STORE_HIGH:
		put(words, s->to, get(words, s->to) | value << 8);
		break;
	case STORE_OR:
		put(words, s->to, get(words, s->to) | value);
		break;
	case STORE_SLOT:
		w->slots[s->slot] = value;
		break;
	}
}

/* The lowest bit of the first byte that is 0; 0: there is none. Words are little-endian. */
static inline uint64_t first_nul(uint64_t word)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t nuls = (word - ones) & ~word & (ones << 7); /* the first is right, later ones may be wrong */

	return (nuls & -nuls) >> 7;
}

/* Clears the bytes after the text: the kernel does not clear them, and another context may have set them. */
static void store_comm(const uint8_t *from, size_t max, char *to)
{
	const size_t len = strnlen((const char *)from, MIN(max, COMM_BYTES));

	memcpy(to, from, len);
	memset(to + len, 0, COMM_BYTES - len);
}

/* The same for 16 bytes, in two words. */
static inline void store_comm16(const uint8_t *from, char *to)
{
	const uint64_t low = GUINT64_FROM_LE(BITS_LOAD(uint64_t, from));
	const uint64_t high = GUINT64_FROM_LE(BITS_LOAD(uint64_t, from + 8));
	const uint64_t low_end = first_nul(low);

	put(to, 0, GUINT64_TO_LE(low & (low_end - 1)));
	put(to, 8, low_end ? 0 : GUINT64_TO_LE(high & (first_nul(high) - 1)));
}

static G_GNUC_NO_INLINE bool text_value(struct event *ev, const uint8_t *from, size_t len)
{
	return values_text(ev, from, len);
}

static bool step_string(const struct step *s, struct walk *w, char *words, uint32_t *present, struct event *ev)
{
	const uint64_t at = type_align(w->at, 8);
	const uint8_t *from = w->data + at / 8, *nul;
	size_t len;

	nul = at <= w->end ? memchr(from, 0, (w->end - at) / 8) : NULL;
	if (!nul)
		return false;
	len = (size_t)(nul - from);
	if (!s->stay)
		w->at = at + 8 * (uint64_t)(len + 1);
	*present |= s->present;
	if (s->op == STEP_VALUE)
		return text_value(ev, from, len);
	if (s->op == READ_TEXT && ev)
		emit_text(ev, s->to, (const char *)from, len);
	else if (s->op == READ_COMM)
		store_comm(from, len, words + s->to);
	return true;
}

/* ---- arrays ---- */

/* The positions of elements of fixed size. */
struct elements {
	const uint8_t *data;
	const struct type *type; /* of one element */
	uint64_t at, stride, n;
};

static uint64_t element(const struct elements *e, uint64_t i)
{
	return read_integer(e->data, e->at + i * e->stride, e->type);
}

/* Character codes up to the first 0, at most size bytes. */
static size_t elements_text(const struct elements *e, char *text, size_t size)
{
	size_t len;

	for (len = 0; len < e->n && len < size; len++) {
		text[len] = (char)element(e, len);
		if (!text[len])
			break;
	}
	return len;
}

static void read_text(const struct elements *e, const struct step *s, struct event *ev)
{
	char text[TEXT_MAX];

	if (ev)
		emit_text(ev, s->to, text, elements_text(e, text, sizeof(text)));
}

static void read_address(const struct elements *e, const struct step *s, char *words)
{
	unsigned char bytes[16] = { 0 };
	size_t len = 0;

	for (uint64_t i = 0; i < e->n && len < sizeof(bytes); i++) {
		const uint64_t value = element(e, i);

		if (s->wide && len < sizeof(bytes))
			bytes[len++] = (unsigned char)(value >> 8);
		bytes[len++] = (unsigned char)value;
	}
	memcpy(words + s->to, bytes, sizeof(bytes));
}

static void read_elements(const struct elements *e, const struct step *s, char *words, uint32_t *present,
			  struct event *ev)
{
	/* An empty text is present; an array without elements is not. */
	if (e->n || s->op == READ_TEXT_ARRAY || s->op == READ_COMM_ARRAY)
		*present |= s->present;
	switch (s->op) {
	case READ_TEXT_ARRAY:
		read_text(e, s, ev);
		break;
	case READ_COMM_ARRAY:
		memset(words + s->to, 0, COMM_BYTES);
		elements_text(e, words + s->to, COMM_BYTES);
		break;
	case READ_INTS:
		for (unsigned i = 0; i < e->n && i < s->count; i++)
			put(words, s->to + 8 * i, element(e, i));
		break;
	case READ_ADDRESS:
		if (e->n)
			read_address(e, s, words);
		break;
	default:
		break;
	}
}

/* Appends all elements, or the first ones. */
static G_GNUC_NO_INLINE bool elements_value(const struct elements *e, const struct type *array, struct event *ev)
{
	uint32_t kept;
	void *words;

	if (array->is_text)
		return values_text(ev, e->data + e->at / 8, strnlen((const char *)e->data + e->at / 8, e->n));
	if (!values_array(ev, e->n, &kept) || !values_room(ev, kept, &words))
		return false;
	for (uint32_t i = 0; i < kept; i++)
		put(words, 8 * i, element(e, i));
	return true;
}

static bool step_elements(const struct step *s, struct walk *w, char *words, uint32_t *present, struct event *ev)
{
	const struct type *t = s->type;
	struct elements e = {
		.data = w->data,
		.type = t->element,
		.at = type_align(w->at, t->align),
		.stride = type_align(t->element->fixed_bits, t->element->align),
		.n = t->kind == TYPE_ARRAY ? t->length : w->slots[t->slot],
	};
	uint64_t bits;

	if (!walk_take_steps(w, 1))
		return false;
	/* Elements of size 0 are possible, in any number. */
	if (e.at > w->end || (e.n && e.stride && e.n - 1 > (w->end - e.at) / e.stride))
		return false;
	bits = e.n ? e.stride * (e.n - 1) + e.type->fixed_bits : 0;
	if (bits > w->end - e.at)
		return false;
	if (!s->stay)
		w->at = e.at + bits;
	if (s->op == STEP_VALUE)
		return elements_value(&e, t, ev);
	read_elements(&e, s, words, present, ev);
	return true;
}

/* Elements that need a program each; those that are not kept are skipped. */
static G_GNUC_NO_INLINE bool step_repeat(const struct step *s, struct walk *w, struct event *ev)
{
	const struct type *t = s->type;
	const uint64_t n = t->kind == TYPE_ARRAY ? t->length : w->slots[t->slot];
	uint32_t kept, present = 0;

	w->at = type_align(w->at, t->align);
	if (!walk_take_steps(w, 1) || w->at > w->end || !values_array(ev, n, &kept))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t from = w->at;

		if (i < kept ? !walk_take_steps(w, 1) || !program_run(s->options, w, NULL, &present, ev)
			     : !walk_type(w, t->element))
			return false;
		/* The following elements have no bits either. */
		if (i >= kept && w->at == from)
			break;
	}
	return true;
}

/* Stores a double; NaN for sizes that this machine does not support. */
static G_GNUC_NO_INLINE void store_float(const struct step *s, const uint8_t *data, uint64_t at, void *words)
{
	const struct type *t = s->type;
	double value = NAN;

	if (t->size == 32) {
		const uint32_t bits = (uint32_t)bits_read(data, at, 32, t->order);
		float single;

		memcpy(&single, &bits, sizeof(single));
		value = (double)single;
	} else if (t->size == 64) {
		const uint64_t bits = bits_read(data, at, 64, t->order);

		memcpy(&value, &bits, sizeof(value));
	}
	memcpy((char *)words + s->to, &value, sizeof(value));
}

/* ---- variants ---- */

static G_GNUC_NO_INLINE bool option_value(const struct program *option, guint number, struct walk *w, struct event *ev)
{
	uint32_t present = 0;

	return values_word(ev, number) && program_run(option, w, NULL, &present, ev);
}

static bool step_variant(const struct step *s, struct walk *w, char *words, uint32_t *present, struct event *ev)
{
	const struct walk before = *w;
	const struct type_case *c = walk_choose(w, s->type);
	const struct program *option;
	uint32_t inner = 0;

	if (!c || c->field >= s->n_options)
		return false;
	option = &s->options[c->field];
	if (s->op == STEP_VALUE)
		return option_value(option, c->field, w, ev);
	if (option->version)
		put(words, s->to, option->version);
	if (!program_run(option, w, words, &inner, ev))
		return false;
	if (option->wants)
		*present |= s->present;
	if (s->stay)
		w->at = before.at;
	return true;
}

/* ---- runs ---- */

/* *run: start of the run in bits. false: it does not fit. */
static inline bool begin_run(const struct step *s, uint64_t *run, struct walk *w, uint32_t *present)
{
	*run = type_align(w->at, s->align);
	if (*run + s->bits > w->end)
		return false;
	w->at = *run + s->bits;
	*present |= s->present;
	return true;
}

/* Executes the loads after a step. Returns the step after them. */
static inline __attribute__((always_inline)) const struct step *load(const struct step *s, const uint8_t *run,
								     void *words)
{
	for (const struct step *const last = s + s->n_loads; s != last;) {
		const uint8_t *from = run + (++s)->from;

		switch ((enum step_code)s->code) {
		case STEP_U8:
			put(words, s->to, *from);
			break;
		case STEP_U16:
			put(words, s->to, BITS_LOAD(uint16_t, from));
			break;
		case STEP_U32:
			put(words, s->to, BITS_LOAD(uint32_t, from));
			break;
		case STEP_U64:
			put(words, s->to, BITS_LOAD(uint64_t, from));
			break;
		case STEP_S8:
			put(words, s->to, (uint64_t)(int64_t)(int8_t)*from);
			break;
		case STEP_S16:
			put(words, s->to, (uint64_t)(int64_t)BITS_LOAD(int16_t, from));
			break;
		case STEP_S32:
			put(words, s->to, (uint64_t)(int64_t)BITS_LOAD(int32_t, from));
			break;
		case STEP_COMM:
			store_comm16(from, (char *)words + s->to);
			break;
		default: /* compile.c counts no others; without this hint each step would be checked for it */
			__builtin_unreachable();
		}
	}
	return s + 1;
}

/* ---- all steps ---- */

/* Executes the steps from s on; run: start of the last run. */
static G_GNUC_NO_INLINE bool run_any(const struct step *s, struct walk *w, void *words, uint32_t *present,
				     struct event *ev, uint64_t run)
{
	for (;; s = load(s, w->data + run / 8, words)) {
		switch ((enum step_code)s->code) {
		case STEP_END:
			return true;
		case STEP_RUN:
			if (!begin_run(s, &run, w, present))
				return false;
			break;
		case STEP_INTEGER:
			store_integer(s, read_integer(w->data, run + s->from, s->type), w, words);
			break;
		case STEP_STRING:
			if (!step_string(s, w, words, present, ev))
				return false;
			break;
		case STEP_ELEMENTS:
			if (!step_elements(s, w, words, present, ev))
				return false;
			break;
		case STEP_VARIANT:
			if (!step_variant(s, w, words, present, ev))
				return false;
			break;
		case STEP_WALK:
			if (!walk_type(w, s->type))
				return false;
			break;
		case STEP_ROOM:
			if (!values_room(ev, s->bits, &words))
				return false;
			break;
		case STEP_FLOAT:
			store_float(s, w->data, run + s->from, words);
			break;
		case STEP_REPEAT:
			if (!step_repeat(s, w, ev))
				return false;
			break;
		default: /* a load */
			__builtin_unreachable();
		}
	}
}

/* Most structures are just a run of loads: for these, no function is called and few registers are needed. */
bool program_run_steps(const struct program *p, struct walk *w, void *words, uint32_t *present, struct event *ev)
{
	const struct step *s = p->steps;
	uint64_t run = 0;

	if (G_LIKELY(s->code == STEP_RUN)) {
		if (!begin_run(s, &run, w, present))
			return false;
		s = load(s, w->data + run / 8, words);
	}
	if (G_LIKELY(s->code == STEP_END))
		return true;
	return run_any(s, w, words, present, ev, run);
}
