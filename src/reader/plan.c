/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/plan.h"

#include <string.h>

#include "event/tracepoints.h"

enum { OPTIONS_MAX = 256 };

/* Tracers prefix names with an underscore. */
static const char *plain_name(const char *name)
{
	return name + (*name == '_');
}

/* Whether a member's name, without a leading '_', is one of names (separated by sep); *rank receives its position. */
static bool name_in(const char *name, const char *names, size_t names_len, char sep, unsigned *rank)
{
	const char *end = names + names_len;
	size_t len;

	name = plain_name(name);
	len = strlen(name);
	for (*rank = 0; names < end; (*rank)++) {
		const char *stop = memchr(names, sep, end - names);

		if (!stop)
			stop = end;
		if ((size_t)(stop - names) == len && memcmp(names, name, len) == 0)
			return true;
		names = stop + 1;
	}
	return false;
}

static bool is_integer(const struct type *t)
{
	return t->kind == TYPE_INTEGER || t->kind == TYPE_ENUM;
}

static bool is_unsigned(const struct type *t)
{
	return is_integer(t) && !t->is_signed;
}

/* An array of integers of at most `bits` bits each. */
static bool is_integer_array(const struct type *t, unsigned bits)
{
	return (t->kind == TYPE_ARRAY || t->kind == TYPE_SEQUENCE) && is_integer(t->element) &&
	       t->element->size <= bits;
}

static struct plan_op *plan_add(struct field_plan *plan, enum read_op op, uint32_t member, unsigned offset, uint8_t bit)
{
	plan->ops = g_renew(struct plan_op, plan->ops, plan->n + 1);
	plan->ops[plan->n] = (struct plan_op){ .op = op, .member = member, .offset = offset, .bit = bit };
	return &plan->ops[plan->n++];
}

static bool add_integer(struct field_plan *plan, const struct type *t, uint32_t member, unsigned offset, uint8_t bit)
{
	if (!is_integer(t))
		return false;
	plan_add(plan, t->is_signed ? READ_SIGNED : READ_UNSIGNED, member, offset, bit);
	return true;
}

static bool add_text(struct field_plan *plan, const struct type *t, uint32_t member, unsigned offset, uint8_t bit,
		     bool is_inline)
{
	if (t->kind == TYPE_STRING)
		plan_add(plan, is_inline ? READ_COMM : READ_TEXT, member, offset, bit);
	else if (is_integer_array(t, 8))
		plan_add(plan, is_inline ? READ_COMM_ARRAY : READ_TEXT_ARRAY, member, offset, bit);
	else
		return false;
	return true;
}

static bool add_integers(struct field_plan *plan, const struct type *t, uint32_t member, unsigned offset, uint8_t bit,
			 unsigned count)
{
	if (!is_integer_array(t, 64))
		return false;
	plan_add(plan, READ_INTS, member, offset, bit)->count = (uint8_t)count;
	return true;
}

static bool add_address(struct field_plan *plan, const struct type *t, uint32_t member, unsigned offset, uint8_t bit)
{
	if (is_unsigned(t)) {
		plan_add(plan, READ_ADDRESS_WORD, member, offset, bit);
		return true;
	}
	if (!is_integer_array(t, 16) || t->element->is_signed)
		return false;
	plan_add(plan, READ_ADDRESS, member, offset, bit)->wide = t->element->size > 8;
	return true;
}

/* The members of the headers that struct ev_net keeps. */
enum header_part { PART_WORD, PART_ADDRESS, PART_IHL, PART_OR, PART_TRANSPORT };

struct header_field {
	const char *name;
	uint16_t offset;
	uint8_t part;
};

#define NET(member) offsetof(struct ev_net, member)

static const struct header_field ipv4_fields[] = {
	{ "ihl", NET(header_words), PART_IHL },
	{ "tot_len", NET(tot_len), PART_WORD },
	{ "id", NET(ip_id), PART_WORD },
	{ "frag_off", NET(frag_off), PART_WORD },
	{ "protocol", NET(protocol), PART_WORD },
	{ "saddr", NET(saddr), PART_ADDRESS },
	{ "daddr", NET(daddr), PART_ADDRESS },
	{ "transport_header", 0, PART_TRANSPORT },
	{ NULL, 0, 0 },
};

static const struct header_field ipv6_fields[] = {
	{ "payload_len", NET(tot_len), PART_WORD }, { "nexthdr", NET(protocol), PART_WORD },
	{ "saddr", NET(saddr), PART_ADDRESS },      { "daddr", NET(daddr), PART_ADDRESS },
	{ "transport_header", 0, PART_TRANSPORT },  { NULL, 0, 0 },
};

