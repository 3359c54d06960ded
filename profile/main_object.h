/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the program that a profile is mainly about. */
#ifndef KEYHOLE_PROFILE_MAIN_OBJECT_H
#define KEYHOLE_PROFILE_MAIN_OBJECT_H

#include <stdint.h>

struct profile;

/*
 * Returns the id of the executable of the process with most samples outside of the kernel, or 0:
 * not known. The executable has the process's name, or else holds the outermost frames of the main
 * thread, or else those of all threads. A profile without process ids keeps the order of objects of
 * its file: the first native one is the executable. A lack of memory returns 0.
 */
uint32_t profile_main_object(const struct profile *profile);

#endif
