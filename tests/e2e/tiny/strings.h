/* SPDX-License-Identifier: Apache-2.0 */
/* Few strings, which addresses run out of, and few addresses and stacks. */
#define INTERN_COUNT_MAX      200u
#define PROFILE_LOCATIONS_MAX 400u
#define PROFILE_STACKS_MAX    400u
