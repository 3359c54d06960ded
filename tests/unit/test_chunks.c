/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/chunks.h"
#include "base/memory_file.h"

#define PIECE 1000u

static void fill(struct chunks *chunks, unsigned int pieces)
{
	for (unsigned int i = 0; i < pieces; i++) {
		unsigned char *bytes = chunks_add(chunks, PIECE);

		assert_non_null(bytes);
		memset(bytes, (int)i, PIECE);
	}
}

static void assert_filled(const struct chunks *chunks, unsigned int pieces)
{
	unsigned int piece = 0;

	for (size_t i = 0; i < chunks->count; i++) {
		const struct chunk *chunk = &chunks->items[i];

		for (size_t at = 0; at < chunk->used; at += PIECE, piece++) {
			assert_int_equal(chunk->bytes[at], piece % 256);
			assert_int_equal(chunk->bytes[at + PIECE - 1], piece % 256);
		}
	}
	assert_int_equal(piece, pieces);
}

static void test_chunks__a_piece_is_in_one_chunk(void **state)
{
	struct chunks chunks = {0};

	(void)state;
	fill(&chunks, 1000);
	assert_int_equal(chunks.count, 1000 / (CHUNKS_UNIT_BYTES / PIECE) + 1);
	assert_int_equal(chunks_bytes(&chunks), chunks.count * CHUNKS_UNIT_BYTES);
	assert_filled(&chunks, 1000);
	chunks_release(&chunks);
	assert_int_equal(chunks.count, 0);
}

/* Closed chunks go to the file alone, and their bytes stay what they were. */
static void test_chunks__spill(void **state)
{
	struct chunks chunks = {0};
	int fd = memory_file("test");
	uint64_t at = 0;
	struct stat status;

	(void)state;
	fill(&chunks, 1000);
	assert_false(chunks_can_spill(&chunks));
	chunks_close(&chunks);
	fill(&chunks, 0);
	while (chunks_can_spill(&chunks))
		assert_int_equal(chunks_spill(&chunks, fd, &at), 0);
	assert_int_equal(at, (chunks.count - 1) * CHUNKS_UNIT_BYTES);
	assert_int_equal(fstat(fd, &status), 0);
	assert_int_equal(status.st_size, at);
	assert_int_equal(chunks_bytes(&chunks), CHUNKS_UNIT_BYTES);
	assert_filled(&chunks, 1000);
	close(fd);
	chunks_release(&chunks);
}

/* A file that takes nothing changes nothing. */
static void test_chunks__no_room_in_the_file(void **state)
{
	struct chunks chunks = {0};
	int fd = open("/dev/full", O_RDWR | O_CLOEXEC);
	uint64_t at = 0;

	(void)state;
	fill(&chunks, 600);
	chunks_close(&chunks);
	assert_int_equal(chunks_spill(&chunks, fd, &at), -ENOSPC);
	assert_int_equal(chunks_spill(&chunks, -1, &at), -EBADF);
	assert_int_equal(at, 0);
	assert_true(chunks_can_spill(&chunks));
	assert_filled(&chunks, 600);
	close(fd);
	chunks_release(&chunks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chunks__a_piece_is_in_one_chunk),
		cmocka_unit_test(test_chunks__spill),
		cmocka_unit_test(test_chunks__no_room_in_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
