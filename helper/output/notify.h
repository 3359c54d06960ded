/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket of a service manager, see sd_notify(3). The loader writes to it: the manager takes
 * what the service's main process says.
 */
#ifndef KEYHOLE_HELPER_OUTPUT_NOTIFY_H
#define KEYHOLE_HELPER_OUTPUT_NOTIFY_H

/* Connected to what NOTIFY_SOCKET names, or a negative errno; -ENODATA: it is not set. */
int notify_open(void);

#endif
