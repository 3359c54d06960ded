/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers clients at a listening socket with the page of metrics. Clients are anybody on this
 * machine, so their number, their bytes and their time have bounds. One client too many takes the
 * place of the oldest.
 */
#ifndef KEYHOLE_EXPORTER_SITE_H
#define KEYHOLE_EXPORTER_SITE_H

#define SITE_CLIENTS_MAX 4u
#define SITE_CLIENT_MS	 5000u /* from its coming to the end of its answer */

struct event_base;
struct figures;
struct site;

struct site_owner {
	/* Brings the numbers up to date for a page, and returns them. */
	struct figures *(*figures)(void *owner);
	void *owner;
};

/* Takes over the socket, which listens and does not block, with an error, too. 0 or -ENOMEM. */
int site_new(struct event_base *base, int fd, const struct site_owner *owner,
	     struct site **ret_site);
void site_free(struct site *site); /* NULL is fine */

#endif
