/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_SHAPE_H
#define LT_READER_SHAPE_H

#include <glib.h>

#include "reader/plan.h"

/*
 * Encodes the fields of an event class for EVENT_SHAPE (event/fields.h) in at most `most` bytes; if they do not fit,
 * then without the labels of enums. Returns NULL if they still do not fit, or are too many; the caller frees the
 * result. Structures without visible fields are left out here and in the values (program_compile_values()).
 */
GByteArray *shape_write(const struct class_desc *desc, size_t most);

#endif
