/* SPDX-License-Identifier: Apache-2.0 */
/* Which file of which energy zone a descriptor is: the index of DESCRIPTOR with the kind ZONE. */
#ifndef KEYHOLE_IPC_ZONES_H
#define KEYHOLE_IPC_ZONES_H

#define ZONES_MAX     64u /* that are read */
#define ZONE_TOPS     32u /* intel-rapl:0 and so on */
#define ZONE_CHILDREN 8u  /* intel-rapl:0:0 and so on, of each */
#define ZONE_FAMILY   (ZONE_CHILDREN + 1)

/* In the order in which they come. */
enum zone_file {
	ZONE_FILE_NAME,
	ZONE_FILE_RANGE,
	ZONE_FILE_ENERGY,
	ZONE_FILES,
};

/* clang-format off */
/* member: 0: the top itself, or 1 more than the number of its child. */
#define ZONE_NUMBER(top, member) ((top)*ZONE_FAMILY + (member))
#define ZONE_TOP_OF(number)	 ((number) / ZONE_FAMILY)
#define ZONE_MEMBER_OF(number)	 ((number) % ZONE_FAMILY)
#define ZONE_INDEX(number, file) ((number)*ZONE_FILES + (file))
#define ZONE_INDEX_MAX		 (ZONE_TOPS * ZONE_FAMILY * ZONE_FILES - 1)
/* clang-format on */

#endif
