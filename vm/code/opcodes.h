/* SPDX-License-Identifier: Apache-2.0 */
/* The internal operations as numbers, and the layout of their fields, which follows from the signatures of opcodes.def.
 * Invariant: OPWORDS_<op> equals the size that the signature gives (opcodes_check, at start). */
#ifndef VM_CODE_OPCODES_H
#define VM_CODE_OPCODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proc/process.h"

enum opcode {
#define OP(name, genop, signature, words) OP_##name,
#include "code/opcodes.def"
	OP_COUNT
};

enum opcode_words {
#define OP(name, genop, signature, words) OPWORDS_##name = words,
#include "code/opcodes.def"
};

/* A func_info block stands right before the entry of every function: operation, module, function, arity. What is over
 * the first 16 bits of the operation and the first 32 of the arity is used by code/breakpoint.h. */
enum { FUNC_INFO_WORDS = OPWORDS_func_info };
static inline Term func_info_module(const Inst *f) { return f[1]; }
static inline Term func_info_function(const Inst *f) { return f[2]; }
static inline unsigned func_info_arity(const Inst *f) { return (unsigned)f[3]; }

/* Words of one segment in the list of bs_create_bin: kind (data/bits.h) | flags << 8 | unit << 16 | number << 32,
 * value, size, string, and how it is put: bs_put | bytes (BS_PUT_BITS: bits) << 8. */
enum { BS_SEGMENT_WORDS = 5, BS_PUT_BITS_MAX = 56 };
enum bs_put {
	BS_PUT_NONE,         /* not simple */
	BS_PUT_8,            /* integers */
	BS_PUT_16,
	BS_PUT_32,
	BS_PUT_BIG,          /* of that many bytes, 1..8 */
	BS_PUT_LITTLE,
	BS_PUT_STRING,
	BS_PUT_UTF8,
	BS_PUT_BINARY,       /* all of it */
	BS_PUT_FLOAT_64,     /* big-endian */
	BS_PUT_FLOAT_32,
	BS_PUT_UTF16,
	BS_PUT_SIZED,        /* the last segment: a big-endian integer of as many bits as its size says when it runs */
	/* an integer of 1 to BS_PUT_BITS_MAX bits that does not start or end at a byte; a first segment: all of it, to
	 * any bit */
	BS_PUT_BITS,
};

/* Words of one command of get_map_elements. */
enum { MAP_ELEMENT_WORDS = 3 };

#define OPCODE_FIELDS_MAX 10

struct opcode_field {
	char kind;           /* letter of the signature */
	uint8_t bytes;       /* 2, 4, 8; 0 for a letter that is not stored */
	uint16_t offset;     /* from the instruction, bytes */
};

struct opcode_info {
	const char *name;
	const char *signature;
	uint16_t genop;      /* 0: none */
	uint8_t words;
	uint8_t count;
	bool has_list;
	struct opcode_field fields[OPCODE_FIELDS_MAX];
};

/* Computes the layouts; a row whose size is wrong ends the VM. Called once, before anything is translated. */
void opcodes_init(void);
const struct opcode_info *opcode_info(unsigned op);

/* ---- registers and sources as they stand in code */
#define REG_Y_BIT 1u
static inline unsigned reg_x(unsigned n) { return n * 8; }
static inline unsigned reg_y(unsigned n) { return (n + 1) * 8 + REG_Y_BIT; }
static inline Inst source_from_reg(unsigned reg) { return (Inst)reg << 2; }
static inline bool source_is_reg(Inst source) { return (source & 3) == 0; }

#endif
