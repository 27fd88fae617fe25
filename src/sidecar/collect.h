/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_COLLECT_H
#define LT_SIDECAR_COLLECT_H

/* Inside sidecar/: data about machines, as the JSON of side-cars. All objects returned belong to the caller. */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "sidecar/write.h"

/* ---- collect.c, processes.c: this machine, now ---- */

json_t *sidecar_collect(const struct sidecar_about *about);

/* Its name only. */
json_t *sidecar_collect_host(void);

/*
 * Sets in root: the processes of this machine, without kernel threads, their users and groups, and the cgroups of their
 * namespaces. Users already in root are kept. known, if not NULL: processes in it are left out, unless they are so
 * young that they may have executed another program since.
 */
struct sidecar;
void sidecar_collect_processes(json_t *root, const struct sidecar_about *about, const struct sidecar *known);

/* ---- sidecar.c: adding to a side-car in memory ---- */

void sidecar_add(struct sidecar *s, const json_t *root);
unsigned sidecar_process_count(const struct sidecar *s);
void sidecar_forget_processes(struct sidecar *s);

/* ---- listing.c: another machine, from the output of the script there ---- */

json_t *sidecar_parse_listing(const char *text, size_t len);

/* ---- split.c: a side-car in parts, for events ---- */

enum { SIDECAR_PART_BYTES = 3500 }; /* with its prefix less than TEXT_MAX, at which events are cut */

/* text: an object as one line of JSON, at most SIDECAR_PART_BYTES long; borrowed. */
typedef void sidecar_part_fn(const char *text, void *data);

void sidecar_split(const json_t *root, sidecar_part_fn *emit, void *data);

/* ---- json.c: building it ---- */

/* The sanitised text, truncated to max bytes; its NUL bytes become blanks. NULL: it is empty. */
json_t *sidecar_text(const char *text, size_t len, size_t max);

/* o[key] = the text; does nothing if it is empty. */
void sidecar_put_text(json_t *o, const char *key, const char *text);

/* o["number"] = the text. */
void sidecar_put_name(json_t *o, int64_t number, const char *name);

/* symbols["name"] = the address in hexadecimal. */
void sidecar_put_symbol(json_t *symbols, const char *name, uint64_t address);

/*
 * mounts["directory"] = "type source", from a line of /proc/PID/mountinfo, if the file system is on the network or its
 * directory is inside one that is in mounts.
 */
void sidecar_put_mount(json_t *mounts, const char *line);

/* The inode in the text of a link in /proc/PID/ns, "pid:[4026531836]"; 0: it is something else. */
uint64_t sidecar_inode(const char *link);

/*
 * cgroups["inode"] = the cgroup path of a process in a namespace; link is the text of its link in /proc/PID/ns. Does
 * nothing if the namespace is the machine's own or already known, or the path is NULL.
 */
void sidecar_put_namespace(json_t *cgroups, const char *link, const char *cgroup);

/*
 * Adds to newer everything that only older has: fields, names, processes that are gone. older is borrowed, newer is
 * changed.
 */
void sidecar_merge(json_t *newer, const json_t *older);

#endif
