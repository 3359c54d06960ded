/* SPDX-License-Identifier: Apache-2.0 */
#include "view/symbolize/object.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "generated/version.h"
#include "ipc/time.h"
#include "view/symbolize/debug.h"
#include "base/decimal.h"
#include "object/dwarf/child.h"

int object_main(int argc, char **argv)
{
	const struct exchange exchange = {-1, CHILD_ADDRESSES, CHILD_ANSWER};
	struct debug_files files = {.alternate = -1};
	struct debug_limits limits = {.memory = CHILD_MEMORY_MAX, .answer = CHILD_ANSWER_MAX};
	static struct ask ask;
	unsigned int count, alternates, milliseconds;

	if (argc != CHILD_ARGUMENTS || strcmp(argv[1], KEYHOLE_VERSION) != 0)
		return EPROTO;
	if (!decimal_read32(argv[2], 1, CHILD_ADDRESSES_MAX, &ask.count) ||
	    !decimal_read32(argv[3], 0, CHILD_FILES_MAX, &count) ||
	    !decimal_read32(argv[4], 0, 1, &alternates) ||
	    !decimal_read32(argv[5], 0, CHILD_MS_MAX, &milliseconds))
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
