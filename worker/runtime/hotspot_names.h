/* SPDX-License-Identifier: Apache-2.0 */
/* Names of Java's functions, as people write them. */
#ifndef KEYHOLE_WORKER_RUNTIME_HOTSPOT_NAMES_H
#define KEYHOLE_WORKER_RUNTIME_HOTSPOT_NAMES_H

#include "worker/runtime/told.h"

/*
 * Makes "java.util.Map.put(Object,Object)" of a class's name, a function's name and its signature
 * (JVM specification, 4.3.3). Types have no package. The name of a hidden
 * class lacks what differs from run to run. A signature that is cut or damaged ends with "...".
 */
void hotspot_name(const char *class, const char *name, const char *signature,
		  char ret_name[TOLD_NAME_BYTES]);

#endif
