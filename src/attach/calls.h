/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_ATTACH_CALLS_H
#define LT_ATTACH_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attach/consts.h"

/* The arguments and results of system calls, as declared in calls.def. Constant after calls_init(). */
enum { CALL_ARGS_MAX = 8, CALL_NAMES_MAX = 3 };

/* How an argument or a result is displayed. */
enum arg_type {
	ARG_INT,   /* signed decimal */
	ARG_INT32, /* the same of an int, whose field is wider */
	ARG_HALF,  /* the lower half of an offset; pos_h, the other one, only counts in 32-bit programs */
	ARG_NONE,  /* not shown */
	ARG_UINT,  /* unsigned decimal */
	ARG_HEX,
	ARG_PTR,         /* NULL, 0x7ffe… */
	ARG_ID,          /* user or group; -1: none */
	ARG_MODE,        /* permissions: octal */
	ARG_CREATE_MODE, /* the same for open(): only if the flags may create a file */
	ARG_IPC_MODE,    /* flags of semget(), msgget() and permissions */
	ARG_SHM_MODE,    /* the same of shmget() */
	ARG_DEV,         /* device number */
	ARG_QUOTA_CMD,   /* command of quotactl() and type of quota */
	ARG_IOPRIO,      /* class and level of an I/O priority */
	ARG_STR,
	ARG_FD,
	ARG_DIRFD, /* an fd or AT_FDCWD */
	ARG_FDS,   /* array of fds */
	ARG_SIG,
	ARG_SOCKADDR, /* the address from the fields family, port, v4addr, v6addr; without them the pointer */
	ARG_LENGTH,   /* of the address */
	ARG_PROTOCOL, /* depends on the family */
	ARG_SOCKOPT,  /* depends on the level */
	ARG_POLLFDS,
	ARG_EPOLL_EVENT,
	ARG_EPOLL_LIST,
	ARG_FDSET,
	ARG_TIMESPEC, /* seconds and ns if the event has them, else the pointer */
	ARG_SET,      /* names from a set */
	ARG_FCNTL,    /* results: depends on the command */
	ARG_POLL,     /* the fds that are ready */
	ARG_SELECT,
	ARG_TYPES
};

/* An argument for one operation of a call (operations.def). */
struct arg_operation {
	uint64_t value;
	bool taken; /* false: the operation does not have it */
	enum arg_type type;
	const struct const_set *set;
};

/* The argument that says what a call is asked to do. */
struct call_chooser {
	const char *field;
	unsigned number; /* of the argument */
	uint64_t mask;
};

struct call_arg {
	char *names[CALL_NAMES_MAX + 1]; /* alternative names of the field; NULL-terminated */
	enum arg_type type;
	bool out;                    /* filled in by the call: read from the exit event first */
	const struct const_set *set; /* for ARG_SET */

	const struct call_chooser *chooser; /* NULL: it is always the same */
	struct arg_operation *operations;   /* by the chooser's value; for other values it is as above */
	unsigned n_operations;
};

/* Bits for the classes in calls.def. */
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
	CALL_STATFS_LIKE = 1 << 15, /* these and ustat() */
};

struct call {
	const char *name;  /* the tracer's name */
	const char *other; /* the name programmers use; "": the same */
	const char *shown; /* as in strace, one of the two */
	unsigned classes;
	unsigned n_args;
	struct call_arg args[CALL_ARGS_MAX];
	enum arg_type result;
	const struct const_set *result_set; /* of a result that is a SET */
};

/* Must be called before any other function here; later calls do nothing. */
void calls_init(void);

/* The row of a call; NULL: there is none. */
const struct call *calls_find(const char *name);

/* All rows, for tests. */
const struct call *calls_all(unsigned *n);

/* The class bits of -e trace=%NAME ("file"; "%stat" stands for several classes); 0: there is no such class. */
unsigned calls_class(const char *name);

/* The names of the classes, without '%', in the order of the documentation; NULL after the last. */
const char *calls_class_name(unsigned i);

#endif
