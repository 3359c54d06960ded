/* SPDX-License-Identifier: Apache-2.0 */
/* Time and size of what the worker reads of targets. */
#define SYMBOL_BYTES_MAX     65536u
#define NAMING_BUDGET	     0
#define LISTING_TEXT_MAX     1024
#define UNWIND_ROWS_MAX	     64u
#define FILES_AT_ONCE_MAX    4
#define FILES_OF_PROCESS_MAX 1
