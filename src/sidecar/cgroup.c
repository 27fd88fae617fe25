/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sidecar/cgroup.h"

#include <glib.h>
#include <string.h>

#include "base/text.h"

enum { ID_SHOWN = 12, ID_LEAST = 12, POD_SHOWN = 8 };

/* A systemd unit or a group of another manager: the prefix, then the container's ID in hexadecimal digits. */
static const struct {
	const char *prefix, *maker;
} id_prefixes[] = {
	{ "docker-", "docker" }, { "libpod-", "podman" },   { "cri-containerd-", "cri" },
	{ "crio-", "crio" },     { "nerdctl-", "nerdctl" }, { "libpod-payload-", "podman" },
};

/* The same, followed by a name. */
static const struct {
	const char *prefix, *maker;
} name_prefixes[] = {
	{ "lxc.payload.", "lxc" },
	{ "machine-", "machine" },
	{ "systemd-nspawn@", "machine" },
};

/* Groups whose children are all containers. */
static const struct {
	const char *group, *maker;
} parents[] = {
	{ "docker", "docker" },
	{ "libpod_parent", "podman" },
	{ "lxc", "lxc" },
	{ "lxc.payload", "lxc" },
};

/* A component of a path, without the suffix of systemd's units. */
struct component {
	const char *text;
	size_t len;
};

static struct component without_suffix(struct component c)
{
	static const char *const suffixes[] = { ".scope", ".service", ".slice" };

	for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		const size_t len = strlen(suffixes[i]);

		if (c.len > len && memcmp(c.text + c.len - len, suffixes[i], len) == 0)
			return (struct component){ c.text, c.len - len };
	}
	return c;
}

static bool equals(struct component c, const char *text)
{
	return c.len == strlen(text) && memcmp(c.text, text, c.len) == 0;
}

/* Skips the prefix. */
static bool skip(struct component *c, const char *prefix)
{
	const size_t len = strlen(prefix);

	if (c->len <= len || memcmp(c->text, prefix, len) != 0)
		return false;
	c->text += len;
	c->len -= len;
	return true;
}

static bool is_id(struct component c)
{
	for (size_t i = 0; i < c.len; i++)
		if (!g_ascii_isxdigit(c.text[i]))
			return false;
	return c.len >= ID_LEAST;
}

static void set_id(GString *name, const char *maker, const GString *pod, struct component id)
{
	if (pod->len)
		g_string_printf(name, "k8s:%s:%.*s", pod->str, ID_SHOWN, id.text);
	else
		g_string_printf(name, "%s:%.*s", maker, ID_SHOWN, id.text);
}

/* systemd writes characters that are not allowed in a unit's name as \xNN. */
static void set_name(GString *name, const char *maker, struct component c)
{
	g_string_printf(name, "%s:", maker);
	for (size_t i = 0; i < c.len; i++) {
		if (c.len - i >= 4 && memcmp(c.text + i, "\\x2d", 4) == 0) {
			g_string_append_c(name, '-');
			i += 3;
		} else {
			g_string_append_c(name, c.text[i]);
		}
	}
}

/* "pod1b2c3d4e-…" or, as a slice, "kubepods-burstable-pod1b2c3d4e_…". */
static bool find_pod(GString *pod, struct component c)
{
	const char *at = g_strrstr_len(c.text, (gssize)c.len, "pod");
	struct component uid;

	if (!at || (at != c.text && at[-1] != '-'))
		return false;
	uid = (struct component){ at + 3, c.len - (size_t)(at + 3 - c.text) };
	for (size_t i = 0; i < uid.len; i++)
		if (!g_ascii_isxdigit(uid.text[i]) && uid.text[i] != '-' && uid.text[i] != '_')
			return false;
	if (uid.len < POD_SHOWN)
		return false;
	g_string_printf(pod, "%.*s", POD_SHOWN, uid.text);
	return true;
}

