/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The side-car of a live host that is this machine: it need not be written to a file. */
#include <glib.h>
#include <string.h>

#include "sidecar/collect.h"
#include "sidecar/sidecar.h"

/* The initial PID namespace, the same on every machine. */
#define FIRST_PID_NS "pid:[4026531836]"

bool sidecar_is_own(const char *clock)
{
	char *pid_ns = g_file_read_link("/proc/self/ns/pid", NULL), *boot_id = NULL;
	bool own = false;

	if (g_file_get_contents("/proc/sys/kernel/random/boot_id", &boot_id, NULL, NULL))
		own = g_ascii_strcasecmp(g_strchomp(boot_id), clock) == 0 && g_strcmp0(pid_ns, FIRST_PID_NS) == 0;
	g_free(boot_id);
	g_free(pid_ns);
	return own;
}

void sidecar_refresh(struct sidecar *s)
{
	json_t *root;

	if (!sidecar_facts(s).kernel) {
		root = sidecar_collect(NULL);
	} else {
		if (sidecar_process_count(s) > SIDECAR_PROCESSES_MAX / 2)
			sidecar_forget_processes(s);
		root = json_object();
		sidecar_collect_processes(root, NULL, s);
	}
	sidecar_add(s, root);
	json_decref(root);
}
