/* SPDX-License-Identifier: Apache-2.0 */
/* Of strings, and of addresses and stacks; nothing else holds back who has them. */
#define INTERN_COUNT_MAX 400u
