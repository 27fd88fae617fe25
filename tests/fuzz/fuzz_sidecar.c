/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "damage.h"
#include "sidecar/collect.h"
#include "sidecar/file.h"
#include "sidecar/sidecar.h"

/*
 * Damages side-cars and a shell's listings of another host, and reads them, in this process. To be run with
 * sanitizers.
 *
 *	fuzz_sidecar CASES SEED
 *
 * The same seed gives the same cases. A case that crashes or takes longer than LIMIT_S is left in the file
 * found.sidecar. Prints how many cases could be parsed.
 */
enum { LIMIT_S = 20, EDITS_MAX = 6 };

static const char sound_text[] =
	"{\"schema\": 1, \"host\": \"web\", \"kernel\": \"6.1.0\", \"boot_id\": \"7d3e\","
	" \"disks\": {\"8:0\": \"sda\"}, \"interfaces\": {\"1\": \"lo\"},"
	" \"symbols\": {\"f\": \"0x10\"}, \"cpus\": [{\"cpu\": 0, \"package\": 0, \"core\": 0}],"
	" \"cgroups\": {\"4026532001\": \"/lxc/web\"},"
	" \"users\": {\"1000\": \"eva\"}, \"clock\": {\"synchronised\": true, \"max_error_ns\": 250000},"
	" \"processes\": [{\"pid\": 7, \"start_ns\": 1700000000000000000, \"exe\": \"/bin/sh\","
	" \"cmdline\": \"sh -c make\","
	" \"uid\": 1000, \"cgroup\": \"/a.slice\"}, {\"pid\": 7, \"start_ns\": 1700000009000000000, \"uid\": 0}]}";

static const char sound_listing[] =
	"listing\nhost web\nkernel 6.1.0\nboot_id 7d3e\nsynchronised yes\nnow 100.25 1700000100.25 100.25 100\n"
	"cpu 0 0 0\ncpu 1 - -\nsymbol ffffffff81000010 T do_sys_open\ndisk 8:0 sda\n"
	"passwd eva:x:1000:1000::/:/bin/sh\ngroup eva:x:1000:\n"
	"process 7 150 1000\nexe /bin/sh\ncmdline sh -c make\ncgroup /\ncgroup /a.slice\n"
	"namespaces pid:[4026532001] cgroup:[4026532002]\n"
	"listing\nnow 101.25 1700000101.25 101.25 100\nprocess 7 150 1000\nexe /usr/bin/make\nprocess 8 160 0\n";

static GString *current;
static uint64_t understood;

static void leave(int number)
{
	int fd = open("found.sidecar", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd >= 0 && write(fd, current->str, current->len) < 0)
		_exit(3);
	signal(number, SIG_DFL);
	raise(number);
}

/* Uses it twice: the second time, everything is known already. */
static void use(const json_t *root)
{
	struct sidecar *s = sidecar_create();

	for (int i = 0; i < 2; i++)
		sidecar_add(s, root);
	if (sidecar_process(s, 7, 0, UINT64_MAX) && sidecar_facts(s).kernel)
		understood++;
	sidecar_process(s, 7, UINT64_MAX, 0);
	sidecar_disk(s, 8, 0);
	sidecar_user(s, 1000);
	sidecar_destroy(s);
}

/* As if it came in an event. */
static void hear(void)
{
	struct sidecar *s = sidecar_create();
	char *text = g_strconcat(SIDECAR_MESSAGE, current->str, NULL);

	for (int i = 0; i < 2; i++)
		sidecar_hear(s, text, strlen(text), "web");
	sidecar_process(s, 7, 0, UINT64_MAX);
	sidecar_destroy(s);
	g_free(text);
}

static void run_case(uint64_t seed)
{
	const bool listing = seed % 2;
	size_t edits;
	json_t *root, *older;

	damage_seed(seed);
	g_string_assign(current, listing ? sound_listing : sound_text);
	edits = 1 + below(1 + below(EDITS_MAX)); /* usually few */
	while (edits--)
		damage_text(current);
	alarm(LIMIT_S);
	hear();
	root = listing ? sidecar_parse_listing(current->str, current->len)
		       : sidecar_file_parse(current->str, current->len);
	if (root) {
		use(root);
		older = sidecar_file_parse(sound_text, strlen(sound_text));
		sidecar_merge(older, root);
		use(older);
		json_decref(older);
		json_decref(root);
	} else if (!*error_text()) {
		abort();
	}
	error_clear();
	alarm(0);
}

int main(int argc, char **argv)
{
	uint64_t cases, seed;

	if (argc != 3) {
		fprintf(stderr, "fuzz_sidecar CASES SEED\n");
		return 2;
	}
	cases = strtoull(argv[1], NULL, 10);
	seed = strtoull(argv[2], NULL, 10);
	current = g_string_new(NULL);
	signal(SIGALRM, leave);
	signal(SIGABRT, leave);
	signal(SIGSEGV, leave);
	for (uint64_t i = 0; i < cases; i++)
		run_case(seed * cases + i);
	printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " understood\n", understood, 2 * cases);
	g_string_free(current, TRUE);
	return 0;
}
