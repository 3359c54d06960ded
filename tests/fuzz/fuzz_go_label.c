/* SPDX-License-Identifier: Apache-2.0 */
/* The input is the words of a record behind its context: labels of a goroutine. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "worker/sample/go_label.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static u64 words[GO_LABELS_WORDS + GO_LABEL_WORDS];
	struct go_label labels[GO_LABELS_MAX];
	u64 goroutine;
	size_t count;

	if (size > sizeof(words))
		return 0;
	memcpy(words, data, size);
	count = go_label_read(words, size / sizeof(u64), labels, &goroutine);
	assert(count <= GO_LABELS_MAX);
	for (size_t i = 0; i < count; i++)
		assert(labels[i].key[0] && strlen(labels[i].key) < GO_LABEL_TEXT_MAX &&
		       strlen(labels[i].value) < GO_LABEL_TEXT_MAX);
	return 0;
}
