/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an fd is, from the path that was opened, the name in the state dump or the address family of a socket. */
#include "model/files.h"
#include "model/mounts.h"
#include "model/parts_internal.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static enum fd_kind kind_of_absolute(const struct model *m, const char *path, strid *server)
{
	const struct mount *mount;

	while (path[0] == '/' && path[1] == '/')
		path++;
	mount = m->mounts->n ? mounts_find(m, path) : NULL;
	if (mount && server)
		*server = mount->server;
	if (mount)
		return FD_NETFS;
	if (mounts_is_below(path, "/proc") || mounts_is_below(path, "/sys"))
		return FD_PSEUDO;
	if (mounts_is_below(path, "/dev"))
		return block_is_device(m, path) ? FD_BLOCK : FD_DEVICE;
	return FD_FILE;
}

/* The rest of the path after this prefix; NULL: it has another one. */
static const char *behind(const char *path, const char *beginning)
{
	size_t len = strlen(beginning);

	return strncmp(path, beginning, len) == 0 ? path + len : NULL;
}

/* The whole text as a number; -1: it is not one. */
static int64_t whole_number(const char *text)
{
	char *end;
	int64_t n;

	if (!g_ascii_isdigit(text[0]))
		return -1;
	n = g_ascii_strtoll(text, &end, 10);
	return *end || n > INT32_MAX ? -1 : n;
}

int64_t fdkind_reopened(const char *path, int64_t pid)
{
	static const char *const standard[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	const char *rest = behind(path, "/dev/fd/");
	char own[32];

	if (rest)
		return whole_number(rest);
	for (size_t i = 0; i < G_N_ELEMENTS(standard); i++)
		if (strcmp(path, standard[i]) == 0)
			return (int64_t)i;
	if (!behind(path, "/proc/"))
		return -1;
	snprintf(own, sizeof(own), "/proc/%lld/fd/", (long long)pid);
	rest = behind(path, "/proc/self/fd/");
	if (!rest)
		rest = behind(path, "/proc/thread-self/fd/");
	if (!rest)
		rest = behind(path, own);
	return rest ? whole_number(rest) : -1;
}

enum fd_kind fdkind_of_path(const struct model *m, const char *path, enum fd_kind dir, const char *dir_path,
			    strid *server)
{
	const bool is_known = dir == FD_DEVICE || dir == FD_NETFS;
	char joined[MOUNT_PATH_MAX];

	if (path[0] == '/')
		return kind_of_absolute(m, path, server);
	if (dir == FD_PSEUDO)
		return FD_PSEUDO;
	/* below the root, the path itself shows /proc, /sys and /dev */
	if (!is_known && !m->mounts->n && strcmp(dir_path, "/") != 0)
		return FD_FILE;
	if (dir_path[0] != '/' || !mounts_join(joined, dir_path, path))
		return is_known ? dir : FD_FILE;
	return kind_of_absolute(m, joined, server);
}

enum fd_kind fdkind_of_family(int64_t family)
{
	switch (family) {
	case AF_UNSPEC:
		return FD_SOCKET;
	case AF_INET:
	case AF_INET6:
	case AF_PACKET:
		return FD_SOCKET_INET;
	case AF_UNIX:
		return FD_SOCKET_UNIX;
	default:
		return FD_SOCKET_OTHER;
	}
}

/* "anon_inode:[eventpoll]", "anon_inode:inotify": the kernel is inconsistent about the brackets. */
static enum fd_kind kind_of_anon_inode(const char *name)
{
	static const struct {
		const char *name;
		enum fd_kind kind;
	} kinds[] = {
		{ "eventfd", FD_EVENTFD },   { "eventpoll", FD_EPOLL }, { "timerfd", FD_TIMERFD },
		{ "signalfd", FD_SIGNALFD }, { "inotify", FD_INOTIFY }, { "fanotify", FD_FANOTIFY },
		{ "pidfd", FD_PIDFD },       { "perf_event", FD_PERF }, { "io_uring", FD_IO_URING },
	};
	size_t len;

	if (*name == '[')
		name++;
	len = strcspn(name, "]");
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (strlen(kinds[i].name) == len && memcmp(kinds[i].name, name, len) == 0)
			return kinds[i].kind;
	return FD_OTHER;
}

/* A socket without a path is named after its protocol if the tracer has no other name for it. */
static enum fd_kind kind_of_protocol(const char *name)
{
	static const char *const inet[] = { "TCP",       "TCPv6",   "UDP",   "UDPv6",  "UDP-Lite",
					    "UDPLITEv6", "RAW",     "RAWv6", "PING",   "PINGv6",
					    "MPTCP",     "MPTCPv6", "SCTP",  "SCTPv6", "PACKET" };

	for (size_t i = 0; i < G_N_ELEMENTS(inet); i++)
		if (strcmp(name, inet[i]) == 0)
			return FD_SOCKET_INET;
	if (strcmp(name, "UNIX") == 0 || strcmp(name, "UNIX-STREAM") == 0)
		return FD_SOCKET_UNIX;
	if (strcmp(name, "NETLINK") == 0)
		return FD_SOCKET_OTHER;
	return FD_UNKNOWN;
}

/*
 * The kernel's FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE and FMODE_PATH: a file that can only be read and written in
 * order is a fifo.
 */
enum { MODE_SEEKABLE = 0x1c, MODE_OPENED_PATH = 0x4000 };

enum fd_kind fdkind_of_dump(const struct model *m, const char *name, uint64_t fmode, strid *server)
{
	enum fd_kind kind;

	if (name[0] == '/') {
		if (g_str_has_prefix(name, "/memfd:"))
			return FD_MEMFD;
		kind = kind_of_absolute(m, name, server);
		if (kind == FD_FILE && fmode && !(fmode & (MODE_SEEKABLE | MODE_OPENED_PATH)))
			return FD_FIFO;
		return kind;
	}
	if (g_str_has_prefix(name, "pipe:"))
		return FD_PIPE;
	if (g_str_has_prefix(name, "socket:"))
		return FD_SOCKET;
	if (g_str_has_prefix(name, "anon_inode:"))
		return kind_of_anon_inode(name + strlen("anon_inode:"));
	return kind_of_protocol(name);
}

/* IPv4-mapped IPv6 addresses are shown as IPv4. NULL: another family. */
static const char *address_text(uint64_t *family, const uint64_t addr[2], char text[INET6_ADDRSTRLEN])
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	const unsigned char *bytes = (const unsigned char *)addr;

	if (*family == AF_INET6 && memcmp(bytes, mapped, sizeof(mapped)) == 0) {
		*family = AF_INET;
		bytes += sizeof(mapped);
	}
	if (*family != AF_INET && *family != AF_INET6)
		return NULL;
	return inet_ntop((int)*family, bytes, text, INET6_ADDRSTRLEN);
}

strid fdkind_peer(uint64_t family, uint64_t port, const uint64_t addr[2])
{
	char host[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + sizeof("[]:65535")];
	int len;

	if (!address_text(&family, addr, host))
		return STRID_NONE;
	len = snprintf(text, sizeof(text), family == AF_INET ? "%s:%u" : "[%s]:%u", host, (unsigned)(port & 0xffff));
	return strpool_intern_path(text, (size_t)len);
}

strid fdkind_address(uint64_t family, const uint64_t addr[2])
{
	char host[INET6_ADDRSTRLEN];

	return address_text(&family, addr, host) ? strpool_intern_path(host, strlen(host)) : STRID_NONE;
}
