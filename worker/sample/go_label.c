/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/sample/go_label.h"

#include <stdbool.h>
#include <string.h>

#define TEXT_WORDS (GO_LABEL_BYTES / sizeof(u64))

static void copy_text(char to[GO_LABEL_TEXT_MAX], const u64 *words, u64 bytes, bool is_cut)
{
	size_t size = bytes < GO_LABEL_BYTES ? (size_t)bytes : GO_LABEL_BYTES;

	memcpy(to, words, size);
	memcpy(to + size, GO_CUT_MARK, sizeof(GO_CUT_MARK));
	if (!is_cut)
		to[size] = '\0';
}

size_t go_label_read(const u64 *words, size_t count, struct go_label ret_labels[GO_LABELS_MAX],
		     u64 *ret_goroutine)
{
	size_t found = 0;

	*ret_goroutine = count > 0 ? words[0] : 0;
	for (size_t at = 1; at < count && count - at >= GO_LABEL_WORDS && found < GO_LABELS_MAX;
	     at += GO_LABEL_WORDS) {
		const u64 head = words[at];
		struct go_label *label = &ret_labels[found];

		copy_text(label->key, &words[at + 1], head & 0xff, head & GO_LABEL_CUT);
		copy_text(label->value, &words[at + 1 + TEXT_WORDS], head >> 8 & 0xff,
			  head & GO_VALUE_CUT);
		found += label->key[0] != '\0';
	}
	return found;
}
