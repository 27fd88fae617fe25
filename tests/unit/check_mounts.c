/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of network file systems: by mount calls, by mounts from side-cars, by working directories. */
#include "files.h"

#include <stdio.h>
#include <sys/mount.h>

#include "base/netfs.h"
#include "model/look.h"
#include "model/mounts.h"

static void begin_mount(struct events *e, int64_t tid, const char *source, const char *dir, const char *type,
			uint64_t flags)
{
	struct record r;
	struct ev_mount p = { .flags = flags };

	record_init(&r, now += 10, cpu_of(e, tid), tid, EVENT_MOUNT_ENTRY);
	p.source = str(&r, source);
	p.directory = str(&r, dir);
	p.type = str(&r, type);
	events_call(e, &r, "syscall_entry_", "mount", &p, sizeof(p));
}

static void mount_to(struct events *e, int64_t tid, const char *source, const char *dir, const char *type,
		     uint64_t flags)
{
	begin_mount(e, tid, source, dir, type, flags);
	EXIT(e, tid, "mount", .ret = 0);
}

#define UMOUNT(e, tid, dir) CALL(e, tid, "umount", 0, .path = str(&rec, dir))
#define CHDIR(e, tid, dir) CALL(e, tid, "chdir", 0, .path = str(&rec, dir))

/* The kind of a file that is opened now. */
static const char *kind_of(struct events *e, int64_t tid, const char *name)
{
	OPEN(e, tid, name, 40, .flags = 0);
	return kind(e, tid, 40);
}

static const char *server_of(struct events *e, int64_t tid, const char *name)
{
	OPEN(e, tid, name, 40, .flags = 0);
	return strpool_text((strid)file(e, tid, 40)->peer);
}

START_TEST(test_servers)
{
	static const struct {
		const char *type, *source, *server;
	} cases[] = {
		{ "cifs", "//10.0.0.1/share/dir", "10.0.0.1" },
		{ "cifs", "//fs.example.org", "fs.example.org" },
		{ "cifs", "\\\\fs\\share", "fs" },
		{ "nfs4", "10.0.0.1:/export", "10.0.0.1" },
		{ "nfs", "[fe80::1]:/export", "fe80::1" },
		{ "nfs", "[fe80::1", "" },
		{ "ceph", "10.0.0.1,10.0.0.2:/", "10.0.0.1,10.0.0.2" },
		{ "fuse.sshfs", "eva@10.0.0.1:docs", "10.0.0.1" },
		{ "lustre", "10.0.0.1@tcp:/fs", "10.0.0.1" },
		{ "9p", "hostshare", "" },
		{ "9p", "/a:b", "" },
		{ "cifs", "", "" },
		{ "cifs", "/", "" },
		{ "cifs", "//", "" },
	};
	char server[32], small[16];

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		server[0] = '\0';
		ck_assert_uint_eq(netfs_server(cases[i].type, cases[i].source, server, sizeof(server)),
				  strlen(cases[i].server));
		ck_assert_str_eq(server, cases[i].server);
	}
	ck_assert_uint_eq(netfs_server("nfs", "a-server-of-a-long-name:/", small, sizeof(small)), 15);
	ck_assert_str_eq(small, "a-server-of-a-l");
	ck_assert(netfs_is_type("nfs") && netfs_is_type("nfs4") && netfs_is_type("fuse.davfs"));
	ck_assert(!netfs_is_type("nf") && !netfs_is_type("nfs|nfs4") && !netfs_is_type("") && !netfs_is_type("ext4"));
}
END_TEST

START_TEST(test_joined_paths)
{
	static const struct {
		const char *dir, *path, *joined;
	} cases[] = {
		{ "/a", "b", "/a/b" },      { "/a/", "/b//c/", "/b/c" },
		{ "/a/b", "../c", "/a/c" }, { "/a", "../../..", "/" },
		{ "/", ".", "/" },          { "/a", ".", "/a" },
		{ "/", "b", "/b" },         { "", "/./x/.../y", "/x/.../y" },
	};
	char joined[MOUNT_PATH_MAX], *longer = g_strnfill(MOUNT_PATH_MAX - 2, 'x');

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		ck_assert(mounts_join(joined, cases[i].dir, cases[i].path));
		ck_assert_str_eq(joined, cases[i].joined);
	}
	ck_assert(mounts_join(joined, "/", longer));
	ck_assert_uint_eq(strlen(joined), MOUNT_PATH_MAX - 1);
	ck_assert(!mounts_join(joined, "/a", longer));
	g_free(longer);
}
END_TEST

