/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Socket addresses and options, and the lists of fds that threads wait for. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>

#include "attach/decode_internal.h"
#include "base/digits.h"

/* ---- sockets ---- */

/* Reads an address in network byte order from an array of bytes or of 16-bit numbers. false: its length differs. */
static bool read_address(const struct decode *d, const char *name, uint8_t *bytes, unsigned len)
{
	struct field_value v;
	struct fields_cursor c;
	unsigned n = 0;

	if (!fields_find(d->shape, d->ev, name, &v) || (v.kind != SHAPE_SEQUENCE && v.kind != SHAPE_ARRAY))
		return false;
	if (!fields_begin_at(&c, d->shape, d->ev, v.field) || !fields_next(&c, &v))
		return false;
	while (fields_next(&c, &v) && v.kind != SHAPE_END) {
		const unsigned width = v.bits / 8;

		if (!decode_is_number(&v) || (width != 1 && width != 2) || n + width > len)
			return false;
		if (width == 2)
			bytes[n++] = (uint8_t)(v.u >> 8);
		bytes[n++] = (uint8_t)v.u;
	}
	return n == len;
}

/* Whether the address is nothing but its family: that of a socket that is not bound. */
static bool has_no_name(const struct decode *d)
{
	uint64_t len;

	return decode_number(d, "upeer_addrlen", &len) && len <= sizeof(sa_family_t);
}

bool decode_sockaddr(struct decode *d)
{
	uint64_t family, port = 0;
	uint8_t bytes[16];
	char text[INET6_ADDRSTRLEN];

	if (!decode_number(d, "family", &family) || !family)
		return false;
	if (!decode_number(d, "dport", &port))
		decode_number(d, "sport", &port);
	g_string_append(d->out, "{sa_family=");
	consts_append(d->out, consts_set(CONSTS_family), family);
	if (family == AF_INET && read_address(d, "v4addr", bytes, 4))
		g_string_append_printf(d->out, ", sin_port=htons(%u), sin_addr=inet_addr(\"%s\")}",
				       (unsigned)(uint16_t)port, inet_ntop(AF_INET, bytes, text, sizeof(text)));
	else if (family == AF_INET6 && read_address(d, "v6addr", bytes, 16))
		g_string_append_printf(d->out, ", sin6_port=htons(%u), inet_pton(AF_INET6, \"%s\", &sin6_addr)}",
				       (unsigned)(uint16_t)port, inet_ntop(AF_INET6, bytes, text, sizeof(text)));
	else
		g_string_append(d->out, has_no_name(d) ? "}" : ", ...}");
	return true;
}

void decode_protocol(struct decode *d, const struct field_value *v)
{
	uint64_t family = AF_UNSPEC;

	decode_number(d, "family", &family);
	if (family == AF_INET || family == AF_INET6)
		consts_append(d->out, consts_set(CONSTS_ip_protocol), v->u);
	else if (family == AF_NETLINK)
		consts_append(d->out, consts_set(CONSTS_netlink_protocol), v->u);
	else
		g_string_append_printf(d->out, v->u > 0xff ? "0x%" PRIx64 : "%" PRIu64, v->u);
}

void decode_sockopt(struct decode *d, const struct field_value *v)
{
	static const struct {
		uint64_t level;
		enum const_set_id set;
	} levels[] = {
		{ IPPROTO_IP, CONSTS_sockopt_ip },
		{ SOL_SOCKET, CONSTS_sockopt_socket },
		{ IPPROTO_TCP, CONSTS_sockopt_tcp },
		{ IPPROTO_IPV6, CONSTS_sockopt_ipv6 },
		{ 270 /* SOL_NETLINK */, CONSTS_sockopt_netlink },
	};
	uint64_t level = UINT64_MAX;

	decode_number(d, "level", &level);
	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++) {
		if (levels[i].level != level)
			continue;
		consts_append(d->out, consts_set(levels[i].set), v->u);
		return;
	}
	g_string_append_printf(d->out, "%" PRId64, v->i);
}

/* ---- lists of fds ---- */

/* The tracer's field "overflow" says that there were more fds than it records; a list longer than we keep is cut. */
static void end_list(struct decode *d, bool cut, bool first)
{
	uint64_t overflow = 0;

	decode_number(d, "overflow", &overflow);
	if (cut || overflow)
		g_string_append(d->out, first ? "..." : ", ...");
	g_string_append_c(d->out, ']');
}

void decode_fds(struct decode *d, const struct field_value *value)
{
	struct fields_cursor c;
	struct field_value v;
	bool first = true;

	g_string_append_c(d->out, '[');
	if (fields_begin_at(&c, d->shape, d->ev, value->field) && fields_next(&c, &v)) {
		while (fields_next(&c, &v) && v.kind != SHAPE_END) {
			g_string_append(d->out, first ? "" : ", ");
			first = false;
			decode_fd(d, (int32_t)v.u);
		}
	}
	end_list(d, value->cut, first);
}

