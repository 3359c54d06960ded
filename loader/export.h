/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the agent's profiles go: files that keyhole-options made, files of certificates that the
 * loader opened for it, and keyhole-connector. The loader passes all of them on and reads none.
 */
#ifndef KEYHOLE_LOADER_EXPORT_H
#define KEYHOLE_LOADER_EXPORT_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "ipc/channel.h"
#include "ipc/exit_status.h"

/* Tells one state of a file from another. */
struct file_state {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
};

/* Descriptors that stay open, for an exporter that takes the place of another one. -1: none. */
struct export
{
	int parts[DESTINATION_PARTS];
	int files[WANTED_FILES];
	char paths[WANTED_FILES][WANTED_PATH_BYTES]; /* "": none; FILE_CONFIG is unused */
	struct file_state states[WANTED_FILES];	     /* of the files that paths led to last */
	int listener;				     /* of the page */
};

void export_init(struct export *ret_export);

/* Returns whether there is a server. Without one, keyhole-output keeps windows in files. */
bool export_has_server(const struct export *export);

/*
 * Handles a WANTED_FILE or a DESTINATION of keyhole-options, with the loader's rights. Returns 0 or
 * a negative errno: then keyhole-options gets no further.
 */
int export_take(struct export *export, struct channel *options, struct message *message);

/* Warns of each file of certificates that the loader, without rights, cannot open a second time. */
void export_warn(const struct export *export);

/*
 * Opens the files of certificates again that have changed, and sends them to the exporter. Says so
 * of each; one that cannot be opened leaves the earlier one in use.
 */
void export_refresh(struct export *export, struct channel *exporter);

/*
 * Starts keyhole-connector and waits until it is confined. Explains a failure. In a service without
 * a network, KEYHOLE_CONNECTOR names the socket at which the service manager starts the program in
 * the host's network.
 */
enum exit_status export_connect(const struct export *export, struct channel *ret_connector);

/*
 * Gives an exporter a channel to keyhole-output, for windows of the format or for the spool. 0, a
 * negative errno.
 */
int export_keep(const struct export *export, const struct message_options *options,
		struct channel *output, struct channel *exporter);

/*
 * Has keyhole-output make the socket at which an exporter shows numbers, if one was asked for.
 * Explains a failure.
 */
enum exit_status export_listen(struct export *export, struct channel *output);

/* Gives an exporter the socket, if there is one, and BPF's counters. 0 or a negative errno. */
int export_counters(const struct export *export, const struct message_counters *counters, int map,
		    struct channel *exporter);

/*
 * Gives an exporter the destination, and a channel to keyhole-connector. Returns 0 or a negative
 * errno.
 */
int export_equip(const struct export *export, struct channel *connector, struct channel *exporter);

#endif
