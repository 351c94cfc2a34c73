/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: a word is a frame only when it stands on the process's stack and points into loaded code. */
#include "otp_stack.h"

#include <capstone/capstone.h>
#include <errno.h>
#include <string.h>

#include "target/memory.h"

enum { REG_SP = 4, REG_BP = 5, AFTER_CALL = 64 };
/* What the loop of an erlvm keeps where. */
#define LOOP "exec_run"
enum { REG_INSTRUCTION = 3 /* rbx */, REG_TOP = 12, REG_PROCESS = 14 };

static void add_frame(struct otp_stack *out, bool native, bool caller, uint64_t address)
{
    if (out->n < OTP_STACK_FRAMES)
        out->frames[out->n++] = (struct otp_stack_frame){native, caller, address};
}

/* Whether there is code at the address; *function: of a function, not of the emulator's own that functions share. */
static bool is_code(const struct stacks_sample *s, struct otp_code *code, uint64_t address, bool *function)
{
    struct otp_code_place place = {.kind = OTP_CODE_UNKNOWN};
    int err = code ? otp_code_find(code, address, s->purges, &place) : -ENOENT;

    *function = !err && place.kind == OTP_CODE_FUNCTION;
    return err != -ENOENT;
}

/* Whether Erlang code that called C takes its stack pointer back from rbp: else it does from the process's `stop`. */
static bool disassemble_uses_bp(const unsigned char *bytes)
{
    bool found = false;
    cs_insn *insns;
    csh handle;
    size_t n;

    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
        return false;
    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    n = cs_disasm(handle, bytes, AFTER_CALL, 0, 0, &insns);
    for (size_t i = 0; i < n; i++) {
        const cs_x86 *x = &insns[i].detail->x86;

        if (insns[i].id != X86_INS_MOV || x->op_count != 2 || x->operands[0].type != X86_OP_REG ||
            x->operands[0].reg != X86_REG_RSP)
            continue;
        found = x->operands[1].type == X86_OP_REG && x->operands[1].reg == X86_REG_RBP;
        break;
    }
    if (n)
        cs_free(insns, n);
    cs_close(&handle);
    return found;
}

/*
 * The same for the code at `ip`, which a C function returns to. Equal bytes say the same: the answers are kept by them.
 */
static bool uses_bp(struct memory *memory, uint64_t ip)
{
    enum { BITS = 8 };
    static struct {
        unsigned char bytes[AFTER_CALL];
        bool used, answer;
    } kept[1 << BITS];
    unsigned char bytes[AFTER_CALL];
    size_t i = (ip * 0x9e3779b97f4a7c15u) >> (64 - BITS); /* 2^64 by the golden ratio */

    if (!memory || memory_read(memory, ip, bytes, sizeof bytes))
        return false;
    if (!kept[i].used || memcmp(kept[i].bytes, bytes, sizeof bytes)) {
        memcpy(kept[i].bytes, bytes, sizeof bytes);
        kept[i].used = true;
        kept[i].answer = disassemble_uses_bp(bytes);
    }
    return kept[i].answer;
}

/*
 * The return addresses from `sp` up. Shared code of the emulator is called without the alignment
 * that marks return addresses: while such code runs, the first word may be one that is not marked.
 */
static void add_erlang(const struct stacks_sample *s, struct otp_code *code, uint64_t sp, bool shared,
                       struct otp_stack *out)
{
    uint64_t first = (sp - s->erlang_at) / 8;
    bool function;

    if (sp < s->erlang_at || sp % 8)
        return;
    for (uint64_t i = first; i < s->nerlang; i++) {
        uint64_t word = s->erlang[i];
        bool marked = !(word & 3);

        if (word && (marked || (shared && i == first)) && is_code(s, code, word - 1, &function))
            add_frame(out, false, true, word);
    }
}

/* What calls it runs the scheduler's thread, and is no part of what the process does. */
static bool runs_processes(struct native *native, uint64_t address, bool caller)
{
    static const char *const names[] = {"process_main", "erts_dirty_process_main"};
    char name[64];

    native_name(native, address, caller, name, sizeof name);
    return !strcmp(name, names[0]) || !strcmp(name, names[1]);
}

