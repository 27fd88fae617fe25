/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/native/program.h"

#include <string.h>

/* Compiles types to steps. */

#define RUN_BITS_MAX (UINT64_C(1) << 31)

enum { COMM_BYTES = 16, BYTE = 8, WORD_BYTES = 8, ROOM_WORDS_MAX = 4096 };

struct compile {
	GArray *steps;
	gint run; /* its step while a run is open, or -1 */
	bool is_values;
	gint room; /* likewise, for the words of the run's values */
};

static struct step *add(struct compile *c, enum step_code code)
{
	const struct step s = { .code = code, .op = STEP_SKIP, .slot = SLOT_NONE };

	g_array_append_val(c->steps, s);
	return &g_array_index(c->steps, struct step, c->steps->len - 1);
}

static bool is_load(const struct step *s)
{
	return s->code >= STEP_U8 && s->code <= STEP_COMM;
}

/* .n_loads cannot overflow, because plans and the words of a room are limited. */
static void count_loads(GArray *steps)
{
	struct step *other = NULL;

	for (guint i = 0; i < steps->len; i++) {
		struct step *s = &g_array_index(steps, struct step, i);

		if (is_load(s))
			other->n_loads++;
		else
			other = s;
	}
}

static void finish(struct compile *c, struct program *p)
{
	count_loads(c->steps);
	p->n = c->steps->len;
	if (p->n)
		add(c, STEP_END);
	p->steps = (struct step *)(void *)g_array_free(c->steps, FALSE);
}

static void begin_run(struct compile *c, uint64_t align)
{
	add(c, STEP_RUN)->align = (uint32_t)align;
	c->run = (gint)c->steps->len - 1;
	if (!c->is_values)
		return;
	add(c, STEP_ROOM);
	c->room = (gint)c->steps->len - 1;
}

/* The position in the run of a field of that many bits; starts another run if the position in this one is not fixed. */
static uint32_t place(struct compile *c, uint64_t align, uint64_t bits)
{
	struct step *run = c->run < 0 ? NULL : &g_array_index(c->steps, struct step, c->run);
	uint64_t at;

	if (!run || align > run->align || run->bits + bits > RUN_BITS_MAX) {
		begin_run(c, align);
		run = &g_array_index(c->steps, struct step, c->run);
	}
	at = type_align(run->bits, align);
	run->bits = (uint32_t)(at + bits);
	return (uint32_t)at;
}

static bool run_is_of_bytes(const struct compile *c)
{
	return g_array_index(c->steps, struct step, c->run).align >= BYTE;
}

static uint32_t bit_of(const struct plan_op *op)
{
	return op->bit == PLAN_NO_BIT ? 0 : UINT32_C(1) << op->bit;
}

/* Adds a step for a field that is present if the run is. */
static struct step *add_to_run(struct compile *c, enum step_code code, uint32_t from, const struct plan_op *op)
{
	struct step *s = add(c, code);

	s->from = from;
	s->to = op->offset;
	g_array_index(c->steps, struct step, c->run).present |= bit_of(op);
	return s;
}

static bool is_host_order(const struct type *t)
{
	return t->size == BYTE || t->order == BITS_HOST;
}

/* The fast load of a whole integer; STEP_INTEGER: there is none. */
static enum step_code quick_load(const struct type *t)
{
	switch (t->size) {
	case 8:
		return t->is_signed ? STEP_S8 : STEP_U8;
	case 16:
		return t->is_signed ? STEP_S16 : STEP_U16;
	case 32:
		return t->is_signed ? STEP_S32 : STEP_U32;
	case 64:
		return STEP_U64;
	default:
		return STEP_INTEGER;
	}
}

static enum store_how store_of(const struct plan_op *op)
{
	return op->op == READ_ADDRESS_WORD ? STORE_ADDRESS
	       : op->op == READ_IHL        ? STORE_HIGH
	       : op->op == READ_OR         ? STORE_OR
					   : STORE_WORD;
}

static void add_slot(struct compile *c, const struct type_field *f, uint32_t from)
{
	struct step *s;

	if (f->slot == SLOT_NONE)
		return;
	s = add(c, STEP_INTEGER);
	s->from = from;
	s->type = f->type;
	s->store = STORE_SLOT;
	s->slot = f->slot;
}

