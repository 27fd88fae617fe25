/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/fieldclass.h"

#include <string.h>

#include "base/error.h"
#include "ctf/json.h"

/* How many enclosing fields of a malformed one are named in messages. */
enum { NAMED_DEPTH = 8 };

/* The special purpose of a number or blob. */
struct use {
	enum packet_field role;
	bool is_event_id;
};

static enum lt_status parse_class(struct fieldclass *f, const json_t *value, struct type **out, struct use *use);

static enum lt_status make(struct fieldclass *f, enum type_kind kind, struct type **out)
{
	if (f->types->len >= TYPES_MAX)
		return error_set("too many field classes");
	*out = type_create(kind);
	(*out)->is_native = false;
	g_ptr_array_add(f->types, *out);
	return LT_OK;
}

/* An alias is parsed again at each use: little text can describe many of these. text: what is copied; NULL: none. */
static enum lt_status count_copy(struct fieldclass *f, size_t size, const char *text)
{
	f->n_copied += size + (text ? strlen(text) : 0);
	return f->n_copied > COPIES_MAX ? error_set("too many names, mappings and ranges") : LT_OK;
}

static enum lt_status get_align(const json_t *o, const char *key, uint64_t *align)
{
	uint64_t value = 1;

	if (json_get_count(o, key, TYPE_ALIGN_MAX, &value))
		return LT_ERROR;
	if (!value || value & (value - 1))
		return error_set("'%s' is not a power of 2", key);
	*align = MAX(*align, value);
	return LT_OK;
}

/* ---- numbers ---- */

static enum lt_status parse_role(struct fieldclass *f, const char *name, struct type *t, struct use *use)
{
	static const struct {
		const char *name;
		enum packet_field field;
		bool is_clock, is_of_blob;
	} roles[] = {
		{ "packet-magic-number", PACKET_MAGIC_NUMBER, false, false },
		{ "metadata-stream-uuid", PACKET_UUID, false, true },
		{ "data-stream-class-id", PACKET_STREAM_ID, false, false },
		{ "data-stream-id", PACKET_STREAM_INSTANCE_ID, false, false },
		{ "default-clock-timestamp", PACKET_TIMESTAMP_BEGIN, true, false },
		{ "packet-end-default-clock-timestamp", PACKET_TIMESTAMP_END, true, false },
		{ "packet-content-length", PACKET_CONTENT_SIZE, false, false },
		{ "packet-total-length", PACKET_PACKET_SIZE, false, false },
		{ "packet-sequence-number", PACKET_SEQ_NUM, false, false },
		{ "discarded-event-record-counter-snapshot", PACKET_EVENTS_DISCARDED, false, false },
	};
	const bool is_blob = t->kind == TYPE_ARRAY;

	if (strcmp(name, "event-record-class-id") == 0 && !is_blob) {
		use->is_event_id = true;
		return LT_OK;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(roles); i++) {
		if (strcmp(name, roles[i].name) != 0 || roles[i].is_of_blob != is_blob)
			continue;
		if (use->role != PACKET_NO_FIELD)
			return error_set("several roles of one field are not supported");
		use->role = roles[i].field;
		if (roles[i].is_clock && f->clock_name) {
			t->is_clock = true;
			g_free(t->clock_name);
			t->clock_name = g_strdup(f->clock_name);
		}
		return count_copy(f, 0, t->clock_name);
	}
	return error_set("unknown role '%.40s'", name);
}

static enum lt_status parse_roles(struct fieldclass *f, const json_t *o, struct type *t, struct use *use)
{
	const json_t *roles = NULL, *role;
	size_t i;

	if (json_get_array(o, "roles", &roles))
		return LT_ERROR;
	json_array_foreach((json_t *)roles, i, role) {
		if (!json_is_string(role))
			return error_set("a role is not a string");
		if (f->has_roles && parse_role(f, json_string_value(role), t, use))
			return LT_ERROR;
	}
	return LT_OK;
}

