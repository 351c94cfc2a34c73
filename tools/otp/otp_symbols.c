/* SPDX-License-Identifier: Apache-2.0 */
#include "otp_symbols.h"

#include "otp_recover.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct otp_symbols {
    struct otp_image *image;
    struct otp_image *debug; /* NULL: none, or not asked for yet */
    enum otp_found debug_found;
    bool debug_asked;
    struct otp_recover *recover; /* NULL: not possible, or not asked for yet */
    bool recover_asked;
    char *path, *root;
};

const char *otp_found_text(enum otp_found found)
{
    static const char *const text[] = {
        [OTP_FOUND_SYMTAB] = "symbol table",   [OTP_FOUND_DYNSYM] = "dynamic symbol table",
        [OTP_FOUND_DEBUG_FILE] = "debug file", [OTP_FOUND_DEBUGINFOD] = "debuginfod",
        [OTP_FOUND_RECOVERED] = "recovered",
    };

    return text[found];
}

/* ---- the separate debug file */

/* The same build, linked to the same addresses. */
static bool is_same_build(const struct otp_image *image, const struct otp_image *debug)
{
    return image->build_id_size && image->build_id_size == debug->build_id_size &&
           !memcmp(image->build_id, debug->build_id, image->build_id_size) && image->text == debug->text &&
           image->text_size == debug->text_size;
}

static bool take_debug(struct otp_symbols *symbols, struct otp_image *debug, enum otp_found found)
{
    if (!is_same_build(symbols->image, debug)) {
        otp_image_free(debug);
        return false;
    }
    symbols->debug = debug;
    symbols->debug_found = found;
    return true;
}

