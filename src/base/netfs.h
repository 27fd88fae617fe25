/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_NETFS_H
#define LT_BASE_NETFS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Types of file systems whose files are on other machines, as mount() and /proc/PID/mountinfo name them. The list is
 * also a regular expression, for scripts on machines without this program.
 */
#define NETFS_TYPES                                                                                                  \
	"nfs|nfs4|cifs|smb3|smbfs|afs|coda|ncpfs|ceph|9p|lustre|orangefs|beegfs|glusterfs|fuse.glusterfs|fuse.ceph|" \
	"fuse.sshfs|fuse.curlftpfs|fuse.s3fs|fuse.rclone|fuse.davfs"

bool netfs_is_type(const char *type);

/*
 * The server that a mount's source names: "10.0.0.1" of "//10.0.0.1/share", "10.0.0.1:/export", "eva@10.0.0.1:docs" and
 * "[::1]:/export" is "::1". Writes it, cut at size - 1 bytes, and returns its length; 0: the source names none.
 */
size_t netfs_server(const char *type, const char *source, char *server, size_t size);

#endif
