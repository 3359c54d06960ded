/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the exporter the loader's own numbers of a recording (ipc/status.def). */
#ifndef KEYHOLE_LOADER_STATUS_H
#define KEYHOLE_LOADER_STATUS_H

struct recording;

/* Sends the numbers to the present exporter. Returns 0 or a negative errno. */
int status_send(struct recording *rec);
/* Does so where numbers are wanted, and have changed. An exporter that does not read gets none. */
void status_update(struct recording *rec);

#endif
