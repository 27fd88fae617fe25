/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_SIDECAR_CGROUP_H
#define LT_SIDECAR_CGROUP_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The path of a process's cgroup, from the text of /proc/PID/cgroup, which is changed: of systemd's hierarchy, of the
 * unified one if that is "/", and otherwise of any controller's. Where there are several, the unified one may know only
 * the service that started the container. NULL: there is none.
 */
const char *cgroup_path(char *text);

/*
 * The container of a process, from the path of its cgroup (sidecar_process.cgroup), which container managers name after
 * the container:
 *
 *   /system.slice/docker-3f4e5d6c7b8a….scope                   docker:3f4e5d6c7b8a
 *   /machine.slice/libpod-3f4e5d6c7b8a….scope/container        podman:3f4e5d6c7b8a
 *   /lxc.payload.web/init.scope                                lxc:web
 *   /kubepods/burstable/pod1b2c3d4e-…/3f4e5d6c7b8a…            k8s:1b2c3d4e:3f4e5d6c7b8a   pod and container
 *   /kubepods-pod1b2c3d4e_….slice:cri-containerd:3f4e…         k8s:1b2c3d4e:3f4e5d6c7b8a   slice, manager and container
 *   /machine.slice/systemd-nspawn@web.service/payload          machine:web
 *   /system.slice/nginx.service                                nginx.service
 *
 * Of nested containers it is the innermost one. Writes its name, truncated to size; false: the path does not name a
 * container.
 */
bool cgroup_container_name(const char *path, char *name, size_t size);

#endif