START_TEST(test_mounted_and_unmounted)
{
	struct events e;

	begin(&e);
	ck_assert_str_eq(kind_of(&e, TID, "/net/f"), "file");
	begin_mount(&e, TID, "//10.0.0.1/share", "/net/", "cifs", 0);
	EXIT(&e, TID, "mount", .ret = -EACCES);
	ck_assert_str_eq(kind_of(&e, TID, "/net/f"), "file");
	mount_to(&e, TID, "//10.0.0.1/share", "/net/", "cifs", 0);
	ck_assert_str_eq(kind_of(&e, TID, "/net/f"), "netfs");
	ck_assert_str_eq(kind_of(&e, TID, "//net"), "netfs");
	ck_assert_str_eq(server_of(&e, TID, "/net/f"), "10.0.0.1");
	ck_assert_str_eq(kind_of(&e, TID, "/network"), "file");
	ck_assert_str_eq(kind_of(&e, TID, "/proc/1/stat"), "pseudo");
	/* the options change; mounts below stay */
	mount_to(&e, TID, "none", "/net", "", MS_REMOUNT | MS_RDONLY);
	mount_to(&e, TID, "none", "/net", "", MS_PRIVATE);
	OPEN(&e, TID, "/net/open", 3);
	UMOUNT(&e, TID, "/net");
	ck_assert_str_eq(kind_of(&e, TID, "/net/f"), "file");
	ck_assert_str_eq(kind(&e, TID, 3), "netfs");
	CALL(&e, TID, "dup", 4, .fd = 3);
	ck_assert_str_eq(kind(&e, TID, 4), "netfs");
	CALL(&e, TID, "write", 100, .fd = 4);
	CALL(&e, TID, "read", 10, .fd = 3);
	ck_assert_uint_eq(events_thread(&e, TID)->write_netfs, 100);
	ck_assert_uint_eq(events_thread(&e, TID)->read_netfs, 10);
	ck_assert_uint_eq(events_thread(&e, TID)->write_disk + events_thread(&e, TID)->read_disk, 0);
	events_release(&e);
}
END_TEST

/* The newest mount hides those below it, and is moved or bound as a whole. */
START_TEST(test_mounts_in_each_other)
{
	struct events e;

	begin(&e);
	mount_to(&e, TID, "10.0.0.1:/a", "/net", "nfs4", 0);
	mount_to(&e, TID, "tmpfs", "/net/tmp", "tmpfs", 0);
	mount_to(&e, TID, "tmpfs", "/elsewhere", "tmpfs", 0);
	ck_assert_uint_eq(e.m->mounts->n, 2); /* mounts that hide nothing are not kept */
	ck_assert_str_eq(kind_of(&e, TID, "/net/tmp/f"), "file");
	ck_assert_str_eq(kind_of(&e, TID, "/net/f"), "netfs");
	mount_to(&e, TID, "10.0.0.2:/b", "/net", "nfs", 0);
	ck_assert_str_eq(server_of(&e, TID, "/net/tmp/f"), "10.0.0.2");
	UMOUNT(&e, TID, "/net");
	ck_assert_str_eq(kind_of(&e, TID, "/net/tmp/f"), "file");
	ck_assert_str_eq(server_of(&e, TID, "/net/f"), "10.0.0.1");
	mount_to(&e, TID, "/net/dir", "/srv", "", MS_BIND);
	ck_assert_str_eq(server_of(&e, TID, "/srv/f"), "10.0.0.1");
	mount_to(&e, TID, "/srv", "/moved", "", MS_MOVE);
	ck_assert_str_eq(kind_of(&e, TID, "/srv/f"), "file");
	ck_assert_str_eq(kind_of(&e, TID, "/moved/f"), "netfs");
	mount_to(&e, TID, "/home", "/moved/home", "", MS_BIND);
	ck_assert_str_eq(kind_of(&e, TID, "/moved/home/f"), "file");
	events_release(&e);
}
END_TEST

