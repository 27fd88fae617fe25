/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_OWN_DIRECTORY_H
#define LT_BASE_OWN_DIRECTORY_H

/* The side-car in the directory of a recording. */
#define SIDECAR_NAME "lttngtop.json"

/*
 * Opens the directory of a session's recording, with O_PATH. path is absolute. Root is shown all users' sessions, whose
 * paths may lead anywhere: on its behalf no symbolic link of another user is followed, wherever in the path, and the
 * directory must contain a side-car, or a trace's directory, that belongs to root. The directory itself may be
 * anybody's, and if it is root's, that proves nothing. For others it is just opened: they only see their own sessions.
 * -1: errno; EPERM: it may be another user's.
 */
int own_directory_open(const char *path);

#endif
