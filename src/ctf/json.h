/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_JSON_H
#define LT_CTF_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/*
 * The JSON of CTF 2 metadata: a sequence of texts, each after a record separator (RFC 7464). Numbers above INT64_MAX,
 * which the library does not support, are returned as the negative number with the same 64 bits.
 */
struct json_fragment {
	const char *text; /* after the separator */
	size_t len;
	unsigned line; /* from 1 */
};

/* Returns the fragment at *at, and moves *at past it; false: there are no more. *line is the current line, from 1. */
bool json_next(const char **at, unsigned *line, struct json_fragment *f);

/* Whether that string, in quotes, occurs in the fragment: much cheaper than parsing fragments of no interest. */
bool json_mentions(const struct json_fragment *f, const char *quoted);

/*
 * Parses an object, to be released with json_decref(). NULL: it is not one; the error chain has the reason and the
 * line.
 */
json_t *json_read(const struct json_fragment *f);

/* A property of an object; *value is untouched if it is missing. LT_ERROR: it has another type or is out of bounds. */
enum lt_status json_get_text(const json_t *o, const char *key, const char **value);
enum lt_status json_get_integer(const json_t *o, const char *key, int64_t *value);
enum lt_status json_get_count(const json_t *o, const char *key, uint64_t max, uint64_t *value);
enum lt_status json_get_array(const json_t *o, const char *key, const json_t **value);
enum lt_status json_get_object(const json_t *o, const char *key, const json_t **value);

/* LT_ERROR: the object lacks the property. */
enum lt_status json_require(const json_t *o, const char *key);

#endif
