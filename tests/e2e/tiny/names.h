/* SPDX-License-Identifier: Apache-2.0 */
/* Room for names in the profile. */
#define NAMING_OBJECT_BYTES_MAX 16
