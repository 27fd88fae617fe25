/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_TSDL_H
#define LT_CTF_TSDL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"

/*
 * Splits TSDL, the language of CTF 1.8 metadata, into tokens, without comments and blanks. Tokens point into the text.
 */
enum tsdl_kind {
	TSDL_END,    /* of the text, or of the statement */
	TSDL_WORD,   /* an identifier or keyword */
	TSDL_NUMBER, /* with its sign, decimal, hexadecimal or octal */
	TSDL_STRING, /* the text between the quotes, escapes unchanged */
	TSDL_MARK,   /* punctuation: one character, or ":=", "..." */
	TSDL_PHRASE, /* one of the reader's phrases */
};

struct tsdl_token {
	enum tsdl_kind kind;
	const char *text;
	size_t len;
	unsigned line;  /* from 1 */
	int64_t number; /* of TSDL_NUMBER; values above INT64_MAX wrap to the same 64 bits. TSDL_PHRASE: its index */
};

/*
 * Declarations of numbers, "integer { … }" or "floating_point { … }" without a line break, which occur again and again
 * in the same letters: each of them is a single token. Only ever appended to; the texts are owned by the caller.
 */
enum { TSDL_PHRASES_MAX = 32 };

struct tsdl_phrases {
	struct {
		const char *text;
		size_t len;
	} all[TSDL_PHRASES_MAX];
	unsigned n;
};

/* The current position in a text. */
struct tsdl_reader {
	const char *at;
	unsigned line;                      /* from 1 */
	const struct tsdl_phrases *phrases; /* NULL: none */
};

/* Reads the next token. LT_ERROR: as below. */
enum lt_status tsdl_next(struct tsdl_reader *r, struct tsdl_token *token);

/* The tokens of a statement, and then TSDL_END. Zero-initialised: none. */
struct tsdl_statement {
	struct tsdl_token *tokens;
	size_t n, room;
};

/*
 * Replaces the tokens by those of the next statement: up to a ';' outside braces or the end of the text. One structure
 * serves for all statements: the tokens of a whole text would take megabytes. LT_END: there is no other statement.
 * LT_ERROR: a character or a string is not TSDL, or the statement is too long.
 */
enum lt_status tsdl_read_statement(struct tsdl_reader *r, struct tsdl_statement *s);

void tsdl_statement_release(struct tsdl_statement *s);

/* Whether the token is this mark or this word. Inline, because it is called many times per token, with constants. */
static inline bool tsdl_is(const struct tsdl_token *token, const char *text)
{
	const size_t len = strlen(text);

	return token->len == len && *token->text == *text && (token->kind == TSDL_WORD || token->kind == TSDL_MARK) &&
	       memcmp(token->text, text, len) == 0;
}

/* A copy of the token's text, with the escapes of strings replaced; to be freed with g_free(). */
char *tsdl_text(const struct tsdl_token *token);

#endif
