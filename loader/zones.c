/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/zones.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/guard.h"
#include "ipc/log.h"

#define ZONES_FOLDER "/sys/class/powercap"
#define PATH_BYTES   64

/*
 * Zones of the type intel-rapl alone, which AMD's processors have as well. Those of intel-rapl-mmio
 * are the same packages once more.
 */
static int open_file(int folder, uint32_t number, enum zone_file file)
{
	static const char *const names[ZONE_FILES] = {
		[ZONE_FILE_NAME] = "name",
		[ZONE_FILE_RANGE] = "max_energy_range_uj",
		[ZONE_FILE_ENERGY] = "energy_uj",
	};
	const uint32_t top = ZONE_TOP_OF(number), member = ZONE_MEMBER_OF(number);
	char path[PATH_BYTES];
	int fd;

	if (member == 0)
		snprintf(path, sizeof(path), "intel-rapl:%u/%s", top, names[file]);
	else
		snprintf(path, sizeof(path), "intel-rapl:%u:%u/%s", top, member - 1, names[file]);
	fd = openat(folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return fd;
}

static void close_files(int files[static ZONE_FILES])
{
	for (int i = 0; i < ZONE_FILES; i++)
		if (files[i] >= 0)
			close(files[i]);
}

/* Opens all files of a zone or none. Returns 0 or a negative errno; -ENOENT: there is no zone. */
static int open_zone(int folder, uint32_t number, int files[static ZONE_FILES])
{
	int r = 0;

	for (int i = 0; i < ZONE_FILES; i++) {
		files[i] = open_file(folder, number, (enum zone_file)i);
		if (files[i] < 0 && r == 0)
			r = files[i];
	}
	if (r)
		close_files(files);
	return r;
}

/* Returns whether the zone is there. */
static int add_zone(struct zones *zones, int folder, uint32_t number)
{
	int *files = zones->zone[zones->count].files;
	int r = open_zone(folder, number, files);

	if (r == 0)
		zones->zone[zones->count++].number = number;
	else if (r != -ENOENT)
		zones->error = r;
	return r != -ENOENT;
}

static void add_family(struct zones *zones, int folder, uint32_t top)
{
	for (uint32_t member = 0; member < ZONE_FAMILY && zones->count < ZONES_MAX; member++) {
		const int there = add_zone(zones, folder, ZONE_NUMBER(top, member));

		if (!there && member == 0)
			return;
	}
}

void zones_open(struct zones *zones)
{
	guard_fd int folder = open(ZONES_FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);

	zones->error = -ENOENT;
	for (uint32_t top = 0; top < ZONE_TOPS && folder >= 0; top++)
		add_family(zones, folder, top);
	if (zones->count == 0) {
		log_info("energy: " ZONES_FOLDER ": no zones: %s", strerror(-zones->error));
		return;
	}
	zones->error = 0;
	log_info("energy: " ZONES_FOLDER ": %u zones", zones->count);
}
