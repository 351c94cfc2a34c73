/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How the memory of a stock emulator is read, for both sides: one layout a watched process of the
 * operating system. Needs __u16 .. __u64 defined by the includer. An erlvm is read likewise: its terms are tagged as
 * those of OTP 25, and where its structures differ is in otp_ours.
 * Source: erts/emulator/beam of OTP; bpf/otp_fields.def for the members; vm/layout.def.
 */
#ifndef BPF_OTP_H
#define BPF_OTP_H

enum otp_field {
#define FIELD(name, structure, member, what) OTP_##name,
#include "otp_fields.def"
    OTP_NFIELDS
};

enum {
    OTP_NOWHERE = 0xffff, /* the offset of a member that this build has not */
    OTP_MAX_LAYOUTS = 4096, /* VMs at once; user space asks for fewer when it watches one */
    OTP_FEW_LAYOUTS = 64,
};

/*
 * A local pid or port is an immediate term t; x = t >> 4, and what it says is
 * d = (x & ~pix_mask) | ((x >> cl_shift) & cl_mask) | ((x & cli_mask) << cli_shift), cut to data_mask:
 * the number in the lowest number_bits of d, the serial above; of a port d is the number. In OTP 25 x itself is d: all
 * masks 0.
 */
struct otp_packing {
    __u64 data_mask, pix_mask, cl_mask, cli_mask;
    __u32 cl_shift, cli_shift, number_bits, pad;
};

/*
 * Where the result of a hooked function stands: in rax when it has returned, or in a register where all ways out of it
 * meet (tools/otp/otp_exit.h). RESULT(its name, that of struct pt_regs). A number in the cookie of the hook.
 */
#define OTP_RESULTS(RESULT) \
    RESULT(AX, ax) RESULT(BX, bx) RESULT(CX, cx) RESULT(DX, dx) RESULT(SI, si) RESULT(DI, di) RESULT(BP, bp) \
    RESULT(R8, r8) RESULT(R9, r9) RESULT(R10, r10) RESULT(R11, r11) RESULT(R12, r12) RESULT(R13, r13) \
    RESULT(R14, r14) RESULT(R15, r15)
enum otp_result {
    OTP_RESULT_RETURNED,
#define OTP_RESULT_NUMBER(NAME, name) OTP_RESULT_##NAME,
    OTP_RESULTS(OTP_RESULT_NUMBER)
};

/* The cookie of a hook: the slot of its VM, from bit 32 `which` of its row in providers.def, then an otp_result. */
enum { OTP_COOKIE_WHICH = 32, OTP_COOKIE_RESULT = 56, OTP_COOKIE_MAX_WHICH = 0xffffff };

/* An erlvm; all 0 in the layout of a stock emulator. PROC_REG is the registered name itself there. */
struct otp_ours {
    __u64 code;     /* where pages of code begin */
    /* from the base of a thread's register fs to its pointer to what it is as a scheduler, NULL when it is none */
    __s64 self;
    __u64 given;    /* address of how often code went: what OTP's purges are counted by */
    __u64 waits;    /* where a process resumes that waits in a native, whose export it names */
    __u64 segments; /* address of the pointers to segments of the atom table, which hold the atoms */
    __u32 native;   /* in a process: pointer to that export */
    __u32 stub;     /* in an export: its words of code */
    __u32 room, pairs; /* in a dictionary: how many pairs (32 bits), and the first */
    __u32 atom_bits, atom_bytes; /* of a number within its segment; of an atom */
    __u32 code_bytes; /* of all pages of code */
    __u32 stored;     /* in a process: a byte: what registers hold does not count, what it stored does; 0: none */
    __u32 slept;      /* in a process: a byte: it went to sleep when it was scheduled out */
    __u32 pad;
};

