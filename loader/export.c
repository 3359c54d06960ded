/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/export.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "ipc/guard.h"
#include "loader/failed.h"
#include "loader/helper.h"
#include "loader/link.h"

#define READY_MS 5000

void export_init(struct export *ret_export)
{
	for (int i = 0; i < DESTINATION_PARTS; i++)
		ret_export->parts[i] = -1;
	for (int i = 0; i < WANTED_FILES; i++)
		ret_export->files[i] = -1;
	ret_export->listener = -1;
}

bool export_has_server(const struct export *export)
{
	return export->parts[DESTINATION_ENDPOINT] >= 0;
}

/* ---- of keyhole-options ---------------------------------------------------------------------- */

/* Opens a file that the user has named. keyhole-options gets FILE_CONFIG alone. */
static int open_wanted(struct export *export, struct channel *options, struct message *message)
{
	struct message_wanted_file *wanted = &message->WANTED_FILE;
	struct message_reply reply = {0};
	guard_fd int fd = -1;
	int shown = -1;

	if (wanted->file >= WANTED_FILES || !memchr(wanted->path, '\0', sizeof(wanted->path)))
		return -EPROTO;
	fd = open(wanted->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		reply.error = -errno;
	if (wanted->file == FILE_CONFIG)
		shown = fd;
	else
		close_fd(&export->files[wanted->file]);
	if (wanted->file != FILE_CONFIG)
		export->files[wanted->file] = take_fd(&fd);
	return channel_reply(options, message, &reply, sizeof(reply), shown);
}

int export_take(struct export *export, struct channel *options, struct message *message)
{
	int *part;

	if (message->head.type == MESSAGE_WANTED_FILE)
		return open_wanted(export, options, message);
	if (message->head.type != MESSAGE_DESTINATION ||
	    message->DESTINATION.part >= DESTINATION_PARTS)
		return -EPROTO;
	part = &export->parts[message->DESTINATION.part];
	close_fd(part);
	*part = take_fd(&message->fd);
	return 0;
}

/* ---- keyhole-connector ----------------------------------------------------------------------- */

static int make_ready(const struct export *export, struct channel *connector)
{
	struct message message;
	int r = channel_send_bare(connector, MESSAGE_ADDRESS, export->parts[DESTINATION_ADDRESS]);

	if (r < 0)
		return r;
	r = channel_expect(connector, MESSAGE_CONNECTOR_READY, READY_MS, &message);
	if (r < 0)
		return r;
	return message.CONNECTOR_READY.error;
}

enum exit_status export_connect(const struct export *export, struct channel *ret_connector)
{
	const char *name = message_party_name(PARTY_CONNECTOR);
	const char *const argv[] = {name, NULL};
	int r = helper_start(PARTY_CONNECTOR, argv, NULL, ret_connector);

	if (r < 0)
		return EXIT_FAILED; /* which was logged */
	r = make_ready(export, ret_connector);
	if (r < 0)
		return failed("start", name, r);
	return EXIT_DONE;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int await_listener(struct channel *output, int *ret_listener)
{
	struct message message;
	int r = channel_expect(output, MESSAGE_LISTENING, READY_MS, &message);

	if (r < 0)
		return r;
	*ret_listener = message.fd;
	return message.LISTENING.error;
}

enum exit_status export_listen(struct export *export, struct channel *output)
{
	const int wanted = export->parts[DESTINATION_LISTENER];
	int r;

	if (wanted < 0)
		return EXIT_DONE;
	r = channel_send_bare(output, MESSAGE_LISTEN, wanted);
	if (r == 0)
		r = await_listener(output, &export->listener);
	if (r == 0)
		return EXIT_DONE;
	if (r == -EPIPE || r == -EPROTO || r == -ETIMEDOUT)
		return failed("agent", message_party_name(PARTY_COMMITTER), r);
	return EXIT_USAGE; /* keyhole-output has said why */
}

int export_counters(const struct export *export, const struct message_counters *counters, int map,
		    struct channel *exporter)
{
	int r = channel_send(exporter, MESSAGE_COUNTERS, counters, sizeof(*counters), map);

	if (r < 0 || export->listener < 0)
		return r;
	return channel_send_bare(exporter, MESSAGE_PAGE_LISTENER, export->listener);
}

/* ---- the exporter ---------------------------------------------------------------------------- */

static int send_files(const struct export *export, struct channel *exporter)
{
	for (uint32_t file = FILE_AUTHORITIES; file < WANTED_FILES; file++) {
		const struct message_credential credential = {.file = file};
		int r = 0;

		if (export->files[file] >= 0)
			r = channel_send(exporter, MESSAGE_CREDENTIAL, &credential,
					 sizeof(credential), export->files[file]);
		if (r < 0)
			return r;
	}
	return 0;
}

int export_keep(struct channel *output, enum profile_format format, struct channel *exporter)
{
	const struct message_keeper keeper = {.format = format};
	const struct link link = {MESSAGE_KEEPER_PEER, MESSAGE_WINDOWS_PEER, &keeper,
				  sizeof(keeper)};

	return link_make(&link, exporter, output);
}

int export_equip(const struct export *export, struct channel *connector, struct channel *exporter)
{
	static const struct link link = {MESSAGE_CONNECTOR_PEER, MESSAGE_EXPORTER_PEER, NULL, 0};
	int r;

	r = channel_send_bare(exporter, MESSAGE_ENDPOINT, export->parts[DESTINATION_ENDPOINT]);
	if (r < 0)
		return r;
	r = send_files(export, exporter);
	if (r < 0)
		return r;
	return link_make(&link, exporter, connector);
}
