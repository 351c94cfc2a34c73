/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: unwinding reads the copied stack and files only, never the process. */
#include "native.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "target/frame_table.h"

enum { DWARF_NREGS = 17, DWARF_BX = 3, DWARF_RA = 16, REG_BX = 3 };

/* The encoding of the register whose number in DWARF is the place (psABI, 3.6.2). */
static const unsigned char encoding[DWARF_RA] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};

/* A name that was found: finding one goes through all symbols of a file. */
struct named {
    uint64_t address;
    bool caller;
    char name[112]; /* "": nothing is kept here */
};

enum { NAMED_BITS = 13, NAMED = 1 << NAMED_BITS };

struct native {
    struct named named[NAMED]; /* by the address, the last one that fell there */
    Dwfl *dwfl;
    const char *(*other_name)(void *ctx, uint64_t begin); /* as of native_fall_back; NULL: there is none */
    void *other_ctx;
    int pid;
    const struct native_thread *thread; /* while it is unwound */
    struct native_stack *out;
    /* of the frame in hand. A function that does not say where it saved the register left it alone; libdw 0.188 counts
     * it as lost */
    uint64_t bx;
};

/* Files as the process sees them, in its own root. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base, char **file_name,
                    Elf **elf)
{
    const pid_t *pid = userdata ? *userdata : NULL;
    char path[PATH_MAX];
    struct stat st;
    int fd;

    if (pid && name[0] == '/') {
        snprintf(path, sizeof path, "/proc/%d/root%s", *pid, name);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
            *file_name = strdup(path);
            return fd;
        }
        if (fd >= 0)
            close(fd);
    }
    return dwfl_linux_proc_find_elf(module, userdata, name, base, file_name, elf);
}

/*
 * Debug files of this machine only: the standard search would also ask servers (DEBUGINFOD_URLS), and samples come
 * meanwhile.
 */
static const Dwfl_Callbacks callbacks = {.find_elf = find_elf, .find_debuginfo = dwfl_build_id_find_debuginfo};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread_arg)
{
    struct native *native = arg;

    (void)dwfl;
    if (*thread_arg)
        return 0;
    *thread_arg = native;
    return native->pid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread_arg)
{
    (void)dwfl;
    (void)tid;
    *thread_arg = arg;
    return true;
}

static bool read_stack(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
    const struct native_thread *t = ((struct native *)arg)->thread;
    uint64_t word = (address - t->stack_at) / 8;

    (void)dwfl;
    if (address < t->stack_at || address % 8 || word >= t->nstack)
        return false;
    *result = t->stack[word];
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
    const struct native_thread *t = ((struct native *)arg)->thread;
    Dwarf_Word regs[DWARF_NREGS];

    for (int i = 0; i < DWARF_RA; i++)
        regs[i] = t->regs[encoding[i]];
    regs[DWARF_RA] = t->ip;
    dwfl_thread_state_register_pc(thread, t->ip);
    return dwfl_thread_state_registers(thread, 0, DWARF_NREGS, regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = next_thread,
                                                       .get_thread = get_thread,
                                                       .memory_read = read_stack,
                                                       .set_initial_registers = set_registers};

int native_new(int pid, struct native **out)
{
    struct native *native = calloc(1, sizeof *native);
    int err;

    if (!native)
        return -ENOMEM;
    native->pid = pid;
    native->dwfl = dwfl_begin(&callbacks);
    err = native->dwfl ? dwfl_linux_proc_report(native->dwfl, pid) : -1;
    if (!err)
        err = dwfl_report_end(native->dwfl, NULL, NULL);
    if (!err && !dwfl_attach_state(native->dwfl, NULL, pid, &thread_callbacks, native))
        err = -1;
    if (err) {
        native_free(native);
        return err > 0 ? -err : -EINVAL;
    }
    *out = native;
    return 0;
}

void native_free(struct native *native)
{
    if (!native)
        return;
    if (native->dwfl)
        dwfl_end(native->dwfl);
    free(native);
}

/* Whether the file has code at the address (of the link editor). */
static bool has_code(Elf *elf, uint64_t address)
{
    size_t count = 0;
    GElf_Phdr ph;

    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count; i++)
        if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X &&
            address - ph.p_vaddr < ph.p_memsz)
            return true;
    return false;
}

