/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/decode.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "attach/decode_internal.h"
#include "base/digits.h"
#include "base/text.h"

/* Appends text from a trace as a C string: quoted, escaped, printable. cut: the text is incomplete. */
static void quote(GString *out, const char *text, size_t len, bool cut)
{
	static const char escapes[] = "\"\"\\\\\nn\tt\rr\vv\ff";
	gsize from = 0, size;
	GString *raw = g_string_sized_new(len + 2);

	len = strnlen(text, len);
	for (size_t i = 0; i < len; i++) {
		for (const char *e = escapes; *e; e += 2) {
			if (*e != text[i])
				continue;
			g_string_append_len(raw, text + from, (gssize)(i - from));
			g_string_append_c(raw, '\\');
			g_string_append_c(raw, e[1]);
			from = i + 1;
			break;
		}
	}
	g_string_append_len(raw, text + from, (gssize)(len - from));
	g_string_append_c(out, '"');
	from = out->len;
	size = strlen("\\xNN") * raw->len;
	g_string_set_size(out, from + size);
	g_string_truncate(out, from + text_sanitise(out->str + from, size + 1, raw->str, raw->len));
	g_string_append(out, cut ? "\"..." : "\"");
	g_string_free(raw, TRUE);
}

bool decode_is_number(const struct field_value *v)
{
	return v->kind == SHAPE_INT || v->kind == SHAPE_UINT || v->kind == SHAPE_ENUM || v->kind == SHAPE_BOOL;
}

bool decode_integer(const struct shape *shape, const struct event *ev, const char *name, int64_t *value)
{
	struct field_value v;

	if (!fields_find(shape, ev, name, &v) || !decode_is_number(&v))
		return false;
	*value = v.i;
	return true;
}

bool decode_number(const struct decode *d, const char *name, uint64_t *value)
{
	int64_t i;

	if (!decode_integer(d->shape, d->ev, name, &i))
		return false;
	*value = (uint64_t)i;
	return true;
}

/* ---- any field, by its type ---- */

static void append_number(GString *out, const struct field_value *v)
{
	const bool is_signed = v->kind == SHAPE_INT || (v->kind == SHAPE_ENUM && v->is_signed);
	const uint64_t mask = v->bits < 64 ? (UINT64_C(1) << v->bits) - 1 : UINT64_MAX;

	if (v->base == 16)
		digits_append_hex(out, v->u & mask);
	else if (v->base == 8)
		g_string_append_printf(out, "0%" PRIo64, v->u & mask);
	else if (is_signed)
		digits_append_signed(out, v->i);
	else
		digits_append(out, v->u, 1);
}

static void append_name(GString *out, const char *name)
{
	char plain[128];

	text_sanitise(plain, sizeof(plain), name, strlen(name));
	g_string_append(out, plain);
}

static void append_scalar(struct decode *d, const struct field_value *v)
{
	const char *label;

	switch ((enum shape_kind)v->kind) {
	case SHAPE_ENUM:
		if (fields_labels(d->shape, v, &label, 1))
			append_name(d->out, label);
		else
			append_number(d->out, v);
		return;
	case SHAPE_FLOAT:
		g_string_append_printf(d->out, "%g", v->f);
		return;
	case SHAPE_TEXT:
		quote(d->out, v->text, v->len, v->cut);
		return;
	case SHAPE_BOOL:
		g_string_append(d->out, v->u ? "true" : "false");
		return;
	default:
		append_number(d->out, v);
	}
}

static char bracket(uint8_t kind, bool closing)
{
	if (kind == SHAPE_STRUCT)
		return closing ? '}' : '{';
	return closing ? ']' : '[';
}

/* Appends the cursor's values until the container at this depth ends, on a single line. */
static void append_values(struct decode *d, struct fields_cursor *c, unsigned inner)
{
	struct field_value v;
	bool first = true, cut = false;

	while (fields_next(c, &v)) {
		if (v.depth < inner)
			break;
		if (v.kind == SHAPE_END) {
			if (v.of != SHAPE_VARIANT)
				g_string_append_c(d->out, bracket(v.of, true));
			first = false;
			continue;
		}
		if (!first)
			g_string_append(d->out, ", ");
		first = false;
		if (v.name && *v.name) {
			append_name(d->out, v.name);
			g_string_append_c(d->out, '=');
		}
		cut = cut || v.cut;
		if (v.kind < SHAPE_STRUCT) {
			append_scalar(d, &v);
			continue;
		}
		if (v.kind != SHAPE_VARIANT)
			g_string_append_c(d->out, bracket(v.kind, false));
		first = true;
	}
	if (c->cut || cut)
		g_string_append(d->out, first ? "..." : ", ...");
}

