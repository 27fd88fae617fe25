/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/consts.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/digits.h"

#define C(constant) { (uint64_t)(constant), #constant },
#define V(value, constant) { value, #constant },
#define SET(name, kind, mask, zero, constants) static const struct constant list_##name[] = { constants };
#include "attach/sets.def"

static const struct const_set sets[] = {
#define SET(name, kind, mask, zero, constants) \
	{ #name, CONST_##kind, mask, zero, list_##name, G_N_ELEMENTS(list_##name) },
#include "attach/sets.def"
};

#undef C
#undef V

/* Errors inside the kernel that restart a call or never leave it: visible in a trace, not in programs. */
/* clang-format off */
static const struct constant kernel_errors[] = {
	{ 512, "ERESTARTSYS" },    { 513, "ERESTARTNOINTR" },
	{ 514, "ERESTARTNOHAND" }, { 515, "ENOIOCTLCMD" },
	{ 516, "ERESTART_RESTARTBLOCK" }, { 517, "EPROBE_DEFER" },
	{ 518, "EOPENSTALE" },     { 519, "ENOPARAM" },
	{ 521, "EBADHANDLE" },     { 522, "ENOTSYNC" },
	{ 523, "EBADCOOKIE" },     { 524, "ENOTSUPP" },
	{ 525, "ETOOSMALL" },      { 526, "ESERVERFAULT" },
	{ 527, "EBADTYPE" },       { 528, "EJUKEBOX" },
	{ 529, "EIOCBQUEUED" },    { 530, "ERECALLCONFLICT" },
};
/* clang-format on */

static enum const_style print_style;

enum { KERNEL_ERRORS = 512 }; /* the first of them */
enum { KERNEL_SIGRTMIN = 32, KERNEL_SIGRTMAX = 64 };

const struct const_set *consts_set(enum const_set_id id)
{
	return &sets[id];
}

const struct const_set *consts_find(const char *name, size_t len)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sets); i++)
		if (strncmp(sets[i].name, name, len) == 0 && !sets[i].name[len])
			return &sets[i];
	return NULL;
}

/* The same int may be recorded with or without its sign, depending on the field's type. */
static uint64_t as_int(uint64_t value)
{
	return value >> 31 == UINT64_MAX >> 31 ? (uint32_t)value : value;
}

const char *consts_name(const struct const_set *set, uint64_t value)
{
	for (unsigned i = 0; i < set->n; i++)
		if (as_int(set->constants[i].value) == as_int(value))
			return set->constants[i].name;
	return NULL;
}

static void append_or(GString *out, gsize start, const char *text)
{
	if (out->len > start)
		g_string_append_c(out, '|');
	g_string_append(out, text);
}

/* Appends the names of the bits in value that lie outside the set's mask; start: where this value's text starts. */
static void append_bits(GString *out, gsize start, const struct const_set *set, uint64_t value)
{
	for (unsigned i = 0; i < set->n && value; i++) {
		const uint64_t bits = as_int(set->constants[i].value) & ~set->mask;

		if (!bits || (value & bits) != bits || (as_int(set->constants[i].value) & set->mask))
			continue;
		append_or(out, start, set->constants[i].name);
		value &= ~bits;
	}
	if (value) {
		append_or(out, start, "");
		g_string_append_printf(out, "0x%" PRIx64, value);
	}
}

static void append_name(GString *out, const struct const_set *set, uint64_t value)
{
	const char *name = consts_name(set, value);

	if (name)
		g_string_append(out, name);
	else if (set->kind == CONST_INT)
		g_string_append_printf(out, "%" PRId32, (int32_t)value);
	else if (set->kind == CONST_ENUM)
		g_string_append_printf(out, value > 0xfff ? "0x%" PRIx64 : "%" PRIu64, value);
	else if (value)
		g_string_append_printf(out, "0x%" PRIx64, value);
}

static void append_names(GString *out, const struct const_set *set, uint64_t value)
{
	const gsize start = out->len;

	if (set->kind == CONST_ENUM || set->kind == CONST_INT) {
		append_name(out, set, value);
		return;
	}
	if (set->kind == CONST_MIXED)
		append_name(out, set, value & set->mask);
	append_bits(out, start, set, value & ~set->mask);
	if (set->kind == CONST_TAILED && value & set->mask) {
		append_or(out, start, "");
		append_name(out, set, value & set->mask);
	}
	if (out->len == start)
		g_string_append(out, set->none ? set->none : "0");
}

void consts_set_style(enum const_style style)
{
	print_style = style;
}

/* Appends the value instead of its name, or before it. */
static void append_number(GString *out, const struct const_set *set, uint64_t value)
{
	if (set->kind == CONST_INT)
		g_string_append_printf(out, "%" PRId32, (int32_t)value);
	else
		g_string_append_printf(out, value ? "0x%" PRIx64 : "%" PRIu64, value);
}