/*
 * Where a probe's instruction is a nop of five bytes, kernels from 6.18 on replace it by a call of a page of their own,
 * which no file says how to unwind: push rcx, r11, rax; mov $336,%rax; syscall; pop rax, r11, rcx; ret
 * (arch/x86/kernel/uprobes.c, uprobe_trampoline_entry).
 */
static const unsigned char trampoline[] = {0x51, 0x41, 0x53, 0x50, 0x48, 0xc7, 0xc0, 0x50, 0x01,
                                           0x00, 0x00, 0x0f, 0x05, 0x58, 0x41, 0x5b, 0x59, 0xc3};

/* Words that the page has on the stack above the return address, when it is about to run its byte `at`. */
static uint64_t words_pushed(uint64_t at)
{
    static const unsigned char pushed[sizeof trampoline] = {0, 1, 1, 2, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 1, 0};

    return pushed[at];
}

struct registers {
    uint64_t of[STACKS_NREGS], ip;
};

/* The sample's registers, in the code that has the probe when the thread is in that page. */
static void leave_trampoline(const struct stacks_sample *s, struct memory *memory, struct registers *out)
{
    uint64_t at = s->ip & 4095, word = (s->regs[REG_SP] - s->native_at) / 8;
    unsigned char bytes[sizeof trampoline];

    memcpy(out->of, s->regs, sizeof out->of);
    out->ip = s->ip;
    if (at >= sizeof trampoline || !memory || memory_read(memory, s->ip - at, bytes, sizeof bytes) ||
        memcmp(bytes, trampoline, sizeof bytes))
        return;
    word += words_pushed(at);
    if (word >= s->nnative)
        return;
    out->ip = s->native[word];
    out->of[REG_SP] = s->native_at + (word + 1) * 8;
}

static void walk_native(const struct stacks_sample *s, struct native *native, struct otp_code *code,
                        struct memory *memory, struct otp_stack *out)
{
    struct registers registers;
    struct native_thread thread = {registers.of, 0, s->native_at, (const uint64_t *)s->native, s->nnative, NULL};
    struct native_stack stack;
    uint64_t sp = s->stop;

    leave_trampoline(s, memory, &registers);
    thread.ip = registers.ip;
    native_unwind(native, &thread, &stack);
    for (size_t i = 0; i < stack.n; i++) {
        add_frame(out, true, i > 0, stack.frames[i]);
        if (s->hend && runs_processes(native, stack.frames[i], i > 0))
            break;
    }
    if (!s->hend)
        return;
    if (stack.outer_ip) {
        bool is_leaf = !stack.n, function;

        if (is_code(s, code, stack.outer_ip - !is_leaf, &function))
            add_frame(out, false, !is_leaf, stack.outer_ip);
        sp = uses_bp(memory, stack.outer_ip) ? stack.outer[REG_BP] : s->stop;
        add_erlang(s, code, sp, !function, out);
    } else {
        add_erlang(s, code, sp, false, out);
    }
}

/* jmp *2(%rip): the way of machine code of an erlvm to a function of C (vm/jit/native.c). */
static bool is_way_to_c(struct memory *memory, uint64_t ip)
{
    static const unsigned char way[] = {0xff, 0x25, 2, 0, 0, 0};
    unsigned char bytes[sizeof way];

    return memory && !memory_read(memory, ip, bytes, sizeof bytes) && !memcmp(bytes, way, sizeof way);
}

/*
 * Whether the thread is in machine code of an erlvm's module, or in C that it called: then *frame. A way to C is in
 * pages of no module, and has its caller on the native stack; what else is in such pages is where registers say.
 */
static bool find_machine_code(const struct stacks_sample *s, struct otp_code *code, struct memory *memory,
                              const struct native_stack *stack, struct otp_stack_frame *frame)
{
    uint64_t word = (s->regs[REG_SP] - s->native_at) / 8;
    bool function;

    *frame = (struct otp_stack_frame){.caller = stack->n > 0, .address = stack->outer_ip};
    if (is_code(s, code, frame->address - frame->caller, &function))
        return true;
    if (frame->caller || word >= s->nnative || !is_way_to_c(memory, stack->outer_ip))
        return false;
    *frame = (struct otp_stack_frame){.caller = true, .address = s->native[word]};
    return is_code(s, code, frame->address - 1, &function);
}