static enum lt_status parse_order(struct fieldclass *f, const json_t *o, struct type *t)
{
	const char *bytes = NULL, *bits = NULL;

	if (json_require(o, "byte-order") || json_get_text(o, "byte-order", &bytes) ||
	    json_get_text(o, "bit-order", &bits))
		return LT_ERROR;
	if (strcmp(bytes, "little-endian") != 0 && strcmp(bytes, "big-endian") != 0)
		return error_set("unknown byte order '%.40s'", bytes);
	t->order = *bytes == 'l' ? BITS_LITTLE : BITS_BIG;
	f->order = t->order;
	if (bits && strcmp(bits, t->order == BITS_LITTLE ? "first-to-last" : "last-to-first") != 0)
		return error_set("bit order '%.40s' of a %s field is not supported", bits, bytes);
	return LT_OK;
}

/* Numbers of fixed length, up to max_bits. */
static enum lt_status parse_number(struct fieldclass *f, const json_t *o, enum type_kind kind, uint64_t max_bits,
				   struct type **out)
{
	uint64_t bits = 0;

	if (make(f, kind, out) || json_require(o, "length") || json_get_count(o, "length", max_bits, &bits))
		return LT_ERROR;
	if (!bits)
		return error_set("'length' is 0");
	(*out)->size = (unsigned)bits;
	return get_align(o, "alignment", &(*out)->align) ? LT_ERROR : parse_order(f, o, *out);
}

/* [[first, last], …] */
static enum lt_status parse_range(const json_t *range, int64_t *first, int64_t *last)
{
	if (json_array_size(range) != 2 || !json_is_integer(json_array_get(range, 0)) ||
	    !json_is_integer(json_array_get(range, 1)))
		return error_set("a range is not two integers");
	*first = json_integer_value(json_array_get(range, 0));
	*last = json_integer_value(json_array_get(range, 1));
	return LT_OK;
}

static enum lt_status parse_mappings(struct fieldclass *f, const json_t *mappings, struct type *t)
{
	const json_t *ranges, *range;
	const char *name;
	size_t i;

	json_object_foreach((json_t *)mappings, name, ranges) {
		if (!json_is_array(ranges))
			return error_set("mapping '%.40s' is not an array", name);
		json_array_foreach(ranges, i, range) {
			struct type_label label = { .name = NULL };

			if (parse_range(range, &label.first, &label.last) || count_copy(f, sizeof(label), name))
				return error_wrap("mapping '%.40s'", name);
			label.name = g_strdup(name);
			g_array_append_val(t->labels, label);
		}
	}
	return LT_OK;
}

static enum lt_status parse_integer(struct fieldclass *f, const json_t *o, bool is_signed, struct type **out,
				    struct use *use)
{
	const json_t *mappings = NULL;
	uint64_t base = 0;

	if (json_get_object(o, "mappings", &mappings) ||
	    parse_number(f, o, json_object_size(mappings) ? TYPE_ENUM : TYPE_INTEGER, 64, out))
		return LT_ERROR;
	(*out)->is_signed = is_signed;
	if (json_get_count(o, "preferred-display-base", 16, &base))
		return LT_ERROR;
	(*out)->base = (uint8_t)base;
	return parse_roles(f, o, *out, use) ? LT_ERROR : parse_mappings(f, mappings, *out);
}

/* Bit arrays and bit maps: each bit has its own meaning, so the value is shown in hexadecimal. */
static enum lt_status parse_bits(struct fieldclass *f, const json_t *o, struct type **out, struct use *use)
{
	if (parse_integer(f, o, false, out, use))
		return LT_ERROR;
	(*out)->base = 16;
	return LT_OK;
}

static enum lt_status parse_boolean(struct fieldclass *f, const json_t *o, struct type **out, struct use *use)
{
	if (parse_integer(f, o, false, out, use))
		return LT_ERROR;
	(*out)->is_bool = true;
	return LT_OK;
}

/* ---- strings, blobs, arrays ---- */

