/* SPDX-License-Identifier: Apache-2.0 */
/* Invariant: what the kernel did not write is not read: each message and attribute is held against its length. */
#include "held_sends.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net_table.h"

enum {
    ESTABLISHED = 1, /* the state of a connection that is up */
    PORTS = 65536,
    BUFFER = 1 << 16,
    LATE_US = 5000,  /* so much later than a round trip is late */
    MOST_MS = 500,   /* later than that no acknowledgement is delayed: the peer is gone */
};

struct reading {
    int (*take)(void *ctx, const struct held_send *held);
    void *ctx;
    int err;
    bool listens[PORTS];
    char buffer[BUFFER] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/* ---- opening */

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int open_here(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    return fd < 0 ? -errno : fd;
}

/* A socket belongs to the namespace in which it was made: this thread goes there for as long as that takes. */
static int open_there(const char *there)
{
    int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), away = open(there, O_RDONLY | O_CLOEXEC), fd;

    fd = home < 0 || away < 0 || setns(away, CLONE_NEWNET) ? -errno : open_here();
    if (home >= 0 && away >= 0 && setns(home, CLONE_NEWNET) && fd >= 0) {
        close(fd);
        fd = -errno;
    }
    if (home >= 0)
        close(home);
    if (away >= 0)
        close(away);
    return fd;
}

int held_sends_open(int pid, char why[HELD_SENDS_WHY_BYTES])
{
    char there[64];
    int fd;

    snprintf(there, sizeof there, "/proc/%d/ns/net", pid);
    fd = is_same_file(there, "/proc/thread-self/ns/net") ? open_here() : open_there(there);
    if (fd < 0)
        snprintf(why, HELD_SENDS_WHY_BYTES, "the connections of its network namespace: %s", strerror(-fd));
    return fd;
}

/* ---- reading */

static void name_it(const struct reading *r, const struct inet_diag_msg *is, struct held_send *out)
{
    unsigned local = ntohs(is->id.idiag_sport), remote = ntohs(is->id.idiag_dport);
    struct net_line line = {.is_6 = is->idiag_family == AF_INET6};
    char address[NET_ADDRESS_BYTES];

    memcpy(&line.remote, is->id.idiag_dst, sizeof line.remote);
    net_line_print_remote(&line, address);
    if (r->listens[local])
        snprintf(out->text, sizeof out->text, "from %s, at port %u", address, local);
    else
        snprintf(out->text, sizeof out->text, "to %s:%u", address, remote);
}

/* Whether all that keeps the rest from being sent is that it is little, and something before it is not acknowledged. */
static bool is_held(const struct tcp_info *t)
{
    uint64_t late_us = 2ull * t->tcpi_min_rtt + LATE_US;

    return t->tcpi_notsent_bytes && t->tcpi_notsent_bytes < t->tcpi_snd_mss && t->tcpi_unacked &&
           t->tcpi_unacked < t->tcpi_snd_cwnd && !t->tcpi_ca_state && !t->tcpi_retransmits && !t->tcpi_probes &&
           !t->tcpi_backoff && t->tcpi_last_data_sent < MOST_MS && 1000ull * t->tcpi_last_data_sent > late_us;
}

static void see_connection(struct reading *r, const struct inet_diag_msg *is, const void *info, size_t size)
{
    struct tcp_info tcp = {0};
    struct held_send held = {.socket = is->idiag_inode};

    if (size < offsetof(struct tcp_info, tcpi_min_rtt) + sizeof tcp.tcpi_min_rtt)
        return; /* a kernel before 4.6 */
    memcpy(&tcp, info, size < sizeof tcp ? size : sizeof tcp);
    if (!is_held(&tcp))
        return;
    held.bytes = tcp.tcpi_notsent_bytes;
    held.since_ms = tcp.tcpi_last_data_sent;
    held.round_us = tcp.tcpi_min_rtt;
    name_it(r, is, &held);
    r->err = r->take(r->ctx, &held);
}

