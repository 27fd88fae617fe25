/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be learnt about a machine without starting a process. */
#include "unit.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/glance.h"

enum { NOBODY = 65534 };

static bool has_tracer(const char *modules_dep)
{
	bool found;

	ck_assert(g_file_set_contents("modules.dep", modules_dep, -1, NULL));
	found = glance_has_tracer("nowhere", "modules.dep");
	g_unlink("modules.dep");
	return found;
}

/* The places where distributions install it, and the ways they compress it. */
START_TEST(test_installed)
{
	ck_assert(has_tracer("kernel/a.ko:\nupdates/dkms/lttng-tracer.ko.xz: updates/dkms/lttng-clock.ko.xz\n"));
	ck_assert(has_tracer("extra/lttng/lttng-tracer.ko:\n"));
	ck_assert(!has_tracer("updates/dkms/lttng-clock.ko.xz:\nupdates/my-lttng-tracer.ko:\n"));
	ck_assert(!has_tracer(""));
	ck_assert(!glance_has_tracer("nowhere", "nothing"));
}
END_TEST

/* A loaded one may have been installed anywhere. */
START_TEST(test_loaded)
{
	ck_assert(!g_mkdir_with_parents("sys.d/module/lttng_tracer", 0777));
	ck_assert(glance_has_tracer("sys.d", "nothing"));
	g_rmdir("sys.d/module/lttng_tracer");
	ck_assert(!glance_has_tracer("sys.d", "nothing"));
	g_rmdir("sys.d/module");
	g_rmdir("sys.d");
}
END_TEST

/* Enters a machine with a tracer, on which root's session daemon runs. false: that is not possible here. */
static bool enter_machine(void)
{
	char *pid = g_strdup_printf("%d\n", (int)getpid());

	if (geteuid() || unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/run", "tmpfs", 0, NULL) || mount("none", "/sys/module", "tmpfs", 0, NULL)) {
		g_free(pid);
		return false;
	}
	umask(022);
	ck_assert(!g_mkdir("/run/lttng", 0755) && !g_mkdir("/sys/module/lttng_tracer", 0755));
	ck_assert(g_file_set_contents("/run/lttng/lttng-sessiond.pid", pid, -1, NULL));
	ck_assert(!g_chmod("/run/lttng/lttng-sessiond.pid", 0644));
	ck_assert(g_file_set_contents("/run/lttng-relayd", "", -1, NULL) && !g_chmod("/run/lttng-relayd", 0755));
	g_setenv("PATH", "/run", TRUE);
	g_free(pid);
	return true;
}

/* Besides root, members of group 'tracing' can trace while root's session daemon runs. */
START_TEST(test_user)
{
	const struct group *tracing = getgrnam("tracing");

	if (!tracing || !enter_machine()) {
		printf("skip test_user: no group 'tracing', or no namespaces\n");
		return;
	}
	ck_assert(!glance_can_trace()); /* root without a daemon to start */
	ck_assert(!setgroups(1, &tracing->gr_gid) && !setegid(NOBODY) && !seteuid(NOBODY));
	ck_assert(glance_can_trace());
	ck_assert(!seteuid(0) && !setgroups(0, NULL) && !seteuid(NOBODY));
	ck_assert(!glance_can_trace());
	ck_assert(!seteuid(0) && !setgroups(1, &tracing->gr_gid) && !g_unlink("/run/lttng/lttng-sessiond.pid") &&
		  !seteuid(NOBODY));
	ck_assert(!glance_can_trace());
	ck_assert(!seteuid(0) && !setegid(0)); /* sanitizers look at the process as it ends */
}
END_TEST

UNIT_MAIN("glance", test_installed, test_loaded, test_user)
