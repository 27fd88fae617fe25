/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_FD_H
#define LT_BASE_FD_H

#include <unistd.h>

/* Closes the fd unless it is -1, which it is afterwards. */
static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

#endif
