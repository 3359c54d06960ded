/* SPDX-License-Identifier: Apache-2.0 */
/* Room for the unwind tables of small programs, not of C++ libraries: 128 KiB. */
#define SEGMENT_WORD_BITS 14u
#define SEGMENT_MAX	  2u
