/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The side-car of a live host that is this machine: it need not be written to a file. */
#include <glib.h>
#include <string.h>

#include "sidecar/collect.h"
#include "sidecar/sidecar.h"

/* The initial PID namespace, the same on every machine. */
#define FIRST_PID_NS 4026531836

/* 0: not known. */
static uint64_t own_pid_ns(void)
{
	char *link = g_file_read_link("/proc/self/ns/pid", NULL);
	const uint64_t inode = link ? sidecar_inode(link) : 0;

	g_free(link);
	return inode;
}

uint64_t sidecar_pid_ns(void)
{
	const uint64_t inode = own_pid_ns();

	return inode == FIRST_PID_NS ? 0 : inode;
}

bool sidecar_is_own(const char *clock)
{
	char *boot_id = NULL;
	bool own = false;

	if (g_file_get_contents("/proc/sys/kernel/random/boot_id", &boot_id, NULL, NULL))
		own = g_ascii_strcasecmp(g_strchomp(boot_id), clock) == 0 && own_pid_ns() == FIRST_PID_NS;
	g_free(boot_id);
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