/* Appends a container with its members. */
static void append_container(struct decode *d, const struct field_value *value)
{
	struct fields_cursor c;
	struct field_value v;

	if (!fields_begin_at(&c, d->shape, d->ev, value->field) || !fields_next(&c, &v))
		return;
	if (v.kind != SHAPE_VARIANT)
		g_string_append_c(d->out, bracket(v.kind, false));
	append_values(d, &c, v.depth + 1u);
	if (v.kind != SHAPE_VARIANT)
		g_string_append_c(d->out, bracket(v.kind, true));
}

void decode_field(struct decode *d, uint32_t field)
{
	struct field_value v;

	append_name(d->out, d->shape->fields[field].name);
	g_string_append_c(d->out, '=');
	if (!fields_get(d->shape, d->ev, field, &v))
		g_string_append_c(d->out, '?');
	else if (v.kind >= SHAPE_STRUCT)
		append_container(d, &v);
	else
		append_scalar(d, &v);
}

/* ---- fds ---- */

void decode_fd(struct decode *d, int64_t fd)
{
	digits_append_signed(d->out, fd);
	if (fd < 0)
		return;
	if (d->name_fd)
		d->name_fd(d->data, d->out, fd);
	if (d->saw_fd)
		d->saw_fd(d->data, fd);
}

/* ---- numbers ---- */

/* The value as the call takes it: an int, whatever the sign of its field. */
static int64_t as_int(const struct field_value *v)
{
	return v->bits == 32 ? (int32_t)v->u : v->i;
}

/* The offset whose lower half, or in a 64-bit program all of it, this is. */
static int64_t offset_of(const struct decode *d, const struct field_value *v)
{
	uint64_t high = 0;

	if (v->bits < 64)
		decode_number(d, "pos_h", &high);
	return (int64_t)(v->bits < 64 ? high << 32 | (v->u & UINT32_MAX) : v->u);
}

static uint64_t as_unsigned(const struct field_value *v)
{
	return v->bits < 64 ? v->u & ((UINT64_C(1) << v->bits) - 1) : v->u;
}

/* As strace prints it: "0x1f", but "0". */
static void append_hex(GString *out, uint64_t number)
{
	if (number)
		digits_append_hex(out, number);
	else
		g_string_append_c(out, '0');
}

static void append_pointer(GString *out, uint64_t address)
{
	if (address)
		digits_append_hex(out, address);
	else
		g_string_append(out, "NULL");
}

static void append_mode(GString *out, uint64_t mode)
{
	static const char *const types[16] = {
		[S_IFIFO >> 12] = "S_IFIFO",   [S_IFCHR >> 12] = "S_IFCHR", [S_IFDIR >> 12] = "S_IFDIR",
		[S_IFBLK >> 12] = "S_IFBLK",   [S_IFREG >> 12] = "S_IFREG", [S_IFLNK >> 12] = "S_IFLNK",
		[S_IFSOCK >> 12] = "S_IFSOCK",
	};
	const char *type = mode <= UINT16_MAX ? types[mode >> 12] : NULL;

	if (type)
		g_string_append_printf(out, "%s|%#03" PRIo64, type, mode & 07777);
	else
		g_string_append_printf(out, "%#03" PRIo64, mode);
}

static void append_ipc_mode(GString *out, enum const_set_id set, uint64_t flags)
{
	enum { PERMISSIONS = 0777 };

	if (flags & ~(uint64_t)PERMISSIONS) {
		consts_append(out, consts_set(set), flags & ~(uint64_t)PERMISSIONS);
		g_string_append_c(out, '|');
	}
	g_string_append_printf(out, "%#03" PRIo64, flags & PERMISSIONS);
}

/* open() has a mode only if its flags may create a file. */
static enum decoded append_create_mode(struct decode *d, const struct field_value *v)
{
	enum { MAKES_FILE = O_CREAT | 020000000 /* O_TMPFILE without O_DIRECTORY */ };
	uint64_t flags = MAKES_FILE;

