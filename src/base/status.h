/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_STATUS_H
#define LT_BASE_STATUS_H

/*
 * What a function that can do more than succeed returns. AGAIN, END and
 * INTERRUPTED are outcomes, not errors; on LT_ERROR the reason stands in the
 * error chain (base/error.h).
 */
enum lt_status {
	LT_OK = 0,
	LT_AGAIN,       /* nothing now, ask later; outputs untouched */
	LT_END,         /* nothing any more */
	LT_INTERRUPTED, /* a signal or the user asked to stop */
	LT_ERROR,       /* see error_text() */
};

#endif
