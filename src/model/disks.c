/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which disks there are, with their partitions and the devices above them, and what they are called.
 */
#include <ctype.h>
#include <string.h>

#include "model/block.h"
#include "model/parts_internal.h"

enum { DISKS_MAX = 4096 }; /* further devices cannot be distinguished: they are not counted */

void model_set_disk_names(struct model *m, model_disk_name_fn *name, const void *data)
{
	m->block->name = name;
	m->block->name_data = data;
}

uint32_t disk_of_dev(struct model *m, uint64_t dev)
{
	struct block *b = m->block;
	uint32_t row = map64_get(&b->disks, dev);
	const unsigned major = (unsigned)(dev >> 20), minor = (unsigned)(dev & 0xfffff);
	const char *known;
	char name[32];

	if (row != MAP64_NONE)
		return row;
	if (b->disks.count >= DISKS_MAX)
		return NO_ROW;
	row = state_add(&m->state, TABLE_DISK);
	map64_put(&b->disks, dev, row);
	g_byte_array_set_size(b->stacked, row + 1);
	b->stacked->data[row] = false;
	g_array_set_size(b->whole, row + 1);
	g_array_index(b->whole, uint32_t, row) = row;
	g_array_set_size(b->ends, row + 1);
	g_array_index(b->ends, uint64_t, row) = NO_SECTOR;
	known = b->name ? b->name(b->name_data, major, minor) : NULL;
	g_snprintf(name, sizeof(name), "%u:%u", major, minor);
	DISK_ROW(m, row)->dev = dev;
	DISK_ROW(m, row)->name = strpool_intern_z(known ? known : name);
	return row;
}

void apply_dump_disk(struct model *m, const struct apply *a)
{
	const struct ev_dump_disk *p = event_payload(a->ev, ev_dump_disk);
	uint32_t row = disk_of_dev(m, p->dev);

	if (row == NO_ROW || !p->name.len)
		return;
	DISK_ROW(m, row)->name = strpool_intern(event_text(a->ev, p->name), p->name.len);
	state_touch(&m->state, TABLE_DISK, row);
}

/* Whether name is that of the disk or of one of its partitions: vda, vda1, nvme0n1p2. */
static bool is_part_of(const char *name, const char *disk)
{
	size_t len = strlen(disk);

	if (!len || strncmp(name, disk, len) != 0)
		return false;
	name += len;
	if (*name == 'p' && isdigit((unsigned char)disk[len - 1]))
		name++;
	return name[strspn(name, "0123456789")] == '\0';
}

/* Whether Linux names block devices like this: for traces without a state dump. */
static bool is_usual_name(const char *name)
{
	static const char *const lettered[] = { "sd", "vd", "hd", "xvd" };
	static const char *const numbered[] = { "loop", "dm-", "md", "ram", "zram", "sr", "nbd", "mmcblk", "nvme" };
	size_t len;

	for (size_t i = 0; i < G_N_ELEMENTS(lettered); i++) {
		len = strlen(lettered[i]);
		if (strncmp(name, lettered[i], len) == 0 && islower((unsigned char)name[len])) {
			name += len + strspn(name + len, "abcdefghijklmnopqrstuvwxyz");
			return name[strspn(name, "0123456789")] == '\0';
		}
	}
	for (size_t i = 0; i < G_N_ELEMENTS(numbered); i++) {
		len = strlen(numbered[i]);
		if (strncmp(name, numbered[i], len) == 0 && isdigit((unsigned char)name[len]))
			return strcmp(numbered[i], "nvme") != 0 || strchr(name + len, 'n');
	}
	return false;
}

bool block_is_device(const struct model *m, const char *path)
{
	const struct state_table *t = &m->state.tables[TABLE_DISK];
	const char *name = path + strlen("/dev/");

	if (strncmp(path, "/dev/", strlen("/dev/")) != 0)
		return false;
	if (g_str_has_prefix(name, "mapper/"))
		return strcmp(name, "mapper/control") != 0;
	if (g_str_has_prefix(name, "disk/by-"))
		return true;
	for (uint32_t row = NO_ROW; (row = state_next(t, row)) != NO_ROW;)
		if (is_part_of(name, strpool_text((strid)DISK_ROW(m, row)->name)))
			return true;
	return is_usual_name(name);
}

bool block_is_on(const struct model *m, uint64_t dev, uint64_t disk)
{
	const struct block *b = m->block;
	const uint32_t part = map64_get(&b->disks, dev), row = map64_get(&b->disks, disk);

	if (dev == disk)
		return true;
	if (part == MAP64_NONE || row == MAP64_NONE)
		return false;
	return g_array_index(b->whole, uint32_t, part) == row ||
	       is_part_of(strpool_text((strid)DISK_ROW(m, part)->name), strpool_text((strid)DISK_ROW(m, row)->name));
}
