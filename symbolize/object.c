/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/object.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "ipc/time.h"
#include "symbolize/debug.h"
#include "worker/dwarf/child.h"

static bool number(const char *text, unsigned long most, unsigned int *ret_number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*ret_number = (unsigned int)value;
	return *text >= '0' && *text <= '9' && !*end && value <= most;
}

int object_main(int argc, char **argv)
{
	const struct exchange exchange = {-1, CHILD_ADDRESSES, CHILD_ANSWER};
	struct debug_files files = {.alternate = -1};
	struct debug_limits limits = {.memory = CHILD_MEMORY_MAX, .answer = CHILD_ANSWER_MAX};
	static struct ask ask;
	unsigned int count, alternates, milliseconds;

	if (argc != CHILD_ARGUMENTS || strcmp(argv[1], KEYHOLE_VERSION) != 0)
		return EPROTO;
	if (!number(argv[2], CHILD_ADDRESSES_MAX, &ask.count) || ask.count == 0 ||
	    !number(argv[3], CHILD_FILES_MAX, &count) || !number(argv[4], 1, &alternates) ||
	    !number(argv[5], CHILD_MS_MAX, &milliseconds))
		return EINVAL;
	prctl(PR_SET_NAME, CHILD_NAME);
	for (unsigned int i = 0; i < count; i++)
		files.fds[files.count++] = CHILD_FILES + (int)i;
	if (alternates)
		files.alternate = CHILD_FILES + (int)count;
	limits.time = milliseconds * NS_PER_MS;
	limits.cpu = milliseconds / 1000 + 1;
	return -debug_answer(&exchange, &ask, &files, &limits);
}
