/* SPDX-License-Identifier: Apache-2.0 */
/* Few strings, addresses and stacks; no other limit holds them back. */
#define INTERN_COUNT_MAX      400u
#define PROFILE_LOCATIONS_MAX 400u
#define PROFILE_STACKS_MAX    400u