static void compile_integer(struct compile *c, const struct type_field *f, const struct plan_op *const *ops, unsigned n)
{
	const struct type *t = f->type;
	const uint32_t from = place(c, t->align, t->size);
	const bool quick = run_is_of_bytes(c) && from % BYTE == 0 && is_host_order(t);

	for (unsigned i = 0; i < n; i++) {
		const enum store_how store = store_of(ops[i]);
		const enum step_code code = quick && store == STORE_WORD ? quick_load(t) : STEP_INTEGER;
		struct step *s = add_to_run(c, code, code == STEP_INTEGER ? from : from / BYTE, ops[i]);

		s->type = t;
		s->store = store;
	}
	add_slot(c, f, from);
}

static bool is_comm(const struct type *t)
{
	return t->kind == TYPE_ARRAY && t->length == COMM_BYTES && t->element->kind == TYPE_INTEGER &&
	       t->element->size == BYTE && t->element->align == BYTE;
}

static void compile_options(struct step *s, const struct plan_op *op)
{
	const struct type *t = s->type;

	s->n_options = (uint16_t)t->fields->len;
	s->options = g_new0(struct program, t->fields->len);
	for (guint i = 0; i < t->fields->len; i++) {
		const struct field_plan *plan = i < op->n_options ? &op->options[i] : NULL;
		const struct type *option = type_field(t, i)->type;

		program_compile(&s->options[i], option, plan);
		s->options[i].version = plan ? plan->version : 0;
		s->options[i].wants = plan && plan->n > 0;
	}
}

/* Fields of variable size, or wanted as a whole: one step for each use. */
static void compile_whole(struct compile *c, const struct type *t, enum step_code code,
			  const struct plan_op *const *ops, unsigned n)
{
	c->run = -1;
	for (unsigned i = 0; i < (n ? n : 1); i++) {
		struct step *s = add(c, code);

		s->type = t;
		s->stay = i + 1 < n;
		if (!n)
			continue;
		s->op = ops[i]->op;
		s->to = ops[i]->offset;
		s->count = ops[i]->count;
		s->wide = ops[i]->wide;
		s->present = bit_of(ops[i]);
		if (code == STEP_VARIANT)
			compile_options(s, ops[i]);
	}
}

static bool has_fixed_elements(const struct type *t)
{
	return (t->kind == TYPE_ARRAY || t->kind == TYPE_SEQUENCE) && t->element->is_fixed;
}

static void compile_field(struct compile *c, const struct type_field *f, const struct plan_op *const *ops, unsigned n)
{
	const struct type *t = f->type;

	if ((t->kind == TYPE_INTEGER || t->kind == TYPE_ENUM) && !t->is_clock) {
		compile_integer(c, f, ops, n);
	} else if (n && is_comm(t) && ops[0]->op == READ_COMM_ARRAY) {
		const uint32_t from = place(c, t->align, BYTE * COMM_BYTES) / BYTE;

		for (unsigned i = 0; i < n; i++)
			add_to_run(c, STEP_COMM, from, ops[i]);
	} else if (t->is_fixed && !n && t->fixed_bits <= RUN_BITS_MAX) {
		place(c, t->align, t->fixed_bits);
	} else if (t->kind == TYPE_STRING) {
		compile_whole(c, t, STEP_STRING, ops, n);
	} else if (has_fixed_elements(t)) {
		compile_whole(c, t, STEP_ELEMENTS, ops, n);
	} else if (t->kind == TYPE_VARIANT && n) {
		compile_whole(c, t, STEP_VARIANT, ops, n);
	} else {
		compile_whole(c, t, STEP_WALK, NULL, 0);
	}
}

void program_compile(struct program *p, const struct type *t, const struct field_plan *plan)
{
	struct compile c = { .steps = g_array_new(FALSE, FALSE, sizeof(struct step)), .run = -1 };
	const struct plan_op **ops = g_new(const struct plan_op *, plan ? plan->n + 1 : 1);

	*p = (struct program){ .steps = NULL };
	if (t && t->kind != TYPE_STRUCT) {
		compile_whole(&c, t, STEP_WALK, NULL, 0);
	} else if (t) {
		begin_run(&c, t->align);
		for (guint i = 0; i < t->fields->len; i++) {
			unsigned n = 0;

			for (unsigned k = 0; plan && k < plan->n; k++)
				if (plan->ops[k].member == i)
					ops[n++] = &plan->ops[k];
			compile_field(&c, type_field(t, i), ops, n);
		}
	}
	finish(&c, p);
	g_free(ops);
}

