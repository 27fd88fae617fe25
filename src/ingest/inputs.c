/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ingest/ingest.h"
#include "ingest/internal.h"

/* The relays and sources as the user sees them in a list, to detach live ones and to attach them again. */

unsigned ingest_input_count(const struct ingest *in)
{
	return in->relays->len + in->inputs->len;
}

static struct ingest_input relay_as_input(const struct relay *relay)
{
	const char *asked = relay->answered ? "watched for sessions" : "asking for its sessions";

	return (struct ingest_input){
		.name = relay->url,
		.state = relay->why      ? relay->why
			 : relay->stored ? relay->stored
					 : asked,
		.host = -1,
		.live = true,
		.runs = !relay->why,
		.relay = true,
	};
}

static bool is_detached(const struct input *input)
{
	return input->state == INPUT_DETACHED || input->state == INPUT_UNTAKEN;
}

struct ingest_input ingest_input(const struct ingest *in, unsigned i)
{
	const struct input *input;
	guint host;

	if (i < in->relays->len)
		return relay_as_input(g_ptr_array_index(in->relays, i));
	input = input_at(in, i - in->relays->len);
	return (struct ingest_input){
		.id = input->id,
		.name = input->spec->name,
		.state = input_describe(input),
		.host = input->host && g_ptr_array_find(in->hosts, input->host, &host) ? (int)host : -1,
		.target = input->spec->url ? input->spec->host_hint : NULL,
		.live = input->spec->url != NULL,
		.runs = input->source != NULL,
		.detached = is_detached(input),
		.retried = input_is_retried(input) && !input->session_over,
		.over = input->spec->url && !input->source && input->session_over,
	};
}

/* NULL: it is a relayd, or has been forgotten. */
static struct input *find_input(const struct ingest *in, unsigned id)
{
	for (guint i = 0; i < in->inputs->len; i++)
		if (input_at(in, i)->id == id)
			return input_at(in, i);
	return NULL;
}

void ingest_detach(struct ingest *in, unsigned id)
{
	struct input *input = find_input(in, id);

	if (!input || !input->spec->url || is_detached(input))
		return;
	input->state = INPUT_DETACHED;
	ingest_source_stopped(in, input, NULL);
}

bool ingest_attach(struct ingest *in, unsigned id)
{
	struct input *input = find_input(in, id);

	if (!input || !is_detached(input))
		return true;
	ingest_start_input(in, input);
	return input->state != INPUT_UNTAKEN;
}
