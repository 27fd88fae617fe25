/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_DECLARE_H
#define LT_CTF_DECLARE_H

#include "base/status.h"
#include "ctf/tsdl.h"
#include "ctf/type.h"

/*
 * Parses the declarations of TSDL, from tokens to types. Names of types are global: no tracer is known to use one name
 * for different types in different blocks.
 */
enum { NUMBER_TYPES = 16 };

struct declare {
	const struct tsdl_token *at; /* the next token; the statement ends with TSDL_END */
	GPtrArray *types;            /* all types made so far; destroyed by the owner of the struct */
	GHashTable *names;           /* "uint8_t", "struct packet_context" → struct type */
	unsigned depth, n_fields;
	size_t n_copied;                    /* bytes of texts, which are limited */
	struct type *numbers[NUMBER_TYPES]; /* the last different integers and floats, which further fields share */
	unsigned n_numbers;
	struct tsdl_phrases phrases; /* declarations of integers and floats */
	struct type *of_phrase[TSDL_PHRASES_MAX];
};

/* Skips the token if it is this one. LT_ERROR: it is another one; here and below, the error chain names the line. */
enum lt_status declare_expect(struct declare *d, const char *mark);

/* The same without an error; returns whether it was. */
bool declare_accept(struct declare *d, const char *mark);

/* Parses a typealias or typedef, from its first token to after its ';'. */
enum lt_status declare_alias(struct declare *d);

/* Whether a typealias or typedef comes next. */
bool declare_is_alias(const struct declare *d);

/* Parses a type without a field name: "integer { … }", "struct x", "unsigned long". */
enum lt_status declare_type(struct declare *d, struct type **out);

/* Parses words joined by dots: "stream.event.header.id"; to be freed with g_free(). */
enum lt_status declare_path(struct declare *d, char **path);

#endif
