/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: segments ascend and do not overlap, so that an address is in one at most; what is read of one lies in the
 * file. Whatever the file says is bounded by its own size first.
 */
#include "core_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SEGMENTS = 1 << 20, MAX_NOTES = 64 << 20, PAGE = 4096, NOTE_ALIGN = 4 };

struct segment {
    uint64_t start, end; /* addresses */
    uint64_t offset, filled; /* in the core: so many bytes of it */
    bool executable;
};

/* A mapping of a file, as NT_FILE tells. */
struct mapped {
    uint64_t start, end, offset;
    const char *path; /* in the notes */
};

struct core_file {
    int fd, executable; /* executable -1: none is used */
    uint64_t size;
    struct segment *segments;
    size_t nsegments;
    unsigned char *notes; /* a NUL behind */
    size_t notes_size;
    struct mapped *mapped; /* ascending */
    size_t nmapped;
    uint64_t entry; /* AT_ENTRY: where the executable begins to run; 0: not known */
    int pid;
};

static bool read_whole(int fd, uint64_t offset, void *out, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = offset + done <= INT64_MAX ? pread(fd, (char *)out + done, size - done, (off_t)(offset + done)) : 0;

        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool lies_in(const struct core_file *core, uint64_t offset, uint64_t size)
{
    return offset <= core->size && size <= core->size - offset;
}

/* ---- notes */

/* "CORE" notes that matter: the first NT_PRSTATUS is of the thread that brought it down. */
static void read_auxv(struct core_file *core, const unsigned char *at, size_t size)
{
    Elf64_auxv_t one;

    for (; size >= sizeof one; at += sizeof one, size -= sizeof one) {
        memcpy(&one, at, sizeof one);
        if (one.a_type == AT_ENTRY)
            core->entry = one.a_un.a_val;
    }
}

/* Count and page size, then start, end and page of each, then the paths, each with its NUL. */
static void read_mapped(struct core_file *core, unsigned char *at, size_t size)
{
    uint64_t head[2], one[3];
    size_t paths;

    if (core->mapped || size < sizeof head)
        return;
    memcpy(head, at, sizeof head);
    if (head[0] > (size - sizeof head) / sizeof one || head[0] > MAX_SEGMENTS || !head[1] || head[1] > 1 << 30)
        return;
    core->mapped = calloc(head[0] + 1, sizeof *core->mapped);
    paths = sizeof head + head[0] * sizeof one;
    for (uint64_t i = 0; core->mapped && i < head[0]; i++) {
        size_t length = strnlen((const char *)at + paths, size - paths);

        memcpy(one, at + sizeof head + i * sizeof one, sizeof one);
        if (length == size - paths || one[0] >= one[1] || one[2] > UINT64_MAX / head[1])
            return;
        core->mapped[core->nmapped++] =
            (struct mapped){one[0], one[1], one[2] * head[1], (const char *)at + paths};
        paths += length + 1;
    }
}

static void read_note(struct core_file *core, uint32_t type, unsigned char *at, size_t size)
{
    enum { PID_AT = 24 }; /* in struct elf_prpsinfo */

    if (type == NT_AUXV)
        read_auxv(core, at, size);
    else if (type == NT_FILE)
        read_mapped(core, at, size);
    else if (type == NT_PRPSINFO && size >= PID_AT + sizeof core->pid)
        memcpy(&core->pid, at + PID_AT, sizeof core->pid);
}

static size_t align(size_t size)
{
    return (size + NOTE_ALIGN - 1) / NOTE_ALIGN * NOTE_ALIGN;
}

static void read_notes(struct core_file *core)
{
    Elf64_Nhdr head;

    for (size_t at = 0; core->notes_size - at >= sizeof head;) {
        size_t left = core->notes_size - at - sizeof head, name;

        memcpy(&head, core->notes + at, sizeof head);
        name = align(head.n_namesz);
        if (head.n_namesz > left || name > left || head.n_descsz > left - name)
            return;
        at += sizeof head;
        if (head.n_namesz == sizeof "CORE" && !memcmp(core->notes + at, "CORE", sizeof "CORE"))
            read_note(core, head.n_type, core->notes + at + name, head.n_descsz);
        if (align(head.n_descsz) > left - name)
            return;
        at += name + align(head.n_descsz);
    }
}

/* ---- headers */

static int take_notes(struct core_file *core, const Elf64_Phdr *header)
{
    if (core->notes || !header->p_filesz)
        return 0;
    if (header->p_filesz > MAX_NOTES || !lies_in(core, header->p_offset, header->p_filesz))
        return -ENOEXEC;
    core->notes = calloc(1, header->p_filesz + 1);
    if (!core->notes)
        return -ENOMEM;
    core->notes_size = header->p_filesz;
    return read_whole(core->fd, header->p_offset, core->notes, core->notes_size) ? 0 : -EIO;
}

/* A core that was cut short has less of its last segments than it says. */
static int take_segment(struct core_file *core, const Elf64_Phdr *header)
{
    struct segment one = {header->p_vaddr, header->p_vaddr + header->p_memsz, header->p_offset, header->p_filesz,
                          header->p_flags & PF_X};

    if (one.end < one.start || one.filled > header->p_memsz)
        return -ENOEXEC;
    if (one.offset > core->size)
        one.offset = core->size;
    if (one.filled > core->size - one.offset)
        one.filled = core->size - one.offset;
    core->segments[core->nsegments++] = one;
    return 0;
}

static int compare_segments(const void *a, const void *b)
{
    const struct segment *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static int compare_mapped(const void *a, const void *b)
{
    const struct mapped *x = a, *y = b;

    return x->start < y->start ? -1 : x->start > y->start;
}

static int read_headers(struct core_file *core, const Elf64_Ehdr *head, uint64_t n)
{
    Elf64_Phdr *headers;
    int err = 0;

    if (!n || n > MAX_SEGMENTS || !lies_in(core, head->e_phoff, n * sizeof *headers))
        return -ENOEXEC;
    headers = malloc(n * sizeof *headers);
    core->segments = calloc(n, sizeof *core->segments);
    if (!headers || !core->segments)
        err = -ENOMEM;
    else if (!read_whole(core->fd, head->e_phoff, headers, n * sizeof *headers))
        err = -EIO;
    for (uint64_t i = 0; !err && i < n; i++) {
        if (headers[i].p_type == PT_NOTE)
            err = take_notes(core, &headers[i]);
        else if (headers[i].p_type == PT_LOAD)
            err = take_segment(core, &headers[i]);
    }
    free(headers);
    return err;
}

/* More than 65,534 of them stand in the first section's header. */
static bool count_headers(const struct core_file *core, const Elf64_Ehdr *head, uint64_t *n)
{
    Elf64_Shdr first;

    *n = head->e_phnum;
    if (head->e_phnum != PN_XNUM)
        return true;
    if (!lies_in(core, head->e_shoff, sizeof first) || !read_whole(core->fd, head->e_shoff, &first, sizeof first))
        return false;
    *n = first.sh_info;
    return true;
}

static bool is_core(const Elf64_Ehdr *head)
{
    return !memcmp(head->e_ident, ELFMAG, SELFMAG) && head->e_ident[EI_CLASS] == ELFCLASS64 &&
           head->e_ident[EI_DATA] == ELFDATA2LSB && head->e_type == ET_CORE && head->e_machine == EM_X86_64 &&
           head->e_phentsize == sizeof(Elf64_Phdr);
}

static int fill(struct core_file *core)
{
    struct stat st;
    Elf64_Ehdr head;
    uint64_t n;
    int err;

    if (fstat(core->fd, &st))
        return -errno;
    core->size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    if (!S_ISREG(st.st_mode) || !read_whole(core->fd, 0, &head, sizeof head) || !is_core(&head) ||
        !count_headers(core, &head, &n))
        return -ENOEXEC;
    err = read_headers(core, &head, n);
    if (err)
        return err;
    qsort(core->segments, core->nsegments, sizeof *core->segments, compare_segments);
    for (size_t i = 1; i < core->nsegments; i++)
        if (core->segments[i].start < core->segments[i - 1].end)
            return -ENOEXEC;
    if (core->notes)
        read_notes(core);
    if (core->mapped)
        qsort(core->mapped, core->nmapped, sizeof *core->mapped, compare_mapped);
    return 0;
}

int core_file_from_fd(int fd, struct core_file **out)
{
    struct core_file *core = calloc(1, sizeof *core);
    int err;

    if (!core) {
        close(fd);
        return -ENOMEM;
    }
    core->fd = fd;
    core->executable = -1;
    err = fill(core);
    if (err)
        core_file_close(core);
    else
        *out = core;
    return err;
}

int core_file_open(const char *path, struct core_file **out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO is no core, and not waited for */

    return fd < 0 ? -errno : core_file_from_fd(fd, out);
}

void core_file_close(struct core_file *core)
{
    if (!core)
        return;
    close(core->fd);
    if (core->executable >= 0)
        close(core->executable);
    free(core->segments);
    free(core->mapped);
    free(core->notes);
    free(core);
}

int core_file_pid(const struct core_file *core)
{
    return core->pid;
}

/* ---- the executable */

/* The file that is mapped there; NULL: none is known. */
static const struct mapped *find_mapped(const struct core_file *core, uint64_t address)
{
    size_t low = 0, high = core->nmapped;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (core->mapped[mid].end <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low < core->nmapped && core->mapped[low].start <= address ? &core->mapped[low] : NULL;
}

const char *core_file_executable(const struct core_file *core)
{
    const struct mapped *found = core->entry ? find_mapped(core, core->entry) : NULL;

    return found ? found->path : NULL;
}

/* Whether the first page of the executable, which names its build, is the file's; the core may not have it. */
static bool is_same_build(const struct core_file *core, const char *path, int executable)
{
    unsigned char ours[PAGE], its[PAGE];

    for (size_t i = 0; i < core->nmapped; i++) {
        const struct mapped *m = &core->mapped[i];
        size_t size;

        if (m->offset || strcmp(m->path, path))
            continue;
        size = core_file_read(core, m->start, ours, sizeof ours);
        return read_whole(executable, 0, its, size) && !memcmp(ours, its, size);
    }
    return false;
}

int core_file_use(struct core_file *core, int executable, uint64_t *bias)
{
    const char *path = core_file_executable(core);
    Elf64_Ehdr head;

    if (!path)
        return -ENOENT;
    if (!read_whole(executable, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG))
        return -ENOEXEC;
    if (!is_same_build(core, path, executable))
        return -ESTALE;
    if (core->executable >= 0)
        close(core->executable);
    core->executable = fcntl(executable, F_DUPFD_CLOEXEC, 0);
    if (core->executable < 0)
        return -errno;
    *bias = core->entry - head.e_entry;
    return 0;
}

/* ---- bytes */

static const struct segment *find_segment(const struct core_file *core, uint64_t address)
{
    size_t low = 0, high = core->nsegments;

    while (low < high) {
        size_t mid = (low + high) / 2;

        if (core->segments[mid].end <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low < core->nsegments && core->segments[low].start <= address ? &core->segments[low] : NULL;
}

/* What the core has not: from the executable, where that is mapped. Returns the bytes that came. */
static size_t read_left_out(const struct core_file *core, uint64_t address, void *out, size_t size)
{
    const struct mapped *m = core->executable < 0 ? NULL : find_mapped(core, address);
    ssize_t n;

    if (!m || strcmp(m->path, core_file_executable(core)))
        return 0;
    size = size < m->end - address ? size : m->end - address;
    n = m->offset + (address - m->start) <= INT64_MAX
            ? pread(core->executable, out, size, (off_t)(m->offset + (address - m->start)))
            : 0;
    return n > 0 ? (size_t)n : 0;
}

/* The first bytes of one piece: those of a segment, or those that it leaves out. */
static size_t read_piece(const struct core_file *core, uint64_t address, void *out, size_t size)
{
    const struct segment *s = find_segment(core, address);
    uint64_t in = s ? address - s->start : 0;

    if (!s)
        return 0;
    if (in >= s->filled)
        return read_left_out(core, address, out, size < s->end - address ? size : s->end - address);
    size = size < s->filled - in ? size : s->filled - in;
    return read_whole(core->fd, s->offset + in, out, size) ? size : 0;
}

size_t core_file_read(const struct core_file *core, uint64_t address, void *out, size_t size)
{
    size_t done = 0, n;

    do {
        n = done < size && address <= UINT64_MAX - done
                ? read_piece(core, address + done, (char *)out + done, size - done)
                : 0;
        done += n;
    } while (n);
    return done;
}

void core_file_each_mapping(const struct core_file *core,
                            bool (*take)(void *context, const struct memory_mapping *mapping), void *context)
{
    bool done = false;

    for (size_t i = 0; i < core->nsegments && !done; i++) {
        const struct segment *s = &core->segments[i];
        const struct mapped *m = find_mapped(core, s->start);
        bool named = m && !strstr(m->path, " (deleted)"); /* as /proc/PID/maps, too, says of memory without a name */
        struct memory_mapping one = {.start = s->start, .end = s->end, .executable = s->executable, .file = named};

        if (m)
            one.offset = m->offset + (s->start - m->start);
        done = s->end > s->start && take(context, &one);
    }
}
