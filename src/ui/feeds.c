/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources: recordings, live sessions, relayds; what state each is in, and what the user wants of it. */
#include <string.h>

#include "ui/internal.h"

enum { HOST_WIDTH_MAX = 16, NAME_WIDTH_MIN = 12, STATE_WIDTH_MIN = 24 };

struct feed_data {
	struct ui_feed info; /* its texts are owned */
	bool wanted;         /* the user wants it attached, or detached */
};

static struct feed_data *feed_at(const struct ui *ui, unsigned i)
{
	return &g_array_index(ui->feeds, struct feed_data, i);
}

static void release_texts(struct ui_feed *feed)
{
	g_free((char *)feed->name);
	g_free((char *)feed->state);
	g_free((char *)feed->host);
}

void feeds_init(struct ui *ui)
{
	ui->feeds = g_array_new(FALSE, TRUE, sizeof(struct feed_data));
}

void feeds_release(struct ui *ui)
{
	for (unsigned i = 0; i < ui->feeds->len; i++)
		release_texts(&feed_at(ui, i)->info);
	g_array_free(ui->feeds, TRUE);
}

static bool equal(const struct ui_feed *a, const struct ui_feed *b)
{
	return g_strcmp0(a->name, b->name) == 0 && g_strcmp0(a->state, b->state) == 0 &&
	       g_strcmp0(a->host, b->host) == 0 && a->session == b->session && a->runs == b->runs &&
	       a->detached == b->detached;
}

/* An error's text without what it is about, which stands beside it. */
static const char *short_state(const struct ui_feed *feed)
{
	const char *at = strstr(feed->state, feed->name);

	if (!at)
		return feed->state;
	at += strlen(feed->name);
	at += strspn(at, "':, ");
	return *at ? at : feed->state;
}

void ui_set_feeds(struct ui *ui, const struct ui_feed *feeds, unsigned n)
{
	bool changed = n != ui->feeds->len;

	g_array_set_size(ui->feeds, n);
	for (unsigned i = 0; i < n; i++) {
		struct feed_data *feed = feed_at(ui, i);
		struct ui_feed told = feeds[i];

		told.state = short_state(&told);
		if (equal(&feed->info, &told))
			continue;
		changed = true;
		release_texts(&feed->info);
		feed->info = told;
		feed->info.name = g_strdup(feeds[i].name);
		feed->info.state = g_strdup(told.state);
		feed->info.host = g_strdup(feeds[i].host);
	}
	if (!changed)
		return;
	ui->dirty = true;
	if (ui->choosing_hosts)
		hosts_menu_show(ui);
}

bool ui_wanted_feed(struct ui *ui, unsigned *feed, bool *attach)
{
	for (unsigned i = 0; i < ui->feeds->len; i++)
		if (feed_at(ui, i)->wanted) {
			feed_at(ui, i)->wanted = false;
			*feed = i;
			*attach = feed_at(ui, i)->info.detached;
			return true;
		}
	return false;
}

const char *feeds_why_away(const struct ui *ui, const char *host, bool *retried)
{
	for (unsigned i = 0; i < ui->feeds->len; i++) {
		const struct ui_feed *feed = &feed_at(ui, i)->info;

		if (feed->runs || !feed->host || strcmp(feed->host, host) != 0)
			continue;
		*retried = feed->session && !feed->detached;
		return feed->state;
	}
	return NULL;
}

void feeds_add_items(const struct ui *ui, struct overlay *menu, const char *heading, int heading_value, int first_value)
{
	bool any = false;

	for (unsigned i = 0; i < ui->feeds->len; i++) {
		const struct ui_feed *feed = &feed_at(ui, i)->info;
		char *text;

		if (!feed->session)
			continue;
		if (!any)
			overlay_item(menu, heading_value, -1, heading);
		any = true;
		text = g_strdup_printf("%s: %s", feed->name, feed->state);
		overlay_item(menu, first_value + (int)i, !feed->detached, text);
		g_free(text);
	}
}

void feed_toggle(struct ui *ui, unsigned feed)
{
	if (feed < ui->feeds->len)
		feed_at(ui, feed)->wanted = true;
}

/* ---- as lines ---- */

/* A recording read in several parts is shown once, as long as they are all in the same state. */
static bool repeats(const struct ui *ui, unsigned i)
{
	return i > 0 && equal(&feed_at(ui, i - 1)->info, &feed_at(ui, i)->info);
}

bool feeds_are_read(const struct ui *ui)
{
	for (unsigned i = 0; i < ui->feeds->len; i++)
		if (feed_at(ui, i)->info.session || strcmp(feed_at(ui, i)->info.state, "read") != 0)
			return false;
	return true;
}

char *feeds_files(const struct ui *ui)
{
	const char *name = NULL;
	unsigned n = 0;

	for (unsigned i = 0; i < ui->feeds->len; i++) {
		const struct ui_feed *feed = &feed_at(ui, i)->info;

		if (!feed->file || (name && strcmp(name, feed->name) == 0))
			continue;
		name = feed->name;
		n++;
	}
	if (n < 2)
		return g_strdup(name);
	return g_strdup_printf("%u recordings", n);
}

static enum style state_style(const struct ui_feed *feed)
{
	if (feed->runs || !strcmp(feed->state, "read"))
		return strcmp(feed->state, "silent") ? STYLE_NORMAL : STYLE_LOST;
	return feed->detached ? STYLE_DIM : STYLE_MARKED;
}

int feeds_draw(struct ui *ui, int y, int max)
{
	struct canvas *c = ui->canvas;
	int host = 4, name = 6, state, lines = 0, drawn = 0;

	for (unsigned i = 0; i < ui->feeds->len; i++) {
		const struct ui_feed *feed = &feed_at(ui, i)->info;

		lines += !repeats(ui, i);
		host = MAX(host, feed->host ? canvas_text_width(feed->host) : 0);
		name = MAX(name, canvas_text_width(feed->name));
	}
	if (!lines || max < 2)
		return 0;
	host = MIN(host, HOST_WIDTH_MAX);
	name = MIN(name, MAX(c->w - host - STATE_WIDTH_MIN - 2, NAME_WIDTH_MIN));
	state = c->w - host - name - 2;
	canvas_fill(c, 0, y, c->w, STYLE_HEAD, ' ');
	canvas_text_left(c, 0, y, host, STYLE_HEAD, "HOST");
	canvas_text_left(c, host + 1, y, name, STYLE_HEAD, "SOURCE");
	canvas_text_left(c, host + name + 2, y, state, STYLE_HEAD, "STATE");
	for (unsigned i = 0; i < ui->feeds->len && drawn + 1 < max; i++) {
		const struct ui_feed *feed = &feed_at(ui, i)->info;
		int row = y + 1 + drawn;

		if (repeats(ui, i))
			continue;
		if (drawn + 2 == max && drawn + 1 < lines) {
			canvas_printf(c, host + 1, row, STYLE_DIM, "and %d more", lines - drawn);
			return max;
		}
		canvas_text_left(c, 0, row, host, feed->host ? STYLE_BOLD : STYLE_DIM, feed->host ? feed->host : "?");
		canvas_text_left(c, host + 1, row, name, STYLE_NORMAL, feed->name);
		canvas_text_left(c, host + name + 2, row, state, state_style(feed), feed->state);
		drawn++;
	}
	return drawn + 1;
}
