/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where all ways out of a function meet: one instruction that every call which returns passes, once, and at which a
 * register holds what the function returns. The function may do some more before it returns, but calls nothing: of
 * erts_schedule in OTP 25 and 27 a process whose receive timed out gets the place where it goes on only then. A uprobe
 * there counts the threads that were in the function before it was set, which one at the return (uretprobe) misses, for
 * it must see the call. It costs one trap, and puts no other address where the function returns to.
 */
#ifndef TOOLS_OTP_EXIT_H
#define TOOLS_OTP_EXIT_H

#include "otp_slide.h"

/*
 * The cheapest such place of the function at `place`, its `result` with it. All of the function is looked at, the parts
 * that the compiler put elsewhere too; what cannot be told from its code is refused.
 * Fails, with the reason in `why` (one line, no newline): -ENOEXEC: there is none; -ENOMEM.
 */
int otp_exit(struct otp_image *image, const struct otp_place *place, struct otp_site *out, char *why, size_t size);

#endif
