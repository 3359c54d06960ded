/* SPDX-License-Identifier: Apache-2.0 */
/* Rings, records and what waits behind them. */
#define RECORD_FRAMES_MAX	   16u
#define RECORD_KERNEL_FRAMES_MAX   3u
#define KERNEL_FRAMES_FIRST	   2
#define RECORD_RUNTIME_WORDS_MAX   4u
#define RECORD_BYTES_MAX	   320u
#define GO_LABELS_MAX		   1u
#define GO_LABEL_BYTES		   8u
#define RING_BYTES_MIN		   4096u
#define RING_BYTES_MAX		   4096u
#define EVENT_RING_BYTES	   4096u
#define EVENTS_SIDEBAND_BYTES	   4096u
#define TRACKER_RELISTS_PER_SECOND 1
#define KERNEL_RANGES_MAX	   1u
