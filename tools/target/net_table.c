/* SPDX-License-Identifier: Apache-2.0 */
#include "net_table.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS = 65536, FIELDS_BEFORE_NUMBER = 9 };

/* Eight digits for each word of an address, whose bytes are in the order of this machine. False: it is none. */
static bool read_address(const char *digits, struct in6_addr *out, bool *is_6)
{
    size_t n = strlen(digits);

    memset(out, 0, sizeof *out);
    if (n != 8 && n != 32)
        return false;
    for (size_t i = 0; i < n / 8; i++) {
        char word[9] = {0};
        uint32_t value;

        memcpy(word, digits + 8 * i, 8);
        value = (uint32_t)strtoul(word, NULL, 16);
        memcpy(&out->s6_addr[4 * i], &value, sizeof value);
    }
    *is_6 = n == 32;
    return true;
}

unsigned long net_line_number(const char *text)
{
    for (int field = 0; field < FIELDS_BEFORE_NUMBER; field++) {
        text += strspn(text, " ");
        text += strcspn(text, " ");
    }
    return strtoul(text, NULL, 10);
}

bool net_line_read(const char *text, struct net_line *out)
{
    char remote[33];

    return sscanf(text, " %*d: %*[0-9A-F]:%x %32[0-9A-F]:%x %x %x:%x %x:%*x %x %*d %*d %lu", &out->local_port, remote,
                  &out->remote_port, &out->state, &out->unsent, &out->unread, &out->timer, &out->retries,
                  &out->number) == 9 &&
           read_address(remote, &out->remote, &out->is_6) && out->local_port < PORTS && out->remote_port < PORTS;
}

void net_line_print_remote(const struct net_line *line, char *out)
{
    bool mapped = line->is_6 && IN6_IS_ADDR_V4MAPPED(&line->remote), is_6 = line->is_6 && !mapped;
    char text[INET6_ADDRSTRLEN] = "?";

    inet_ntop(is_6 ? AF_INET6 : AF_INET, &line->remote.s6_addr[mapped ? 12 : 0], text, sizeof text);
    snprintf(out, NET_ADDRESS_BYTES, is_6 ? "[%s]" : "%s", text);
}
