/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the words of a runtime's list that a record has behind its frames: see RUNTIME_WORD_FRAME
 * in bpf/abi.h. A target can make BPF write any list.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_RUNTIME_WORDS_H
#define KEYHOLE_WORKER_SAMPLE_RUNTIME_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/abi.h"

struct runtime_frame {
	uint64_t code;
	uint32_t fingerprint, instruction;
};

struct runtime_words {
	const u64 *word; /* borrowed */
	size_t count;	 /* of words in whole frames and borders */
	size_t frames;
	size_t at;	 /* the next word */
	uint32_t border; /* of the frames from there on */
};

/* Leaves out a word that is none, with all behind it. Returns false if there is such a word. */
bool runtime_words_init(struct runtime_words *words, const u64 *word, size_t count);

/* Returns the number of the user frame to which the next frames belong, or UINT32_MAX: to none. */
#define RUNTIME_WORDS_NO_BORDER UINT32_MAX
uint32_t runtime_words_border(const struct runtime_words *words);
/* Takes the next frame. Behind the last one before a border takes the border, and returns false. */
bool runtime_words_next(struct runtime_words *words, struct runtime_frame *ret_frame);
/* Returns whether all words are taken. */
bool runtime_words_end(const struct runtime_words *words);

#endif
