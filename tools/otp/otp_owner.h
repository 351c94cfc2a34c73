/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a process is that lives, by the memory of its VM, as views call it: its registered name, else its label, else
 * what it is to do: what proc_lib says in its dictionary, or what it was spawned with.
 */
#ifndef TOOLS_OTP_OWNER_H
#define TOOLS_OTP_OWNER_H

#include <stdbool.h>

#include "erlvm_layout.h"
#include "otp_user.h"

struct names;

/* What is needed to read them; filled by otp_owner_init. */
struct otp_owner {
    const struct otp_layout *layout;
    const struct erlvm_layout *ours; /* NULL: a stock emulator */
    struct memory *memory;
    uint64_t proc_lib, init_p, initial_call, label; /* atoms, as terms */
    uint32_t pairs; /* of dictionaries that were looked at: a VM that lies has large ones */
};

/* Of a VM that was added to the names. All stay the caller's, and must live as long as *out is used. */
void otp_owner_init(struct otp_owner *out, const struct otp_layout *layout, const struct erlvm_layout *ours,
                    struct names *names);
enum { OTP_OWNER_CALL, OTP_OWNER_LABEL, OTP_OWNER_REGISTERED, OTP_OWNER_NAMES };

/*
 * The names of the process at this address: what it is to do (WIRE_MFA), its label (proc_lib:set_label/1 of OTP 27 and
 * later: WIRE_REASON, of a short binary WIRE_TEXT), and its registered name (WIRE_REASON). Where it has none that can
 * be read, it is an empty WIRE_TEXT. Returns the one that it is called by; NULL: it has none.
 */
const struct wire_name *otp_owner_read(struct otp_owner *owner, uint64_t process,
                                       struct wire_name out[OTP_OWNER_NAMES]);

#endif
