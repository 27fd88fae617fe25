/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs in a guest: the same calls whenever it runs, with a thread, a child, signals; "segv" and "term": it is ended by
 * one.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf before;
static char *page;

static void on_signal(int number)
{
	if (number == SIGSEGV)
		siglongjmp(before, 1);
}

static void *in_thread(void *unused)
{
	(void)unused;
	close(-2);
	return NULL;
}

static void files(void)
{
	char text[32];
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, text, sizeof(text));

	(void)got; /* Ubuntu's compiler warns of results that are not used */
	lseek(fd, 1, SEEK_SET);
	dup3(fd, 100, O_CLOEXEC);
	close(100);
	close(fd);
	open("/no/such/file", O_RDWR | O_CREAT | O_EXCL, 0640);
	(void)access("/etc", R_OK | X_OK);
	unlink("/no/such/file");
	mkdir("/proc/1/no", 0700);
	close(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0));
}

static void signals(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	kill(getpid(), SIGUSR1);
	if (!sigsetjmp(before, 1))
		*(volatile char *)page = 1;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	pid_t child;
	int status;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	files();
	if (argc > 1 && !strcmp(argv[1], "segv"))
		*(volatile char *)page = 1;
	if (argc > 1 && !strcmp(argv[1], "term"))
		kill(getpid(), SIGTERM);
	signals();
	pthread_create(&thread, NULL, in_thread, NULL);
	pthread_join(thread, NULL);
	child = fork();
	if (!child) {
		close(-3);
		_exit(3);
	}
	waitpid(child, &status, 0);
	return 42;
}
