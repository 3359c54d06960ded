/* SPDX-License-Identifier: Apache-2.0 */
/* The debug information of one object, for a recording: object/dwarf/child.h. */
#ifndef KEYHOLE_VIEW_SYMBOLIZE_OBJECT_H
#define KEYHOLE_VIEW_SYMBOLIZE_OBJECT_H

/* An exit status. */
int object_main(int argc, char **argv);

#endif
