/* SPDX-License-Identifier: Apache-2.0 */
/* What leaves. */
#define PROFILE_BYTES 512
