/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/container.h"
#include "worker/sample/cgroup_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads the bytes as they are, and as the beginning of a whole record with few levels. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char whole[sizeof(struct event_cgroup) - sizeof(struct event)] = {0};
	char path[CGROUP_PATH_BYTES], id[CONTAINER_ID_BYTES];

	if (cgroup_path_read(data, size, path) < 0 && path[0])
		abort();
	if (size > sizeof(whole))
		size = sizeof(whole);
	memcpy(whole, data, size);
	memset(whole + 1, 0, 3);
	whole[0] %= CGROUP_LEVELS + 1;
	if (cgroup_path_read(whole, sizeof(whole), path) < 0)
		return 0;
	if (strlen(path) == 0 || strlen(path) >= sizeof(path))
		abort();
	if (container_id(path, id) && !strstr(path, id))
		abort();
	return 0;
}