static bool find_in(GString *name, const GString *pod, struct component before, struct component unit)
{
	const struct component c = without_suffix(unit);
	struct component rest;

	for (size_t i = 0; i < G_N_ELEMENTS(id_prefixes); i++) {
		rest = c;
		if (skip(&rest, id_prefixes[i].prefix) && is_id(rest)) {
			set_id(name, id_prefixes[i].maker, pod, rest);
			return true;
		}
	}
	for (size_t i = 0; i < G_N_ELEMENTS(name_prefixes); i++) {
		rest = c;
		if (skip(&rest, name_prefixes[i].prefix)) {
			set_name(name, name_prefixes[i].maker, rest);
			return true;
		}
	}
	for (size_t i = 0; i < G_N_ELEMENTS(parents); i++) {
		if (!equals(before, parents[i].group))
			continue;
		if (is_id(c))
			set_id(name, parents[i].maker, pod, c);
		else
			set_name(name, parents[i].maker, unit);
		return true;
	}
	if (!pod->len || !is_id(c))
		return false;
	set_id(name, "k8s", pod, c);
	return true;
}

/*
 * The path that runc makes of "SLICE:MANAGER:ID" if its manager writes systemd's notation, but it does not use systemd.
 */
static bool find_in_parts(GString *name, GString *pod, struct component c)
{
	const char *manager = memchr(c.text, ':', c.len), *end = c.text + c.len;
	const char *id = manager ? memchr(manager + 1, ':', (size_t)(end - manager - 1)) : NULL;
	struct component rest;

	if (!id)
		return false;
	rest = (struct component){ id + 1, (size_t)(end - id - 1) };
	if (!is_id(rest))
		return false;
	find_pod(pod, without_suffix((struct component){ c.text, (size_t)(manager - c.text) }));
	for (size_t i = 0; i < G_N_ELEMENTS(id_prefixes); i++) {
		const size_t len = strlen(id_prefixes[i].prefix) - 1; /* without '-' */

		if (len != (size_t)(id - manager - 1) || memcmp(manager + 1, id_prefixes[i].prefix, len) != 0)
			continue;
		set_id(name, id_prefixes[i].maker, pod, rest);
		return true;
	}
	return false;
}

/* Whether it is a service, which is identified by its name; a user's session is not one. */
static bool is_service(struct component c)
{
	return c.len > strlen(".service") && without_suffix(c).len + strlen(".service") == c.len &&
	       !g_str_has_prefix(c.text, "user@");
}

/* How well a line describes where the process is. */
enum line_rank { NOT_AT_ALL, AT_ROOT, OF_CONTROLLER, UNIFIED, OF_SYSTEMD };

static enum line_rank rank_of(const char *controllers, const char *path)
{
	const bool of_controller = *controllers && strcmp(controllers, "name=systemd") != 0;

	if (strcmp(path, "/") == 0)
		return of_controller ? NOT_AT_ALL : AT_ROOT;
	return of_controller ? OF_CONTROLLER : *controllers ? OF_SYSTEMD : UNIFIED;
}

const char *cgroup_path(char *text)
{
	const char *found = NULL;
	enum line_rank best = AT_ROOT, rank;

	for (char *line = text, *next; line; line = next) {
		char *controllers, *path;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		controllers = strchr(line, ':');
		path = controllers ? strchr(++controllers, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		rank = rank_of(controllers, path);
		if (rank >= best) {
			best = rank;
			found = path;
		}
	}
	return found;
}

bool cgroup_container_name(const char *path, char *name, size_t size)
{
	GString *found = g_string_new(NULL), *pod = g_string_new(NULL);
	struct component before = { "", 0 }, service = { NULL, 0 };
	bool any = false;

	for (const char *p = path; *p;) {
		const struct component c = { p, strcspn(p, "/") };

		if (c.len) {
			any |= find_in_parts(found, pod, c) || find_in(found, pod, before, c);
			find_pod(pod, without_suffix(c));
			if (is_service(c))
				service = c;
			before = c;
		}
		p += c.len;
		p += *p == '/';
	}
	if (!any && service.text)
		g_string_append_len(found, service.text, (gssize)service.len);
	text_sanitise(name, size, found->str, found->len);
	any |= service.text != NULL;
	g_string_free(found, TRUE);
	g_string_free(pod, TRUE);
	return any;
}
