/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_id.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"

#define LENGTH_BYTES 8

/* Begins what is hashed of texts. */
static const char no_file[] = "keyhole: no file";

static void end(struct sha256 *sha, char ret_id[FILE_ID_BYTES])
{
	char hex[SHA256_HEX_BYTES];

	sha256_end_hex(sha, hex);
	memcpy(ret_id, hex, FILE_ID_BYTES - 1);
	ret_id[FILE_ID_BYTES - 1] = '\0';
}

static void add_length(struct sha256 *sha, uint64_t length)
{
	uint8_t bytes[LENGTH_BYTES];

	for (size_t i = 0; i < LENGTH_BYTES; i++)
		bytes[i] = (uint8_t)(length >> (8 * (LENGTH_BYTES - 1 - i)));
	sha256_add(sha, bytes, sizeof(bytes));
}

static size_t part_of(uint64_t length)
{
	if (length > FILE_ID_PART)
		return FILE_ID_PART;
	return (size_t)length;
}

void file_id_of_bytes(const void *bytes, size_t size, char ret_id[FILE_ID_BYTES])
{
	const size_t part = part_of(size);
	struct sha256 sha;

	sha256_init(&sha);
	if (part > 0) {
		sha256_add(&sha, bytes, part);
		sha256_add(&sha, (const char *)bytes + size - part, part);
	}
	add_length(&sha, size);
	end(&sha, ret_id);
}

/* Returns 0 or a negative errno. */
static int add_part(struct sha256 *sha, int fd, uint64_t offset, size_t size)
{
	char bytes[FILE_ID_PART];
	size_t done = 0;

	while (done < size) {
		const ssize_t got = pread(fd, bytes + done, size - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return -EIO;
		done += (size_t)got;
	}
	sha256_add(sha, bytes, size);
	return 0;
}

int file_id_of_file(int fd, char ret_id[FILE_ID_BYTES])
{
	struct sha256 sha;
	struct stat status;
	uint64_t length;
	int r;

	ret_id[0] = '\0';
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	length = (uint64_t)status.st_size;
	sha256_init(&sha);
	r = add_part(&sha, fd, 0, part_of(length));
	if (r == 0)
		r = add_part(&sha, fd, length - part_of(length), part_of(length));
	if (r < 0)
		return r;
	add_length(&sha, length);
	end(&sha, ret_id);
	return 0;
}

void file_id_of_texts(const char *const *texts, size_t count, char ret_id[FILE_ID_BYTES])
{
	struct sha256 sha;

	sha256_init(&sha);
	sha256_add(&sha, no_file, sizeof(no_file));
	for (size_t i = 0; i < count; i++)
		sha256_add(&sha, texts[i], strlen(texts[i]) + 1);
	end(&sha, ret_id);
}
