/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker is parsing, where the next worker finds it (bpf/abi.h): a file that ended one is
 * not parsed again. The file is told by what it is, not by its build id, which its maker chooses. A
 * worker that was taken over can name JOURNAL_QUARANTINED files that its successors do not parse,
 * no more. NULL is fine for each: none is kept.
 */
#ifndef KEYHOLE_WORKER_PROCESS_JOURNAL_H
#define KEYHOLE_WORKER_PROCESS_JOURNAL_H

#include <stdbool.h>

#include "worker/target/target.h"

struct journal;

/* Quarantines what the worker before was parsing; of too many the oldest is forgotten. */
void journal_take_over(struct journal *journal);

/* One at a time. What is no file has an identity of zeros and is never quarantined. */
void journal_begin(struct journal *journal, const struct target_identity *identity);
void journal_end(struct journal *journal);

bool journal_has(const struct journal *journal, const struct target_identity *identity);

#endif
