/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/tsdl.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* In one statement, far more than the kernel tracer needs for any event. */
enum { TOKENS_MAX = 1 << 24 };

/* Kinds of characters, whatever the locale. */
enum { LETTER = 1, DIGIT = 2, BLANK = 4 };

static const uint8_t kinds[256] = {
	['a' ... 'z'] = LETTER, ['A' ... 'Z'] = LETTER,  ['_'] = LETTER,
	['0' ... '9'] = DIGIT,  ['\t' ... '\r'] = BLANK, [' '] = BLANK,
};

static inline bool is(char c, unsigned kind)
{
	return kinds[(unsigned char)c] & kind;
}

/* Skips blanks and comments. */
static void skip_blanks(struct tsdl_reader *r)
{
	const char *end;

	for (;;) {
		if (is(*r->at, BLANK)) {
			r->line += *r->at++ == '\n';
			continue;
		}
		if (r->at[0] != '/' || (r->at[1] != '/' && r->at[1] != '*'))
			return;
		end = strstr(r->at + 2, r->at[1] == '/' ? "\n" : "*/");
		end = !end ? r->at + strlen(r->at) : r->at[1] == '/' ? end : end + 2;
		for (; r->at < end; r->at++)
			r->line += *r->at == '\n';
	}
}

static enum lt_status read_number(struct tsdl_reader *r, struct tsdl_token *token)
{
	bool negative = *r->at == '-';
	char *end;
	unsigned long long value;

	token->kind = TSDL_NUMBER;
	if (is(*r->at, DIGIT) && !is(r->at[1], LETTER | DIGIT)) {
		token->number = *r->at - '0';
		token->len = 1;
		return LT_OK;
	}
	errno = 0;
	value = strtoull(r->at + negative, &end, 0);
	if (errno)
		return error_set("metadata: line %u: number does not fit in 64 bits", r->line);
	end += strspn(end, "uUlL");
	token->number = (int64_t)(negative ? 0 - value : value);
	token->len = (size_t)(end - r->at);
	return LT_OK;
}

static enum lt_status read_string(struct tsdl_reader *r, struct tsdl_token *token)
{
	const char *p = r->at + 1;

	while (*p && *p != '"' && *p != '\n')
		p += *p == '\\' && p[1] ? 2 : 1;
	if (*p != '"')
		return error_set("metadata: line %u: unterminated string", r->line);
	token->kind = TSDL_STRING;
	token->text = r->at + 1;
	token->len = (size_t)(p - token->text);
	return LT_OK;
}

static enum lt_status read_mark(struct tsdl_reader *r, struct tsdl_token *token)
{
	static const char singles[] = "{}[]()<>;:,=.*";

	token->kind = TSDL_MARK;
	if (!strncmp(r->at, "...", 3))
		token->len = 3;
	else if (!strncmp(r->at, ":=", 2))
		token->len = 2;
	else if (strchr(singles, *r->at))
		token->len = 1;
	else
		return error_set("metadata: line %u: unexpected character 0x%02x", r->line, (unsigned char)*r->at);
	return LT_OK;
}

/* The token is the word at the reader's position. */
static void read_phrase(const struct tsdl_reader *r, struct tsdl_token *token)
{
	for (unsigned i = 0; i < r->phrases->n; i++) {
		const size_t len = r->phrases->all[i].len;

		if (strncmp(r->phrases->all[i].text, token->text, len) != 0)
			continue;
		token->kind = TSDL_PHRASE;
		token->len = len;
		token->number = i;
		return;
	}
}

enum lt_status tsdl_next(struct tsdl_reader *r, struct tsdl_token *token)
{
	const char *end;

	skip_blanks(r);
	*token = (struct tsdl_token){ .text = r->at, .line = r->line };
	if (!*r->at)
		return LT_OK;
	if (is(*r->at, LETTER)) {
		token->kind = TSDL_WORD;
		for (end = r->at; is(*end, LETTER | DIGIT); end++)
			;
		token->len = (size_t)(end - r->at);
		if (r->phrases && (tsdl_is(token, "integer") || tsdl_is(token, "floating_point")))
			read_phrase(r, token);
	} else if (is(*r->at, DIGIT) || (*r->at == '-' && is(r->at[1], DIGIT))) {
		if (read_number(r, token))
			return LT_ERROR;
	} else if (*r->at == '"') {
		if (read_string(r, token))
			return LT_ERROR;
		r->at = token->text + token->len + 1;
		return LT_OK;
	} else if (read_mark(r, token)) {
		return LT_ERROR;
	}
	r->at += token->len;
	return LT_OK;
}

static struct tsdl_token *add_token(struct tsdl_statement *s)
{
	if (s->n == s->room) {
		s->room = MAX(2 * s->room, 256);
		s->tokens = g_renew(struct tsdl_token, s->tokens, s->room);
	}
	return &s->tokens[s->n++];
}

enum lt_status tsdl_read_statement(struct tsdl_reader *r, struct tsdl_statement *s)
{
	const struct tsdl_token *token;
	unsigned depth = 0;

	s->n = 0;
	do {
		if (s->n >= TOKENS_MAX)
			return error_set("metadata: line %u: too long", r->line);
		if (tsdl_next(r, add_token(s)))
			return LT_ERROR;
		token = &s->tokens[s->n - 1];
		if (token->kind == TSDL_END)
			return s->n > 1 ? LT_OK : LT_END;
		if (tsdl_is(token, "{"))
			depth++;
		else if (tsdl_is(token, "}") && depth)
			depth--;
	} while (depth || !tsdl_is(token, ";"));
	*add_token(s) = (struct tsdl_token){ .kind = TSDL_END, .text = r->at, .line = r->line };
	return LT_OK;
}

void tsdl_statement_release(struct tsdl_statement *s)
{
	g_free(s->tokens);
	*s = (struct tsdl_statement){ 0 };
}

/*
 * Appends the character that an escape stands for, given by a letter or a number; NUL is left out. Returns the position
 * after it.
 */
static const char *read_escape(const char *p, const char *end, GString *text)
{
	static const char letters[] = "abfnrtv", meant[] = "\a\b\f\n\r\t\v";
	const char *letter = memchr(letters, *p, sizeof(letters) - 1);
	const bool is_hex = *p == 'x' && p + 1 < end && g_ascii_isxdigit(p[1]);
	unsigned value = 0, digits = 0;

	if (!is_hex && !(*p >= '0' && *p <= '7')) {
		g_string_append_c(text, letter ? meant[letter - letters] : *p);
		return p + 1;
	}
	for (p += is_hex; p < end && digits < (is_hex ? 2 : 3); p++, digits++) {
		if (!(is_hex ? g_ascii_isxdigit(*p) : *p >= '0' && *p <= '7'))
			break;
		value = value * (is_hex ? 16 : 8) + (unsigned)g_ascii_xdigit_value(*p);
	}
	if (value & 0xff)
		g_string_append_c(text, (char)value);
	return p;
}

char *tsdl_text(const struct tsdl_token *token)
{
	const char *end = token->text + token->len;
	GString *text;

	if (token->kind != TSDL_STRING || !memchr(token->text, '\\', token->len))
		return g_strndup(token->text, token->len);
	text = g_string_sized_new(token->len);
	for (const char *p = token->text; p < end;)
		p = *p == '\\' && p + 1 < end ? read_escape(p + 1, end, text) : (g_string_append_c(text, *p), p + 1);
	return g_string_free(text, FALSE);
}
