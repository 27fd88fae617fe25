/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ctf/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKET_HEADER = 37 };

#define MAGIC UINT32_C(0x75d11d57)

static uint32_t read_u32(const unsigned char *p, bool swap)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return swap ? GUINT32_SWAP_LE_BE(value) : value;
}

/* Removes the packet headers from packetized metadata: text[0..len[ becomes plain text. Returns its new length. */
static size_t unpack(unsigned char *text, size_t len)
{
	const uint32_t magic = len >= PACKET_HEADER ? read_u32(text, false) : 0;
	const bool swap = magic == GUINT32_SWAP_LE_BE(MAGIC);
	size_t from = 0, to = 0;

	if (magic != MAGIC && !swap)
		return len;
	while (len - from >= PACKET_HEADER && read_u32(text + from, swap) == MAGIC) {
		size_t content = read_u32(text + from + 24, swap) / 8;
		const size_t packet = read_u32(text + from + 28, swap) / 8;

		if (content < PACKET_HEADER || packet < content)
			break;
		content = MIN(content, len - from) - PACKET_HEADER;
		memmove(text + to, text + from + PACKET_HEADER, content);
		to += content;
		if (packet > len - from)
			break;
		from += packet;
	}
	return to;
}

char *metadata_read(const char *directory, size_t max_bytes)
{
	char *path = g_build_filename(directory, "metadata", NULL);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unsigned char *text = NULL;
	size_t len = 0;
	struct stat st;
	ssize_t n = -1;

	g_free(path);
	if (fd >= 0 && fstat(fd, &st) == 0) {
		max_bytes = MIN(max_bytes, (size_t)st.st_size);
		text = g_malloc(max_bytes + 1);
		do {
			n = read(fd, text + len, max_bytes - len);
			len += n > 0 ? n : 0;
		} while (n > 0 || (n < 0 && errno == EINTR));
	}
	if (fd >= 0)
		close(fd);
	if (n < 0) {
		g_free(text);
		return NULL;
	}
	text[unpack(text, len)] = '\0';
	return (char *)text;
}

char *metadata_text(const void *bytes, size_t len)
{
	char *text = g_malloc(len + 1);

	memcpy(text, bytes, len);
	text[unpack((unsigned char *)text, len)] = '\0';
	return text;
}

const char *metadata_declarations(const char *text)
{
	static const char signature[] = "/* CTF 1.8 */";

	if (g_str_has_prefix(text, signature))
		text += sizeof(signature) - 1;
	return text + strspn(text, " \t\r\n");
}

bool metadata_is_ctf2(const char *text)
{
	return *text == METADATA_SEPARATOR;
}
