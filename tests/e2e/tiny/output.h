/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the output. */
#define PROFILE_BYTES 512
