/* SPDX-License-Identifier: Apache-2.0 */
/* Room for the mappings of few processes, and for no table: 8 KiB. */
#define SEGMENT_WORD_BITS 10u
#define SEGMENT_MAX	  2u
