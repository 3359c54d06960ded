/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for a few hundred samples; the file takes the rest. */
#define CHUNKS_UNIT_BYTES  8192u
#define PROFILE_MEMORY_MAX 65536u
