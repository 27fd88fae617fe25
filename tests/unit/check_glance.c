/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be learnt about a machine without starting a process. */
#include "unit.h"

#include <glib.h>
#include <glib/gstdio.h>

#include "control/glance.h"

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

UNIT_MAIN("glance", test_installed, test_loaded)