/* {"origin": PART, "path": [NAME or null, …]} */
static enum lt_status parse_location(struct fieldclass *f, const json_t *o, const char *key, struct type *t)
{
	static const char *const parts[PARTS] = {
		"packet-header",
		"packet-context",
		"event-record-header",
		"event-record-common-context",
		"event-record-specific-context",
		"event-record-payload",
	};
	const json_t *location = NULL, *path = NULL, *name;
	const char *origin = NULL;
	size_t i;

	if (json_require(o, key) || json_get_object(o, key, &location) || json_require(location, "path") ||
	    json_get_array(location, "path", &path) || json_get_text(location, "origin", &origin) ||
	    count_copy(f, sizeof(char *) * (json_array_size(path) + 1), NULL))
		return LT_ERROR;
	t->from = FROM_HERE;
	for (unsigned part = 0; origin && part < PARTS; part++)
		if (strcmp(origin, parts[part]) == 0)
			t->from = part;
	if (origin && t->from == FROM_HERE)
		return error_set("unknown origin '%.40s'", origin);
	t->path = g_new0(char *, json_array_size(path) + 1);
	json_array_foreach((json_t *)path, i, name) {
		if (!json_is_null(name) && !(json_is_string(name) && json_string_length(name)))
			return error_set("'path' of '%s' has an element that is neither a name nor null", key);
		if (count_copy(f, 0, json_string_value(name)))
			return LT_ERROR;
		t->path[i] = g_strdup(json_is_null(name) ? "" : json_string_value(name));
	}
	return LT_OK;
}

/* The length of an array, or of a string or blob in bytes: fixed, or the value of an earlier field. */
static enum lt_status parse_length(struct fieldclass *f, const json_t *o, bool is_static, struct type **out)
{
	if (make(f, is_static ? TYPE_ARRAY : TYPE_SEQUENCE, out))
		return LT_ERROR;
	if (!is_static)
		return parse_location(f, o, "length-field-location", *out);
	return json_require(o, "length") ? LT_ERROR : json_get_count(o, "length", INT64_MAX, &(*out)->length);
}

static enum lt_status get_encoding(const json_t *o, unsigned *unit_bits)
{
	static const struct {
		const char *name;
		unsigned bits;
	} encodings[] = {
		{ "utf-8", 8 }, { "utf-16be", 16 }, { "utf-16le", 16 }, { "utf-32be", 32 }, { "utf-32le", 32 }
	};
	const char *name = "utf-8";

	if (json_get_text(o, "encoding", &name))
		return LT_ERROR;
	for (size_t i = 0; i < G_N_ELEMENTS(encodings); i++) {
		if (strcmp(name, encodings[i].name) == 0) {
			*unit_bits = encodings[i].bits;
			return LT_OK;
		}
	}
	return error_set("unknown encoding '%.40s'", name);
}

static enum lt_status make_byte(struct fieldclass *f, bool is_text, struct type **out)
{
	struct type **kept = is_text ? &f->character : &f->byte;

	if (!*kept) {
		if (make(f, TYPE_INTEGER, kept))
			return LT_ERROR;
		(*kept)->size = (*kept)->align = 8;
		(*kept)->is_text = is_text;
	}
	*out = *kept;
	return LT_OK;
}

/* A string or a blob. Characters of more than 8 bits are shown as bytes. */
static enum lt_status parse_bytes(struct fieldclass *f, const json_t *o, bool is_static, bool is_text,
				  struct type **out)
{
	unsigned unit_bits = 0;

	if ((is_text && get_encoding(o, &unit_bits)) || parse_length(f, o, is_static, out))
		return LT_ERROR;
	(*out)->align = 8;
	(*out)->is_text = unit_bits == 8;
	return make_byte(f, (*out)->is_text, &(*out)->element);
}

static enum lt_status parse_terminated(struct fieldclass *f, const json_t *o, struct type **out)
{
	unsigned unit_bits = 0;

	if (get_encoding(o, &unit_bits))
		return LT_ERROR;
	return unit_bits == 8 ? make(f, TYPE_STRING, out) : error_set("only 'utf-8' is supported as its encoding");
}