/* Atoms that say what a new process is to do, why one ended, or what is called: ATOM(name, its text). */
#define OTP_ATOMS(ATOM) \
    ATOM(SPAWN_INIT, "spawn_init") \
    ATOM(PROC_LIB, "proc_lib") \
    ATOM(INIT_P, "init_p") \
    ATOM(INITIAL_CALL, "$initial_call") \
    ATOM(PROCESS_LABEL, "$process_label") \
    ATOM(GEN, "gen") \
    ATOM(INIT_IT, "init_it") \
    ATOM(INIT, "init") \
    ATOM(SUPERVISOR, "supervisor") \
    ATOM(NO_CALLBACK, "no callback module") \
    ATOM(NORMAL, "normal") \
    ATOM(SHUTDOWN, "shutdown") \
    ATOM(RETURN, "return") \
    ATOM(CLOCK_SERVICE, "clock_service") \
    ATOM(KILL, "kill") \
    ATOM(KILLED, "killed") \
    ATOM(CONNECTION_CLOSED, "connection_closed") \
    ATOM(NO_NODE, "nonode@nohost") \
    ATOM(NO_NETWORK, "no_network") \
    ATOM(NET_KERNEL_TERMINATED, "net_kernel_terminated") \
    ATOM(DIRTY_FINALIZER, "dirty_nif_finalizer") \
    ATOM(DIRTY_EXCEPTION, "dirty_nif_exception") \
    ATOM(CODE_SERVER, "code_server") \
    ATOM(ENSURE_LOADED, "ensure_loaded") \
    ATOM(LOAD_FILE, "load_file") \
    ATOM(GET_CODE, "get_object_code") \
    ATOM(GET_CODE_TO_LOAD, "get_object_code_for_loading") \
    ATOM(ERROR, "error") \
    ATOM(CODE_PURGER, "erts_code_purger") \
    ATOM(PREPARE, "prepare") \
    ATOM(PREPARE_ON_LOAD, "prepare_on_load") \
    ATOM(COMPLETE, "complete") \
    ATOM(ABORT, "abort")

enum otp_known {
#define OTP_ATOM(name, text) OTP_KNOWN_##name,
    OTP_ATOMS(OTP_ATOM)
#undef OTP_ATOM
    OTP_NKNOWN
};

/* Value of the map "otp_layouts", whose slot is in the low half of the cookie of a hook, and by the VM in the map
 * "otp_slots". */
struct otp_layout {
    __u32 vm; /* process id, in erlsnoop's pid namespace */
    __u32 release;
    __u64 bias; /* address in memory - address of the link editor */
    __u64 procs, atoms; /* addresses in memory of erts_proc and erts_atom_table */
    __u64 ports; /* that of erts_port; 0: not known */
    /* where a process resumes that applies its argument registers (module, function, arguments): it begins, or wakes
     * from hibernation; 0: not known */
    __u64 apply;
    __u32 purges; /* of code, since it was watched: counted by the kernel's side */
    __u32 purged_others; /* the number of the last purge of a module that the map "otp_purged" had no room for */
    __u32 jit, is_ours; /* jit 1: code is machine code; is_ours 1: an erlvm */
    struct otp_ours ours;
    struct otp_packing packing, port_packing; /* of pids; of ports, all 0 when these are not known */
    /* by masks of the table of processes, also in OTP 25, d tells a place in it:
     * (d & cl_mask) << cl_shift | ((d >> cli_shift) & cli_mask) */
    struct otp_packing places;
    __u32 known[OTP_NKNOWN]; /* indices of OTP_ATOMS; WIRE_NO_ATOM: not known */
    __u16 off[(OTP_NFIELDS + 3) / 4 * 4];
};

/* Key of the map "otp_purged". */
struct otp_purge_key {
    __u32 slot;   /* of the VM in "otp_layouts" */
    __u32 module; /* the index of its name */
};

enum { OTP_DRIVER_WORDS = 8 }; /* among the first so many of what one of the emulator's drivers keeps stands the port */

/* Of what NODE_STATE says (enum dist_entry_state), when there is a connection, and when it ends. */
enum { OTP_NODE_CONNECTED = 2, OTP_NODE_EXITING = 3 };

/* The callbacks of drivers that are hooked, by number. */
enum otp_callback {
#define DRIVER_CALLBACK(name, offset) OTP_CALLBACK_##name,
#include "driver_callbacks.def"
    OTP_NCALLBACKS
};

/* Terms: Eterm of erl_term.h. */
enum {
    OTP_TAG_LIST = 1,  /* primary tags, the low two bits */
    OTP_TAG_BOXED = 2,
    OTP_TAG_IMMEDIATE = 3,
    OTP_TAG_PID = 0x3, /* immediates, the low four */
    OTP_TAG_PORT = 0x7,
    OTP_TAG_SMALL = 0xf,
    OTP_TAG_ATOM = 0x0b, /* and the low six */
    OTP_NIL = 0x3b,      /* the whole word */
    OTP_ATOM_TRUE = 0x4b, /* likewise: its atoms begin with false and true (tools/otp/otp_check.c) */
    OTP_HEADER_REMOTE_PID = 0x30,
    OTP_HEADER_REMOTE_REF = 0x38,
    OTP_MESSAGE_TERM = 16, /* in ErtsMessage: its term, whatever the release */
    OTP_HEADER_REF = 0x10, /* headers, the low six; above: words that follow */
};

#endif
