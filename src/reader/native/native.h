/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_NATIVE_H
#define LT_READER_NATIVE_NATIVE_H

#include "reader/reader.h"

/* Our own reader, for LTTng's formats: CTF 1.8 and CTF 2 with one clock. */
extern const struct reader_type reader_native;

#endif