static const struct header_field transport_fields[] = {
	{ "source_port", NET(sport), PART_WORD }, { "dest_port", NET(dport), PART_WORD },
	{ "seq", NET(seq), PART_WORD },           { "ack_seq", NET(ack_seq), PART_WORD },
	{ "flags", NET(flags), PART_WORD },       { "data_offset", NET(header_words), PART_OR },
	{ "len", NET(udp_len), PART_WORD },       { NULL, 0, 0 },
};

struct header_option {
	const char *name; /* of the variant's option */
	uint16_t version;
	const struct header_field *fields;
};

/* thtype_tcp: transport_fields, which old builds had instead of network_header. */
static const struct header_option network_options[] = {
	{ "ipv4", 4, ipv4_fields },
	{ "ipv6", 6, ipv6_fields },
	{ "thtype_tcp", 0, transport_fields },
	{ NULL, 0, NULL },
};

static const struct header_option transport_options[] = {
	{ "tcp", 0, transport_fields },
	{ "udp", 0, transport_fields },
	{ NULL, 0, NULL },
};

static bool add_variant(struct field_plan *plan, const struct type *t, uint32_t member, uint8_t bit,
			const struct header_option *known);

static void resolve_header(struct field_plan *plan, const struct type *structure, const struct header_field *fields)
{
	for (guint i = 0; i < structure->fields->len; i++) {
		const struct type *t = type_field(structure, i)->type;
		const char *name = plain_name(type_field(structure, i)->name);

		for (const struct header_field *f = fields; f->name; f++) {
			if (strcmp(f->name, name) != 0)
				continue;
			if (f->part == PART_WORD)
				add_integer(plan, t, i, f->offset, PLAN_NO_BIT);
			else if (f->part == PART_ADDRESS)
				add_address(plan, t, i, f->offset, PLAN_NO_BIT);
			else if (f->part == PART_TRANSPORT)
				add_variant(plan, t, i, PLAN_NO_BIT, transport_options);
			else if (is_unsigned(t))
				plan_add(plan, f->part == PART_IHL ? READ_IHL : READ_OR, i, f->offset, PLAN_NO_BIT);
		}
	}
}

static bool add_variant(struct field_plan *plan, const struct type *t, uint32_t member, uint8_t bit,
			const struct header_option *known)
{
	struct plan_op *op;

	if (t->kind != TYPE_VARIANT || t->fields->len > OPTIONS_MAX)
		return false;
	op = plan_add(plan, READ_VARIANT, member, NET(ip_version), bit);
	op->n_options = t->fields->len;
	op->options = g_new0(struct field_plan, t->fields->len);
	for (guint i = 0; i < t->fields->len; i++) {
		const struct type_field *field = type_field(t, i);

		for (const struct header_option *k = known; k->name && field->type->kind == TYPE_STRUCT; k++) {
			if (strcmp(k->name, plain_name(field->name)) != 0)
				continue;
			op->options[i].version = k->version;
			resolve_header(&op->options[i], field->type, k->fields);
		}
	}
	return true;
}

static bool add_field(struct field_plan *plan, const struct field_desc *f, uint8_t bit, const struct type *t,
		      uint32_t member)
{
	switch (f->type) {
	case FIELD_INT:
		return add_integer(plan, t, member, f->offset, bit);
	case FIELD_COMM:
	case FIELD_STR:
		return add_text(plan, t, member, f->offset, bit, f->type == FIELD_COMM);
	case FIELD_LEVELS:
		return add_integers(plan, t, member, f->offset, bit, PID_LEVELS_MAX);
	case FIELD_INT_PAIR:
		return add_integers(plan, t, member, f->offset, bit, 2);
	case FIELD_ARGS:
		return add_integers(plan, t, member, f->offset, bit, 6);
	case FIELD_ADDR:
		return add_address(plan, t, member, f->offset, bit);
	case FIELD_IP_HEADER:
		return add_variant(plan, t, member, bit, network_options);
	default:
		return false;
	}
}

/*
 * Numbers and names have the same kind of type in all versions of the tracers, so any other kind is an error; arrays
 * and texts of system calls vary.
 */
static bool must_be_readable(const struct field_desc *f)
{
	return f->type == FIELD_INT || f->type == FIELD_COMM;
}

/*
 * Finds the field among the structure's members. If several of its names are present, the first name wins; an address
 * may be in any of several members.
 */
