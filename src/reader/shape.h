/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_SHAPE_H
#define LT_READER_SHAPE_H

#include <glib.h>

#include "reader/plan.h"

/*
 * The fields of an event class as bytes for EVENT_SHAPE (event/fields.h), at most `most` of them: where they are more,
 * without the labels of enums. NULL: they do not fit, or are too many; else to be freed. Structures that have
 * nothing to show are no part of it; nor have their values any (program_compile_values()).
 */
GByteArray *shape_write(const struct class_desc *desc, size_t most);

#endif
