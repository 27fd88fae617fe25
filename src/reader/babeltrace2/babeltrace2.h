/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_BABELTRACE2_BABELTRACE2_H
#define LT_READER_BABELTRACE2_BABELTRACE2_H

#include "reader/reader.h"

/* The library: for recordings that the native reader declines, and as a reference for it. */
extern const struct reader_type reader_babeltrace2;

#endif
