/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One object of coldstack.c, which copies it many times. In each of four chunks of its unwind table
 * are three functions. They take in rdi the rest of a path, {next function, site}, and call the
 * next function from that site. Each site is in a text granule of its own. The site's rule is not
 * among the 255 frequent ones of the object. Between the sites is a row for each byte. The rules
 * tell untruths about rbx and r12, which nobody uses. In the last chunk the rules leave both out.
 */
#define CALL_BYTES 7
#define SITES	   16
#define FRAME	   65528 /* with the return address 64 KiB: each at the same place of a page */
#define FREQUENT   300
#define OWN	   0x155558 /* replaced in each copy: equal tables would be shared */
#define APART	   8192	 /* between the words that a wide rule names */

	/* Goes to its site; the sites begin at the next multiple of 64. */
	.macro to_site
	movq	(%rdi), %rax
	movq	8(%rdi), %rdx
	addq	$16, %rdi
	shlq	$6, %rdx
	leaq	sites_\@(%rip), %rcx
	addq	%rdx, %rcx
	jmp	*%rcx
	.p2align 6
sites_\@:
	.endm

	/* Never reached. */
	.macro fill
	.rept	64 - CALL_BYTES
	.set	row, row + 1
	.cfi_def_cfa_offset FRAME + 24 + 8 * (row % FREQUENT)
	nop
	.endr
	.cfi_def_cfa_offset FRAME + 8
	.endm

	.macro call_next out
	call	*%rax
	jmp.d32	\out
	.endm

	/* Rules of eight bytes, found in the list of escapes. */
	.macro narrow number
	.cfi_startproc
	subq	$FRAME, %rsp
	.cfi_def_cfa_offset FRAME + 8
	to_site
	.set	site, 0
	.rept	SITES
	.cfi_remember_state
	.if	\number < 3
	.cfi_offset rbx, -16 - 8 * (site & 7)
	.cfi_offset r12, -16 - 8 * (site >> 3) - 8 * \number
	.endif
	call_next narrow_out_\number
	.cfi_restore_state
	fill
	.set	site, site + 1
	.endr
narrow_out_\number:
	addq	$FRAME, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_def_cfa_offset OWN
	nop
	.cfi_endproc
	.endm

	/* No unwind information: by the frame pointer. */
	.macro bare number
	pushq	%rbp
	movq	%rsp, %rbp
	subq	$FRAME - 8, %rsp
	to_site
	.rept	SITES
	call_next bare_out_\number
	.p2align 6
	.endr
bare_out_\number:
	leave
	ret
	.endm

	/* Six words on six pages, each read on its own; such rules are not cached. */
	.macro wide number
	.cfi_startproc
	subq	$FRAME, %rsp
	.cfi_def_cfa_offset FRAME + 8
	.set	at, FRAME - 8
	.irp	register, rbx, rbp, r12, r13, r14, r15
	.set	at, at - APART
	movq	%\register, at(%rsp)
	.cfi_rel_offset \register, at
	.endr
	to_site
	.rept	SITES
	call_next wide_out_\number
	fill
	.endr
wide_out_\number:
	addq	$FRAME, %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.endm

	/* coldstack.c knows the distances: 16 KiB a chunk, 4 KiB a function. */
	.text
	.set	row, 0
	.p2align 14
	.globl	coldstack_code
	.type	coldstack_code, @function
coldstack_code:
	.irp	number, 0, 1, 2, 3
	.p2align 14
	narrow	\number
	.p2align 12
	bare	\number
	.p2align 12
	wide	\number
	.endr
	.p2align 14

	.section .note.GNU-stack, "", @progbits
