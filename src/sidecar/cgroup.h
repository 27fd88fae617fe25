/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_CGROUP_H
#define LT_SIDECAR_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The container of a process, from the path of its cgroup (sidecar_process.cgroup), which container managers name after
 * the container:
 *
 *   /system.slice/docker-3f4e5d6c7b8a….scope                   docker:3f4e5d6c7b8a
 *   /machine.slice/libpod-3f4e5d6c7b8a….scope/container        podman:3f4e5d6c7b8a
 *   /lxc.payload.web/init.scope                                lxc:web
 *   /kubepods/burstable/pod1b2c3d4e-…/3f4e5d6c7b8a…            k8s:1b2c3d4e:3f4e5d6c7b8a   pod and container
 *   /machine.slice/systemd-nspawn@web.service/payload          machine:web
 *   /system.slice/nginx.service                                nginx.service
 *
 * Of nested containers it is the innermost one. Writes its name, truncated to size; false: the path does not name a
 * container.
 */
bool cgroup_container_name(const char *path, char *name, size_t size);

#endif
