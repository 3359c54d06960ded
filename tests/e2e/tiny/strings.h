/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of strings, addresses and stacks, with no other limit in front of them. */
#define INTERN_COUNT_MAX 400u
