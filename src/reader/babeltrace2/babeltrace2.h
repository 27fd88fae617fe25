/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_BABELTRACE2_BABELTRACE2_H
#define LT_READER_BABELTRACE2_BABELTRACE2_H

#include "reader/reader.h"

/* The library: for what the native reader declines, and as its judge. */
extern const struct reader_type reader_babeltrace2;

#endif