static void see_message(struct reading *r, const struct nlmsghdr *message)
{
    const struct inet_diag_msg *is = NLMSG_DATA(message);
    size_t left = message->nlmsg_len - NLMSG_LENGTH(0), at = NLMSG_ALIGN(sizeof *is);
    const char *bytes = NLMSG_DATA(message);

    if (left < sizeof *is)
        return;
    if (is->idiag_state == NET_LISTEN)
        r->listens[ntohs(is->id.idiag_sport)] = true;
    while (is->idiag_state == ESTABLISHED && !r->err && at + sizeof(struct nlattr) <= left) {
        struct nlattr attribute;

        memcpy(&attribute, bytes + at, sizeof attribute);
        if (attribute.nla_len < sizeof attribute || attribute.nla_len > left - at)
            return;
        if (attribute.nla_type == INET_DIAG_INFO)
            see_connection(r, is, bytes + at + NLA_HDRLEN, attribute.nla_len - NLA_HDRLEN);
        at += NLA_ALIGN(attribute.nla_len);
    }
}

/* All that the kernel answers. */
static int read_answer(struct reading *r, int from)
{
    for (;;) {
        ssize_t n = recv(from, r->buffer, sizeof r->buffer, 0);
        int left = (int)n;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? -errno : -EIO;
        for (const struct nlmsghdr *m = (const void *)r->buffer; NLMSG_OK(m, (unsigned)left); m = NLMSG_NEXT(m, left)) {
            const struct nlmsgerr *error = NLMSG_DATA(m);

            if (m->nlmsg_type == NLMSG_DONE)
                return 0;
            if (m->nlmsg_type == NLMSG_ERROR)
                return m->nlmsg_len < NLMSG_LENGTH(sizeof *error) || !error->error ? -EIO : error->error;
            if (!r->err)
                see_message(r, m);
        }
    }
}

static int ask(int from, uint8_t family, uint32_t states, uint8_t more)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 wanted;
    } request = {
        .head = {.nlmsg_len = sizeof request,
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .wanted = {.sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = states, .idiag_ext = more},
    };

    return send(from, &request, sizeof request, 0) == sizeof request ? 0 : -errno;
}

int held_sends_read(int from, int (*take)(void *ctx, const struct held_send *held), void *ctx)
{
    /* Who listens first: that says which connections came in. */
    static const struct {
        uint8_t family;
        uint32_t state;
        uint8_t more;
    } questions[] = {{AF_INET, NET_LISTEN, 0},
                     {AF_INET6, NET_LISTEN, 0},
                     {AF_INET, ESTABLISHED, 1 << (INET_DIAG_INFO - 1)},
                     {AF_INET6, ESTABLISHED, 1 << (INET_DIAG_INFO - 1)}};
    struct reading *r = calloc(1, sizeof *r);
    int err = r ? 0 : -ENOMEM;

    if (r)
        r->take = take;
    if (r)
        r->ctx = ctx;
    for (size_t i = 0; i < sizeof questions / sizeof *questions && !err; i++) {
        err = ask(from, questions[i].family, 1u << questions[i].state, questions[i].more);
        err = err ? err : read_answer(r, from);
        err = err ? err : r->err;
    }
    free(r);
    return err;
}

/* ---- whose it is */

bool held_sends_is_of(int pid, uint32_t socket)
{
    char path[64], sought[32], text[32];
    bool found = false;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    snprintf(sought, sizeof sought, "socket:[%u]", socket);
    dir = opendir(path);
    for (struct dirent *entry; dir && !found && (entry = readdir(dir));) {
        ssize_t n = readlinkat(dirfd(dir), entry->d_name, text, sizeof text - 1);

        text[n > 0 ? n : 0] = '\0';
        found = !strcmp(text, sought);
    }
    if (dir)
        closedir(dir);
    return found;
}