	if (!decode_number(d, "flags", &flags))
		decode_number(d, "oflag", &flags);
	if (!(flags & MAKES_FILE))
		return DECODED_OMITTED;
	append_mode(d->out, as_unsigned(v));
	return DECODED_SHOWN;
}

/* Reads the register of an entry that only has registers. */
static bool read_register(const struct decode *d, unsigned number, struct field_value *v)
{
	struct fields_cursor c;
	bool found = fields_find(d->shape, d->ev, "args", v) && v->kind == SHAPE_ARRAY && number < v->count &&
		     fields_begin_at(&c, d->shape, d->ev, v->field) && fields_next(&c, v);

	for (unsigned i = 0; i <= number && found; i++)
		found = fields_next(&c, v) && decode_is_number(v);
	return found;
}

/* What the argument is for this operation of the call; NULL: the same as for any other. */
static const struct arg_operation *operation_of(const struct decode *d, const struct call_arg *arg)
{
	const struct call_chooser *by = arg->chooser;
	struct field_value v;

	if (!by || ((!fields_find(d->shape, d->ev, by->field, &v) || !decode_is_number(&v)) &&
		    !read_register(d, by->number, &v)))
		return NULL;
	for (unsigned i = 0; i < arg->n_operations; i++)
		if (arg->operations[i].value == (v.u & by->mask))
			return &arg->operations[i];
	return NULL;
}

static enum decoded append_by_number(struct decode *d, const struct call_arg *arg, const struct field_value *v)
{
	const struct arg_operation *op = operation_of(d, arg);
	GString *out = d->out;

	if (op && !op->taken)
		return DECODED_OMITTED;
	switch (op ? op->type : arg->type) {
	case ARG_LENGTH:
		g_string_append_printf(out, v->u ? "[%" PRId64 "]" : "NULL", as_int(v));
		break;
	case ARG_INT:
		digits_append_signed(out, as_int(v));
		break;
	case ARG_INT32:
		digits_append_signed(out, (int32_t)v->u);
		break;
	case ARG_HALF:
		digits_append_signed(out, offset_of(d, v));
		break;
	case ARG_NONE:
		return DECODED_OMITTED;
	case ARG_UINT:
		digits_append(out, as_unsigned(v), 1);
		break;
	case ARG_HEX:
		append_hex(out, as_unsigned(v));
		break;
	case ARG_ID:
		if ((uint32_t)v->u == UINT32_MAX)
			g_string_append(out, "-1");
		else
			digits_append(out, (uint32_t)v->u, 1);
		break;
	case ARG_MODE:
		append_mode(out, as_unsigned(v));
		break;
	case ARG_CREATE_MODE:
		return append_create_mode(d, v);
	case ARG_IPC_MODE:
		append_ipc_mode(out, CONSTS_ipc_flags, as_unsigned(v));
		break;
	case ARG_SHM_MODE:
		append_ipc_mode(out, CONSTS_shm_flags, as_unsigned(v));
		break;
	case ARG_DEV:
		g_string_append_printf(out, "makedev(0x%x, 0x%x)", major(v->u), minor(v->u));
		break;
	case ARG_QUOTA_CMD:
		consts_append_quota_cmd(out, (uint32_t)v->u);
		break;
	case ARG_IOPRIO:
		consts_append_ioprio(out, (int32_t)v->u);
		break;
	case ARG_FD:
		decode_fd(d, (int32_t)v->u);
		break;
	case ARG_DIRFD:
		d->dirfd = (int32_t)v->u;
		if ((int32_t)v->u == AT_FDCWD)
			consts_append(out, consts_set(CONSTS_dirfd), v->u);
		else
			decode_fd(d, (int32_t)v->u);
		break;
	case ARG_SIG:
		consts_append_signal_number(out, (int32_t)v->u);
		break;
	case ARG_PROTOCOL:
		decode_protocol(d, v);
		break;
	case ARG_SOCKOPT:
		decode_sockopt(d, v);
		break;
	case ARG_SET:
		consts_append(out, op ? op->set : arg->set, v->u);
		break;
	default: /* the event lacks the structure or text: show its address */
		append_pointer(out, v->u);
		break;
	}
	return DECODED_SHOWN;
}

