/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The product of a session: the profile, from the samples' locations to the bytes of a format. A
 * recording has one profile at the end; a stream has one for each window.
 */
#ifndef KEYHOLE_WORKER_PRODUCT_H
#define KEYHOLE_WORKER_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/messages.h"
#include "profile/runtimes.h"
#include "worker/naming/naming.h"
#include "worker/naming/source_lines.h"
#include "worker/why/sources.h"
#include "worker/words.h"

struct accounts;
struct resources;

/* A stream keeps so many names for later windows. With more it begins another profile, as a second
 * recording would. */
#ifndef WINDOW_LOCATIONS_MAX
#define WINDOW_LOCATIONS_MAX (1u << 16)
#endif
#define WINDOW_STRINGS_MAX    (2 * WINDOW_LOCATIONS_MAX)
#define WINDOW_NAME_BYTES_MAX (16u << 20)
#define WINDOW_PATIENCE_NS    (50ull * 1000 * 1000) /* half a turn, as samples wait meanwhile */

struct product {
	const struct message_config *config; /* borrowed */
	struct resources *resources;	     /* borrowed */
	struct words words;		     /* of the user, about resources */
	const char *kernel; /* tells its build from others; NULL: not known; borrowed */
	struct naming_counts names;
	struct source_lines_counts line_counts;
	uint64_t naming_time; /* ns */
	uint64_t window;      /* of a stream: since when */
	uint64_t without_names, unnamed;
	uint64_t samples;	      /* of all windows that are rendered */
	uint64_t kept_bytes;	      /* names.bytes when the profile was begun */
	struct accounts *accounts;    /* borrowed: OPTIONS_STAT; NULL: a profile is wanted */
	struct sources sources;	      /* OPTIONS_WHY */
	struct runtimes runtimes;     /* of all windows that are rendered */
	struct message_waited waited; /* of the whole recording, which is no stream; else all 0 */
	uint64_t stopped;	      /* CLOCK_MONOTONIC, ns: the end of sampling; 0: not yet */
	bool named; /* product_finish() has made all names, and counted what has none */
	/* product_finish() calls this function before it makes names, then before lines; or NULL */
	void (*draft)(void *context);
	void *draft_context;
};

/* Begins the product of resources->profile. The session owns that profile; product_render_window()
 * may put another one in its place. */
void product_init(struct product *product, const struct message_config *config,
		  struct resources *resources);
void product_release(struct product *product); /* zeros are fine */

/* Sampling is over: notes in the profile what the message tells. 0 or -ENOMEM. */
int product_stop(struct product *product, const struct message_stop *stop);
/* No more samples: makes all names, and for `keyhole why` the sources of the objects of process
 * pid. 0 or -ENOMEM. */
int product_finish(struct product *product, uint32_t pid);
/* Prepares the profile for product_render() before product_finish(). 0 or -ENOMEM. */
int product_describe(struct product *product);
/* Returns the samples without names so far, those of earlier windows among them. */
uint64_t product_without_names(const struct product *product);
/* Writes the profile to fd as far as it is; of a stream, the last window. 0 or a negative errno. */
int product_render(const struct product *product, const struct message_stop *stop, int fd);

/* Returns for how many ns of CPU time a sample stands, where no event is counted. */
uint64_t product_tick(const struct message_sampling *sampling);

/* Returns CLOCK_REALTIME less CLOCK_MONOTONIC. */
uint64_t product_realtime_offset(void);

/* Makes some of a stream's missing names, between turns. 0, 1: there are more, or -ENOMEM. */
int product_name_some(struct product *product);
/*
 * Writes the samples since the last window to fd after product_name_some(), and begins another
 * window. fd stays empty when the format has nothing to say. Names are kept for later windows, up
 * to WINDOW_* above. 0 or a negative errno.
 */
int product_render_window(struct product *product, int fd);

#endif