static enum lt_status parse_array(struct fieldclass *f, const json_t *o, bool is_static, struct type **out)
{
	if (parse_length(f, o, is_static, out) || get_align(o, "minimum-alignment", &(*out)->align) ||
	    json_require(o, "element-field-class"))
		return LT_ERROR;
	if (fieldclass_parse(f, json_object_get(o, "element-field-class"), &(*out)->element))
		return error_wrap("element");
	(*out)->align = MAX((*out)->align, (*out)->element->align);
	return LT_OK;
}

/* ---- structures, variants, optional fields ---- */

/* {"name": …, "field-class": …} in a structure or variant. */
static enum lt_status parse_member(struct fieldclass *f, const json_t *o, struct type *into)
{
	struct use use = { .role = PACKET_NO_FIELD };
	struct type_field *field;
	const char *name = NULL;
	struct type *type;

	if (!json_is_object(o))
		return error_set("a member is not an object");
	if (json_get_text(o, "name", &name))
		return LT_ERROR;
	if (!name && into->kind == TYPE_STRUCT)
		return error_set("a member has no name");
	if (into->fields->len >= TYPE_FIELDS_MAX)
		return error_set("more than %d members", TYPE_FIELDS_MAX);
	if (json_require(o, "field-class") || count_copy(f, sizeof(*field), name) ||
	    parse_class(f, json_object_get(o, "field-class"), &type, &use))
		return f->depth > NAMED_DEPTH ? LT_ERROR : error_wrap("'%.40s'", name ? name : "");
	type_add_field(into, name ? name : "", type);
	field = type_field(into, into->fields->len - 1);
	field->role = use.role;
	if (use.is_event_id)
		field->slot = SLOT_EVENT_ID;
	return LT_OK;
}

static enum lt_status parse_struct(struct fieldclass *f, const json_t *o, struct type **out)
{
	const json_t *members = NULL, *member;
	size_t i;

	if (make(f, TYPE_STRUCT, out) || get_align(o, "minimum-alignment", &(*out)->align) ||
	    json_get_array(o, "member-classes", &members))
		return LT_ERROR;
	json_array_foreach((json_t *)members, i, member)
		if (parse_member(f, member, *out))
			return LT_ERROR;
	return LT_OK;
}

/* The values of the selector that choose the variant's last field. */
static void add_case(struct type *t, int64_t first, int64_t last)
{
	struct type_case c = { .first = first, .last = last, .field = t->fields->len - 1 };

	c.type = type_field(t, c.field)->type;
	g_array_append_val(t->cases, c);
}

static enum lt_status parse_cases(struct fieldclass *f, const json_t *o, struct type *t)
{
	const json_t *ranges = NULL, *range;
	int64_t first, last;
	size_t i;

	if (json_require(o, "selector-field-ranges") || json_get_array(o, "selector-field-ranges", &ranges))
		return LT_ERROR;
	json_array_foreach((json_t *)ranges, i, range) {
		if (parse_range(range, &first, &last) || count_copy(f, sizeof(struct type_case), NULL))
			return LT_ERROR;
		add_case(t, first, last);
	}
	return LT_OK;
}

static enum lt_status make_variant(struct fieldclass *f, const json_t *o, struct type **out)
{
	if (make(f, TYPE_VARIANT, out))
		return LT_ERROR;
	(*out)->has_ranges = true;
	return parse_location(f, o, "selector-field-location", *out);
}

static enum lt_status parse_variant(struct fieldclass *f, const json_t *o, struct type **out)
{
	const json_t *options = NULL, *option;
	size_t i;

	if (make_variant(f, o, out) || json_require(o, "options") || json_get_array(o, "options", &options))
		return LT_ERROR;
	json_array_foreach((json_t *)options, i, option)
		if (parse_member(f, option, *out) || parse_cases(f, option, *out))
			return error_wrap("option %zu", i);
	return LT_OK;
}

static enum lt_status parse_optional(struct fieldclass *f, const json_t *o, struct type **out)
{
	struct type *nothing = NULL;

