/* SPDX-License-Identifier: Apache-2.0 */
/* Of the builds that run in a guest. Emulated, a walk takes five to twenty times as long. */
#define WALK_BUDGET_NS 5000000
