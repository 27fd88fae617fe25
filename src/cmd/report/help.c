/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of `lttngtop report --help` and its man page that follows the options: tables and their columns. */
#include <string.h>

#include "cli/commands.h"
#include "cli/manual_items.h"
#include "cmd/report/report.h"

/* What is said in parentheses about a column: its unit, its heading if that is not its name, where it is shown. */
static char *remarks(const struct column *column)
{
	const bool histogram = column->unit == COLUMN_HISTOGRAM;
	const bool headed = g_ascii_strcasecmp(column->name, column->header) != 0;

	return g_strdup_printf("%s%s%s%s%s%s", column_unit_name(column->unit), histogram ? " in " : "",
			       histogram ? column_unit_name(column_measured(column)) : "", headed ? "; headed " : "",
			       headed ? column->header : "",
			       !(column->flags & COLUMN_IN_REPORT) ? "; only with --columns"
			       : column->flags & COLUMN_IF_KNOWN   ? "; omitted from text if unknown in all rows"
								   : "");
}

/* Describes a table and all its columns. */
static void help_table(struct help *h, const struct view_table *table)
{
	char *text = g_strdup_printf("%s: a row is %s", table->name, table->row);

	help_subsection(h, text);
	g_free(text);
	help_paragraph(h, table->meaning);
	for (unsigned i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];
		char *in_parentheses = remarks(column);

		text = g_strdup_printf("%s (%s)", column->meaning, in_parentheses);
		help_item(h, column->name, text);
		g_free(in_parentheses);
		g_free(text);
	}
}

static void help_dump(struct help *h)
{
	help_subsection(h, REPORT_DUMP);
	help_paragraph(
		h, "Not a table: prints the events themselves with all their fields, in the order of corrected "
		   "time and in babeltrace2's format. --begin, --end and --host select events; --tid, --pid and "
		   "--comm select those that occurred while such a thread ran; for --where see Options. With --limit, "
		   "reading ends after N of them. With --json, "
		   "each event is an object, see JSON. Unprintable characters are escaped, except with --babeltrace.");
	help_paragraph(h, "With --no-sync --babeltrace the text is identical to babeltrace2's, with these exceptions: "
			  "empty strings, for which babeltrace2 2.0 prints the previous value; several labels of one "
			  "value, which 2.1 prints in braces and in another order; recordings in which time goes "
			  "backwards, where 2.0 stops; events at exactly --end, which only babeltrace2 includes; and "
			  "output to a terminal, where characters that could control it are always escaped.");
}

static void help_slice(struct help *h)
{
	help_subsection(h, REPORT_SLICE);
	help_paragraph(
		h, "Not a table: writes the part of the recordings from --begin to --end into --output DIR, "
		   "which must be empty or not exist yet, and must not lie in a SOURCE, "
		   "as traces that babeltrace2, Trace Compass and lttngtop"
		   " can open: DIR/HOST/kernel and so on. A slice cannot be read together with its recording, nor "
		   "with a slice that overlaps it. Packets are copied; the first and last are cut "
		   "between two events. With --host, --tid, --pid, --comm and --where, chosen as for dump, "
		   "only those events are written, and losses are still reported; a slice of "
		   "chosen threads lacks the switches of the others, so that CPU times and waits cannot be computed "
		   "from it. The hosts' clocks are "
		   "set so that they agree in the middle of the interval; with --no-sync they are left as "
		   "they are. The names in a recording's lttngtop.json are written to "
		   "DIR/HOST/lttngtop.json, which contains command lines: remove it before you pass the "
		   "recording on, if they are private. If it fails or is interrupted, nothing is left in "
		   "DIR.");
}

/* Names that are used like tables but are not tables. */
static void help_others(struct help *h)
{
	if (h->brief) {
		help_item(h, REPORT_DUMP,
			  "Not a table: prints the events themselves with all their fields, as babeltrace2 "
			  "does.");
		help_item(h, REPORT_SLICE,
			  "Not a table: writes an interval, or chosen events of it, as a recording of its own, "
			  "with corrected clocks.");
		return;
	}
	help_dump(h);
	help_slice(h);
}

/* A table in a list of all: the first sentence about it. */
static void help_name(struct help *h, const struct view_table *table)
{
	const char *end = strstr(table->meaning, ". ");
	char *text = end ? g_strndup(table->meaning, (gsize)(end + 1 - table->meaning)) : g_strdup(table->meaning);

	help_item(h, table->name, text);
	g_free(text);
}

enum lt_status cmd_report_table_help(struct help *h, const char *name)
{
	const struct view_table *table = view_table_find(name);
	const bool dumps = !strcmp(name, REPORT_DUMP), slices = !strcmp(name, REPORT_SLICE);

	if (table && !(table->flags & VIEW_REPORT) && strcmp(name, REPORT_INSTANCES) != 0)
		table = NULL;
	if (!table && !dumps && !slices)
		return report_unknown_table(name);
	fprintf(h->out, "Usage: lttngtop report %s %s[OPTIONS] SOURCE...\n",
		strcmp(name, REPORT_INSTANCES) != 0 ? name : "TABLE --log", slices ? "--output DIR " : "");
	if (table)
		help_table(h, table);
	else if (dumps)
		help_dump(h);
	else
		help_slice(h);
	return LT_OK;
}

