/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Erlang function an address in loaded code belongs to, and which line, read from the
 * memory of a running stock emulator.
 * Source: BeamCodeHeader, BeamCodeLineTab and ErtsCodeInfo of OTP's beam_code.h and code_ix.h:
 * a module's code begins with its header, which lists where each function's info is.
 */
#ifndef TOOLS_OTP_CODE_H
#define TOOLS_OTP_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct erlvm_layout;

/* Offsets in bytes; the names are those of bpf/otp_fields.def. */
struct otp_code_layout {
    uint16_t info_mfa, info_size;
    uint16_t nfunctions, functions, lines;                   /* of BeamCodeHeader */
    uint16_t fnames, loc_size, loc, lines_functions;         /* of BeamCodeLineTab */
    /* NULL: a stock emulator; else of an erlvm, to which nothing else here applies. Borrowed */
    const struct erlvm_layout *ours;
    bool native;  /* code is machine code, in executable mappings of no file */
    uint64_t own; /* term of the atom that the emulator's own module of code has as its name; 0: not known */
};

/*
 * What is known of the purges of the VM's code, the only way in which code goes. They are numbered from 1; `count`: the
 * number of the last one; `last`: that of the last one that a module (atom, as a term) was in, 0 without.
 */
struct otp_code_purges {
    uint64_t (*count)(void *ctx);
    uint64_t (*last)(void *ctx, uint64_t module);
    void *ctx;
};

enum otp_code_kind {
    OTP_CODE_FUNCTION,
    OTP_CODE_SHARED,  /* the emulator's, that all functions use; of no module */
    OTP_CODE_UNKNOWN, /* in memory of code, but of nothing that is known */
};

struct otp_code_place {
    enum otp_code_kind kind; /* what follows is of a function */
    uint64_t module, function; /* atoms, as terms */
    uint32_t arity;
    uint32_t line;   /* 0: not known */
    uint64_t start;  /* where the function's code begins */
    char file[256];  /* as the compiler was given it, untrusted, cut; "" when the line is not known */
};

/* Where a process's first function returns to, of a stock emulator: it ends every stack, and says nothing. */
#define OTP_CODE_BOTTOM "erts_beamasm:normal_exit/0"

struct otp_code;
struct memory;

#define OTP_CODE_NOW UINT64_MAX

/* `memory` is borrowed. Owns: the caller frees *out with otp_code_free. Fails: -ENOMEM. No message. */
int otp_code_new(struct memory *memory, const struct otp_code_layout *layout, struct otp_code **out);
void otp_code_free(struct otp_code *code);

/*
 * From now on purges of a stock emulator are told by *purges, which is copied; an erlvm counts its own. Looks at all
 * code there is: what is there before the first purge can be told later, however often other code was purged meanwhile.
 */
void otp_code_follow(struct otp_code *code, const struct otp_code_purges *purges);

/*
 * What held the address when code had been purged `purges` times (OTP_CODE_NOW: what holds it now); of a return address
 * ask for the byte before it. A module is believed that was there by then and was in no purge since, as far as purges
 * are followed. What was found once is told again when the process has ended. Fails: -ENOENT when there is no code,
 * -ESTALE when other code may have been there, -ESRCH when the memory cannot be read. No message.
 */
int otp_code_find(struct otp_code *code, uint64_t address, uint64_t purges, struct otp_code_place *out);
/* Of an erlvm: erlvm_code_returns. */
bool otp_code_returns(struct otp_code *code, uint64_t address);

#endif
