/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the labels of a goroutine out of the words of a record (GO_LABELS_WORDS in bpf/abi.h). The
 * process chooses their texts.
 */
#ifndef KEYHOLE_WORKER_SAMPLE_GO_LABEL_H
#define KEYHOLE_WORKER_SAMPLE_GO_LABEL_H

#include <stddef.h>

#include "bpf/abi.h"

#define GO_CUT_MARK	  "..." /* at the end of a text that was longer */
#define GO_LABEL_TEXT_MAX (GO_LABEL_BYTES + sizeof(GO_CUT_MARK))

struct go_label {
	char key[GO_LABEL_TEXT_MAX], value[GO_LABEL_TEXT_MAX];
};

/*
 * Returns how many labels have a key, and the goroutine's number. Words without a whole label
 * behind them are ignored. A text ends at a NUL.
 */
size_t go_label_read(const u64 *words, size_t count, struct go_label ret_labels[GO_LABELS_MAX],
		     u64 *ret_goroutine);

#endif