/*
 * NULL for memory that is no ELF file's, though it may be mapped from a file, as that of a JIT is; and for what libdwfl
 * counts to a file that lies before it in memory, though it is none of its code.
 */
static Dwfl_Module *find_module(struct native *native, uint64_t address)
{
    Dwfl_Module *module = dwfl_addrmodule(native->dwfl, address);
    GElf_Addr bias;
    Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;

    return elf && has_code(elf, address - bias) ? module : NULL;
}

/* Whether the stack of the thread in hand ends with code at `pc`. */
static bool is_outer(struct native *native, uint64_t pc, bool is_leaf)
{
    char name[64];

    if (!find_module(native, pc))
        return true;
    if (!native->thread->until)
        return false;
    native_name(native, pc, !is_leaf, name, sizeof name);
    return !strcmp(name, native->thread->until);
}

static int take_frame(Dwfl_Frame *frame, void *arg)
{
    struct native *native = arg;
    struct native_stack *out = native->out;
    Dwarf_Addr pc;
    Dwarf_Word bx;
    bool is_leaf;

    if (!dwfl_frame_pc(frame, &pc, &is_leaf))
        return DWARF_CB_ABORT;
    if (dwfl_frame_reg(frame, DWARF_BX, &bx) == 0)
        native->bx = bx;
    if (is_outer(native, pc, !out->n)) {
        out->outer_ip = pc;
        for (unsigned i = 0; i < DWARF_RA; i++) {
            Dwarf_Word word;

            out->outer[encoding[i]] = dwfl_frame_reg(frame, i, &word) == 0 ? word : 0;
        }
        out->outer[REG_BX] = native->bx;
        return DWARF_CB_ABORT;
    }
    out->frames[out->n++] = pc;
    return out->n < NATIVE_FRAMES ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void native_unwind(struct native *native, const struct native_thread *thread, struct native_stack *out)
{
    *out = (struct native_stack){0};
    native->thread = thread;
    native->out = out;
    native->bx = thread->regs[REG_BX];
    dwfl_getthread_frames(native->dwfl, native->pid, take_frame, native);
    native->thread = NULL;
    native->out = NULL;
}

/* Where the function that holds the address (of the link editor) begins; the address itself when the file does not
 * tell. */
static uint64_t function_start(Elf *elf, uint64_t address)
{
    struct frame_table table = {0};
    size_t count = 0, upto;
    GElf_Phdr ph;

    elf_getphdrnum(elf, &count);
    for (size_t i = 0; i < count && !table.n; i++) {
        Elf_Data *data = gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_GNU_EH_FRAME
                             ? elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_BYTE)
                             : NULL;

        if (data)
            table = frame_table_of(data->d_buf, data->d_size, ph.p_vaddr);
    }
    upto = frame_table_upto(&table, address);
    return upto ? frame_table_function(&table, upto - 1) : address;
}

/* Of the library of C++, whose header is none of C's. */
extern char *__cxa_demangle(const char *mangled, char *out, size_t *size, int *status);

/*
 * What a name of C++ may refer back to, and so be longer than it is written, up to threefold for each three of these: a
 * name that somebody made up could take all memory.
 */
enum { MAX_BACK_REFERENCES = 24 };

static bool is_mangled(const char *name)
{
    size_t references = 0;

    for (const char *at = name; *at; at++)
        references += *at == 'S' || *at == 'T';
    return !strncmp(name, "_Z", 2) && references <= MAX_BACK_REFERENCES;
}

/* Where the parameters of a function's name begin; NULL: it has none. */
static char *find_parameters(char *name)
{
    char *at = strrchr(name, ')');
    int depth = 0;

    for (; at && at > name; at--) {
        depth += *at == ')';
        depth -= *at == '(';
        if (!depth)
            return at;
    }
    return NULL;
}

