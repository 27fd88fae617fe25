/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_EVENT_SYSCALLS_H
#define LT_EVENT_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a system call does, as its entry and exit events show it. */
enum syscall_action {
	SYSCALL_NAMED = 0,         /* only takes time */
	SYSCALL_PATH,              /* the same, and names .path */
	SYSCALL_FD,                /* works on .fd, moves no bytes */
	SYSCALL_SYNC,              /* the same, and the data written to it is then on disk */
	SYSCALL_SEEK,              /* the same: if it succeeds, .fd has positions */
	SYSCALL_WAIT_ANY,          /* waits for any of the files listed by .fd */
	SYSCALL_OPEN,              /* makes an fd (ret) for .path */
	SYSCALL_MAKE,              /* makes an fd (ret) */
	SYSCALL_MAKE_UNLESS_FLAGS, /* the same, if .flags is 0 */
	SYSCALL_BPF,               /* makes an fd (ret) for some values of .cmd */
	SYSCALL_SIGNALFD,          /* makes an fd if .fd is -1 */
	SYSCALL_DUP,               /* copies .fd to ret */
	SYSCALL_DUP2,              /* copies .fd to .fd2, closing the latter first */
	SYSCALL_IOCTL,             /* .cmd: FIOCLEX, FIONCLEX … */
	SYSCALL_FCNTL,             /* .cmd: F_DUPFD, F_DUPFD_CLOEXEC, F_SETFD … */
	SYSCALL_PIPE,              /* makes two fds: fd0, fd1 of the exit */
	SYSCALL_SOCKET,            /* makes a socket of family .cmd */
	SYSCALL_SOCKETPAIR,        /* makes two sockets of family .cmd */
	SYSCALL_ACCEPT,            /* makes a socket; peer in the exit */
	SYSCALL_CONNECT,           /* gives .fd a peer */
	SYSCALL_CLOSE,
	SYSCALL_CLOSE_RANGE, /* .fd to .arg; .flags: 2 unshares first, 4 only sets O_CLOEXEC */
	SYSCALL_READ,        /* ret bytes from .fd */
	SYSCALL_WRITE,       /* ret bytes to .fd */
	SYSCALL_COPY,        /* ret bytes from .fd to .fd2 */
	SYSCALL_VMSPLICE,    /* ret bytes to .fd, a pipe, or from it if .fd is a read end */
	SYSCALL_MESSAGES,    /* ret messages, number of bytes unknown */
	SYSCALL_EXEC,
	SYSCALL_CLONE,   /* .flags: CLONE_FILES … */
	SYSCALL_UNSHARE, /* .flags: CLONE_FILES … */
	SYSCALL_EXIT,    /* ends the thread */
	SYSCALL_FUTEX,
	SYSCALL_FLOCK,
	SYSCALL_WAIT_CHILD, /* waits for a child to end: ret */
	SYSCALL_WAIT_ID,    /* the same, without its PID */
	SYSCALL_KILL,       /* sends signal .cmd to process or thread .arg */
	SYSCALL_MOUNT,      /* .path: the directory; the other fields are in struct ev_mount */
	SYSCALL_UMOUNT,     /* .path: the directory */
	SYSCALL_MKNOD,      /* makes a file of type and mode .cmd at .path */
	SYSCALL_UNLINK,     /* .path is no longer what it was */
	SYSCALL_CHDIR,      /* to .path */
	SYSCALL_FCHDIR,     /* to the directory .fd */
};

enum fd_kind {
	FD_NONE = 0, /* for a call: it makes no fd */
	FD_UNKNOWN,
	FD_FILE, /* its path says which: regular, directory, /proc, device … */
	FD_PIPE,
	FD_SOCKET, /* its family says which */
	FD_EVENTFD,
	FD_EPOLL,
	FD_TIMERFD,
	FD_SIGNALFD,
	FD_MEMFD,
	FD_INOTIFY,
	FD_FANOTIFY,
	FD_PIDFD,
	FD_PERF,
	FD_IO_URING,
	FD_MQUEUE,
	FD_OTHER,
	FD_SOCKET_INET, /* AF_INET, AF_INET6, AF_PACKET */
	FD_SOCKET_UNIX,
	FD_SOCKET_OTHER,
	FD_DEVICE, /* below /dev, except block devices */
	FD_BLOCK,  /* a block device */
	FD_PSEUDO, /* below /proc, /sys */
	FD_FIFO,
	FD_NETFS, /* in a network file system */
	FD_KINDS
};

/* The name printed in reports: "file", "pipe", "inet", "unix", … */
const char *fd_kind_name(enum fd_kind kind);

enum { CLOEXEC_ALWAYS = -1 };

/* The source of a member of struct ev_syscall_entry. */
struct syscall_field {
	const char *names; /* alternatives separated by '|', not NUL-terminated: names_len */
	uint16_t names_len;
	uint16_t offset; /* of the member, in bytes */
	int8_t raw_arg;  /* number of the argument; -1: none */
	uint8_t bit;     /* in event.present */
};

enum { SYSCALL_FIELDS_MAX = 6 };

struct syscall_desc {
	const char *name;
	enum syscall_action action;
	enum fd_kind made;
	int32_t cloexec;
	uint8_t n_fields;
	struct syscall_field fields[SYSCALL_FIELDS_MAX];
};

/* The row of a call by name; NULL if the call only takes time. The first call builds the table. Main thread only. */
const struct syscall_desc *syscall_find(const char *name);

/* The name that strace gives to a call that the tracer calls name; NULL: the same. Any thread. */
const char *syscall_strace_name(const char *name);

/*
 * The name of a call; NULL: it is not known. All known numbers are below SYSCALL_NUMBERS_MAX. They are those of x86-64;
 * on other 64-bit machines only numbers from SYSCALL_NUMBERS_SHARED on are the same, if such calls exist there.
 */
enum { SYSCALL_NUMBERS_SHARED = 424, SYSCALL_NUMBERS_MAX = 1024 };
const char *syscall_name_of_number(int64_t nr, bool is_x86_64);

/*
 * The numbers of 32-bit programs on x86-64 differ. The tracer has names for their calls, except for these two, which do
 * not return.
 */
enum { SYSCALL_COMPAT_SIGRETURN = 119, SYSCALL_COMPAT_RT_SIGRETURN = 173 };

/* Whether some kernel is known to have a call of that name, the tracer's or strace's. */
bool syscall_is_known(const char *name);

#endif
