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
#include "unix_prim_file.c"
}

#if OTP_RELEASE < 27
typedef ErlHeapBin ErlHeapBits;
struct ErlSubBits {};
struct ErtsNonMsgSignal {};
#endif

enum { NOWHERE = 0xffff };

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
#include "otp_fields.def"
