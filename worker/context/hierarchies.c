/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/context/hierarchies.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include "base/reader.h"
#include "profile/container.h"
#include "worker/context/attributes.h"

/* The last hierarchy with a container may be any: engines put a process into all of them alike. */
static void add_path(struct attributes *attributes, const char *path)
{
	char container[CONTAINER_ID_BYTES], pod[CONTAINER_POD_BYTES];

	if (container_id(path, container))
		attributes_add_known(attributes, "container.id", container, strlen(container));
	if (container_pod(path, pod))
		attributes_add_known(attributes, "k8s.pod.uid", pod, strlen(pod));
}

/* Returns whether the line is of a hierarchy of version 1. */
static bool read_line(const char *line, size_t length, struct attributes *attributes)
{
	char path[PATH_MAX];
	struct reader reader;
	const char *number;
	size_t digits, controllers, left;

	reader_init(&reader, line, length);
	number = reader_until(&reader, ':', &digits);
	reader_until(&reader, ':', &controllers);
	left = reader_left(&reader);
	if (reader_failed(&reader) || (digits == 1 && number[0] == '0') || left >= sizeof(path))
		return false;
	memcpy(path, reader.position, left);
	path[left] = '\0';
	add_path(attributes, path);
	return true;
}

int hierarchies_read(const char *text, size_t size, struct attributes *attributes)
{
	struct reader reader;
	int r = -ENOENT;

	reader_init(&reader, text, size);
	while (reader_left(&reader) > 0) {
		size_t length;
		const char *line = reader_until(&reader, '\n', &length);

		if (read_line(line, length, attributes))
			r = 0;
	}
	return r;
}