START_TEST(test_working_directories)
{
	struct events e;

	begin(&e);
	CHDIR(&e, TID, "relative"); /* to an unknown directory */
	ck_assert_str_eq(mounts_cwd(e.m, thread_find(e.m, TID), NULL), "");
	CHDIR(&e, TID, "/");
	ck_assert_str_eq(mounts_cwd(e.m, thread_find(e.m, TID), NULL), "/");
	CHDIR(&e, TID, "srv/../net");
	ck_assert_str_eq(mounts_cwd(e.m, thread_find(e.m, TID), NULL), "/net");
	/* as mount.cifs does it */
	mount_to(&e, TID, "//10.0.0.1/share", ".", "cifs", 0);
	ck_assert_str_eq(kind_of(&e, TID, "f"), "netfs");
	ck_assert_str_eq(server_of(&e, TID, "a/../f"), "10.0.0.1");
	ck_assert_str_eq(kind_of(&e, TID, "../f"), "file");
	/* a child starts in the same directory and is independent; threads share one */
	fork_to(&e, TID, CHILD, CHILD);
	fork_to(&e, TID, CHILD + 1, TID);
	ck_assert_str_eq(kind_of(&e, CHILD, "f"), "netfs");
	CHDIR(&e, CHILD, "/proc");
	ck_assert_str_eq(kind_of(&e, CHILD, "stat"), "pseudo");
	ck_assert_str_eq(kind_of(&e, TID, "f"), "netfs");
	CHDIR(&e, CHILD + 1, "/net/sub");
	ck_assert_str_eq(mounts_cwd(e.m, thread_find(e.m, TID), NULL), "/net/sub");
	/* by a descriptor, and relative to one */
	OPEN(&e, CHILD, "/", 50);
	CALL(&e, CHILD, "fchdir", 0, .fd = 50);
	ck_assert_str_eq(kind_of(&e, CHILD, "net/f"), "netfs");
	CALL(&e, CHILD, "openat", 51, .fd = 50, .path = str(&rec, "net"));
	ck_assert_str_eq(kind(&e, CHILD, 51), "netfs");
	CALL(&e, CHILD, "openat", 52, .fd = 51, .path = str(&rec, "f"));
	ck_assert_str_eq(kind(&e, CHILD, 52), "netfs");
	ck_assert_str_eq(strpool_text((strid)file(&e, CHILD, 52)->peer), "10.0.0.1");
	/* the root by any name */
	CHDIR(&e, CHILD, "/");
	OPEN(&e, CHILD, ".", 53);
	ck_assert_str_eq(path(&e, CHILD, 53), "/");
	CALL(&e, CHILD, "openat", 54, .fd = 51, .path = str(&rec, ".."));
	ck_assert_str_eq(path(&e, CHILD, 54), "/");
	for (int64_t fd = 53; fd <= 54; fd++) {
		CALL(&e, CHILD, "openat", 55, .fd = fd, .path = str(&rec, "proc"));
		ck_assert_str_eq(path(&e, CHILD, 55), "/proc");
		ck_assert_str_eq(kind(&e, CHILD, 55), "pseudo");
		CALL(&e, CHILD, "openat", 56, .fd = fd, .path = str(&rec, "net/f"));
		ck_assert_str_eq(kind(&e, CHILD, 56), "netfs");
	}
	/* away from the directory in which relative names are known */
	CALL(&e, CHILD, "fchdir", 0, .fd = 51);
	ck_assert_str_eq(mounts_cwd(e.m, thread_find(e.m, CHILD), NULL), "/net");
	events_release(&e);
}
END_TEST

/* A thread that is not the first of its process executes a program, whether the first was yet to be switched out. */
START_TEST(test_working_directory_after_exec)
{
	struct events e;

	for (unsigned seen = 0; seen < 2; seen++) {
		begin(&e);
		CHDIR(&e, TID, "/net");
		fork_to(&e, TID, CHILD, TID);
		EVENT(&e, now += 10, 0, TID, EXIT, task, .tid = TID);
		if (seen) {
			events_switch(&e, now += 10, 0, TID, 0x20, 0, "swapper/0");
			CHDIR(&e, CHILD, "/net");
		}
		EVENT(&e, now += 10, cpu_of(&e, CHILD), CHILD, EXEC, exec, .tid = TID, .old_tid = CHILD,
		      .filename = str(&rec, "/bin/cat"));
		ck_assert_str_eq(mounts_cwd(e.m, thread_find(e.m, TID), NULL), "/net");
		CHDIR(&e, TID, "sub");
		ck_assert_str_eq(mounts_cwd(e.m, thread_find(e.m, TID), NULL), "/net/sub");
		events_release(&e);
	}
}
END_TEST

