/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_CALLS_H
#define LT_ATTACH_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/consts.h"

/* What system calls take and give, as calls.def says. Constant after calls_init(). */
enum { CALL_ARGS_MAX = 8, CALL_NAMES_MAX = 3 };

/* How an argument or a result is shown. */
enum arg_type {
	ARG_INT,  /* decimal, with its sign */
	ARG_UINT, /* decimal, without */
	ARG_HEX,
	ARG_PTR,         /* NULL, 0x7ffe… */
	ARG_ID,          /* of a user or group: -1 is none */
	ARG_MODE,        /* permissions: octal */
	ARG_CREATE_MODE, /* the same, of open(): only where the flags say that a file may be made */
	ARG_DEV,         /* device number */
	ARG_STR,
	ARG_FD,
	ARG_DIRFD, /* AT_FDCWD */
	ARG_FDS,   /* array of fds */
	ARG_SIG,
	ARG_SOCKADDR,  /* address, where the event has it: family, port, v4addr, v6addr */
	ARG_LENGTH,    /* of it */
	ARG_PROTOCOL,  /* by the family */
	ARG_SOCKOPT,   /* by the level */
	ARG_FCNTL_ARG, /* by the command */
	ARG_POLLFDS,
	ARG_EPOLL_EVENT,
	ARG_EPOLL_LIST,
	ARG_FDSET,
	ARG_TIMESPEC, /* seconds and ns where the event has them, else the address */
	ARG_SET,      /* names of a set */
	ARG_FCNTL,    /* results: by the command, */
	ARG_POLL,     /* the fds that are ready */
	ARG_SELECT,
	ARG_TYPES
};

struct call_arg {
	char *names[CALL_NAMES_MAX + 1]; /* of the field, alternatives; NULL ends them */
	enum arg_type type;
	bool out;                    /* the call fills it in: of the exit event first */
	const struct const_set *set; /* ARG_SET */
};

/* Bits of the classes of calls.def. */
enum call_class {
	CALL_FILE = 1 << 0,
	CALL_DESC = 1 << 1,
	CALL_NETWORK = 1 << 2,
	CALL_PROCESS = 1 << 3,
	CALL_MEMORY = 1 << 4,
	CALL_SIGNAL = 1 << 5,
	CALL_IPC = 1 << 6,
	CALL_CREDS = 1 << 7,
	CALL_CLOCK = 1 << 8,
	CALL_PURE = 1 << 9,
	CALL_STAT = 1 << 10,
	CALL_LSTAT = 1 << 11,
	CALL_FSTAT = 1 << 12,
	CALL_STATFS = 1 << 13,
	CALL_FSTATFS = 1 << 14,
};

struct call {
	const char *name;  /* as the tracer has it */
	const char *other; /* as programmers know it, "": the same */
	unsigned classes;
	unsigned n_args;
	struct call_arg args[CALL_ARGS_MAX];
	enum arg_type result;
};

/* Idempotent; before anything else here. */
void calls_init(void);

/* NULL: there is no row for it. */
const struct call *calls_find(const char *name);

/* All rows, for tests. */
const struct call *calls_all(unsigned *n);

/* The class of -e trace=%NAME ("file"; also "%stat", which holds several), 0: there is none of that name. */
unsigned calls_class(const char *name);

#endif