/* In the verbose style, puts the text from start on in a comment, or removes it if it is a mere number. */
static void comment_names(GString *out, gsize start)
{
	if (print_style != STYLE_VERBOSE)
		return;
	if (strcspn(out->str + start, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == out->len - start) {
		g_string_truncate(out, start);
		return;
	}
	g_string_insert(out, (gssize)start, " /* ");
	g_string_append(out, " */");
}

void consts_append(GString *out, const struct const_set *set, uint64_t value)
{
	gsize start;

	value = set->kind == CONST_BITS32 ? (uint32_t)value : as_int(value);
	if (print_style != STYLE_ABBREV)
		append_number(out, set, value);
	start = out->len;
	if (print_style != STYLE_RAW)
		append_names(out, set, value);
	comment_names(out, start);
}

void consts_append_signal_number(GString *out, int64_t number)
{
	gsize start;

	if (print_style != STYLE_ABBREV)
		digits_append_signed(out, number);
	start = out->len;
	if (print_style != STYLE_RAW && !consts_append_signal(out, number) && print_style == STYLE_ABBREV)
		digits_append_signed(out, number);
	comment_names(out, start);
}

void consts_append_quota_cmd(GString *out, uint32_t cmd)
{
	gsize start;

	if (print_style != STYLE_ABBREV)
		digits_append(out, cmd, 1);
	start = out->len;
	if (print_style != STYLE_RAW) {
		g_string_append(out, "QCMD(");
		append_names(out, consts_set(CONSTS_quota_cmd), cmd >> 8);
		g_string_append(out, ", ");
		append_names(out, consts_set(CONSTS_quota_type), cmd & 0xff);
		g_string_append_c(out, ')');
	}
	comment_names(out, start);
}

static void append_ioprio(GString *out, int32_t ioprio)
{
	enum { CLASS_SHIFT = 13 };

	g_string_append(out, "IOPRIO_PRIO_VALUE(");
	consts_append(out, consts_set(CONSTS_ioprio_class), (uint32_t)ioprio >> CLASS_SHIFT);
	g_string_append_printf(out, ", %d)", ioprio & ((1 << CLASS_SHIFT) - 1));
}

void consts_append_ioprio(GString *out, int32_t ioprio)
{
	gsize start;

	if (print_style != STYLE_ABBREV)
		digits_append_signed(out, ioprio);
	start = out->len;
	if (print_style != STYLE_RAW)
		append_ioprio(out, ioprio);
	comment_names(out, start);
}

void consts_append_ioprio_result(GString *out, int32_t ioprio)
{
	digits_append_signed(out, ioprio);
	if (print_style == STYLE_RAW)
		return;
	g_string_append(out, " (");
	append_ioprio(out, ioprio);
	g_string_append_c(out, ')');
}

const char *consts_errno(int64_t error)
{
	const char *name = error > 0 && error < INT32_MAX ? strerrorname_np((int)error) : NULL;

	for (size_t i = 0; i < G_N_ELEMENTS(kernel_errors) && !name; i++)
		if (kernel_errors[i].value == (uint64_t)error)
			name = kernel_errors[i].name;
	return name;
}

/* What becomes of the call, for the errors that the program never sees; NULL: nothing is known. */
static const char *restart_of(int64_t error)
{
	static const char *const texts[] = {
		[0] = "interrupted by a signal, called again if its handler restarts calls", /* ERESTARTSYS */
		[1] = "interrupted by a signal, called again",                               /* ERESTARTNOINTR */
		[2] = "interrupted by a signal, called again if that has no handler",        /* ERESTARTNOHAND */
		[4] = "interrupted by a signal, continued by restart_syscall if that has no handler",
	};

	return error - KERNEL_ERRORS < (int64_t)G_N_ELEMENTS(texts) ? texts[error - KERNEL_ERRORS] : NULL;
}

void consts_append_error(GString *out, int64_t error)
{
	const char *name = consts_errno(error);
	const char *text = error < KERNEL_ERRORS ? strerrordesc_np((int)error) : restart_of(error);

	if (!name) {
		digits_append_signed(out, -error);
		return;
	}
	g_string_append(out, error < KERNEL_ERRORS ? "-1 " : "? ");
	g_string_append(out, name);
	if (!text)
		return;
	g_string_append(out, " (");
	g_string_append(out, text);
	g_string_append_c(out, ')');
}

bool consts_append_signal(GString *out, int64_t number)
{
	const char *name;

	if (number <= 0 || number > KERNEL_SIGRTMAX)
		return false;
	name = number < KERNEL_SIGRTMIN ? sigabbrev_np((int)number) : NULL;
	if (name)
		g_string_append_printf(out, "SIG%s", name);
	else if (number == KERNEL_SIGRTMIN)
		g_string_append(out, "SIGRTMIN");
	else
		g_string_append_printf(out, "SIGRT_%" PRId64, number - KERNEL_SIGRTMIN);
	return true;
}
