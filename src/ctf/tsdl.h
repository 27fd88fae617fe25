/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_TSDL_H
#define LT_CTF_TSDL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

/*
 * The words of TSDL, the language of CTF 1.8 metadata. Comments and blanks are
 * left out. Tokens point into the text.
 */
enum tsdl_kind {
	TSDL_END,    /* the last token of the array */
	TSDL_WORD,   /* an identifier or a keyword */
	TSDL_NUMBER, /* with its sign, decimal, hexadecimal or octal */
	TSDL_STRING, /* text between the quotes, escapes as they stand */
	TSDL_MARK,   /* punctuation: one character, or ":=", "..." */
};

struct tsdl_token {
	enum tsdl_kind kind;
	const char *text;
	size_t len;
	unsigned line;  /* from 1 */
	int64_t number; /* of TSDL_NUMBER; above INT64_MAX it has the same 64 bits */
};

/* Where the reading of a text is. */
struct tsdl_reader {
	const char *at;
	unsigned line; /* from 1 */
};

/* The next token. LT_ERROR: as below. */
enum lt_status tsdl_next(struct tsdl_reader *r, struct tsdl_token *token);

/* All tokens (struct tsdl_token), TSDL_END last. LT_ERROR: a character or a string that is no TSDL. */
enum lt_status tsdl_split(const char *text, GArray **tokens);

/* Whether the token is this mark or this word: asked of every token many times, with constants. */
static inline bool tsdl_is(const struct tsdl_token *token, const char *text)
{
	const size_t len = strlen(text);

	return token->len == len && *token->text == *text && (token->kind == TSDL_WORD || token->kind == TSDL_MARK) &&
	       memcmp(token->text, text, len) == 0;
}

/* A copy of the token's text, of strings with the characters that escapes mean; to be freed with g_free(). */
char *tsdl_text(const struct tsdl_token *token);

#endif
