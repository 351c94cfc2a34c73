/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: every offset and length read from the file is checked against the data it points
 * into before use; a file can at worst have no notes.
 */
#include "elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "memory.h"

enum { NOTE_STAPSDT = 3, MAX_NOTES = 65536, DESC_ADDRS = 3 * 8 };
/* That are read at once: a file may say that it has more than there is memory. */
#define SECTION_BYTES ((uint64_t)64 << 20)

struct elf_reader {
    int fd;
    Elf *elf;
    uint64_t base; /* where .stapsdt.base is now; notes say where it was at link time */
    uint64_t probes, probes_size; /* the section .probes: the semaphores */
};

/* File offset of a virtual address; 0 when no segment of those flags holds it. */
static uint64_t file_offset(Elf *elf, uint64_t address, uint32_t flags)
{
    size_t n = 0;
    GElf_Phdr ph;

    if (elf_getphdrnum(elf, &n))
        return 0;
    for (size_t i = 0; i < n; i++) {
        if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || (ph.p_flags & flags) != flags)
            continue;
        if (address >= ph.p_vaddr && address - ph.p_vaddr < ph.p_filesz)
            return address - ph.p_vaddr + ph.p_offset;
    }
    return 0;
}

/*
 * Takes the section's bytes from *left. Returns false where they are more, or compressed: these may become any number.
 */
static bool may_read(const GElf_Shdr *sh, uint64_t *left)
{
    if (sh->sh_flags & SHF_COMPRESSED || sh->sh_size > *left)
        return false;
    *left -= sh->sh_size;
    return true;
}

/* The same for the section of that number. */
static bool may_read_strings(Elf *elf, size_t number, uint64_t *left)
{
    Elf_Scn *section = elf_getscn(elf, number);
    GElf_Shdr sh;

    return section && gelf_getshdr(section, &sh) && may_read(&sh, left);
}

/* The string at *at within [*at, end), NUL included; NULL when it does not end. */
static const char *take_string(const char **at, const char *end)
{
    const char *start = *at, *nul = start < end ? memchr(start, 0, (size_t)(end - start)) : NULL;

    *at = nul ? nul + 1 : end;
    return nul ? start : NULL;
}

/* A probe site is a nop of one byte or five: anywhere else a probe could break the code. */
static bool is_site(const struct elf_reader *r, struct elf_note *note)
{
    static const unsigned char nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    unsigned char code[sizeof nop5] = {0};

    if (!note->offset || pread(r->fd, code, sizeof code, (off_t)note->offset) <= 0)
        return false;
    note->wide = !memcmp(code, nop5, sizeof nop5);
    return note->wide || *code == 0x90;
}

/* The kernel counts up what stands there. */
static bool is_semaphore(const struct elf_reader *r, uint64_t address)
{
    return address >= r->probes && address - r->probes < r->probes_size && address % 2 == 0;
}

/* Takes: the note's texts. */
static int add_note(struct elf_note **notes, size_t *count, struct elf_note *note)
{
    struct elf_note *more =
        *count < MAX_NOTES && note->name && note->args ? realloc(*notes, (*count + 1) * sizeof *note) : NULL;

    if (!more) {
        free((char *)note->name);
        free((char *)note->args);
        return -1;
    }
    *notes = more;
    more[(*count)++] = *note;
    return 0;
}

/* One description: location, base, semaphore, then provider, name and arguments. */
static int read_desc(struct elf_file *file, const char *desc, size_t size)
{
    const char *at = desc + DESC_ADDRS, *end = desc + size, *provider, *name, *args;
    struct elf_note note = {0};
    uint64_t address[3];
    bool batch;

    if (size < DESC_ADDRS)
        return -1;
    memcpy(address, desc, sizeof address);
    provider = take_string(&at, end);
    name = take_string(&at, end);
    args = take_string(&at, end);
    if (!provider || !name || !args)
        return -1;
    batch = !strcmp(provider, "erlang_batch");
    if (strcmp(provider, "erlang") && !batch)
        return 0;
    if (file->reader->base && address[1]) {
        address[0] += file->reader->base - address[1];
        if (address[2])
            address[2] += file->reader->base - address[1];
    }
    note.offset = file_offset(file->reader->elf, address[0], PF_X);
    note.semaphore = address[2] ? file_offset(file->reader->elf, address[2], PF_W) : 0;
    if (!is_site(file->reader, &note) || (address[2] && (!note.semaphore || !is_semaphore(file->reader, address[2]))))
        return -1;
    note.name = strdup(name);
    note.args = strdup(args);
    return batch ? add_note(&file->batches, &file->nbatches, &note) : add_note(&file->notes, &file->nnotes, &note);
}

