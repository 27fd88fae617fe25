/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_FOLLOW_INTERNAL_H
#define LT_READER_NATIVE_FOLLOW_INTERNAL_H

#include <sys/stat.h>
#include <sys/types.h>

#include "reader/native/follow.h"
#include "reader/native/live_internal.h"

/*
 *   follow.c         a step: looking around, how long streams are waited for, the end
 *   follow_tree.c    which directories are of which trace, their metadata and files
 *   follow_stream.c  the packets of a stream, one file after the other
 *
 * Directories and files are known by what they are, not by their paths: a rotation moves them while they are written,
 * and may do so while they are looked for.
 *
 *   trace ─┬─ directory, directory, …      the archives, the last one is being written
 *          └─ stream ── file → file → …    one in each directory, or several (--tracefile-size)
 */
struct followed_id {
	uint64_t device, inode;
	uint64_t born_ns; /* numbers of inodes are used again; 0: the file system does not know */
};

struct followed_trace {
	struct live_trace *live;
	char *group;        /* what its directories have in common */
	char *path;         /* of the first one, as it was called when it was found */
	size_t len;         /* of the metadata that was taken over */
	bool is_of_process; /* its session goes on when it ends */
};

struct followed_directory {
	struct followed_id id;
	char *path;
	struct followed_trace *trace; /* NULL: its metadata makes no sense yet */
	uint64_t metadata_bytes;      /* when it was read last */
	uint64_t written_ns;          /* the metadata, last */
	int watch;                    /* of the metadata, -1: none */
	bool is_closed;               /* by who wrote the metadata */
	unsigned absent;              /* walks since it was seen */
};

struct followed_stream;

struct followed_file {
	struct followed_id id;
	char *path;
	struct followed_trace *trace;
	struct followed_stream *stream; /* NULL: not known yet, or it is done */
	struct followed_file *next;     /* of the same stream */
	int fd, index_fd;               /* -1: not open */
	uint64_t complete;              /* bytes of it that are whole packets */
	uint64_t size;
	uint64_t since_ns; /* how far the records were when it was found */
	uint64_t first;    /* where its first packet begins: the order */
	bool is_removed, is_done;
	unsigned absent; /* walks since it was seen */
};

struct followed_stream {
	struct live_stream base;
	struct native_follow *follow;
	struct followed_file *file;            /* being read */
	int64_t undeclared_us;                 /* monotonic: when it met an event that is not declared, 0: it has not */
	const struct native_trace *gave_up_by; /* metadata that was waited for in vain, NULL */
};

/* The ends of packets that had been seen by then. */
struct followed_time {
	int64_t us; /* monotonic */
	uint64_t ns;
};

struct native_follow {
	struct native_live live;
	const char *directory;
	int64_t patience_us;
	int64_t now_us;         /* monotonic: of this look */
	GPtrArray *traces;      /* struct followed_trace * */
	GPtrArray *directories; /* struct followed_directory *, of traces */
	GHashTable *files;      /* &id → struct followed_file * */
	GHashTable *visited;    /* &id of the walk's directories: links may lead in circles */
	int64_t walk_us;        /* when to walk again */
	GQueue times;           /* struct followed_time *, within the patience */
	uint64_t newest_ns;     /* end of the newest packet seen */
	int64_t news_us;        /* when anything was new, last */
	int64_t reported_us;    /* when the parent was told anything, last */
	int inotify_fd;
	bool has_looked; /* since records were written */
	bool is_over;
	bool has_refused_trace; /* there were too many, which was told */
};

guint followed_id_hash(gconstpointer id);
gboolean followed_id_equal(gconstpointer a, gconstpointer b);

/* Something cannot be read, and will not be. */
void native_follow_note(struct followed_trace *t, const char *where, const char *why);

/* ---- follow_tree.c ---- */

/* Finds what is new below the directory, and takes over metadata that has grown. false: the directory is gone. */
bool native_follow_walk(struct native_follow *f);

void followed_directory_free(gpointer directory);
void followed_trace_free(gpointer trace);

/* ---- follow_stream.c ---- */

/* Opens a file that was found. NULL: it cannot be opened. */
struct followed_file *followed_file_open(struct native_follow *f, struct followed_trace *t, const char *path,
					 const struct followed_id *id);
void followed_file_free(gpointer file);

/* What has become of it: .complete, .size, .newest_ns of all, its stream once it has a packet. */
void followed_file_look(struct native_follow *f, struct followed_file *file);

/* The stream's file is gone, and everything of it was read. */
bool followed_stream_is_gone(const struct followed_stream *s);

/* Nothing of it will come any more. */
void followed_stream_end(struct followed_stream *s);

#endif
