/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an emulator's file: symbols, recovery, slides, exits, built-in functions. Invariant: what is found lies in the
 * file, and a probe's place in its function. For libFuzzer. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "otp/otp_bifs.h"
#include "otp/otp_exit.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void hold(bool invariant)
{
    if (!invariant)
        abort();
}

static void look(struct otp_symbols *symbols, const char *name, enum otp_side side)
{
    struct otp_image *image = otp_symbols_image(symbols);
    struct otp_place place;
    struct otp_site site;
    char why[128];

    if (otp_symbols_find(symbols, name, &place))
        return;
    hold(otp_image_segment(image, place.address));
    if (!otp_exit(image, &place, &site, why, sizeof why))
        hold(site.slid < place.size && otp_image_is_code(image, site.address) && site.result != OTP_RESULT_RETURNED);
    if (otp_slide(image, &place, "di si", side, &site, why, sizeof why))
        return;
    hold(otp_image_is_code(image, site.address));
    hold(site.address == place.address + site.slid && site.offset == otp_image_offset(image, site.address));
    hold(!place.size || site.slid < place.size);
}

static void look_for_bifs(struct otp_image *image)
{
    struct otp_bif *bifs;
    size_t n;

    hold(!otp_bifs_find(image, &bifs, &n));
    for (size_t i = 0; i < n; i++)
        hold(otp_image_segment(image, bifs[i].function) && otp_bifs_at(bifs, n, bifs[i].function) == &bifs[i]);
    free(bifs);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const names[] = {"main",       "exported",  "erts_do_exit_process",
                                        "efile_open", "erts_proc", "spawn_3"};
    int fd = memfd_create("file", MFD_CLOEXEC);
    struct otp_symbols *symbols;
    char path[64];

    hold(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!otp_symbols_new(path, NULL, &symbols)) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            look(symbols, names[i], i % 2 ? OTP_RETURN : OTP_ENTRY);
        look_for_bifs(otp_symbols_image(symbols));
        otp_symbols_free(symbols);
    }
    close(fd);
    return 0;
}
