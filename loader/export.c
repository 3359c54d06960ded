/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "ipc/guard.h"
#include "ipc/log.h"
#include "loader/failed.h"
#include "loader/helper.h"
#include "loader/link.h"

#define READY_MS	   15000 /* a service manager may have more to start at boot */
#define CONNECTOR_VARIABLE "KEYHOLE_CONNECTOR"
#define OPEN_READ	   (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

void export_init(struct export *ret_export)
{
	for (int i = 0; i < DESTINATION_PARTS; i++)
		ret_export->parts[i] = -1;
	for (int i = 0; i < WANTED_FILES; i++)
		ret_export->files[i] = -1;
	memset(ret_export->paths, 0, sizeof(ret_export->paths));
	ret_export->listener = -1;
}

bool export_has_server(const struct export *export)
{
	return export->parts[DESTINATION_ENDPOINT] >= 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* All 0 for a descriptor without a state. */
static struct file_state state_of(int fd)
{
	struct file_state state;
	struct stat status;

	memset(&state, 0, sizeof(state));
	if (fd < 0 || fstat(fd, &status))
		return state;
	state.device = status.st_dev;
	state.inode = status.st_ino;
	state.size = status.st_size;
	state.modified = status.st_mtim;
	state.changed = status.st_ctim;
	return state;
}

/* A path that leads nowhere is that of a file which is just being replaced. */
static bool has_changed(struct export *export, uint32_t file)
{
	guard_fd int fd = open(export->paths[file], O_PATH | O_CLOEXEC);
	const struct file_state state = state_of(fd);

	if (fd < 0 || memcmp(&state, &export->states[file], sizeof(state)) == 0)
		return false;
	export->states[file] = state;
	return true;
}

static int send_file(const struct export *export, uint32_t file, struct channel *exporter)
{
	const struct message_credential credential = {.file = file};

	return channel_send(exporter, MESSAGE_CREDENTIAL, &credential, sizeof(credential),
			    export->files[file]);
}

static void refresh(struct export *export, uint32_t file, struct channel *exporter)
{
	const char *path = export->paths[file];
	int fd;

	if (!*path || !has_changed(export, file))
		return;
	fd = open(path, OPEN_READ);
	if (fd < 0) {
		log_warning("agent: %s: %s: it has changed, and the earlier one is in use", path,
			    strerror(errno));
		return;
	}
	log_info("agent: %s: it has changed, and is read again", path);
	close_fd(&export->files[file]);
	export->files[file] = fd;
	/* an exporter that is not there gets it with its other files */
	if (exporter->fd >= 0)
		send_file(export, file, exporter);
}

void export_refresh(struct export *export, struct channel *exporter)
{
	for (uint32_t file = FILE_AUTHORITIES; file < WANTED_FILES; file++)
		refresh(export, file, exporter);
}

void export_warn(const struct export *export)
{
	for (uint32_t file = FILE_AUTHORITIES; file < WANTED_FILES; file++) {
		const char *path = export->paths[file];
		guard_fd int fd = -1;

		if (*path)
			fd = open(path, OPEN_READ);
		if (*path && fd < 0)
			log_warning("agent: %s: %s: a change of it needs a restart (SIGHUP)", path,
				    strerror(errno));
	}
}

/* ---- of keyhole-options ---------------------------------------------------------------------- */

static void keep_file(struct export *export, const struct message_wanted_file *wanted, int *fd)
{
	close_fd(&export->files[wanted->file]);
	export->states[wanted->file] = state_of(*fd);
	export->files[wanted->file] = take_fd(fd);
	memcpy(export->paths[wanted->file], wanted->path, sizeof(wanted->path));
}

/* Opens a file that the user has named. keyhole-options gets FILE_CONFIG alone. */
static int open_wanted(struct export *export, struct channel *options, struct message *message)
{
	struct message_wanted_file *wanted = &message->WANTED_FILE;
	struct message_reply reply = {0};
	guard_fd int fd = -1;
	int shown = -1;

	if (wanted->file >= WANTED_FILES || !memchr(wanted->path, '\0', sizeof(wanted->path)))
		return -EPROTO;
	fd = open(wanted->path, OPEN_READ);
	if (fd < 0)
		reply.error = -errno;
	if (wanted->file == FILE_CONFIG)
		shown = fd;
	else
		keep_file(export, wanted, &fd);
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

/* Asks for a keyhole-connector where a service manager starts one for each connection. */
static int ask_manager(const char *path, struct channel *ret_connector)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	guard_fd int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return -errno;
	channel_init(ret_connector, take_fd(&fd), PARTY_LOADER, PARTY_CONNECTOR);
	return 0;
}

/* Explains a failure. */
static int start_connector(const char *name, struct channel *ret_connector)
{
	const char *const argv[] = {name, NULL}, *manager = getenv(CONNECTOR_VARIABLE);
	int r;

	if (!manager)
		return helper_start(PARTY_CONNECTOR, argv, NULL, ret_connector);
	r = ask_manager(manager, ret_connector);
	if (r < 0)
		log_error("start: %s: %s: %s", name, manager, strerror(-r));
	return r;
}

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
	int r = start_connector(name, ret_connector);

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
		int r = 0;

		if (export->files[file] >= 0)
			r = send_file(export, file, exporter);
		if (r < 0)
			return r;
	}
	return 0;
}

int export_keep(const struct export *export, const struct message_options *options,
		struct channel *output, struct channel *exporter)
{
	struct message_keeper keeper = {.format = options->format};
	const struct link link = {MESSAGE_KEEPER_PEER, MESSAGE_WINDOWS_PEER, &keeper,
				  sizeof(keeper)};

	if (export_has_server(export))
		keeper.spool = options->spool;
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
