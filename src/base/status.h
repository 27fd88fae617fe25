/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_STATUS_H
#define LT_BASE_STATUS_H

/*
 * The result of a function that can do more than succeed. AGAIN, END and INTERRUPTED are outcomes, not errors; the
 * reason for an LT_ERROR is in the error chain (base/error.h).
 */
enum lt_status {
	LT_OK = 0,
	LT_AGAIN,       /* nothing now, ask again later; outputs untouched */
	LT_END,         /* nothing more will come */
	LT_INTERRUPTED, /* a signal or the user asked to stop */
	LT_ERROR,       /* see error_text() */
};

#endif