static void resolve_field(struct field_plan *plan, const struct field_desc *f, uint8_t bit, const char *names,
			  size_t names_len, char sep, const struct type *structure)
{
	unsigned best_rank = UINT32_MAX, rank;
	guint best = 0;

	for (guint i = 0; i < structure->fields->len; i++) {
		const struct type_field *field = type_field(structure, i);

		if (!name_in(field->name, names, names_len, sep, &rank))
			continue;
		if (f->type == FIELD_ADDR) {
			add_field(plan, f, bit, field->type, i);
		} else if (rank < best_rank) {
			best_rank = rank;
			best = i;
		}
	}
	if (best_rank != UINT32_MAX && !add_field(plan, f, bit, type_field(structure, best)->type, best) &&
	    must_be_readable(f))
		plan->refused = type_field(structure, best)->name;
}

static void resolve_payload(struct reader_class *plan, const struct type *structure)
{
	const struct tracepoint_desc *desc = tracepoint_desc(plan->kind);

	for (unsigned i = 0; i < desc->n_fields; i++) {
		const struct field_desc *f = &desc->fields[i];

		if (*f->names)
			resolve_field(&plan->payload, f, i, f->names, strlen(f->names), ' ', structure);
	}
}

/* How a member of struct ev_syscall_entry is read, by its offset. */
static uint8_t syscall_member_type(unsigned offset)
{
	if (offset == offsetof(struct ev_syscall_entry, path))
		return FIELD_STR;
	if (offset == offsetof(struct ev_syscall_entry, addr))
		return FIELD_ADDR;
	return FIELD_INT;
}

static void resolve_syscall_entry(struct reader_class *plan, const char *name, const char *call,
				  const struct type *structure)
{
	static const struct field_desc nr = { "id", offsetof(struct ev_syscall_entry, nr), FIELD_INT };
	static const struct field_desc args = { "args", offsetof(struct ev_syscall_entry, args), FIELD_ARGS };
	const struct syscall_desc *desc;

	if (strcmp(call, "unknown") == 0) {
		resolve_field(&plan->payload, &nr, 0, nr.names, strlen(nr.names), ' ', structure);
		/* Another ABI numbers its calls differently: of which call they are is not known. */
		if (g_str_has_prefix(name, "compat_"))
			return;
		resolve_field(&plan->payload, &args, 10, args.names, strlen(args.names), ' ', structure);
		return;
	}
	desc = syscall_find(call);
	if (!desc)
		return;
	for (unsigned i = 0; i < desc->n_fields; i++) {
		const struct syscall_field *s = &desc->fields[i];
		const struct field_desc f = { "", s->offset, syscall_member_type(s->offset) };

		resolve_field(&plan->payload, &f, s->bit, s->names, s->names_len, '|', structure);
	}
}

/* The fields of a context structure: those of struct ev_context, tid, perf counters. */
static void resolve_context(struct field_plan *context, struct field_plan *perf, const struct type *structure,
			    struct perf_names *names)
{
#define C(member, type)                                                               \
	{                                                                             \
#member, offsetof(struct context_values, fields.member), FIELD_##type \
	}
	static const struct field_desc fields[] = {
		C(pid, INT),    C(ppid, INT),      C(prio, INT), C(vtid, INT),      C(vpid, INT),
		C(pid_ns, INT), C(cgroup_ns, INT), C(uid, INT),  C(procname, COMM),
	};
#undef C
	static const struct field_desc tid = { "tid", offsetof(struct context_values, tid), FIELD_INT };

	for (unsigned i = 0; i < G_N_ELEMENTS(fields); i++)
		resolve_field(context, &fields[i], i, fields[i].names, strlen(fields[i].names), ' ', structure);
	resolve_field(context, &tid, CONTEXT_TID, tid.names, strlen(tid.names), ' ', structure);

	for (guint i = 0; i < structure->fields->len; i++) {
		const struct type *t = type_field(structure, i)->type;
		const char *name = plain_name(type_field(structure, i)->name);
		unsigned index;

		if (!g_str_has_prefix(name, "perf_") || !is_integer(t))
			continue;
		for (index = 0; index < names->n && strcmp(names->names[index], name) != 0; index++)
			;
		if (index == EVENT_PERF_MAX)
			continue;
		if (index == names->n)
			names->names[names->n++] = g_strdup(name);
		add_integer(perf, t, i, 8 * index, PLAN_NO_BIT);
	}
}

/* A kprobe, uprobe or function event has only addresses. */
static bool is_probe(const struct type *payload)
{
	unsigned rank;

	for (guint i = 0; i < payload->fields->len; i++)
		if (!name_in(type_field(payload, i)->name, "ip parent_ip", 12, ' ', &rank))
			return false;
	return payload->fields->len > 0;
}

static unsigned count_texts(const struct field_plan *plan)
{
	unsigned n = 0;

	for (unsigned i = 0; i < plan->n; i++)
		n += plan->ops[i].op == READ_TEXT || plan->ops[i].op == READ_TEXT_ARRAY;
	return n;
}

