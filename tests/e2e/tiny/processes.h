/* SPDX-License-Identifier: Apache-2.0 */
/* How many processes, and mappings of one. */
#define GENERATIONS_MAX	   16
#define TARGETS_MAX	   8
#define PROCESS_SLOTS	   4u
#define PROCESS_PROBES	   2u
#define BLOCK_MAPPINGS_MAX 15u
#define MAPPINGS_MAX	   15