static bool try_debug_file(struct otp_symbols *symbols, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool try_debug_file(struct otp_symbols *symbols, const char *format, ...)
{
    char path[PATH_MAX];
    struct otp_image *debug;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    return n > 0 && (size_t)n < sizeof path && !otp_image_new(path, &debug) &&
           take_debug(symbols, debug, OTP_FOUND_DEBUG_FILE);
}

static void build_id_hex(const struct otp_image *image, char hex[2 * OTP_BUILD_ID_MAX + 1])
{
    hex[0] = 0;
    for (size_t i = 0; i < image->build_id_size; i++)
        snprintf(hex + 2 * i, 3, "%02x", image->build_id[i]);
}

/* The folder of the executable, as the target sees it; "" when unknown. */
static void folder_of(const char *path, char folder[PATH_MAX])
{
    ssize_t n = readlink(path, folder, PATH_MAX - 1); /* /proc/PID/exe */
    char *slash;

    if (n > 0)
        folder[n] = 0;
    else
        snprintf(folder, PATH_MAX, "%s", path);
    slash = strrchr(folder, '/');
    if (slash)
        *slash = 0;
    else
        folder[0] = 0;
}

/* In the places where gdb looks, too. */
static bool find_debug_file(struct otp_symbols *symbols)
{
    const char *root = symbols->root, *link = symbols->image->debug_link;
    char hex[2 * OTP_BUILD_ID_MAX + 1], folder[PATH_MAX];

    build_id_hex(symbols->image, hex);
    if (try_debug_file(symbols, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", root, hex, hex + 2))
        return true;
    if (try_debug_file(symbols, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2)) /* ours, for a container's */
        return true;
    folder_of(symbols->path, folder);
    if (!*link || strchr(link, '/') || !*folder)
        return false;
    return try_debug_file(symbols, "%s%s/%s", root, folder, link) ||
           try_debug_file(symbols, "%s%s/.debug/%s", root, folder, link) ||
           try_debug_file(symbols, "%s/usr/lib/debug%s/%s", root, folder, link);
}

/* ---- debuginfod: only when the user's environment names servers. The library is optional, so it is loaded when
 * needed, and stays: what it loads in turn (curl, TLS) does not like to be unloaded. */

enum { SILENCE_S = 5 };

/* How far the file has come, and when it last came further. */
static struct {
    long got;
    struct timespec since;
} progress;

/*
 * Called again and again; without the size of the file, `got` counts the calls. Nonzero ends it: the server is silent,
 * or we are to end.
 */
static int is_too_long(void *client, long got, long all)
{
    struct timespec now;
    sigset_t pending;

    (void)client;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (all > 0 && got > progress.got) {
        progress.got = got;
        progress.since = now;
    }
    sigpending(&pending);
    return now.tv_sec - progress.since.tv_sec > SILENCE_S || sigismember(&pending, SIGINT) ||
           sigismember(&pending, SIGTERM) || sigismember(&pending, SIGHUP);
}

static int fetch_debug(void *library, const unsigned char *build_id, size_t size)
{
    void *(*begin)(void) = (void *(*)(void))dlsym(library, "debuginfod_begin");
    int (*find)(void *, const unsigned char *, int, char **) =
        (int (*)(void *, const unsigned char *, int, char **))dlsym(library, "debuginfod_find_debuginfo");
    void (*end)(void *) = (void (*)(void *))dlsym(library, "debuginfod_end");
    void (*watch)(void *, int (*)(void *, long, long)) =
        (void (*)(void *, int (*)(void *, long, long)))dlsym(library, "debuginfod_set_progressfn");
    void *client = begin && find && end && watch ? begin() : NULL;
    char silence_s[16];
    int fd;

    if (!client)
        return -ENOSYS;
    /* Newer libraries ask nobody whether to go on before a server has answered, and wait for minutes. */
    snprintf(silence_s, sizeof silence_s, "%d", SILENCE_S);
    setenv("DEBUGINFOD_TIMEOUT", silence_s, 0);
    setenv("DEBUGINFOD_RETRY_LIMIT", "0", 0);
    progress.got = 0;
    clock_gettime(CLOCK_MONOTONIC, &progress.since);
    watch(client, is_too_long);
    fd = find(client, build_id, (int)size, NULL);
    end(client);
    return fd;
}

static void ask_debuginfod(struct otp_symbols *symbols)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    void *library = urls && *urls ? dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL) : NULL;
    struct otp_image *debug;
    int fd;

    if (!library)
        return;
    fd = fetch_debug(library, symbols->image->build_id, symbols->image->build_id_size);
    if (fd >= 0 && !otp_image_from_fd(fd, &debug))
        take_debug(symbols, debug, OTP_FOUND_DEBUGINFOD);
}

/* Once for an executable, when it does not know a name itself: most need no debug file at all. */
static void ask_for_debug(struct otp_symbols *symbols)
{
    if (symbols->debug_asked)
        return;
    symbols->debug_asked = true;
    if (symbols->root && symbols->image->build_id_size && !find_debug_file(symbols))
        ask_debuginfod(symbols);
}

/* ---- looking up */

static int compare_name(const void *name, const void *symbol)
{
    return strcmp(name, ((const struct otp_symbol *)symbol)->name);
}

static bool makes_sense(const struct otp_image *image, const struct otp_symbol *symbol)
{
    const struct otp_segment *segment = otp_image_segment(image, symbol->address);

    return segment && symbol->size <= segment->size - (symbol->address - segment->address) &&
           (symbol->code ? otp_image_is_code(image, symbol->address) : !segment->code);
}

/* -ENOENT without one, -EEXIST when two places bear the name. A global one stands before static ones. */
static int look_up(const struct otp_image *in, const struct otp_image *image, const char *name,
                   const struct otp_symbol **out)
{
    const struct otp_symbol *end = in->symbols + in->nsymbols, *found = NULL,
                            *at = in->nsymbols ? bsearch(name, in->symbols, in->nsymbols, sizeof *at, compare_name)
                                               : NULL;
    bool two = false;

    if (!at)
        return -ENOENT;
    while (at > in->symbols && !strcmp(at[-1].name, name))
        at--;
    for (; at < end && !strcmp(at->name, name); at++) {
        if (!makes_sense(image, at))
            continue;
        if (!found || (at->global && !found->global)) {
            found = at;
            two = false;
        } else if (at->global == found->global && at->address != found->address) {
            two = true;
        }
    }
    *out = found;
    return two ? -EEXIST : found ? 0 : -ENOENT;
}

static int place_in(struct otp_symbols *symbols, const struct otp_image *in, const char *name, struct otp_place *out)
{
    const struct otp_symbol *symbol;
    int err = in ? look_up(in, symbols->image, name, &symbol) : -ENOENT;

    if (err)
        return err;
    *out = (struct otp_place){.address = symbol->address, .size = symbol->size};
    out->found = in == symbols->debug  ? symbols->debug_found
                 : symbol->dynamic     ? OTP_FOUND_DYNSYM
                                       : OTP_FOUND_SYMTAB;
    return 0;
}

static int recover(struct otp_symbols *symbols, const char *name, struct otp_place *out)
{
    if (!symbols->recover_asked) {
        symbols->recover_asked = true;
        otp_recover_new(symbols->image, &symbols->recover);
    }
    out->found = OTP_FOUND_RECOVERED;
    return symbols->recover ? otp_recover_find(symbols->recover, name, &out->address, &out->size) : -ENOENT;
}

int otp_symbols_find(struct otp_symbols *symbols, const char *name, struct otp_place *out)
{
    int err = place_in(symbols, symbols->image, name, out);

    if (err == -ENOENT) {
        ask_for_debug(symbols);
        err = place_in(symbols, symbols->debug, name, out);
    }
    if (err == -ENOENT)
        err = recover(symbols, name, out);
    return err ? -ENOENT : 0;
}

bool otp_symbols_contradict(struct otp_symbols *symbols, const char *name, const struct otp_place *place)
{
    struct otp_place other;

    return place->found != OTP_FOUND_RECOVERED && !recover(symbols, name, &other) && other.address != place->address;
}

/* The first symbol whose name is not less. */
static const struct otp_symbol *lower_bound(const struct otp_image *in, const char *name)
{
    size_t from = 0, to = in->nsymbols;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (strcmp(in->symbols[middle].name, name) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return in->symbols + from;
}

/* Source: clone_function_name of gcc. What is seldom run of one is apart (.cold), and only it goes there. */
static bool is_clone(const char *suffix)
{
    static const char *const kinds[] = {"constprop.", "isra.", "part."};

    if (strstr(suffix, ".cold"))
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(suffix, kinds[i], strlen(kinds[i])))
            return true;
    return false;
}

/* A clone that is called, and not only by the function itself. */
static bool has_clone(struct otp_image *image, const struct otp_image *in, const char *name,
                      const struct otp_place *place)
{
    const struct otp_symbol *end = in->symbols + in->nsymbols;
    char prefix[256];
    size_t length = (size_t)snprintf(prefix, sizeof prefix, "%s.", name);

    if (length >= sizeof prefix)
        return false;
    for (const struct otp_symbol *at = lower_bound(in, prefix); at < end && !strncmp(at->name, prefix, length); at++)
        if (at->code && is_clone(at->name + length) &&
            otp_image_is_referred_to(image, at->address, place->address, place->size))
            return true;
    return false;
}

bool otp_symbols_is_bypassed(struct otp_symbols *symbols, const char *name, const struct otp_place *place)
{
    struct otp_image *image = symbols->image;

    return !otp_image_is_referred_to(image, place->address, 0, 0) || has_clone(image, image, name, place) ||
           (symbols->debug && has_clone(image, symbols->debug, name, place));
}

struct otp_image *otp_symbols_image(const struct otp_symbols *symbols)
{
    return symbols->image;
}

int otp_symbols_new(const char *path, const char *root, struct otp_symbols **out)
{
    struct otp_symbols *symbols = calloc(1, sizeof *symbols);
    int err = -ENOMEM;

    if (!symbols)
        return err;
    symbols->path = strdup(path);
    symbols->root = root ? strdup(root) : NULL;
    if (symbols->path && (symbols->root || !root))
        err = otp_image_new(path, &symbols->image);
    if (err) {
        otp_symbols_free(symbols);
        return err;
    }
    *out = symbols;
    return 0;
}

void otp_symbols_free(struct otp_symbols *symbols)
{
    if (!symbols)
        return;
    otp_recover_free(symbols->recover);
    otp_image_free(symbols->debug);
    otp_image_free(symbols->image);
    free(symbols->path);
    free(symbols->root);
    free(symbols);
}
