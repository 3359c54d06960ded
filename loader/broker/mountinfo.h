/* SPDX-License-Identifier: Apache-2.0 */
/* The list of mounts that a process sees: /proc/PID/mountinfo. */
#ifndef KEYHOLE_LOADER_BROKER_MOUNTINFO_H
#define KEYHOLE_LOADER_BROKER_MOUNTINFO_H

#include <stdbool.h>
#include <stdint.h>

/* Some 8,000 mounts, 3 ms and more; a process may make 100,000. */
#define MOUNTINFO_BYTES (1u << 20)

struct mountinfo_list {
	char text[MOUNTINFO_BYTES + 1];
};

/* A line of a list; the words are parts of that list. */
struct mount {
	uint64_t id; /* unique while the mount is there; a later mount may have the same */
	const char *device, *point, *type, *options;
};

/*
 * Reads as many whole lines of the process's list as fit, and "" where there are none. The working
 * folder is /proc. Returns the text.
 */
char *mountinfo_read(uint32_t pid, struct mountinfo_list *list);

/*
 * Each cuts the list to pieces and returns whether there is a mount. The first takes the next mount
 * from the list. The second takes the mount with an id and cuts that line alone.
 */
bool mountinfo_next(char **list, struct mount *ret_mount);
bool mountinfo_find(char *list, uint64_t id, struct mount *ret_mount);

#endif