/* The directory is known by its fd or as the working directory. */
START_TEST(test_relative_paths)
{
	char out[MOUNT_PATH_MAX], *deep = g_strnfill(MOUNT_PATH_MAX, 'd');
	struct events e;

	begin(&e);
	OPEN(&e, TID, "f", 3);
	ck_assert_str_eq(path(&e, TID, 3), "f");
	OPEN(&e, TID, "/data/site", 4);
	CALL(&e, TID, "openat", 5, .fd = 4, .path = str(&rec, "001"));
	ck_assert_str_eq(path(&e, TID, 5), "/data/site/001");
	CALL(&e, TID, "openat2", 6, .fd = 5, .path = str(&rec, "f0001.txt"));
	ck_assert_str_eq(path(&e, TID, 6), "/data/site/001/f0001.txt");
	CALL(&e, TID, "open_tree", 7, .fd = 5, .path = str(&rec, "sub"));
	ck_assert_str_eq(path(&e, TID, 7), "/data/site/001/sub");
	CALL(&e, TID, "openat", 8, .fd = 77, .path = str(&rec, "f"));
	ck_assert_str_eq(path(&e, TID, 8), "f");
	CALL(&e, TID, "openat", 8, .fd = 3, .path = str(&rec, "g"));
	ck_assert_str_eq(path(&e, TID, 8), "g");
	CALL(&e, TID, "openat", 8, .fd = 4, .path = str(&rec, "/etc/./g"));
	ck_assert_str_eq(path(&e, TID, 8), "/etc/./g");
	CALL(&e, TID, "openat", 8, .fd = 4, .path = str(&rec, deep));
	ck_assert_str_eq(path(&e, TID, 8), deep);
	CHDIR(&e, TID, "/srv");
	OPEN(&e, TID, "f", 9);
	ck_assert_str_eq(path(&e, TID, 9), "/srv/f");
	ck_assert(model_look_path(e.m, TID, 5, "f", out, sizeof(out)));
	ck_assert_str_eq(out, "/data/site/001/f");
	ck_assert(model_look_path(e.m, TID, AT_FDCWD, "f", out, sizeof(out)));
	ck_assert_str_eq(out, "/srv/f");
	OPEN(&e, TID, "/", 10);
	ck_assert(model_look_path(e.m, TID, 10, ".", out, sizeof(out)));
	ck_assert_str_eq(out, "/");
	ck_assert(!model_look_path(e.m, TID, 5, "f", out, strlen("/data/site/001/f")));
	ck_assert(!model_look_path(e.m, TID, 5, "/f", out, sizeof(out)));
	ck_assert(!model_look_path(e.m, TID, 77, "f", out, sizeof(out)));
	ck_assert(!model_look_path(e.m, 99, AT_FDCWD, "f", out, sizeof(out)));
	events_release(&e);
	g_free(deep);
}
END_TEST

/* A side-car has mounts from before the recording, and later ones. */
START_TEST(test_told)
{
	struct events e;

	begin(&e);
	DUMP_FD(&e, 0, 3, 0, 0, "/early/f");
	OPEN(&e, TID, "/net/f", 4);
	fork_to(&e, TID, CHILD, CHILD);
	model_add_mount(e.m, "/net", "nfs4", "10.0.0.1:/a");
	model_add_mount(e.m, "/net/tmp", "tmpfs", "tmpfs");
	model_add_mount(e.m, "/early", "cifs", "//10.0.0.2/b");
	model_add_mount(e.m, "relative", "cifs", "//10.0.0.2/b");
	model_add_mount(e.m, "/net", "nfs4", "10.0.0.1:/a");
	ck_assert_uint_eq(e.m->mounts->n, 3);
	ck_assert_str_eq(kind(&e, TID, 4), "netfs");
	ck_assert_str_eq(kind(&e, CHILD, 4), "netfs"); /* inherited, before */
	ck_assert_str_eq(strpool_text((strid)file(&e, CHILD, 4)->peer), "10.0.0.1");
	ck_assert_str_eq(kind_of(&e, TID, "/net/tmp/f"), "file");
	/* a side-car is updated at the end: by then it has mounts whose events come later */
	mount_to(&e, TID, "//10.0.0.2/b", "/early", "cifs", 0);
	ck_assert_uint_eq(e.m->mounts->n, 3);
	UMOUNT(&e, TID, "/early");
	ck_assert_str_eq(kind_of(&e, TID, "/early/f"), "file");
	events_release(&e);
}
END_TEST

START_TEST(test_bounded)
{
	struct events e;
	char dir[32];

	begin(&e);
	for (unsigned i = 0; i < 2 * MOUNTS_MAX; i++) {
		snprintf(dir, sizeof(dir), "/net/%u", i);
		mount_to(&e, TID, "10.0.0.1:/a", dir, "nfs4", 0);
	}
	ck_assert_uint_eq(e.m->mounts->n, MOUNTS_MAX);
	for (unsigned i = 0; i < 2 * MOUNTS_MAX; i++) {
		snprintf(dir, sizeof(dir), "/net/%u", i);
		UMOUNT(&e, TID, dir);
	}
	ck_assert_uint_eq(e.m->mounts->n, 0);
	events_release(&e);
}
END_TEST

UNIT_MAIN("mounts", test_servers, test_joined_paths, test_mounted_and_unmounted, test_mounts_in_each_other,
	  test_working_directories, test_working_directory_after_exec, test_relative_paths, test_told, test_bounded)
