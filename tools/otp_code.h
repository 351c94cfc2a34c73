/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which Erlang function an address in loaded code belongs to, and which line, read from the
 * memory of a running stock emulator.
 * Source: BeamCodeHeader, BeamCodeLineTab and ErtsCodeInfo of OTP's beam_code.h and code_ix.h:
 * a module's code begins with its header, which lists where each function's info is.
 */
#ifndef TOOLS_OTP_CODE_H
#define TOOLS_OTP_CODE_H

#include <stdint.h>

/* Offsets in bytes; the names are those of bpf/otp_fields.def. */
struct otp_code_layout {
    uint16_t info_mfa, info_size;
    uint16_t nfunctions, functions, lines;                   /* of BeamCodeHeader */
    uint16_t fnames, loc_size, loc, lines_functions;         /* of BeamCodeLineTab */
};

struct otp_code_place {
    uint64_t module, function; /* atoms, as terms */
    uint32_t arity;
    uint32_t line;   /* 0: not known */
    uint64_t start;  /* where the function's code begins */
    char file[256];  /* as the compiler was given it, untrusted, cut; "" when the line is not known */
};

struct memory;
struct otp_code;

/*
 * `memory`: of the process, borrowed.
 * Owns: the caller frees *out with otp_code_free. Fails: -ENOMEM. No message.
 */
int otp_code_new(struct memory *memory, const struct otp_code_layout *layout, struct otp_code **out);
void otp_code_free(struct otp_code *code);

/*
 * The function that holds the address; of a return address ask for the byte before it. What a
 * module's header says is kept, but believed only while the header in memory is still the same. Within
 * one moment of the memory (memory_since) an address is looked up once.
 * Fails: -ENOENT when no loaded code is there, -errno when the memory cannot be read. No message.
 */
int otp_code_find(struct otp_code *code, uint64_t address, struct otp_code_place *out);

#endif
