/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/memory_file.h"

/* The exporter wants these seals: so nobody changes the size between its check and its reads. */
#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* Returns the size, or what the starter's own limit leaves of it: ftruncate() obeys that too. */
static uint64_t within_limit(uint64_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
		return limit.rlim_cur;
	return bytes;
}

/* Returns a file of a fixed size, in which no page is taken yet, or a negative errno. */
static int make_sealed(const char *name, uint64_t bytes)
{
	int fd = memory_file(name);

	if (fd < 0)
		return fd;
	if (ftruncate(fd, (off_t)within_limit(bytes)) || fcntl(fd, F_ADD_SEALS, SIZE_SEALS))
		return -errno;
	return fd;
}

/* Returns an empty file to which nobody adds a seal, or a negative errno. */
static int make_open(const char *name)
{
	int fd = memory_file(name);

	if (fd < 0)
		return fd;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL))
		return -errno;
	return fd;
}

int files_make(struct files *ret_files)
{
	struct files files = {
		.profile = make_sealed("keyhole-profile", FILES_PROFILE_BYTES),
		.window = make_sealed("keyhole-profile", FILES_WINDOW_BYTES),
		.lines = {make_sealed("keyhole-addresses", FILES_ADDRESSES_BYTES),
			  make_open("keyhole-lines")},
	};

	for (unsigned int i = 0; i < FILES_DRAFTS; i++) {
		files.drafts[i] = make_sealed("keyhole-profile", FILES_DRAFT_BYTES);
		if (files.drafts[i] < 0)
			return files.drafts[i];
	}
	if (files.profile < 0)
		return files.profile;
	if (files.window < 0)
		return files.window;
	if (files.lines.addresses < 0)
		return files.lines.addresses;
	if (files.lines.answer < 0)
		return files.lines.answer;
	*ret_files = files;
	return 0;
}
