/* SPDX-License-Identifier: Apache-2.0 */
#include "code/code_print.h"

#include "code/breakpoint.h"
#include "code/module.h"

void code_print_place(struct print_buffer *b, const Inst *pc)
{
	struct code_place place;

	print_format(b, "0x%016lx (", (unsigned long)pc);
	if (pc != NULL && code_find_place(pc, &place)) {
		print_mfa(b, place.module, place.function, place.arity);
		print_format(b, " + %ld", (long)((const char *)pc - (const char *)code_find_function(pc)));
	} else {
		print_text(b, pc == NULL                            ? "unknown function"
			      : (uint16_t)*pc == OP_normal_exit ? "<terminate process normally>"
			      : (uint16_t)*pc == OP_line_return ? "<breakpoint>"
								: "unknown function");
	}
	print_text(b, ")");
}

void code_print_stack(struct print_buffer *b, const Process *p)
{
	unsigned y = 0;

	for (const Term *slot = p->heap.stop; slot < p->heap.end; slot++) {
		slot = breakpoint_skip_frames(slot);
		if (*slot == TERM_NONE)
			continue;
		if (term_is_header(*slot)) {
			print_format(b, "\n0x%016lx Return addr ", (unsigned long)slot);
			code_print_place(b, (const Inst *)*slot);
			y = 0;
		} else {
			print_format(b, "y(%u)     ", y++);
			if (term_is_catch(*slot)) {
				print_text(b, "Catch ");
				code_print_place(b, catch_handler(*slot));
			} else {
				print_term(b, *slot);
			}
		}
		print_text(b, "\n");
	}
}