static enum decoded append_container_as(struct decode *d, const struct call_arg *arg, const struct field_value *v)
{
	switch (arg->type) {
	case ARG_FDS:
		decode_fds(d, v);
		break;
	case ARG_POLLFDS:
		decode_pollfds(d, v, "events");
		break;
	case ARG_EPOLL_EVENT:
	case ARG_EPOLL_LIST:
		decode_epoll(d, v);
		break;
	case ARG_FDSET:
		decode_fdset(d, v);
		break;
	default:
		append_container(d, v);
		break;
	}
	return DECODED_SHOWN;
}

enum decoded decode_arg(struct decode *d, const struct call_arg *arg)
{
	struct field_value v;
	bool found = false;

	if (arg->type == ARG_SOCKADDR && decode_sockaddr(d))
		return DECODED_SHOWN;
	for (unsigned i = 0; arg->names[i] && !found; i++)
		found = fields_find(d->shape, d->ev, arg->names[i], &v);
	if (!found)
		return DECODED_NOTHING;
	if (v.kind == SHAPE_TEXT) {
		quote(d->out, v.text, v.len, v.cut);
		if (d->saw_path)
			d->saw_path(d->data, d->dirfd, v.text, v.len);
		d->dirfd = -1;
		return DECODED_SHOWN;
	}
	if (decode_is_number(&v))
		return append_by_number(d, arg, &v);
	if (v.kind >= SHAPE_STRUCT)
		return append_container_as(d, arg, &v);
	append_scalar(d, &v);
	return DECODED_SHOWN;
}

/* An int in a register: its upper half may hold anything. */
static bool is_int(enum arg_type type)
{
	return type == ARG_FD || type == ARG_DIRFD || type == ARG_SIG || type == ARG_ID;
}

enum decoded decode_register(struct decode *d, const struct call_arg *arg, unsigned number)
{
	struct field_value v;

	if (!read_register(d, number, &v))
		return DECODED_NOTHING;
	v.kind = SHAPE_INT;
	v.bits = is_int(arg->type) || (arg->type == ARG_INT && v.u >> 31 == 1) ? 32 : 64;
	return append_by_number(d, arg, &v);
}

/* ---- results ---- */

static void append_fcntl_result(struct decode *d, int64_t ret, uint64_t cmd)
{
	if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC) {
		decode_fd(d, ret);
		return;
	}
	if (cmd == F_GETFL || cmd == F_GETFD)
		append_hex(d->out, (uint64_t)ret);
	else
		digits_append_signed(d->out, ret);
	if (cmd == F_GETFL || (cmd == F_GETFD && ret)) {
		g_string_append(d->out, " (flags ");
		consts_append(d->out, consts_set(cmd == F_GETFL ? CONSTS_open_flags : CONSTS_fd_flags), (uint64_t)ret);
		g_string_append_c(d->out, ')');
	}
}

/* Appends the name of the number, if it has one: " (SIGUSR1)". */
static void append_meaning(GString *out, const struct call *call, int64_t ret)
{
	const gsize start = out->len;
	const char *name = call->result == ARG_SET ? consts_name(call->result_set, (uint64_t)ret) : NULL;

	g_string_append(out, " (");
	if (name)
		g_string_append(out, name);
	if (name || (call->result == ARG_SIG && consts_append_signal(out, ret)))
		g_string_append_c(out, ')');
	else
		g_string_truncate(out, start);
}

void decode_result(struct decode *d, const struct call *call, int64_t ret, uint64_t entry_cmd)
{
	const enum arg_type type = call ? call->result : ARG_INT;

	if (decode_is_error(ret)) {
		consts_append_error(d->out, -ret);
		return;
	}
	switch (type) {
	case ARG_FD:
		decode_fd(d, ret);
		break;
	case ARG_PTR:
		append_hex(d->out, (uint64_t)ret);
		break;
	case ARG_MODE:
		append_mode(d->out, (uint64_t)ret);
		break;
	case ARG_SIG:
	case ARG_SET:
		digits_append_signed(d->out, ret);
		append_meaning(d->out, call, ret);
		break;
	case ARG_IOPRIO:
		consts_append_ioprio_result(d->out, (int32_t)ret);
		break;
	case ARG_FCNTL:
		append_fcntl_result(d, ret, entry_cmd);
		break;
	case ARG_POLL:
		decode_poll_result(d, ret);
		break;
	case ARG_SELECT:
		decode_select_result(d, ret);
		break;
	default:
		digits_append_signed(d->out, ret);
	}
}
