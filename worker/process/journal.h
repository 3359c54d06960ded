/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal names the file that a worker is parsing (bpf/abi.h). The next worker reads it: a file
 * that ended one worker is not parsed again. The name is the file's identity, because the maker of
 * a file chooses its build id. A worker that was taken over can name at most JOURNAL_QUARANTINED
 * files that its successors do not parse. NULL is fine everywhere: no journal is kept.
 */
#ifndef KEYHOLE_WORKER_PROCESS_JOURNAL_H
#define KEYHOLE_WORKER_PROCESS_JOURNAL_H

#include <stdbool.h>

#include "worker/target/target.h"

struct journal;

/* Quarantines the file that the earlier worker was parsing; forgets the oldest of too many. */
void journal_take_over(struct journal *journal);

/*
 * Notes the file that the worker now parses; the worker parses one file at a time. The identity of
 * an image in memory is all zeros, which is never quarantined.
 */
void journal_begin(struct journal *journal, const struct target_identity *identity);
void journal_end(struct journal *journal);

bool journal_has(const struct journal *journal, const struct target_identity *identity);

#endif