void native_demangle(const char *name, char *out, size_t size)
{
    char *text = is_mangled(name) ? __cxa_demangle(name, NULL, NULL, NULL) : NULL;
    char *parameters = text ? find_parameters(text) : NULL;

    if (parameters)
        *parameters = '\0';
    snprintf(out, size, "%s", text ? text : name);
    free(text);
}

static void find_name(struct native *native, uint64_t address, bool caller, char *out, size_t size)
{
    uint64_t at = caller ? address - 1 : address;
    Dwfl_Module *module = find_module(native, at);
    GElf_Off offset = 0;
    GElf_Sym symbol;
    GElf_Addr bias = 0;
    Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
    const char *name = module ? dwfl_module_addrinfo(module, at, &offset, &symbol, NULL, NULL, NULL) : NULL;
    const char *file = module ? dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, NULL, NULL) : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;

    if (name && offset < symbol.st_size) {
        char symbol_name[512];

        snprintf(symbol_name, sizeof symbol_name, "%.*s", (int)strcspn(name, "@"), name); /* without its version */
        native_demangle(symbol_name, out, size);
    } else if (file) {
        uint64_t begin = function_start(elf, at - bias);
        const char *other = native->other_name ? native->other_name(native->other_ctx, begin + bias) : NULL;

        if (other)
            snprintf(out, size, "%s", other);
        else
            snprintf(out, size, "%s+0x%" PRIx64, slash ? slash + 1 : file, begin);
    } else {
        snprintf(out, size, "0x%" PRIx64, address);
    }
}

void native_fall_back(struct native *native, const char *(*name)(void *ctx, uint64_t begin), void *ctx)
{
    native->other_name = name;
    native->other_ctx = ctx;
}

void native_name(struct native *native, uint64_t address, bool caller, char *out, size_t size)
{
    /* 2^64 by the golden ratio */
    struct named *kept = &native->named[(address * 0x9e3779b97f4a7c15u) >> (64 - NAMED_BITS)];

    if (!kept->name[0] || kept->address != address || kept->caller != caller) {
        char name[512];

        find_name(native, address, caller, name, sizeof name);
        *kept = (struct named){.address = address, .caller = caller};
        if (strlen(name) < sizeof kept->name)
            strcpy(kept->name, name);
        snprintf(out, size, "%s", name);
        return;
    }
    snprintf(out, size, "%s", kept->name);
}

/* ---- the kernel */

static struct {
    struct kernel_symbol {
        uint64_t address;
        char name[64];
    } *symbols;
    size_t n;
    bool read;
} kernel;

static int compare_symbols(const void *a, const void *b)
{
    uint64_t x = ((const struct kernel_symbol *)a)->address, y = ((const struct kernel_symbol *)b)->address;

    return x < y ? -1 : x > y;
}

static void read_kernel(void)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    struct kernel_symbol symbol;
    char type, line[512];
    size_t room = 0;

    kernel.read = true;
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%" SCNx64 " %c %59s", &symbol.address, &type, symbol.name) != 3 || !symbol.address ||
            !strchr("tTwW", type))
            continue;
        strcat(symbol.name, "_[k]");
        if (kernel.n == room) {
            void *more = realloc(kernel.symbols, (room = 2 * room + 1024) * sizeof symbol);

            if (!more)
                break;
            kernel.symbols = more;
        }
        kernel.symbols[kernel.n++] = symbol;
    }
    if (file)
        fclose(file);
    if (kernel.n)
        qsort(kernel.symbols, kernel.n, sizeof symbol, compare_symbols);
}

const char *native_kernel_name(uint64_t address)
{
    size_t low = 0, high;

    if (!kernel.read)
        read_kernel();
    high = kernel.n;
    while (low < high) {
        size_t mid = (low + high) / 2;

        if (kernel.symbols[mid].address <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? kernel.symbols[low - 1].name : "[kernel]";
}

void native_kernel_free(void)
{
    free(kernel.symbols);
    memset(&kernel, 0, sizeof kernel);
}
