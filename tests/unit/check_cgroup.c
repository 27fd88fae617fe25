/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of containers in cgroup paths. */
#include "unit.h"

#include <glib.h>
#include <string.h>

#include "sidecar/cgroup.h"

#define ID "3f4e5d6c7b8a9f0e1d2c3b4a5f6e7d8c9b0a1f2e3d4c5b6a7f8e9d0c1b2a3f4e"
#define ID2 "0123456789ab9f0e1d2c3b4a5f6e7d8c9b0a1f2e3d4c5b6a7f8e9d0c1b2a3f4e"

START_TEST(test_names)
{
	static const char *const known[][2] = {
		{ "/system.slice/docker-" ID ".scope", "docker:3f4e5d6c7b8a" },
		{ "/docker/" ID, "docker:3f4e5d6c7b8a" },
		{ "/docker/" ID "/system.slice/nginx.service", "docker:3f4e5d6c7b8a" },
		{ "/docker/" ID "/docker/" ID2, "docker:0123456789ab" },
		{ "/machine.slice/libpod-" ID ".scope/container", "podman:3f4e5d6c7b8a" },
		{ "/libpod_parent/libpod-" ID, "podman:3f4e5d6c7b8a" },
		{ "/machine.slice/machine-libpod_pod_" ID2 ".slice/libpod-" ID ".scope", "podman:3f4e5d6c7b8a" },
		{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
		  "podman:3f4e5d6c7b8a" },
		{ "/lxc/web", "lxc:web" },
		{ "/lxc.payload.web/init.scope", "lxc:web" },
		{ "/lxc.payload/db-1", "lxc:db-1" },
		{ "/machine.slice/systemd-nspawn@web.service/payload", "machine:web" },
		{ "/machine.slice/machine-web\\x2d1.scope", "machine:web-1" },
		{ "/kubepods/burstable/pod1b2c3d4e-aaaa-bbbb-cccc-0123456789ab/" ID, "k8s:1b2c3d4e:3f4e5d6c7b8a" },
		{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b2c3d4e_aaaa_bbbb_cccc_0123456789ab"
		  ".slice/cri-containerd-" ID ".scope",
		  "k8s:1b2c3d4e:3f4e5d6c7b8a" },
		{ "/kubepods.slice/kubepods-pod1b2c3d4e_aaaa_bbbb_cccc_0123456789ab.slice/crio-" ID ".scope",
		  "k8s:1b2c3d4e:3f4e5d6c7b8a" },
		{ "/docker/" ID2 "/kubelet/kubepods/pod1b2c3d4e-aaaa-bbbb-cccc-0123456789ab/" ID,
		  "k8s:1b2c3d4e:3f4e5d6c7b8a" },
		{ "/system.slice/cri-containerd-" ID ".scope", "cri:3f4e5d6c7b8a" },
		{ "/system.slice/containerd.service/kubepods-burstable-pod1b2c3d4e_aaaa_bbbb_cccc_0123456789ab.slice:"
		  "cri-containerd:" ID,
		  "k8s:1b2c3d4e:3f4e5d6c7b8a" },
		{ "/kubepods-pod1b2c3d4e_aaaa_bbbb_cccc_0123456789ab.slice:cri-containerd:" ID,
		  "k8s:1b2c3d4e:3f4e5d6c7b8a" },
		{ "/system.slice/docker.service/system.slice:docker:" ID, "docker:3f4e5d6c7b8a" },
		{ "/user.slice:libpod:" ID, "podman:3f4e5d6c7b8a" },
		{ "/system.slice/web.service/libpod-payload-" ID, "podman:3f4e5d6c7b8a" },
		{ "/system.slice/nginx.service", "nginx.service" },
		{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service" },
	};
	char name[128];

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
		ck_assert_msg(cgroup_container_name(known[i][0], name, sizeof(name)), "%s has no name", known[i][0]);
		ck_assert_str_eq(name, known[i][1]);
	}
}
END_TEST

START_TEST(test_none)
{
	static const char *const paths[] = {
		"",
		"/",
		"////",
		"/init.scope",
		"/user.slice/user-0.slice/session-3.scope",
		"/user.slice/user-1000.slice/user@1000.service/app.slice",
		"/machine.slice",
		"/docker",
		"/lxc",
		"/kubepods.slice/kubepods-burstable.slice",
		"/docker-xyz.scope",
		"/.service",
		"/docker-.scope",
		"/machine.slice/libpod-conmon-" ID ".scope",
		"/lxc.monitor.web",
		"/system.slice:docker:xyz",
		"/system.slice:" ID,
		"/user.slice:other:" ID,
		"/::" ID,
		"pod",
	};
	char name[128];

	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
		ck_assert_msg(!cgroup_container_name(paths[i], name, sizeof(name)), "%s is '%s'", paths[i], name);
}
END_TEST

#define LINES "12:pids:/pods/a\n2:cpu,cpuacct:/docker/" ID "\n"

/* systemd's hierarchy first: runc and docker on cgroup v1 leave the unified one where the daemon is. */
START_TEST(test_path)
{
	static const char *const cases[][2] = {
		{ LINES "1:name=systemd:/docker/" ID2 "\n0::/system.slice/containerd.service\n", "/docker/" ID2 },
		{ LINES "1:name=systemd:/\n0::/system.slice/a.service\n", "/system.slice/a.service" },
		{ "0::/system.slice/a:name=systemd:/b.service\n", "/system.slice/a:name=systemd:/b.service" },
		{ "0::/a", "/a" },
		{ LINES "1:name=systemd:/\n0::/\n", "/docker/" ID },
		{ LINES "1:pids:/\n", "/docker/" ID },
		{ "1:name=systemd:/\n", "/" },
		{ "0::/\n", "/" },
		{ "0::/../b\n", "/../b" },
		{ "2:cpu:/\n", NULL },
		{ "0:\n", NULL },
		{ "\n::\n", "" },
		{ "", NULL },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *text = g_strdup(cases[i][0]);

		ck_assert_msg(g_strcmp0(cgroup_path(text), cases[i][1]) == 0, "%s", cases[i][0]);
		g_free(text);
	}
}
END_TEST

/* Whatever the path, the name fits and is valid text. */
START_TEST(test_hostile)
{
	GString *path = g_string_new("/lxc/");
	char name[32];

	for (int i = 0; i < 5000; i++)
		g_string_append(path, "\xc3\xa4");
	ck_assert(cgroup_container_name(path->str, name, sizeof(name)));
	ck_assert_uint_lt(strlen(name), sizeof(name));
	ck_assert(g_utf8_validate(name, -1, NULL));
	g_string_assign(path, "");
	for (int i = 0; i < 5000; i++)
		g_string_append(path, "/docker/x\x1b[31m");
	ck_assert(cgroup_container_name(path->str, name, sizeof(name)));
	ck_assert_ptr_null(strchr(name, 0x1b));
	g_string_free(path, TRUE);
}
END_TEST

UNIT_MAIN("cgroup", test_names, test_none, test_path, test_hostile)
