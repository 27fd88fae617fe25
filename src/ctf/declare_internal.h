/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_CTF_DECLARE_INTERNAL_H
#define LT_CTF_DECLARE_INTERNAL_H

#include "ctf/declare.h"

/* Shared by the parts of the parser of declarations. */

/* Sets an error that says what is wrong at the next token. Returns LT_ERROR. */
enum lt_status declare_fail(const struct declare *d, const char *what);

/* Makes a type, which is released with d->types. LT_ERROR: there are too many. */
enum lt_status declare_make(struct declare *d, enum type_kind kind, struct type **out);

/* Raises the type's alignment to that many bits. LT_ERROR: it is not a power of 2, or too large. */
enum lt_status declare_align(struct declare *d, struct type *t, int64_t align);

/* Parses the braces of an integer or a float. The keyword is the token before the next. */
enum lt_status declare_number(struct declare *d, enum type_kind kind, struct type **out);

#endif
