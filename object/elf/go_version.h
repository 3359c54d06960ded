/* SPDX-License-Identifier: Apache-2.0 */
/* Reads which version of Go has built a program, from the section .go.buildinfo. */
#ifndef KEYHOLE_OBJECT_ELF_GO_VERSION_H
#define KEYHOLE_OBJECT_ELF_GO_VERSION_H

#include <stdint.h>

struct image;

/*
 * Gets the number behind "go1.". Returns 0, or -ENOENT: no Go program, or an unknown form.
 * So does a position independent program of Go 1.17 or older, whose address is in a relocation.
 */
int go_version(struct image *image, uint32_t *ret_minor);

#endif