static void read_build_id(struct elf_file *file, const unsigned char *desc, size_t size)
{
    for (size_t i = 0; i < size && i < (sizeof file->build_id - 1) / 2; i++)
        snprintf(file->build_id + 2 * i, 3, "%02x", desc[i]);
}

static void read_notes(struct elf_file *file, Elf_Scn *section)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t at = 0, next, name, desc;
    GElf_Nhdr nhdr;

    if (!data || !data->d_buf)
        return;
    while (at < data->d_size && (next = gelf_getnote(data, at, &nhdr, &name, &desc)) > at) {
        const char *bytes = data->d_buf;

        at = next;
        if (name + nhdr.n_namesz > data->d_size || desc + nhdr.n_descsz > data->d_size)
            break;
        if (nhdr.n_type == NOTE_STAPSDT && nhdr.n_namesz == 8 && !memcmp(bytes + name, "stapsdt", 8))
            file->damaged += !!read_desc(file, bytes + desc, nhdr.n_descsz);
        else if (nhdr.n_type == NT_GNU_BUILD_ID && nhdr.n_namesz == 4 && !memcmp(bytes + name, "GNU", 4))
            read_build_id(file, (const unsigned char *)bytes + desc, nhdr.n_descsz);
    }
    file->damaged += at < data->d_size && data->d_size - at >= sizeof nhdr;
}

static void read_sections(struct elf_file *file)
{
    Elf *elf = file->reader->elf;
    uint64_t left = SECTION_BYTES;
    size_t names;
    GElf_Shdr sh;

    if (elf_getshdrstrndx(elf, &names) || !may_read_strings(elf, names, &left))
        return;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        const char *name = gelf_getshdr(s, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

        if (name && !strcmp(name, ".stapsdt.base"))
            file->reader->base = sh.sh_addr;
        if (name && !strcmp(name, ".probes")) {
            file->reader->probes = sh.sh_addr;
            file->reader->probes_size = sh.sh_size;
        }
    }
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));)
        if (gelf_getshdr(s, &sh) && sh.sh_type == SHT_NOTE && may_read(&sh, &left))
            read_notes(file, s);
}

int elf_file_new(const char *path, struct elf_file **out)
{
    struct elf_file *file = calloc(1, sizeof *file);
    struct elf_reader *reader = calloc(1, sizeof *reader);
    GElf_Ehdr eh;

    if (!file || !reader) {
        free(file);
        free(reader);
        return -ENOMEM;
    }
    file->reader = reader;
    reader->fd = -1;
    elf_version(EV_CURRENT);
    reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for a writer */
    if (reader->fd < 0 || fstat(reader->fd, &file->st) || !S_ISREG(file->st.st_mode)) {
        int err = reader->fd < 0 ? -errno : -ENOEXEC;

        elf_file_free(file);
        return err;
    }
    reader->elf = elf_begin(reader->fd, ELF_C_READ, NULL);
    if (!reader->elf || elf_kind(reader->elf) != ELF_K_ELF || !gelf_getehdr(reader->elf, &eh) ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_machine != EM_X86_64) {
        elf_file_free(file);
        return -ENOEXEC;
    }
    read_sections(file);
    *out = file;
    return 0;
}

static void free_note(struct elf_note *note)
{
    free((char *)note->name);
    free((char *)note->args);
}

static void free_notes(struct elf_note *notes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free_note(&notes[i]);
    free(notes);
}

/* Returns how many are left. */
static size_t drop_wide(struct elf_note *notes, size_t count, bool (*keeps)(void *ctx, uint64_t offset), void *ctx)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (!notes[i].wide || keeps(ctx, notes[i].offset))
            notes[kept++] = notes[i];
        else
            free_note(&notes[i]);
    }
    return kept;
}

void elf_file_drop_wide(struct elf_file *file, bool (*keeps)(void *ctx, uint64_t offset), void *ctx)
{
    size_t before = file->nnotes + file->nbatches;

    file->nnotes = drop_wide(file->notes, file->nnotes, keeps, ctx);
    file->nbatches = drop_wide(file->batches, file->nbatches, keeps, ctx);
    file->unsafe += (int)(before - file->nnotes - file->nbatches);
}

