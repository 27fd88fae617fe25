/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_SUMMARY_H
#define LT_ATTACH_SUMMARY_H

#include <stdio.h>

#include "attach/record.h"

/* Counts of calls, as strace -c prints them: -c, -C. */
struct attach_summary;

struct attach_summary *attach_summary_create(void);
void attach_summary_destroy(struct attach_summary *s);

/*
 * The column by which rows are sorted (-S, default: time), and the columns of the text (-U, separated by commas; the
 * name is added at the end if missing). LT_ERROR: there is no such column; the error chain lists the valid ones.
 */
enum lt_status attach_summary_set_sort(struct attach_summary *s, const char *column);
enum lt_status attach_summary_set_columns(struct attach_summary *s, const char *list);

/* Counts the call of an EXIT record; ignores other records. */
void attach_summary_add(struct attach_summary *s, const struct attach_record *r);

/* Writes the table as text. */
void attach_summary_write(struct attach_summary *s, FILE *out);

/* Writes the table as a JSON object: {"summary": [...]}. */
void attach_summary_write_json(struct attach_summary *s, FILE *out);

#endif
