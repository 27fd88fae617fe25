/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_READER_NATIVE_FOLLOW_INTERNAL_H
#define LT_READER_NATIVE_FOLLOW_INTERNAL_H

#include <sys/stat.h>
#include <sys/types.h>

#include "reader/native/follow.h"
#include "reader/native/live_internal.h"

/*
 *   follow.c         a step: looking for changes, how long streams are waited for, the end
 *   follow_tree.c    which directories belong to which trace, their metadata and files
 *   follow_stream.c  the packets of a stream, one file after the other
 *
 * Directories and files are identified by inode, not by path: a rotation moves them while they are written, possibly
 * during the search for them.
 *
 *   trace ─┬─ directory, directory, …      the archives; the last one is being written
 *          └─ stream ── file → file → …    one per directory, or several (--tracefile-size)
 */
struct followed_id {
	uint64_t device, inode;
	uint64_t born_ns; /* inode numbers are reused; 0: not supported by the file system */
};

struct followed_trace {
	struct live_trace *live;
	const struct followed_directory *last; /* its last archive, as of this look; NULL: all are gone */
	char *group;                           /* common to its directories */
	char *path;                            /* of the first one, when it was found */
	size_t len;                            /* of the metadata that was taken over */
	bool is_of_process;                    /* its session continues after its end */
	int64_t news_us;                       /* monotonic: when one of its files last grew */
	bool has_ended;                        /* the process: no more packets will come */
};

struct followed_directory {
	struct followed_id id;
	char *path;
	struct followed_trace *trace; /* NULL: its metadata is not readable yet */
	uint64_t metadata_bytes;      /* when it was last read */
	uint64_t written_ns;          /* last change of the metadata */
	int watch;                    /* on the metadata, -1: none */
	int64_t closed_us;            /* monotonic: when the writer closed the metadata, 0: it has not */
	uint64_t since_ns;            /* time of the records when it was found */
	int64_t found_us;             /* monotonic */
	unsigned absent;              /* walks since it was last seen */
};

struct followed_stream;

struct followed_file {
	struct followed_id id;
	char *path;
	struct followed_trace *trace;
	struct followed_stream *stream; /* NULL: not known yet, or done */
	struct followed_file *next;     /* of the same stream */
	int fd, index_fd;               /* -1: not open */
	uint64_t complete;              /* bytes that are whole packets */
	uint64_t read;                  /* of these, before an earlier file was found */
	uint64_t size;
	uint64_t since_ns; /* time of the records when it was found */
	uint64_t first;    /* start of its first packet, for the order */
	bool is_removed, is_done;
	unsigned absent; /* walks since it was last seen */
};

struct followed_stream {
	struct live_stream base;
	struct native_follow *follow;
	struct followed_file *file;            /* being read */
	int64_t undeclared_us;                 /* monotonic: when it met an undeclared event, 0: it has not */
	const struct native_trace *gave_up_by; /* metadata for which it waited in vain, or NULL */
};

/* The ends of packets that had been seen at a certain time. */
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
	GHashTable *visited;    /* &id of directories in this walk: links may form loops */
	int64_t walk_us;        /* time of the next walk */
	GQueue times;           /* struct followed_time *, within the patience */
	uint64_t newest_ns;     /* end of the newest packet seen */
	int64_t news_us;        /* time of the last change */
	int64_t reported_us;    /* time of the last message to the parent */
	int inotify_fd;
	bool has_looked;    /* since records were last written */
	bool is_incomplete; /* a directory has no readable metadata yet: an earlier file of any stream may follow */
	bool is_told_to_end;
	bool is_over;
	bool has_refused_trace; /* too many traces, which has been reported */
};

guint followed_id_hash(gconstpointer id);
gboolean followed_id_equal(gconstpointer a, gconstpointer b);

/* Reports that something cannot be read. */
void native_follow_note(struct followed_trace *t, const char *where, const char *why);

/* ---- follow_tree.c ---- */

/* Finds new files below the directory, and takes over metadata that has grown. false: the directory is gone. */
bool native_follow_walk(struct native_follow *f);

void followed_directory_free(gpointer directory);
void followed_trace_free(gpointer trace);

/* ---- follow_stream.c ---- */

/* Opens a newly found file. NULL: it cannot be opened. */
struct followed_file *followed_file_open(struct native_follow *f, struct followed_trace *t, const char *path,
					 const struct followed_id *id);
void followed_file_free(gpointer file);

/* Updates .complete and .size of the file, .newest_ns of f, and, once the file has a packet, its stream. */
void followed_file_look(struct native_follow *f, struct followed_file *file);

/* Whether the stream's file is gone, or that of a process that has ended, and has been read completely. */
bool followed_stream_is_gone(const struct followed_stream *s);

/* Ends the stream: it will have no more data. */
void followed_stream_end(struct followed_stream *s);

#endif