static uint16_t count_words(enum event_kind kind, const struct field_plan *plan)
{
	const uint16_t least = tracepoint_least_words(kind);

	for (unsigned i = 0; i < plan->n; i++)
		if (plan->ops[i].offset >= 8 * least)
			return tracepoint_desc(kind)->n_words;
	return least;
}

static bool reads(const struct field_plan *plan, unsigned bit)
{
	for (unsigned i = 0; i < plan->n; i++)
		if (plan->ops[i].bit == bit)
			return true;
	return false;
}

static bool has_context(const struct reader_class *plan, unsigned bit)
{
	return reads(&plan->common_context, bit) || reads(&plan->specific_context, bit);
}

/* Lets the classes of a trace share a plan that has no options. */
static void plan_make_shared(struct field_plan *plan)
{
	struct plan_op *ops = plan->ops;

	plan->ops = plan->n ? g_rc_box_dup(plan->n * sizeof(*ops), ops) : NULL;
	g_free(ops);
}

static void plan_share(struct field_plan *to, const struct field_plan *from)
{
	*to = *from;
	if (to->ops)
		g_rc_box_acquire(to->ops);
}

static void plan_release_shared(struct field_plan *plan)
{
	if (plan->ops)
		g_rc_box_release(plan->ops);
}

static void resolve_common(struct reader_class *plan, const struct type *common, struct perf_names *perf,
			   const struct reader_class *like)
{
	if (like && like->desc.common == common) {
		plan_share(&plan->common_context, &like->common_context);
		plan_share(&plan->common_perf, &like->common_perf);
	} else {
		resolve_context(&plan->common_context, &plan->common_perf, common, perf);
		plan_make_shared(&plan->common_context);
		plan_make_shared(&plan->common_perf);
	}
}

/* Programs may name their events as they like; only one kind is recognised. */
static enum event_kind kind_of(const char *name, bool kernel, const char **call)
{
	const enum event_kind kind = tracepoint_find(name, call);

	return kernel || kind == EVENT_MESSAGE ? kind : EVENT_OTHER;
}

struct reader_class *class_plan_create(const struct class_desc *desc, uint16_t id, bool kernel, struct perf_names *perf,
				       const struct reader_class *like)
{
	struct reader_class *plan = g_new0(struct reader_class, 1);
	const char *call = NULL;

	plan->name = g_strdup(desc->name ? desc->name : "unnamed");
	plan->id = id;
	plan->desc = *desc;
	plan->desc.name = plan->name;
	plan->kind = desc->name ? kind_of(desc->name, kernel, &call) : EVENT_OTHER;
	plan->syscall = tracepoint_enters_call(plan->kind) || plan->kind == EVENT_SYSCALL_EXIT;
	if (desc->payload && plan->kind == EVENT_SYSCALL_ENTRY)
		resolve_syscall_entry(plan, desc->name, call, desc->payload);
	else if (desc->payload && plan->kind == EVENT_OTHER && kernel && is_probe(desc->payload))
		plan->kind = EVENT_PROBE;
	else if (desc->payload && plan->kind != EVENT_OTHER)
		resolve_payload(plan, desc->payload);
	if (desc->common)
		resolve_common(plan, desc->common, perf, like);
	if (desc->specific)
		resolve_context(&plan->specific_context, &plan->specific_perf, desc->specific, perf);
	plan->n_words = count_words(plan->kind, &plan->payload);
	plan->n_text = count_texts(&plan->payload);
	plan->refusal_reported =
		!plan->payload.refused && !plan->common_context.refused && !plan->specific_context.refused;
	plan->has_perf = plan->common_perf.n || plan->specific_perf.n;
	plan->has_tid = has_context(plan, CONTEXT_TID) ||
			(!kernel && (has_context(plan, CTX_VTID) || has_context(plan, CTX_VPID)));
	return plan;
}

static void plan_release(struct field_plan *plan)
{
	for (unsigned i = 0; i < plan->n; i++) {
		for (unsigned j = 0; j < plan->ops[i].n_options; j++)
			plan_release(&plan->ops[i].options[j]);
		g_free(plan->ops[i].options);
	}
	g_free(plan->ops);
}

void class_plan_destroy(struct reader_class *plan)
{
	if (!plan)
		return;
	plan_release(&plan->payload);
	plan_release_shared(&plan->common_context);
	plan_release(&plan->specific_context);
	plan_release_shared(&plan->common_perf);
	plan_release(&plan->specific_perf);
	g_free(plan->name);
	g_free(plan);
}
