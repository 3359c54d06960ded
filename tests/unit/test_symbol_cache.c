/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/build_elf.h"
#include "object/elf/image.h"
#include "object/symbol/cache.h"

#define WORDS	   (1u << 16)
#define SMALL	   (100u << 10) /* six blocks */
#define WORD(word) ((uint32_t)(word)*2654435761u)

static uint32_t words[WORDS];

/* A file with those words in it; *ret_place says where. */
static struct image *open_words(int *ret_fd, struct image_place *ret_place)
{
	struct build_elf elf;
	struct image *image;
	unsigned char *bytes;
	size_t size;

	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = WORD(i);
	build_elf_init(&elf);
	build_elf_section(&elf, ".words", SHT_PROGBITS, 0, words, sizeof(words));
	bytes = build_elf_finish(&elf, &size);
	*ret_fd = memfd_create("words", MFD_CLOEXEC);
	assert_int_equal(write(*ret_fd, bytes, size), size);
	free(bytes);
	assert_int_equal(image_open(*ret_fd, &image), 0);
	assert_int_equal(image_section_place(image, ".words", ret_place), 0);
	return image;
}

static void check_words(struct symbol_cache *cache)
{
	struct symbol_cache_counts counts;
	struct image_place place;
	struct window window, part;
	uint32_t word, at = 1;
	int fd;
	struct image *image = open_words(&fd, &place);

	window = window_make(cache, image, &place);
	for (unsigned int i = 0; i < 5000; i++) {
		at = at * 1664525u + 1013904223u;
		assert_int_equal(window_read(&window, 4ull * (at % WORDS), &word, 4), 4);
		assert_int_equal(word, WORD(at % WORDS));
	}
	/* across the ends of blocks, and of the window */
	assert_int_equal(window_read(&window, 0, words, sizeof(words) + 9), sizeof(words));
	assert_int_equal(words[WORDS - 1], WORD(WORDS - 1));
	assert_int_equal(window_read(&window, sizeof(words) - 3, &word, 4), 3);
	assert_int_equal(window_read(&window, sizeof(words), &word, 4), 0);
	assert_int_equal(window_read(&window, UINT64_MAX, &word, 4), 0);
	part = window_from(&window, 400);
	assert_int_equal(window_read(&part, 4, &word, 4), 4);
	assert_int_equal(word, WORD(101));
	part = window_from(&window, UINT64_MAX);
	assert_int_equal(window_read(&part, 0, &word, 4), 0);
	symbol_cache_counts(cache, &counts);
	assert_true(counts.peak <= SYMBOL_BYTES_MAX);
	symbol_cache_forget(cache, image);
	symbol_cache_counts(cache, &counts);
	assert_int_equal(counts.held, 0);
	image_close(image);
	close(fd);
}

static void test_symbol_cache__reads_what_the_file_has(void **state)
{
	const size_t sizes[] = {SYMBOL_BYTES_MAX, SMALL, 100, 0};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct symbol_cache *cache = symbol_cache_new(sizes[i]);
		struct symbol_cache_counts counts;

		check_words(cache);
		/* another image in the place of the first */
		check_words(cache);
		symbol_cache_counts(cache, &counts);
		assert_true(counts.peak <= sizes[i]);
		assert_int_equal(counts.evicted > 0, sizes[i] == SMALL);
		symbol_cache_free(cache);
	}
}

static void test_symbol_cache__what_is_claimed_takes_the_place_of_blocks(void **state)
{
	struct symbol_cache *cache = symbol_cache_new(SMALL);
	struct symbol_cache_counts counts;
	struct image_place place;
	struct window window;
	uint32_t word;
	int fd;
	struct image *image = open_words(&fd, &place);

	(void)state;
	window = window_make(cache, image, &place);
	for (size_t at = 0; at < SMALL; at += 4096)
		window_read(&window, at, &word, 4);
	assert_true(symbol_cache_claim(cache, SMALL - 1));
	assert_false(symbol_cache_claim(cache, 2));
	assert_false(symbol_cache_claim(cache, SIZE_MAX));
	assert_int_equal(symbol_cache_room(cache), 1);
	assert_int_equal(window_read(&window, 40, &word, 4), 4);
	assert_int_equal(word, WORD(10));
	symbol_cache_counts(cache, &counts);
	assert_int_equal(counts.peak, SMALL - 1);
	assert_int_equal(counts.refused, 2);
	symbol_cache_release(cache, SMALL - 1);
	assert_int_equal(symbol_cache_room(cache), SMALL);
	image_close(image);
	close(fd);
	symbol_cache_free(cache);
}

static void test_symbol_cache__strings_are_cut(void **state)
{
	struct symbol_cache *cache = symbol_cache_new(SMALL);
	struct image_place place;
	struct build_elf elf;
	struct window window;
	struct image *image;
	char long_one[600], text[1000];
	unsigned char *bytes;
	size_t size;

	(void)state;
	memset(long_one, 'x', sizeof(long_one));
	build_elf_init(&elf);
	build_elf_section(&elf, ".strings", SHT_STRTAB, 0, long_one, sizeof(long_one));
	bytes = build_elf_finish(&elf, &size);
	assert_int_equal(image_adopt(bytes, size, &image), 0);
	assert_int_equal(image_section_place(image, ".strings", &place), 0);
	window = window_make(cache, image, &place);
	assert_int_equal(window_string(&window, 0, text, sizeof(text)), 600);
	assert_int_equal(strlen(text), 600);
	assert_int_equal(window_string(&window, 0, text, 301), 300);
	assert_int_equal(strlen(text), 300);
	assert_int_equal(window_string(&window, 0, text, 10), 9);
	assert_int_equal(window_string(&window, 599, text, sizeof(text)), 1);
	assert_int_equal(window_string(&window, 600, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	image_close(image);
	symbol_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbol_cache__reads_what_the_file_has),
		cmocka_unit_test(test_symbol_cache__what_is_claimed_takes_the_place_of_blocks),
		cmocka_unit_test(test_symbol_cache__strings_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