/* Machine code that returns has taken the return address from the stack's top: the process is where that says. */
static bool has_returned(const struct stacks_sample *s, struct otp_code *code, const struct otp_stack_frame *frame,
                         uint64_t top)
{
    uint64_t word = (top - s->erlang_at) / 8;

    return !frame->caller && top >= s->erlang_at && word < s->nerlang && !s->erlang[word] &&
           otp_code_returns(code, frame->address);
}

static bool is_in_loop(struct native *native, const struct native_stack *stack)
{
    char name[64];

    native_name(native, stack->outer_ip, stack->n > 0, name, sizeof name);
    return !strcmp(name, LOOP);
}

/* Where registers say that the process is. Fails: false, they are not loaded; what is stored holds. */
static bool find_frame(const struct stacks_sample *s, struct native *native, struct otp_code *code,
                       struct memory *memory, const struct native_stack *stack, struct otp_stack_frame *frame)
{
    if (find_machine_code(s, code, memory, stack, frame)) {
        if (has_returned(s, code, frame, stack->outer[REG_TOP]))
            *frame = (struct otp_stack_frame){.caller = true, .address = stack->outer[REG_INSTRUCTION]};
        return true;
    }
    *frame = (struct otp_stack_frame){.address = s->resume};
    if (s->is_stored && is_in_loop(native, stack))
        return false;
    frame->address = stack->outer[REG_INSTRUCTION];
    return true;
}

/*
 * Of an erlvm: where its loop or its machine code is, and the process's stack from where that has its top. Both keep
 * the process and its stack pointer in registers of their own (vm/exec/loop.c), and the loop its instruction, as
 * functions that they call leave them, or save them. Where they do not make sense, as while the process comes and goes,
 * or in a build whose compiler pins no registers, what the VM stored last is told.
 */
static void walk_ours(const struct stacks_sample *s, struct native *native, struct otp_code *code,
                      struct memory *memory, struct otp_stack *out)
{
    struct registers registers;
    struct native_thread thread = {registers.of,                0,          s->native_at,
                                   (const uint64_t *)s->native, s->nnative, s->hend ? LOOP : NULL};
    struct otp_stack_frame frame = {.address = s->resume};
    struct native_stack stack;
    uint64_t sp = s->stop;
    bool function;

    leave_trampoline(s, memory, &registers);
    thread.ip = registers.ip;
    native_unwind(native, &thread, &stack);
    for (size_t i = 0; i < stack.n; i++)
        add_frame(out, true, i > 0, stack.frames[i]);
    if (!s->hend)
        return;
    if (stack.outer_ip && stack.outer[REG_PROCESS] == s->process &&
        find_frame(s, native, code, memory, &stack, &frame)) {
        uint64_t top = stack.outer[REG_TOP];

        sp = top % 8 == 0 && top >= s->erlang_at && top <= s->hend ? top : s->stop; /* a collection moves the stack */
    }
    if (is_code(s, code, frame.address - frame.caller, &function))
        add_frame(out, false, frame.caller, frame.address);
    add_erlang(s, code, sp, false, out);
}

void otp_stack_walk(const struct stacks_sample *s, bool is_ours, struct native *native, struct otp_code *code,
                    struct memory *memory,
                    struct otp_stack *out)
{
    out->n = 0;
    if (s->nnative > STACKS_WORDS || s->nerlang > STACKS_WORDS)
        return;
    if (is_ours) {
        walk_ours(s, native, code, memory, out);
    } else if (s->on_erlang) {
        bool function;

        if (is_code(s, code, s->ip, &function))
            add_frame(out, false, false, s->ip);
        add_erlang(s, code, s->regs[REG_SP], !function, out);
    } else {
        walk_native(s, native, code, memory, out);
    }
}
