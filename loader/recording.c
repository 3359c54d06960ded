/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/recording.h"

#include <errno.h>
#include <string.h>

#include "ipc/exit_status.h"
#include "ipc/log.h"
#include "loader/failed.h"

#define AUDIT_MS 10000 /* a write of some records can be slow */
#define STEP_MS	 60000 /* the file systems of homes can be slow */

void recording_init(struct recording *rec, struct options *options, uint64_t begun)
{
	uname(&rec->machine);
	rec->options = options;
	rec->begun = begun;
	rec->rules.keys = -1;
	rec->cgroup = -1;
	rec->spill = -1;
	rec->cpus.fd = -1;
	rec->command.hold.fd = -1;
	rec->ksyms.fd = rec->ksyms.known = rec->ksyms.channel.fd = -1;
	rec->output.fd = rec->output.manager = -1;
	rec->output.channel.fd = -1;
	rec->monitor.audit.fd = -1;
	rec->monitor.connector.fd = -1;
	for (int i = 0; i < CHILDREN; i++) {
		struct child *child = &rec->monitor.children[i];

		*child = (struct child){.spawner.channel.fd = -1, .channel.fd = -1};
	}
	rec->monitor.children[CHILD_PENAL].number = 1;
}

int recording_audit(struct recording *rec, enum audit_event event, uint64_t first, uint64_t second)
{
	const struct message_audit_event written = {event, PARTY_LOADER, {first, second}};
	struct channel *audit = &rec->monitor.audit;
	struct message message;
	int r = channel_send(audit, MESSAGE_AUDIT_EVENT, &written, sizeof(written), -1);

	if (r)
		return r;
	r = channel_expect(audit, MESSAGE_AUDIT_WRITTEN, AUDIT_MS, &message);
	if (r)
		return r;
	return message.AUDIT_WRITTEN.error;
}

static void report_layer(const char *who, unsigned int layer, bool allowed)
{
	const char *name = policy_layer_name(layer);

	if (allowed)
		log_info("start: %s: without %s", who, name);
	else
		log_error("start: %s: not confined: %s; nothing is sampled", who, name);
}

enum exit_status recording_check_layers(struct recording *rec, enum message_party party, pid_t pid,
					uint32_t missing, uint32_t lacking)
{
	const uint32_t allowed = lacking & LAYERS_THAT_MAY_LACK & ~rec->options->given.require;
	const uint32_t refused = missing & ~allowed;

	if (refused)
		monitor_audit(&rec->monitor, AUDIT_refused, party, (uint64_t)pid, refused);
	else
		monitor_audit(&rec->monitor, AUDIT_confined, party, (uint64_t)pid, missing);
	for (unsigned int layer = 0; layer < LAYER_COUNT; layer++)
		if (missing >> layer & 1)
			report_layer(message_party_name(party), layer, allowed >> layer & 1);
	if (refused)
		return EXIT_FAILED;
	return EXIT_DONE;
}

void recording_enter_phase(struct recording *rec, enum message_phase phase)
{
	for (int i = ROLE_WORKER; i < CHILDREN; i++)
		rec->monitor.children[i].channel.phase = phase;
}

/* Sends the request, to which keyhole-output answers. */
static int request_step(struct channel *channel, const struct message_step *request,
			struct message_stepped *ret_stepped)
{
	struct message message;
	int r = channel_send(channel, MESSAGE_STEP, request, sizeof(*request), -1);

	if (r)
		return r;
	r = channel_expect(channel, MESSAGE_STEPPED, STEP_MS, &message);
	if (r)
		return r;
	if (message.head.reply_to != channel->sent || message.STEPPED.step != request->step)
		return -EPROTO;
	*ret_stepped = message.STEPPED;
	return 0;
}

bool recording_is_unread(const struct recording *rec)
{
	return rec->monitor.written.error == -EPIPE && strcmp(rec->options->output, "-") == 0;
}

/* Returns the status of a recording without samples. EXIT_EMPTY alone needs an explanation. */
static enum exit_status find_silence(const struct recording *rec)
{
	if (rec->command.status == EXIT_NO_COMMAND)
		return EXIT_NO_COMMAND; /* the command's process has said why */
	if (recording_is_unread(rec))
		return EXIT_PIPE;
	return EXIT_EMPTY;
}

enum exit_status recording_take_step(struct recording *rec, enum output_step step)
{
	const enum exit_status without = find_silence(rec);
	struct message_step request = {
		.step = step,
		.flags = rec->options->given.flags,
		.every = rec->options->given.every,
		.bytes = rec->monitor.written.bytes,
	};
	struct message_stepped stepped;
	int r;

	/* the command's process may have had a sample before its program was not found */
	if (without == EXIT_NO_COMMAND && step == STEP_COMMIT)
		return without;
	if (without != EXIT_EMPTY)
		request.flags |= STEP_QUIET;
	r = request_step(&rec->output.channel, &request, &stepped);
	if (r)
		return failed("output", rec->options->output, r);
	if (stepped.error == -ENODATA)
		return without;
	if (stepped.error && step == STEP_COMMIT)
		return EXIT_FAILED; /* keyhole-output has explained why */
	if (stepped.error)
		return failed("output", rec->options->output, stepped.error);
	rec->waited = stepped.waited;
	return EXIT_DONE;
}