	if (make_variant(f, o, out) || parse_member(f, o, *out))
		return LT_ERROR;
	if (!json_object_get(o, "selector-field-ranges"))
		add_case(*out, 1, -1); /* a boolean: all values but 0 */
	else if (parse_cases(f, o, *out))
		return LT_ERROR;
	if (make(f, TYPE_STRUCT, &nothing))
		return LT_ERROR;
	type_add_field(*out, "", nothing);
	add_case(*out, 0, -1);                /* all other values of an unsigned selector */
	add_case(*out, INT64_MIN, INT64_MAX); /* of a signed selector */
	return LT_OK;
}

/* ---- all field classes ---- */

static enum lt_status parse_named(struct fieldclass *f, const char *name, const json_t *o, struct type **out,
				  struct use *use)
{
	if (strcmp(name, "fixed-length-unsigned-integer") == 0)
		return parse_integer(f, o, false, out, use);
	if (strcmp(name, "fixed-length-bit-array") == 0 || strcmp(name, "fixed-length-bit-map") == 0)
		return parse_bits(f, o, out, use);
	if (strcmp(name, "fixed-length-boolean") == 0)
		return parse_boolean(f, o, out, use);
	if (strcmp(name, "fixed-length-signed-integer") == 0)
		return parse_integer(f, o, true, out, use);
	if (strcmp(name, "fixed-length-floating-point-number") == 0)
		return parse_number(f, o, TYPE_FLOAT, TYPE_FLOAT_BITS_MAX, out);
	if (strcmp(name, "null-terminated-string") == 0)
		return parse_terminated(f, o, out);
	if (strcmp(name, "static-length-string") == 0)
		return parse_bytes(f, o, true, true, out);
	if (strcmp(name, "dynamic-length-string") == 0)
		return parse_bytes(f, o, false, true, out);
	if (strcmp(name, "static-length-blob") == 0)
		return parse_bytes(f, o, true, false, out) ? LT_ERROR : parse_roles(f, o, *out, use);
	if (strcmp(name, "dynamic-length-blob") == 0)
		return parse_bytes(f, o, false, false, out);
	if (strcmp(name, "static-length-array") == 0)
		return parse_array(f, o, true, out);
	if (strcmp(name, "dynamic-length-array") == 0)
		return parse_array(f, o, false, out);
	if (strcmp(name, "structure") == 0)
		return parse_struct(f, o, out);
	if (strcmp(name, "variant") == 0)
		return parse_variant(f, o, out);
	if (strcmp(name, "optional") == 0)
		return parse_optional(f, o, out);
	return error_set("field class '%.60s' is not supported", name);
}

static enum lt_status parse_object(struct fieldclass *f, const json_t *o, struct type **out, struct use *use)
{
	const char *name = NULL;

	if (!json_is_object(o))
		return error_set("a field class is neither an object nor the name of an alias");
	if (json_object_get(o, "extensions"))
		return error_set("a field class with extensions is not supported");
	if (json_require(o, "type") || json_get_text(o, "type", &name))
		return LT_ERROR;
	return parse_named(f, name, o, out, use);
}

/* An alias is parsed again wherever it is used: lengths and tags inside it depend on the place. */
static enum lt_status parse_class(struct fieldclass *f, const json_t *value, struct type **out, struct use *use)
{
	const char *name = json_string_value(value);
	enum lt_status status;

	if (name) {
		value = g_hash_table_lookup(f->aliases, name);
		if (!value)
			return error_set("unknown field class alias '%.40s'", name);
	}
	if (f->depth >= TYPE_DEPTH_MAX)
		return error_set("field classes nested too deeply");
	f->depth++;
	status = name && json_is_string(value) ? parse_class(f, value, out, use) : parse_object(f, value, out, use);
	f->depth--;
	return status;
}

enum lt_status fieldclass_parse(struct fieldclass *f, const json_t *value, struct type **out)
{
	struct use unused = { .role = PACKET_NO_FIELD };

	return parse_class(f, value, out, &unused);
}
