// SPDX-License-Identifier: Apache-2.0
/*
 * Compiled by gen_layouts.sh inside the configured sources of one OTP release; nothing of it runs. Its assembler
 * output holds each row of otp_fields.def as a symbol with the value. C++ because a template can ask whether a
 * member exists; the .c file because structures are private to it.
 */
#include <cstddef>
#include <cstdint>

extern "C" {
#include "config.h"
#include "sys.h"
#include "erl_vm.h"
#include "global.h"
#include "erl_binary.h"
#include "erl_bits.h"
#include "erl_process.h"
#include "beam_code.h"
#include "dist.h"
#include "register.h"
#include "atom.h"
#include "erl_db.h"
#include "erl_flxctr.h"
#include "erl_proc_sig_queue.h"
#define GET_ERL_ALLOC_UTIL_IMPL
#include "erl_alloc_util.h"
#include "unix_prim_file.c"
}

#if OTP_RELEASE < 27
typedef ErlHeapBin ErlHeapBits;
struct ErlSubBits {};
struct ErtsNonMsgSignal {};
#else
#define ets_tables u.ets_tables /* it shares its place with what dirty schedulers have */
#endif

enum { NOWHERE = 0xffff };

#ifndef ERTS_ML_TYPE_BITS
#define ERTS_ML_TYPE_BITS NOWHERE
#endif

#define FIELD(name, structure, member, what)                                                       \
    template <class T> constexpr uint16_t name##_in()                                              \
    {                                                                                              \
        if constexpr (requires(T object) { object.member; })                                       \
            return offsetof(T, member);                                                            \
        else                                                                                       \
            return NOWHERE;                                                                        \
    }                                                                                              \
    extern "C" const uint16_t OFFSET_##name = name##_in<structure>();
#define SIZE(name, structure, what) extern "C" const uint16_t OFFSET_##name = sizeof(structure);
#define BIT(name, mask, what) extern "C" const uint16_t OFFSET_##name = __builtin_ctz(mask);
#define NUMBER(name, value, what) extern "C" const uint16_t OFFSET_##name = (value);
#include "otp_fields.def"
