/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's files in memory. The worker makes all of them before its filter, which has no call
 * that makes another. So a worker that was taken over fills these files and no more: the kernel
 * counts their pages as nobody's memory. The files belong to `struct files` for the whole life of
 * the process. Their users write each file again from its start.
 */
#ifndef KEYHOLE_WORKER_FILES_H
#define KEYHOLE_WORKER_FILES_H

#include <stdint.h>

#include "worker/naming/debug_peer.h"

#define FILES_PROFILE_BYTES   (1ull << 30)
#define FILES_WINDOW_BYTES    (512ull << 20)
#define FILES_DRAFT_BYTES     (256ull << 20)
#define FILES_ADDRESSES_BYTES (1ull << 20) /* as reader_limits allows */
#define FILES_DRAFTS	      2		   /* the exporter keeps one while the next is written */

struct files {
	/* The sizes above, sealed: a write beyond them fails with -EPERM, and no page is taken. */
	int profile, window, drafts[FILES_DRAFTS];
	struct debug_peer_files lines; /* the answer: up to RLIMIT_FSIZE */
};

/* Makes the files. Returns 0 or a negative errno. */
int files_make(struct files *ret_files);

#endif