/* ---- all values ---- */

/* The offset in bytes of the room's next word. */
static uint16_t next_word(struct compile *c)
{
	struct step *room = &g_array_index(c->steps, struct step, c->room);

	return (uint16_t)(WORD_BYTES * room->bits++);
}

static void compile_value(struct compile *c, const struct type_field *f);

static void compile_number(struct compile *c, const struct type_field *f, bool is_shown)
{
	const struct type *t = f->type;
	enum step_code code = STEP_FLOAT;
	uint32_t from;
	struct step *s;

	if (c->run >= 0 && g_array_index(c->steps, struct step, c->room).bits >= ROOM_WORDS_MAX)
		c->run = -1;
	from = place(c, t->align, t->size);
	if (t->kind != TYPE_FLOAT)
		code = run_is_of_bytes(c) && from % BYTE == 0 && is_host_order(t) ? quick_load(t) : STEP_INTEGER;
	if (is_shown) {
		const uint16_t to = next_word(c);

		s = add(c, code);
		s->from = code == STEP_INTEGER || code == STEP_FLOAT ? from : from / BYTE;
		s->to = to;
		s->type = t;
		s->store = STORE_WORD;
	}
	add_slot(c, f, from);
}

/* Fields of variable size, and arrays: one step, with a program for each possible content. */
static void compile_container(struct compile *c, const struct type *t, enum step_code code, unsigned n_options)
{
	struct step *s;

	c->run = -1;
	s = add(c, code);
	s->op = STEP_VALUE;
	s->type = t;
	s->n_options = (uint16_t)n_options;
	s->options = g_new0(struct program, n_options);
	for (unsigned i = 0; i < n_options; i++) {
		const struct type_field element = { .type = t->element, .slot = SLOT_NONE, .role = PACKET_NO_FIELD };
		struct compile inner = {
			.steps = g_array_new(FALSE, FALSE, sizeof(struct step)),
			.run = -1,
			.is_values = true,
		};
		struct program *p = &g_array_index(c->steps, struct step, c->steps->len - 1).options[i];

		compile_value(&inner, t->kind == TYPE_VARIANT ? type_field(t, i) : &element);
		finish(&inner, p);
	}
}

static void compile_members(struct compile *c, const struct type *t)
{
	place(c, t->align, 0);
	for (guint i = 0; i < t->fields->len; i++) {
		const struct type_field *f = type_field(t, i);

		if (type_is_shown(f)) {
			compile_value(c, f);
		} else if (f->type->kind == TYPE_INTEGER || f->type->kind == TYPE_ENUM) {
			compile_number(c, f, false);
		} else {
			c->run = -1;
			add(c, STEP_WALK)->type = f->type;
		}
	}
}

static bool is_of_integers(const struct type *t)
{
	return t->element->is_fixed && (t->element->kind == TYPE_INTEGER || t->element->kind == TYPE_ENUM);
}

static void compile_value(struct compile *c, const struct type_field *f)
{
	const struct type *t = f->type;

	switch (t->kind) {
	case TYPE_INTEGER:
	case TYPE_ENUM:
	case TYPE_FLOAT:
		compile_number(c, f, true);
		break;
	case TYPE_STRING:
		compile_container(c, t, STEP_STRING, 0);
		break;
	case TYPE_STRUCT:
		compile_members(c, t);
		break;
	case TYPE_VARIANT:
		compile_container(c, t, STEP_VARIANT, t->fields->len);
		break;
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		if (t->is_text || is_of_integers(t))
			compile_container(c, t, STEP_ELEMENTS, 0);
		else
			compile_container(c, t, STEP_REPEAT, 1);
		break;
	}
}

void program_compile_values(struct program *p, const struct type *t)
{
	const struct type_field whole = { .type = (struct type *)t, .slot = SLOT_NONE, .role = PACKET_NO_FIELD };
	struct compile c = {
		.steps = g_array_new(FALSE, FALSE, sizeof(struct step)),
		.run = -1,
		.is_values = true,
	};

	if (t)
		compile_value(&c, &whole);
	*p = (struct program){ .n = 0 };
	finish(&c, p);
}

void program_release(struct program *p)
{
	for (unsigned i = 0; i < p->n; i++) {
		for (unsigned k = 0; k < p->steps[i].n_options; k++)
			program_release(&p->steps[i].options[k]);
		g_free(p->steps[i].options);
	}
	g_free(p->steps);
}
