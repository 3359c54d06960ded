/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for a few hundred samples; the file takes the rest. */
#define CHUNKS_UNIT_BYTES  16384u
#define PROFILE_MEMORY_MAX 131072u
