/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/cgroup_path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/reader.h"

struct names {
	const char *name[CGROUP_LEVELS]; /* innermost first */
	size_t length[CGROUP_LEVELS];
	uint32_t count;
	bool cut;
};

static int read_names(struct reader *reader, struct names *ret_names)
{
	ret_names->count = reader_u32(reader);
	ret_names->cut = reader_u32(reader) != 0;
	if (ret_names->count > CGROUP_LEVELS)
		return -EBADMSG;
	for (uint32_t i = 0; i < ret_names->count; i++) {
		const char *name = reader_bytes(reader, CGROUP_NAME_BYTES);

		if (!name)
			return -EBADMSG;
		ret_names->name[i] = name;
		ret_names->length[i] = strnlen(name, CGROUP_NAME_BYTES - 1);
		if (ret_names->length[i] == 0 || memchr(name, '/', ret_names->length[i]))
			return -EBADMSG;
	}
	if (reader_failed(reader))
		return -EBADMSG;
	return 0;
}

static char *append(char *at, const char *text, size_t length)
{
	memcpy(at, text, length);
	return at + length;
}

static void join(const struct names *names, char *ret_path)
{
	char *at = ret_path;

	if (names->cut)
		at = append(at, CGROUP_CUT, strlen(CGROUP_CUT));
	for (uint32_t i = names->count; i-- > 0;) {
		*at++ = '/';
		at = append(at, names->name[i], names->length[i]);
		if (names->length[i] == CGROUP_NAME_BYTES - 1)
			at = append(at, CGROUP_CUT, strlen(CGROUP_CUT));
	}
	if (at == ret_path)
		*at++ = '/';
	*at = '\0';
}

int cgroup_path_read(const void *bytes, size_t size, char ret_path[CGROUP_PATH_BYTES])
{
	struct reader reader;
	struct names names;
	int r;

	ret_path[0] = '\0';
	reader_init(&reader, bytes, size);
	r = read_names(&reader, &names);
	if (r < 0)
		return r;
	join(&names, ret_path);
	return 0;
}
