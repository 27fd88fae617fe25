/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_WORKER_CONFINE_FILTER_H
#define LT_WORKER_CONFINE_FILTER_H

#include <seccomp.h>
#include <stdint.h>

#include "worker/confine.h"

/*
 * The rules that confine() loads, for any machine (SCMP_ARCH_…): tests also check those that they do not run on. The
 * caller calls seccomp_release(); NULL: it failed.
 */
scmp_filter_ctx confine_filter(enum confine_kind kind, uint32_t machine);

#endif
