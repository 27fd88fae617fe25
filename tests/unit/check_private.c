/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "control/private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "control/private_notes.h"
#include "unit.h"

enum { NOBODY = 65534 };

/* The directory of all runs, and what the next flock() does before, or instead of, locking. */
static char *runtime, *base, *base_lock;
static bool replaces_base, fails_to_wait;

/* Instead of the C library's, in this program. */
int flock(int fd, int how)
{
	if (replaces_base) {
		replaces_base = false;
		ck_assert_int_eq(unlink(base_lock), 0);
		ck_assert_int_eq(rmdir(base), 0);
		ck_assert_int_eq(mkdir(base, 0700), 0);
		close(open(base_lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	}
	if (fails_to_wait && !(how & LOCK_NB)) {
		errno = ENOLCK;
		return -1;
	}
	return (int)syscall(SYS_flock, fd, how);
}

/* As a user, because root's directory is one that others may use now; in /tmp, which that user can reach. */
static void setup(void)
{
	runtime = g_mkdtemp(g_strdup("/tmp/private-XXXXXX"));
	ck_assert_ptr_nonnull(runtime);
	if (geteuid() == 0) {
		ck_assert_int_eq(chown(runtime, NOBODY, NOBODY), 0);
		ck_assert_int_eq(setreuid(NOBODY, NOBODY), 0);
	}
	g_setenv("XDG_RUNTIME_DIR", runtime, true);
	base = g_build_filename(runtime, "lttngtop", NULL);
	base_lock = g_build_filename(base, "lock", NULL);
}

static void teardown(void)
{
	ck_assert_int_eq(rmdir(runtime), 0);
	g_free(runtime);
	g_free(base);
	g_free(base_lock);
}

static bool is_locked(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	bool locked;

	ck_assert_int_ge(fd, 0);
	locked = flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
	close(fd);
	return locked;
}

START_TEST(a_run_holds_its_locks)
{
	struct private_run run;
	char *lock;

	ck_assert_int_eq(private_open(&run, getpid()), LT_OK);
	lock = g_build_filename(run.dir, "lock", NULL);
	ck_assert(is_locked(base_lock));
	ck_assert(is_locked(lock));
	private_settle(&run);
	ck_assert(!is_locked(base_lock));
	ck_assert(is_locked(lock));
	private_close(&run);
	ck_assert_int_ne(g_access(base, F_OK), 0);
	g_free(lock);
}
END_TEST

/* After this run has opened the lock, the last one removes the directory and another one makes it again. */
START_TEST(a_replaced_lock_is_not_held)
{
	struct private_run run;

	replaces_base = true;
	ck_assert_int_eq(private_open(&run, getpid()), LT_OK);
	ck_assert(!replaces_base);
	ck_assert(is_locked(base_lock));
	private_close(&run);
}
END_TEST

/* Without it, the next run would remove this one as that of a dead process. */
START_TEST(no_run_without_its_lock)
{
	struct private_run run;
	char *dir = g_strdup_printf("%s/%d", base, (int)getpid());

	fails_to_wait = true;
	ck_assert_int_eq(private_open(&run, getpid()), LT_ERROR);
	ck_assert_ptr_nonnull(strstr(error_text(), "cannot lock"));
	ck_assert_int_ne(g_access(dir, F_OK), 0);
	private_close(&run);
	ck_assert_int_ne(g_access(base, F_OK), 0);
	g_free(dir);
}
END_TEST

/* What a dead run has noted of its session, without a daemon that it could be asked of, does not stay for ever. */
START_TEST(a_session_without_its_daemon_is_forgotten)
{
	char *dir = g_build_filename(base, "1", NULL), *note = g_build_filename(dir, "session", NULL);
	struct private_run run;

	ck_assert_int_eq(g_mkdir_with_parents(dir, 0700), 0);
	ck_assert(g_file_set_contents(note, "lttngtop-local-1", -1, NULL));
	ck_assert_int_eq(private_open(&run, getpid()), LT_OK);
	ck_assert_int_ne(g_access(dir, F_OK), 0);
	private_close(&run);
	ck_assert_int_ne(g_access(base, F_OK), 0);
	g_free(note);
	g_free(dir);
}
END_TEST

static void expect_process(const char *text, bool is_one, pid_t pid, guint64 started)
{
	const char *at = text;
	pid_t found;
	guint64 at_ticks;

	ck_assert_int_eq(noted_parse(&at, &found, &at_ticks), is_one);
	if (!is_one)
		return;
	ck_assert_int_eq(found, pid);
	ck_assert_uint_eq(at_ticks, started);
	ck_assert_ptr_eq(at, strchr(text, '\n') + 1);
}

/* A note that was cut, or is something else, names no process: not init, no group, and not by the next number. */
START_TEST(a_note_is_a_whole_line)
{
	expect_process("12 34\n56 78\n", true, 12, 34);
	expect_process("12\n56 78\n", true, 12, 0);
	expect_process("12 34", false, 0, 0);
	expect_process("12 \n34\n", false, 0, 0);
	expect_process("12x\n", false, 0, 0);
	expect_process("1 5\n", false, 0, 0);
	expect_process("0 5\n", false, 0, 0);
	expect_process("-12 5\n", false, 0, 0);
	expect_process("4294967308 5\n", false, 0, 0);
	expect_process("18446744073709551628 5\n", false, 0, 0);
	expect_process("", false, 0, 0);
}
END_TEST

UNIT_MAIN_AROUND("private", setup, teardown, a_run_holds_its_locks, a_replaced_lock_is_not_held,
		 no_run_without_its_lock, a_session_without_its_daemon_is_forgotten, a_note_is_a_whole_line)
