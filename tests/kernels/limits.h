/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the builds that run in a guest. An emulated walk takes five to twenty times as long. */
#define WALK_BUDGET_NS 5000000
