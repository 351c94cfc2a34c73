/* SPDX-License-Identifier: Apache-2.0 */
#include "peers.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/table.h"
#include "net_table.h"
#include "target.h"

enum { PORTS = 65536, MAX_PEERS = 65536, RETRANSMITS = 1 /* the timer that sends again */ };

/* A socket that the process has open, by the number of its file. */
struct open_socket {
    unsigned long number;
    bool is_tcp;
    struct net_line line; /* of one that is */
    UT_hash_handle hh;
};

struct found_peer {
    struct peer is; /* its text is the key */
    UT_hash_handle hh;
};

struct reading {
    int pid;
    char *why; /* PEERS_WHY_BYTES, of the caller */
    struct open_socket *sockets;
    struct found_peer *peers;
    bool listens[PORTS];
};

/* -err, and says what could not be read; of a process that ended meanwhile -ESRCH. */
static int cannot_read(const struct reading *r, const char *path, int err)
{
    if (!target_lives(r->pid))
        return -ESRCH;
    snprintf(r->why, PEERS_WHY_BYTES, "%s: %s", path, strerror(err));
    return -err;
}

static int add_socket(struct reading *r, unsigned long number)
{
    struct open_socket *socket = calloc(1, sizeof *socket);

    if (!socket)
        return -ENOMEM;
    socket->number = number;
    HASH_ADD(hh, r->sockets, number, sizeof socket->number, socket);
    if (table_has(socket))
        return 0;
    free(socket);
    return -ENOMEM;
}

/* A descriptor that was closed meanwhile is none. */
static int see_descriptor(struct reading *r, const char *folder, int at, const char *name)
{
    char path[96], text[64];
    ssize_t n = readlinkat(at, name, text, sizeof text - 1);
    unsigned long number;

    if (n < 0 && errno != ENOENT && errno != EINVAL) {
        int err = errno;

        snprintf(path, sizeof path, "%s/%.20s", folder, name);
        return cannot_read(r, path, err);
    }
    text[n > 0 ? n : 0] = '\0';
    return sscanf(text, "socket:[%lu]", &number) == 1 ? add_socket(r, number) : 0;
}

static int find_sockets(struct reading *r)
{
    char path[64];
    struct dirent *entry;
    int err = 0;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/fd", r->pid);
    dir = opendir(path);
    if (!dir)
        return cannot_read(r, path, errno);
    while (!err && (errno = 0, entry = readdir(dir)))
        err = see_descriptor(r, path, dirfd(dir), entry->d_name);
    if (!err && errno)
        err = cannot_read(r, path, errno);
    closedir(dir);
    return err;
}

static void print_peer(const struct reading *r, const struct net_line *line, char *out, size_t size)
{
    char address[NET_ADDRESS_BYTES];

    net_line_print_remote(line, address);
    if (r->listens[line->local_port])
        snprintf(out, size, "from %s, at port %u", address, line->local_port);
    else
        snprintf(out, size, "to %s:%u", address, line->remote_port);
}

/* The peer of this text; a new one, while there is room, or else the one of all others. NULL: out of memory. */
static struct found_peer *find_peer(struct reading *r, const char *text)
{
    struct found_peer *peer;

    HASH_FIND_STR(r->peers, text, peer);
    if (!peer && HASH_COUNT(r->peers) >= MAX_PEERS) {
        text = "(other)";
        HASH_FIND_STR(r->peers, text, peer);
    }
    if (peer)
        return peer;
    peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    snprintf(peer->is.text, sizeof peer->is.text, "%s", text);
    HASH_ADD_STR(r->peers, is.text, peer);
    if (table_has(peer))
        return peer;
    free(peer);
    return NULL;
}

static int count(struct reading *r, const struct net_line *line)
{
    struct found_peer *peer;
    char text[sizeof peer->is.text];

    print_peer(r, line, text, sizeof text);
    peer = find_peer(r, text);
    if (!peer)
        return -ENOMEM;
    peer->is.connections++;
    peer->is.unsent += line->unsent;
    peer->is.unread += line->unread;
    peer->is.retrying += line->timer == RETRANSMITS && line->retries;
    return 0;
}

/* Keeps the line of a socket that the process has open. The table is of all processes of its network namespace. */
static void keep_line(struct reading *r, const char *text)
{
    unsigned long number = net_line_number(text);
    struct open_socket *socket;

    HASH_FIND(hh, r->sockets, &number, sizeof number, socket);
    if (!socket || !net_line_read(text, &socket->line))
        return;
    socket->is_tcp = true;
    if (socket->line.state == NET_LISTEN)
        r->listens[socket->line.local_port] = true;
}

/* A kernel without IPv6 has no table of its sockets. */
static int read_table(struct reading *r, const char *table, bool always_there)
{
    char path[64], text[512];
    FILE *file;
    int err = 0;

    snprintf(path, sizeof path, "/proc/%d/net/%s", r->pid, table);
    file = fopen(path, "re");
    if (!file)
        return errno == ENOENT && !always_there ? 0 : cannot_read(r, path, errno);
    while (fgets(text, sizeof text, file))
        keep_line(r, text);
    if (ferror(file))
        err = cannot_read(r, path, errno);
    fclose(file);
    return err;
}

static int count_all(struct reading *r)
{
    int err = 0;

    for (struct open_socket *socket = r->sockets; socket && !err; socket = socket->hh.next)
        if (socket->is_tcp && socket->line.state != NET_LISTEN && socket->line.remote_port)
            err = count(r, &socket->line);
    return err;
}

static int by_weight(const void *a, const void *b)
{
    const struct peer *x = a, *y = b;
    const uint64_t of_x[] = {x->unsent, x->unread, x->connections}, of_y[] = {y->unsent, y->unread, y->connections};

    for (size_t i = 0; i < sizeof of_x / sizeof *of_x; i++)
        if (of_x[i] != of_y[i])
            return of_x[i] < of_y[i] ? 1 : -1;
    return strcmp(x->text, y->text);
}

static int list(struct reading *r, struct peer **out, size_t *n)
{
    size_t at = 0;

    *out = calloc(HASH_COUNT(r->peers) + 1, sizeof **out);
    if (!*out)
        return -ENOMEM;
    for (struct found_peer *peer = r->peers; peer; peer = peer->hh.next)
        (*out)[at++] = peer->is;
    qsort(*out, at, sizeof **out, by_weight);
    *n = at;
    return 0;
}

static void drop(struct reading *r)
{
    struct open_socket *socket, *next_socket;
    struct found_peer *peer, *next_peer;

    HASH_ITER(hh, r->sockets, socket, next_socket) {
        HASH_DEL(r->sockets, socket);
        free(socket);
    }
    HASH_ITER(hh, r->peers, peer, next_peer) {
        HASH_DEL(r->peers, peer);
        free(peer);
    }
    free(r);
}

int peers_read(int pid, struct peer **out, size_t *n, char why[PEERS_WHY_BYTES])
{
    struct reading *r = calloc(1, sizeof *r);
    int err = -ENOMEM;

    *out = NULL;
    *n = 0;
    snprintf(why, PEERS_WHY_BYTES, "out of memory");
    if (!r)
        return err;
    r->pid = pid;
    r->why = why;
    err = find_sockets(r);
    err = err ? err : read_table(r, "tcp", true);
    err = err ? err : read_table(r, "tcp6", false);
    err = err ? err : count_all(r);
    err = err ? err : list(r, out, n);
    drop(r);
    return err;
}
