/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_DECLARE_H
#define LT_CTF_DECLARE_H

#include "base/status.h"
#include "ctf/tsdl.h"
#include "ctf/type.h"

/*
 * The declarations of TSDL: from tokens to types. Names of types are global: a
 * tracer that uses one name for two types in different blocks is not known.
 */
struct declare {
	const struct tsdl_token *at; /* the next token; the array ends with TSDL_END */
	GPtrArray *types;            /* every type made; the owner destroys them */
	GHashTable *names;           /* "uint8_t", "struct packet_context" → struct type */
	unsigned depth, n_fields;
};

/* LT_ERROR, as for all below: the error chain names the line. */
enum lt_status declare_expect(struct declare *d, const char *mark);

/* Moves over the token if it is this one. */
bool declare_accept(struct declare *d, const char *mark);

/* typealias or typedef: at its first token; moves behind its ';'. */
enum lt_status declare_alias(struct declare *d);

/* Whether a typealias, typedef comes next. */
bool declare_is_alias(const struct declare *d);

/* A type without the name of a field: "integer { … }", "struct x", "unsigned long". */
enum lt_status declare_type(struct declare *d, struct type **out);

/* Words joined by dots: "stream.event.header.id"; to be freed with g_free(). */
enum lt_status declare_path(struct declare *d, char **path);

#endif
