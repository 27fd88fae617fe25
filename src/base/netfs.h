/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_BASE_NETFS_H
#define LT_BASE_NETFS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * File system types whose files are on other machines, named as in mount() and /proc/PID/mountinfo. The list is also a
 * regular expression, for scripts on machines without this program.
 */
#define NETFS_TYPES                                                                                                  \
	"nfs|nfs4|cifs|smb3|smbfs|afs|coda|ncpfs|ceph|9p|lustre|orangefs|beegfs|glusterfs|fuse.glusterfs|fuse.ceph|" \
	"fuse.sshfs|fuse.curlftpfs|fuse.s3fs|fuse.rclone|fuse.davfs"

bool netfs_is_type(const char *type);

/*
 * The server named in a mount's source: "10.0.0.1" for "//10.0.0.1/share", "10.0.0.1:/export" and "eva@10.0.0.1:docs",
 * "::1" for "[::1]:/export". Writes it, truncated to size - 1 bytes, and returns its length; 0: the source does not
 * name a server.
 */
size_t netfs_server(const char *type, const char *source, char *server, size_t size);

#endif