static void help_json(struct help *h)
{
	static const struct manual_item keys[] = {
		{ "schema", "1, the version of this format" },
		{ "table", "name of the table; with --log: instances" },
		{ "begin_ns, end_ns",
		  "the whole recording, the part from --begin to --end, or the interval; the end is "
		  "not included" },
		{ "gap", "true if the object stands for 1000 or more intervals without events; otherwise absent" },
		{ "hosts", "names of the hosts" },
		{ "lost", "an object: events and packets are the numbers of those that these hosts lost in that time" },
		{ "rows",
		  "the rows: objects with the columns as keys, which 'lttngtop report TABLE --help' describes. Texts "
		  "are strings, also when they consist of digits; percentages and rates may have decimals; all other "
		  "figures are integers, at most 2^63-1. A list of texts, such as missing_events, is an array of "
		  "strings; counts by name, such as errors of system calls, are an object: {\"ENOENT\":12}" },
		{ "freq",
		  "with --freq, in each row: the histogram, an array of {\"from\":…,\"to\":…,\"count\":…} in ascending "
		  "order, where count values were at least from and less than to; parts without values are left "
		  "out. With --of, the key may have a prefix, as in raise_freq" },
		{ NULL, NULL },
	};
	static const struct manual_item of_dump[] = {
		{ "time_ns, host, cpu", "when and where it occurred; cpu is null if that was not recorded" },
		{ "tid, pid, comm",
		  "the thread that was running on that CPU; null if unknown. The main thread, whichever emitted it, "
		  "for an event of a program with the context vpid but not vtid" },
		{ "name", "name of the event" },
		{ "packet, context, event_context, fields",
		  "its data, as the tracer recorded it: of the packet, the contexts of all events, the contexts of "
		  "this kind of event, and its own fields; parts that the trace does not have are absent. A structure "
		  "is an object, an array or sequence an array, a variant an object with the selected field, an "
		  "enumeration {\"value\":1,\"labels\":[\"_ipv4\"]}. Unprintable bytes in texts are written as "
		  "\\x1b" },
		{ "cut", "true if part of the event was too long to be kept; otherwise absent" },
		{ NULL, NULL },
	};

	help_section(h, "JSON");
	help_paragraph(
		h, "With --json a report is one object on one line; with --interval there is one such line for "
		   "each interval, printed as soon as the interval is complete. 'lttngtop report sched --host client "
		   "--tid 1453 --columns host,tid,count,max --freq --json recording/' prints, on one line:");
	help_example(h, "{\"schema\":1,\"table\":\"sched\",\n"
			" \"begin_ns\":1795183625642217847,\"end_ns\":1795183635349729754,\n"
			" \"hosts\":[\"client\"],\"lost\":{\"events\":0,\"packets\":0},\n"
			" \"rows\":[{\"host\":\"client\",\"tid\":1453,\"count\":5,\"max_ns\":997194,\n"
			"          \"freq\":[{\"from\":294912,\"to\":327680,\"count\":2},\n"
			"                  {\"from\":589824,\"to\":655360,\"count\":2},\n"
			"                  {\"from\":983040,\"to\":1048576,\"count\":1}]}]}");
	manual_print_items(h, keys);
	help_paragraph(h, "Files that key x of the monitor writes have the same form; rows of panes of text, such as "
			  "Attach, have the keys at_ns, tid and text.");
	help_subsection(h, "JSON of dump");
	help_paragraph(
		h, "One object per event and line, such as (here on several lines, and with three of its contexts):");
	help_example(h, "{\"time_ns\":1795183625867541214,\"host\":\"db\",\"cpu\":0,\"tid\":665,\"pid\":665,\n"
			" \"comm\":\"bash\",\"name\":\"sched_wakeup_new\",\"packet\":{\"cpu_id\":0},\n"
			" \"context\":{\"pid\":665,\"tid\":665,\"procname\":\"bash\"},\n"
			" \"fields\":{\"comm\":\"bash\",\"tid\":717,\"prio\":20,\"target_cpu\":1}}");
	manual_print_items(h, of_dump);
}

static void help_csv(struct help *h)
{
	help_section(h, "CSV");
	help_paragraph(
		h, "The first line has the names of the columns, which are those of JSON. With --interval the "
		   "first two columns are interval_begin_ns and interval_end_ns, and the names are not repeated. "
		   "Unknown values are empty; truth values are true or false; lists, counts by name and histograms "
		   "are written as in JSON. A value that contains a comma, a quotation mark or the end of a line is "
		   "put in quotation marks, and those inside it are doubled (RFC 4180). 'lttngtop report net "
		   "--interval 5s --csv recording/' prints:");
	help_example(h, "interval_begin_ns,interval_end_ns,host,name,rx_packets,rx_bytes,tx_packets,tx_bytes\n"
			"1795183625642217847,1795183630642217847,client,eth0,14,1904,17,1590\n"
			"1795183625642217847,1795183630642217847,db,eth0,44,5888,35,8564");
}

/* The tables to which --log and --freq apply. */
static void help_spread(struct help *h)
{
	char *log = report_spread_tables(true), *freq = report_spread_tables(false);
	char *text = g_strdup_printf("--log applies to the tables %s; --freq to %s.", log, freq);

	help_paragraph(h, text);
	g_free(text);
	g_free(freq);
	g_free(log);
}

void cmd_report_help(struct help *h)
{
	const struct view_table *instances = view_table_find(REPORT_INSTANCES);

	help_section(h, "Tables");
	help_spread(h);
	for (unsigned i = 0; i < view_table_count(); i++) {
		const struct view_table *table = view_table_get(i);

		if (!(table->flags & VIEW_REPORT))
			continue;
		if (h->brief)
			help_name(h, table);
		else
			help_table(h, table);
	}
	if (h->brief)
		help_name(h, instances);
	else
		help_table(h, instances);
	help_others(h);
	if (h->brief)
		return;
	help_json(h);
	help_csv(h);
}