const struct elf_note *elf_file_find_batch(const struct elf_file *file, const char *name)
{
    for (size_t i = 0; i < file->nbatches; i++)
        if (!strcmp(file->batches[i].name, name))
            return &file->batches[i];
    return NULL;
}

void elf_file_free(struct elf_file *file)
{
    if (!file)
        return;
    free_notes(file->notes, file->nnotes);
    free_notes(file->batches, file->nbatches);
    if (file->reader->elf)
        elf_end(file->reader->elf);
    if (file->reader->fd >= 0)
        close(file->reader->fd);
    free(file->reader);
    free(file);
}

int elf_file_fd(const struct elf_file *file)
{
    return file->reader->fd;
}

static bool find_symbol(Elf *elf, const char *name, GElf_Sym *sym)
{
    uint64_t left = SECTION_BYTES;
    GElf_Shdr sh;

    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s));) {
        if (!gelf_getshdr(s, &sh) || (sh.sh_type != SHT_SYMTAB && sh.sh_type != SHT_DYNSYM) || !may_read(&sh, &left) ||
            !may_read_strings(elf, sh.sh_link, &left))
            continue;

        Elf_Data *data = elf_getdata(s, NULL);
        size_t n = data && sh.sh_entsize ? data->d_size / sh.sh_entsize : 0;

        for (size_t i = 0; i < n && gelf_getsym(data, (int)i, sym); i++) {
            const char *found = elf_strptr(elf, sh.sh_link, sym->st_name);

            if (found && sym->st_shndx != SHN_UNDEF && !strcmp(found, name))
                return true;
        }
    }
    return false;
}

bool elf_file_has_symbol(const struct elf_file *file, const char *name)
{
    GElf_Sym sym;

    return find_symbol(file->reader->elf, name, &sym);
}

/* Whether the file is mapped at `start` from `offset` on as one of its segments says; then *bias. */
static bool is_segment(Elf *elf, uint64_t start, uint64_t offset, uint64_t *bias)
{
    size_t n = 0;
    GElf_Phdr ph;

    if (elf_getphdrnum(elf, &n))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || (ph.p_offset & ~0xfffull) != offset)
            continue;
        *bias = start - (ph.p_vaddr & ~0xfffull);
        return true;
    }
    return false;
}

struct bias_search {
    const struct elf_file *file;
    uint64_t bias; /* 0: not found yet */
};

static bool take_segment(void *context, const struct memory_mapping *m)
{
    struct bias_search *search = context;

    return m->inode == search->file->st.st_ino &&
        is_segment(search->file->reader->elf, m->start, m->offset, &search->bias);
}

uint64_t elf_file_bias(const struct elf_file *file, int pid)
{
    struct bias_search search = {.file = file};

    memory_each_mapping(pid, take_segment, &search);
    return search.bias;
}

uint64_t elf_file_address(const struct elf_file *file, uint64_t bias, const char *name)
{
    GElf_Sym sym;

    return bias && find_symbol(file->reader->elf, name, &sym) ? bias + sym.st_value : 0;
}

ssize_t elf_file_read_symbol(const struct elf_file *file, const char *name, void *buf, size_t size)
{
    GElf_Sym sym;
    uint64_t offset;

    if (!find_symbol(file->reader->elf, name, &sym))
        return -ENOENT;
    offset = file_offset(file->reader->elf, sym.st_value, 0);
    if (!offset)
        return -ENOENT;
    return pread(file->reader->fd, buf, sym.st_size < size ? sym.st_size : size, (off_t)offset);
}

bool elf_file_find_text(const struct elf_file *file, const char *text, char *out, size_t size)
{
    enum { PIECE = 1 << 16 };
    size_t len = strlen(text), overlap = len + size;
    char *bytes = calloc(1, PIECE + overlap + 1), *at = NULL;
    ssize_t got;

    for (off_t from = 0; bytes && !at && (got = pread(file->reader->fd, bytes, PIECE + overlap, from)) > 0;
         from += PIECE) {
        bytes[got] = '\0';
        at = memmem(bytes, (size_t)got, text, len);
        if (at && (size_t)(at - bytes) >= PIECE)
            at = NULL; /* the next piece has it, and all that follows */
    }
    if (at)
        snprintf(out, size, "%s", at + len);
    free(bytes);
    return at != NULL;
}
