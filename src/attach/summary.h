/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_SUMMARY_H
#define LT_ATTACH_SUMMARY_H

#include <stdio.h>

#include "attach/record.h"

/* Counts of calls, as strace -c has them: -c, -C. */
struct attach_summary;

struct attach_summary *attach_summary_create(void);
void attach_summary_destroy(struct attach_summary *s);

/*
 * By which column rows are sorted (-S), without it by time; which columns the text has, separated by commas (-U), with
 * the name as the last one where it is not among them. LT_ERROR: there is no such column; the error chain names those
 * that there are.
 */
enum lt_status attach_summary_set_sort(struct attach_summary *s, const char *column);
enum lt_status attach_summary_set_columns(struct attach_summary *s, const char *list);

/* Counts the call of an EXIT record; others are nothing to it. */
void attach_summary_add(struct attach_summary *s, const struct attach_record *r);

/* The table, as text. */
void attach_summary_write(struct attach_summary *s, FILE *out);

/* The table as one object of JSON: {"summary": [...]}. */
void attach_summary_write_json(struct attach_summary *s, FILE *out);

#endif
