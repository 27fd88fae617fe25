/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "worker/command.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/fd.h"

static void close_fds(int *fds)
{
	for (unsigned i = 0; i < JOB_FDS; i++)
		close_fd(&fds[i]);
}

/* Takes the descriptors that came with a message; false: their number is wrong, and they have been closed. */
static bool take_fds(struct msghdr *message, int *fds)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(message);
	size_t n;

	for (unsigned i = 0; i < JOB_FDS; i++)
		fds[i] = -1;
	if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
		return false;
	n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	memcpy(fds, CMSG_DATA(head), MIN(n, JOB_FDS) * sizeof(int));
	if (n == JOB_FDS && !(message->msg_flags & MSG_CTRUNC))
		return true;
	close_fds(fds);
	return false;
}

static bool needs_fds(uint32_t kind)
{
	return kind == JOB_LIVE || kind == JOB_LIST;
}

enum lt_status worker_take_command(int fd, struct worker_command *command)
{
	union {
		struct job_command command;
		char room[JOB_COMMAND_MAX];
	} in;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(JOB_FDS * sizeof(int))];
	} control;
	struct iovec part = { &in, sizeof(in) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room),
	};
	const ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	bool has_fds;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? LT_AGAIN : LT_END;
	if (n == 0)
		return LT_END;
	has_fds = take_fds(&message, command->fds);
	if ((size_t)n < sizeof(in.command) ||
	    (uint64_t)in.command.url_len + in.command.fields_len != (size_t)n - sizeof(in.command) ||
	    has_fds != needs_fds(in.command.kind)) {
		close_fds(command->fds);
		return error_set("malformed command from the parent process");
	}
	command->head = in.command;
	command->url = g_strndup(in.command.text, in.command.url_len);
	command->fields = g_strndup(in.command.text + in.command.url_len, in.command.fields_len);
	return LT_OK;
}

void worker_command_release(struct worker_command *command)
{
	close_fds(command->fds);
	g_free(command->url);
	g_free(command->fields);
}