/* Appends the fds whose bits are set in an array of bytes. */
void decode_fdset(struct decode *d, const struct field_value *value)
{
	struct fields_cursor c;
	struct field_value v;
	bool first = true;
	int64_t fd = 0;

	if (!value->count && !value->cut) {
		g_string_append(d->out, "NULL");
		return;
	}
	g_string_append_c(d->out, '[');
	if (fields_begin_at(&c, d->shape, d->ev, value->field) && fields_next(&c, &v)) {
		while (fields_next(&c, &v) && v.kind != SHAPE_END) {
			for (unsigned bit = 0; bit < 8; bit++) {
				if (!(v.u >> bit & 1))
					continue;
				g_string_append(d->out, first ? "" : " ");
				first = false;
				decode_fd(d, fd + bit);
			}
			fd += 8;
		}
	}
	end_list(d, value->cut, first);
}

/* The members of a struct pollfd or epoll_event that are shown. */
struct waited {
	int64_t fd;
	uint64_t events, data;
};

/*
 * Reads the members of the struct that the cursor has just entered, up to its end; nested ones only by their own name.
 * Returns false if the values end before that.
 */
static void read_waited(struct fields_cursor *c, const struct field_value *begin, struct waited *w)
{
	struct field_value v;

	*w = (struct waited){ .fd = -1 };
	while (fields_next(c, &v)) {
		if (v.kind == SHAPE_END && v.depth <= begin->depth)
			return;
		if (!decode_is_number(&v))
			continue;
		if (strcmp(v.name, "fd") == 0)
			w->fd = (int32_t)v.u;
		else if (strcmp(v.name, "raw_events") == 0)
			w->events = v.u;
		else if (strcmp(v.name, "u64") == 0)
			w->data = v.u;
	}
}

static void append_epoll(struct decode *d, const struct waited *w)
{
	g_string_append(d->out, "{events=");
	consts_append(d->out, consts_set(CONSTS_epoll_events), w->events);
	g_string_append_printf(d->out, ", data={u32=%" PRIu32 ", u64=%" PRIu64 "}}", (uint32_t)w->data, w->data);
}

static void append_poll(struct decode *d, const struct waited *w, const char *events_name)
{
	g_string_append(d->out, "{fd=");
	decode_fd(d, w->fd);
	g_string_append(d->out, ", ");
	g_string_append(d->out, events_name);
	g_string_append_c(d->out, '=');
	consts_append(d->out, consts_set(CONSTS_poll_events), w->events & UINT16_MAX);
	g_string_append_c(d->out, '}');
}

/* Appends one struct or a list of them; events_name is NULL for epoll. */
static void append_waited(struct decode *d, const struct field_value *value, const char *events_name)
{
	struct fields_cursor c;
	struct field_value v;
	struct waited w;
	bool first = true;

	if (!fields_begin_at(&c, d->shape, d->ev, value->field) || !fields_next(&c, &v))
		return;
	if (v.kind == SHAPE_STRUCT) {
		read_waited(&c, &v, &w);
		append_epoll(d, &w);
		return;
	}
	g_string_append_c(d->out, '[');
	while (fields_next(&c, &v) && v.kind == SHAPE_STRUCT) {
		read_waited(&c, &v, &w);
		g_string_append(d->out, first ? "" : ", ");
		first = false;
		if (events_name)
			append_poll(d, &w, events_name);
		else
			append_epoll(d, &w);
	}
	end_list(d, value->cut, first);
}

void decode_epoll(struct decode *d, const struct field_value *v)
{
	append_waited(d, v, NULL);
}

void decode_pollfds(struct decode *d, const struct field_value *v, const char *events_name)
{
	append_waited(d, v, events_name);
}

/* ---- results ---- */

void decode_poll_result(struct decode *d, int64_t ret)
{
	struct field_value v;

	digits_append_signed(d->out, ret);
	if (ret == 0) {
		g_string_append(d->out, " (Timeout)");
	} else if (fields_find(d->shape, d->ev, "fds", &v) && v.kind == SHAPE_SEQUENCE) {
		g_string_append(d->out, " (");
		decode_pollfds(d, &v, "revents");
		g_string_append_c(d->out, ')');
	}
}

void decode_select_result(struct decode *d, int64_t ret)
{
	static const char *const fields[] = { "readfds", "writefds", "exceptfds" };
	static const char *const names[] = { "in", "out", "exc" };
	struct field_value v;
	bool first = true;
	gsize before;

	g_string_append_printf(d->out, "%" PRId64, ret);
	if (ret == 0) {
		g_string_append(d->out, " (Timeout)");
		return;
	}
	for (unsigned i = 0; i < G_N_ELEMENTS(fields); i++) {
		if (!fields_find(d->shape, d->ev, fields[i], &v) || v.kind != SHAPE_SEQUENCE || !v.count)
			continue;
		before = d->out->len;
		g_string_append_printf(d->out, "%s%s ", first ? " (" : ", ", names[i]);
		decode_fdset(d, &v);
		if (g_str_has_suffix(d->out->str, " []"))
			g_string_truncate(d->out, before);
		else
			first = false;
	}
	if (!first)
		g_string_append_c(d->out, ')');
}
