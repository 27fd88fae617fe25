/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LT_UI_SETTINGS_H
#define LT_UI_SETTINGS_H

#include "base/status.h"

/*
 * How the user wants the screen, kept from run to run in lttngtop.conf. Setup (F2) writes the file when asked to;
 * nothing else does. It is a key file (GLib's GKeyFile):
 *
 *   [screen]
 *   host-lines=true            a line per host above the timeline
 *   colors=true                false: as with NO_COLOR set
 *   host-percent=false         CPU time in percent of the whole host
 *   interval=1s                length of the shown interval
 *
 *   [list cpu]                 named after its table
 *   columns=tid pid host comm  in the order of the screen
 *   sort=-comm                 with '-': in the other direction
 *
 * Groups and keys that are not known stay in the file. A value that makes no sense is left out with a warning.
 * Main thread only.
 */
struct settings;
struct list;
struct ui;

/*
 * Settings read from path, which is copied; NULL: no file, and nothing can be saved. A file that does not exist is
 * as good as an empty one. If it cannot be read or is not a key file, the settings are the defaults, a warning in the
 * log has the reason, and settings_trouble() is not NULL. Release with settings_destroy().
 */
struct settings *settings_create(const char *path);
void settings_destroy(struct settings *s);

/* $XDG_CONFIG_HOME/lttngtop/lttngtop.conf, or ~/.config/lttngtop/lttngtop.conf; free with g_free(). */
char *settings_default_path(void);

/* For the last row of the screen, if the file could not be read; else NULL. Borrowed. */
const char *settings_trouble(const struct settings *s);

/* The screen as the file wants it. Before the first pane is made. */
void settings_apply(const struct settings *s, struct ui *ui);

/* The columns and the order of a list that was just made. */
void settings_apply_list(const struct settings *s, struct list *l);

/*
 * Writes the file with the present screen, and the lists of all panes made so far; its directory is made if need
 * be. On LT_ERROR the file is as it was, and the reason is in the error chain.
 */
enum lt_status settings_save(struct settings *s, struct ui *ui);

/* The path settings_save() writes to, NULL: none. Borrowed. */
const char *settings_path(const struct settings *s);

#endif
