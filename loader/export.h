/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the agent's profiles go: files that keyhole-options made, files of certificates that the
 * loader opened for it, and keyhole-connector. The loader passes all of them on and reads none.
 */
#ifndef KEYHOLE_LOADER_EXPORT_H
#define KEYHOLE_LOADER_EXPORT_H

#include <stdbool.h>

#include "ipc/channel.h"
#include "ipc/exit_status.h"

/* Descriptors that stay open, for an exporter that takes the place of another one. -1: none. */
struct export
{
	int parts[DESTINATION_PARTS];
	int files[WANTED_FILES];
	int listener; /* of the page */
};

void export_init(struct export *ret_export);

/* Returns whether there is a server. Without one, keyhole-output keeps windows in files. */
bool export_has_server(const struct export *export);

/*
 * Handles a WANTED_FILE or a DESTINATION of keyhole-options, with the loader's rights. Returns 0 or
 * a negative errno: then keyhole-options gets no further.
 */
int export_take(struct export *export, struct channel *options, struct message *message);

/* Starts keyhole-connector and waits until it is confined. Explains a failure. */
enum exit_status export_connect(const struct export *export, struct channel *ret_connector);

/* Gives an exporter a channel to keyhole-output, for windows of the format. 0, a negative errno. */
int export_keep(struct channel *output, enum profile_format format, struct channel *exporter);

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
