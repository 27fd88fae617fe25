/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_JSON_H
#define LT_CTF_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/*
 * The JSON of CTF 2 metadata: a sequence of texts, each behind a record separator (RFC 7464).
 * Numbers above INT64_MAX, which the library does not know, have the same 64 bits.
 */
struct json_fragment {
	const char *text; /* behind the separator */
	size_t len;
	unsigned line; /* from 1 */
};

/* The fragment at *at, which moves behind it; false: there are no more. *line counts along, from 1. */
bool json_next(const char **at, unsigned *line, struct json_fragment *f);

/* Whether that string, in quotes, is anywhere in it: much cheaper than reading what is of no use. */
bool json_mentions(const struct json_fragment *f, const char *quoted);

/* An object, to be released with json_decref(). NULL: it is not one; the error chain says why, and the line. */
json_t *json_read(const struct json_fragment *f);

/*
 * A property of an object; *value is untouched if there is none. LT_ERROR: it
 * is of another kind, or not within the bounds.
 */
enum lt_status json_get_text(const json_t *o, const char *key, const char **value);
enum lt_status json_get_integer(const json_t *o, const char *key, int64_t *value);
enum lt_status json_get_count(const json_t *o, const char *key, uint64_t max, uint64_t *value);
enum lt_status json_get_array(const json_t *o, const char *key, const json_t **value);
enum lt_status json_get_object(const json_t *o, const char *key, const json_t **value);

/* LT_ERROR: it has no such property. */
enum lt_status json_require(const json_t *o, const char *key);

#endif
