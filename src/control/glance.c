/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/glance.h"

#include <glib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "control/daemon.h"

static bool has_program(const char *name)
{
	char *path = g_find_program_in_path(name);

	g_free(path);
	return path;
}

bool glance_has_tracer(const char *sysfs, const char *modules_dep)
{
	char *loaded = g_build_filename(sysfs, "module", "lttng_tracer", NULL), *text = NULL;
	bool found = g_file_test(loaded, G_FILE_TEST_IS_DIR);

	if (!found && g_file_get_contents(modules_dep, &text, NULL, NULL))
		found = strstr(text, "/lttng-tracer.ko");
	g_free(text);
	g_free(loaded);
	return found;
}

bool glance_can_trace(void)
{
	const char *daemon = g_getenv("LTTNG_SESSIOND_PATH");
	struct utsname kernel;
	char *modules_dep;
	bool can;

	if (!daemon_is_of_root() || uname(&kernel) || !has_program("lttng-relayd") ||
	    (geteuid() == 0 && !has_program(daemon ? daemon : "lttng-sessiond")))
		return false;
	modules_dep = g_build_filename("/lib/modules", kernel.release, "modules.dep", NULL);
	can = glance_has_tracer("/sys", modules_dep);
	g_free(modules_dep);
	return can;
}
