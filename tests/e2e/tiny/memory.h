/* SPDX-License-Identifier: Apache-2.0 */
/* The worker keeps and asks for little. */
#define INTERN_COUNT_MAX       400u
#define SAMPLES_HELD_MAX       8192u
#define SAMPLES_HELD_FOR       200000000
#define BROKER_QUEUE_MAX       1
#define LAUNCHES_MAX	       1
#define OBJECT_DESCRIPTORS_MAX 4
#define DESCRIPTORS_OWN	       2
#define MAPPINGS_CLOSED_MAX    4
#define PROFILE_MOMENTS_MAX    50
#define PROFILE_LOCATIONS_MAX  400u
#define PROFILE_STACKS_MAX     400u
#define PROFILE_SPILL_MAX      0
#define BROKER_DEADLINE	       (60ull * 1000 * 1000 * 1000)
