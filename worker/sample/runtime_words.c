/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/runtime_words.h"

#define TAGS	    (RUNTIME_WORD_FRAME | RUNTIME_WORD_BORDER)
#define FRAME_WORDS 2u

static bool is_border(u64 word)
{
	return (word & TAGS) == RUNTIME_WORD_BORDER;
}

/* Returns the words of the frame or border at a place, or 0: there is none. */
static size_t words_at(const u64 *word, size_t at, size_t count)
{
	if (is_border(word[at]))
		return 1;
	if ((word[at] & TAGS) != RUNTIME_WORD_FRAME || count - at < FRAME_WORDS)
		return 0;
	return FRAME_WORDS;
}

/* Finds the border of the frames from words->at on. */
static void find_border(struct runtime_words *words)
{
	size_t at = words->at;

	words->border = RUNTIME_WORDS_NO_BORDER;
	while (at < words->count && !is_border(words->word[at]))
		at += FRAME_WORDS;
	if (at < words->count)
		words->border = (uint32_t)(words->word[at] & 0xffff);
	if (words->border == RUNTIME_BORDER_NOWHERE)
		words->border = RUNTIME_WORDS_NO_BORDER;
}

bool runtime_words_init(struct runtime_words *words, const u64 *word, size_t count)
{
	*words = (struct runtime_words){.word = word};
	while (words->count < count) {
		const size_t step = words_at(word, words->count, count);

		if (step == 0)
			break;
		words->frames += step == FRAME_WORDS;
		words->count += step;
	}
	find_border(words);
	return words->count == count;
}

uint32_t runtime_words_border(const struct runtime_words *words)
{
	return words->border;
}

bool runtime_words_next(struct runtime_words *words, struct runtime_frame *ret_frame)
{
	const u64 *word = words->word + words->at;

	if (runtime_words_end(words))
		return false;
	if (is_border(word[0])) {
		words->at++;
		find_border(words);
		return false;
	}
	*ret_frame = (struct runtime_frame){
		.code = FRAME_ADDRESS(word[0]),
		.fingerprint = (uint32_t)word[1],
		.instruction = (uint32_t)(word[1] >> 32),
	};
	words->at += FRAME_WORDS;
	return true;
}

bool runtime_words_end(const struct runtime_words *words)
{
	return words->at >= words->count;
}
