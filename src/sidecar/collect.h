/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_COLLECT_H
#define LT_SIDECAR_COLLECT_H

/* Inside sidecar/: what is known of machines, as the JSON of side-cars. All objects returned are the caller's. */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "sidecar/write.h"

/* ---- collect.c, processes.c: this machine, now ---- */

json_t *sidecar_collect(const struct sidecar_about *about);

/* Only its name. */
json_t *sidecar_collect_host(void);

/*
 * Sets in root: its processes, without the kernel's, their users, groups and the cgroups of their namespaces. Users
 * that root has stay. known, if not NULL: without those that it has, unless they are so young that they may have
 * become another program since.
 */
struct sidecar;
void sidecar_collect_processes(json_t *root, const struct sidecar_about *about, const struct sidecar *known);

/* ---- sidecar.c: adding to one from memory ---- */

void sidecar_add(struct sidecar *s, const json_t *root);
unsigned sidecar_process_count(const struct sidecar *s);
void sidecar_forget_processes(struct sidecar *s);

/* ---- listing.c: another one, from what the script printed there ---- */

json_t *sidecar_parse_listing(const char *text, size_t len);

/* ---- split.c: in parts, for events ---- */

enum { SIDECAR_PART_BYTES = 3500 }; /* with what stands before it less than TEXT_MAX, of which an event is cut */

/* text: an object as one line of JSON, of at most SIDECAR_PART_BYTES, borrowed. */
typedef void sidecar_part_fn(const char *text, void *data);

void sidecar_split(const json_t *root, sidecar_part_fn *emit, void *data);

/* ---- json.c: making it ---- */

/* The sanitised text, cut at max bytes; NUL bytes in it become blanks. NULL: it is empty. */
json_t *sidecar_text(const char *text, size_t len, size_t max);

/* o[key] = the text; nothing where it is empty. */
void sidecar_put_text(json_t *o, const char *key, const char *text);

/* o["number"] = the text. */
void sidecar_put_name(json_t *o, int64_t number, const char *name);

/* symbols["name"] = the address, in hexadecimal. */
void sidecar_put_symbol(json_t *symbols, const char *name, uint64_t address);

/*
 * mounts["directory"] = "type source" of a line of /proc/PID/mountinfo, if the file system is on the network, or the
 * directory below one in mounts.
 */
void sidecar_put_mount(json_t *mounts, const char *line);

/*
 * cgroups["inode"] = the path of the cgroup of a process in a namespace: link is what its link in /proc/PID/ns says.
 * Nothing where it is the machine's own namespace, or the path is NULL or the namespace known.
 */
void sidecar_put_namespace(json_t *cgroups, const char *link, const char *cgroup);

/*
 * What is newer, and from what is older all that it lacks: fields, names, processes that are gone. The older one is
 * borrowed, the newer one is changed.
 */
void sidecar_merge(json_t *newer, const json_t *older);

#endif
