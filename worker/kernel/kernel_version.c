/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/kernel/kernel_version.h"

#include <stdio.h>
#include <sys/utsname.h>

void kernel_version_get(char ret_version[KERNEL_VERSION_BYTES])
{
	struct utsname names;

	ret_version[0] = '\0';
	if (uname(&names) == 0)
		snprintf(ret_version, KERNEL_VERSION_BYTES, "%s %s", names.release, names.version);
}
