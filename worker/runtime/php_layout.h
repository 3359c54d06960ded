/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of PHP's structures in one version (php_layout.def). A version that is not there has
 * no layout: nothing is guessed from another version. Builds with threads or for debugging have
 * none.
 */
#ifndef KEYHOLE_WORKER_RUNTIME_PHP_LAYOUT_H
#define KEYHOLE_WORKER_RUNTIME_PHP_LAYOUT_H

#include <stdint.h>

struct php_layout {
#define O(field, v74, v80, v81, v82, v83, v84, v85) uint16_t field;
#include "worker/runtime/php_layout.def"
#undef O
};

/*
 * Finds the layout by the number of the interface of modules (ZEND_MODULE_API_NO), which a release
 * series keeps. Also sets the version, as of struct runtime_setup. Returns 0, or -ENOTSUP.
 */
int php_layout_find(uint32_t interface, struct php_layout *ret_layout, uint32_t *ret_version);

#endif
