/* SPDX-License-Identifier: Apache-2.0 */
/* memfd PROGRAM ARGUMENTS...: runs a copy of PROGRAM that has no name in any file system. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv, char **environment)
{
	int from = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	int to = memfd_create("nameless", MFD_CLOEXEC);
	struct stat status;

	if (from < 0 || to < 0 || fstat(from, &status) != 0)
		return 1;
	for (off_t left = status.st_size; left > 0;) {
		ssize_t moved = sendfile(to, from, NULL, (size_t)left);

		if (moved <= 0)
			return 1;
		left -= moved;
	}
	fexecve(to, argv + 1, environment);
	return 1;
}
