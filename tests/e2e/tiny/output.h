/* SPDX-License-Identifier: Apache-2.0 */
/* The output is small. */
#define PROFILE_BYTES 512
