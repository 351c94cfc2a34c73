/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariant: a page is rendered at most once between two refreshes, however many ask; a connection serves one request
 * and lives for REQUEST_S at most. Whoever connects is let in: where there are as many connections as may be, an older
 * one ends, of the client that has most of them. So neither one client nor slow ones keep a scraper waiting.
 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fail.h"

/*
 * SPARE_CONNECTIONS: libmicrohttpd takes some at a time (10 in version 0.9 and 1.0) before it ends those that we shut
 * down.
 */
enum {
    MOST_CONNECTIONS = 64,
    MOST_OF_CLIENT = 16,
    SPARE_CONNECTIONS = 64,
    ALL_CONNECTIONS = MOST_CONNECTIONS + SPARE_CONNECTIONS,
    REQUEST_S = 30,
    IDLE_S = 5,
    REQUEST_BYTES = 16384, /* of line and headers; libmicrohttpd answers 413, 414 or 431 to more */
    BACKLOG = 64,
    PORTS = 65535,
};

enum { PAGE_OPENMETRICS, PAGE_PROMETHEUS, NPAGES };

/* A client as connections are counted by: an address of IPv4, or the first half of one of IPv6, of which a machine has
 * any number. */
struct client {
    unsigned char bytes[8];
};

struct connection {
    int fd; /* -1: free */
    struct client client;
    uint64_t since_ns;
    bool asked; /* its request is complete */
    bool ended; /* it was shut down, and is not counted */
};

struct http {
    pthread_mutex_t lock;
    struct MHD_Daemon *daemon;
    http_render *render;
    void *ctx;
    char about[512];                    /* the page / */
    struct MHD_Response *pages[NPAGES]; /* rendered since the last refresh, or NULL */
    struct connection connections[ALL_CONNECTIONS];
    const char *hosts; /* names it may be asked by, with commas; NULL: none */
};

/* ---- address */

static int complain(const char *address)
{
    return fail(FAIL_USAGE, "--listen must be ADDRESS:PORT, such as 127.0.0.1:9464 or [::1]:9464, or a port, not '%s'",
                address);
}

union any_address {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};

/* Numbers only: a name would have to be looked up, and may be several addresses. Returns the size, 0: it is none. */
static socklen_t parse_address(const char *text, union any_address *out)
{
    const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
    size_t length = colon ? (size_t)(colon - text) : 0;
    char host[INET6_ADDRSTRLEN + 1] = "127.0.0.1";
    unsigned long port = strtoul(digits, NULL, 10);
    bool bracketed = length > 2 && text[0] == '[' && colon[-1] == ']';

    if (!*digits || strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 5 || port > PORTS ||
        length >= sizeof host)
        return 0;
    if (colon)
        snprintf(host, sizeof host, "%.*s", (int)(bracketed ? length - 2 : length), text + bracketed);
    memset(out, 0, sizeof *out);
    if (bracketed) {
        out->in6.sin6_family = AF_INET6;
        out->in6.sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, host, &out->in6.sin6_addr) == 1 ? sizeof out->in6 : 0;
    }
    out->in.sin_family = AF_INET;
    out->in.sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, host, &out->in.sin_addr) == 1 ? sizeof out->in : 0;
}

static void print_address(const union any_address *a, char where[HTTP_WHERE_BYTES])
{
    bool v6 = a->sa.sa_family == AF_INET6;
    char host[INET6_ADDRSTRLEN] = "";

    inet_ntop(a->sa.sa_family, v6 ? (const void *)&a->in6.sin6_addr : (const void *)&a->in.sin_addr, host, sizeof host);
    snprintf(where, HTTP_WHERE_BYTES, v6 ? "[%s]:%d" : "%s:%d", host, ntohs(v6 ? a->in6.sin6_port : a->in.sin_port));
}

static int explain(int err, const char *address)
{
    switch (err) {
    case EADDRINUSE:
        return fail(-err, "cannot listen on %s: somebody does already; choose another port with --listen", address);
    case EADDRNOTAVAIL:
        return fail(-err, "cannot listen on %s: no interface of this machine has that address", address);
    case EACCES:
        return fail(-err, "cannot listen on %s: ports below 1024 are for root; choose another with --listen", address);
    default: return fail(-err, "cannot listen on %s: %s", address, strerror(err));
    }
}

int http_listen(const char *address, char where[HTTP_WHERE_BYTES])
{
    union any_address a;
    socklen_t size = parse_address(address, &a);
    int fd, err = 0, one = 1;

    if (!size)
        return complain(address);
    fd = socket(a.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return explain(errno, address);
    /* Connections of one that ended just now do not keep the port. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, &a.sa, size) || listen(fd, BACKLOG) || getsockname(fd, &a.sa, &size))
        err = errno;
    if (!err) {
        print_address(&a, where);
        return fd;
    }
    close(fd);
    return explain(err, address);
}

/* ---- who is asked */

static bool is_name(const char *text, size_t length, const char *name, size_t name_length)
{
    return length == name_length && !strncasecmp(text, name, length);
}

/* Whether the text is an address of IPv4, or of IPv6 in brackets. */
static bool is_address(const char *text, size_t length)
{
    bool bracketed = length > 2 && text[0] == '[' && text[length - 1] == ']';
    char host[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (length >= sizeof host)
        return false;
    snprintf(host, sizeof host, "%.*s", (int)(bracketed ? length - 2 : length), text + bracketed);
    return inet_pton(bracketed ? AF_INET6 : AF_INET, host, &address) == 1;
}

/*
 * A page of the web can have a browser ask us by a name of its own that it lets lead to our address, and then read the
 * answer: such a name is refused. Without a Host (HTTP/1.0) it is no browser that asks.
 */
bool http_serves_host(const char *host, const char *hosts)
{
    const char *behind = host ? strrchr(host, ':') : NULL;
    size_t length = !host ? 0 : behind && !strchr(behind, ']') ? (size_t)(behind - host) : strlen(host);

    if (!host || is_address(host, length) || is_name(host, length, "localhost", strlen("localhost")))
        return true;
    for (const char *at = hosts; at && *at; at += strcspn(at, ",") + (strchr(at, ',') != NULL))
        if (is_name(host, length, at, strcspn(at, ",")))
            return true;
    return false;
}

bool http_is_hosts(const char *hosts)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

    for (const char *at = hosts;; at++) {
        size_t length = strcspn(at, ",");

        if (!length || strspn(at, letters) != length)
            return false;
        at += length;
        if (!*at)
            return true;
    }
}

/* ---- what is asked for */

/* The quality of a media range, "0.5" of "text/plain;version=0.0.4;q=0.5"; 1 without. */
static double read_quality(const char *range, size_t length)
{
    for (const char *at = range; at + 2 < range + length; at++)
        if (*at == ';' && at[1 + strspn(at + 1, " ")] == 'q' && at[2 + strspn(at + 1, " ")] == '=')
            return strtod(at + 3 + strspn(at + 1, " "), NULL);
    return 1;
}

/*
 * How much the media type is wanted, by the range that describes it best; 0: not at all. `named`: a range with a
 * wildcard does not describe it. Source: RFC 9110, 12.5.1.
 */
static double quality(const char *accept, const char *type, bool named)
{
    size_t best = named ? strlen(type) - 1 : 0, group = strcspn(type, "/") + 1;
    double found = 0;

    for (const char *at = accept, *next; *at; at = *next ? next + 1 : next) {
        size_t name;

        at += strspn(at, " \t");
        next = at + strcspn(at, ",");
        name = strcspn(at, " \t;,");
        if (name > best && (is_name(at, name, type, strlen(type)) ||
                            (name == group + 1 && !strncasecmp(at, type, group) && at[group] == '*') ||
                            (name == 3 && !strncmp(at, "*/*", 3)))) {
            found = read_quality(at, (size_t)(next - at));
            best = name;
        }
    }
    return found;
}

bool http_wants_openmetrics(const char *accept)
{
    double openmetrics = accept ? quality(accept, "application/openmetrics-text", true) : 0;

    return openmetrics > 0 && openmetrics >= quality(accept, "text/plain", false);
}

/* ---- connections */

static int fd_of(struct MHD_Connection *c)
{
    return MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static struct client client_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const union any_address *a = (const void *)info->client_addr;
    const unsigned char *from = a->in6.sin6_addr.s6_addr;
    bool v4 = a->sa.sa_family == AF_INET, mapped = !v4 && IN6_IS_ADDR_V4MAPPED(&a->in6.sin6_addr);
    struct client client = {{0}};

    if (v4 || mapped)
        memcpy(client.bytes, v4 ? (const void *)&a->in.sin_addr : from + 12, sizeof a->in.sin_addr);
    else
        memcpy(client.bytes, from, sizeof client.bytes);
    return client;
}

static bool is_open(const struct connection *c)
{
    return c->fd >= 0 && !c->ended;
}

static size_t count_open(const struct http *h, const struct client *client)
{
    size_t n = 0;

    for (size_t i = 0; i < ALL_CONNECTIONS; i++)
        n += is_open(&h->connections[i]) &&
             (!client || !memcmp(&h->connections[i].client, client, sizeof *client));
    return n;
}

static void end_connection(struct connection *c)
{
    shutdown(c->fd, SHUT_RDWR);
    c->ended = true;
}

/* Ends one of the client's: the oldest that has not asked anything yet, else the oldest. */
static void end_one_of(struct http *h, const struct client *client)
{
    struct connection *oldest = NULL;

    for (size_t i = 0; i < ALL_CONNECTIONS; i++) {
        struct connection *c = &h->connections[i];

        if (!is_open(c) || memcmp(&c->client, client, sizeof *client))
            continue;
        if (!oldest || c->asked < oldest->asked || (c->asked == oldest->asked && c->since_ns < oldest->since_ns))
            oldest = c;
    }
    if (oldest)
        end_connection(oldest);
}

/* The client that has the most connections. */
static struct client find_greediest(const struct http *h)
{
    struct client greediest = {{0}};
    size_t most = 0;

    for (size_t i = 0; i < ALL_CONNECTIONS; i++) {
        size_t n = is_open(&h->connections[i]) ? count_open(h, &h->connections[i].client) : 0;

        if (n <= most)
            continue;
        most = n;
        greediest = h->connections[i].client;
    }
    return greediest;
}

/* For one more of this client. */
static void make_room(struct http *h, const struct client *client)
{
    struct client greediest;

    if (count_open(h, client) >= MOST_OF_CLIENT) {
        end_one_of(h, client);
    } else if (count_open(h, NULL) >= MOST_CONNECTIONS) {
        greediest = find_greediest(h);
        end_one_of(h, &greediest);
    }
}

static struct connection *find_connection(struct http *h, int fd)
{
    for (size_t i = 0; i < ALL_CONNECTIONS; i++)
        if (h->connections[i].fd == fd)
            return &h->connections[i];
    return NULL;
}

static void on_connection(void *ctx, struct MHD_Connection *c, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    bool begins = code == MHD_CONNECTION_NOTIFY_STARTED;
    struct client client = client_of(c);
    struct http *h = ctx;
    struct connection *found;

    (void)socket_context;
    pthread_mutex_lock(&h->lock);
    if (begins)
        make_room(h, &client);
    found = find_connection(h, begins ? -1 : fd_of(c));
    if (found)
        *found = (struct connection){begins ? fd_of(c) : -1, client, clock_ns(CLOCK_MONOTONIC), false, false};
    pthread_mutex_unlock(&h->lock);
}

/* The connection's request is complete. */
static void see_request(struct http *h, struct MHD_Connection *c)
{
    struct connection *found;

    pthread_mutex_lock(&h->lock);
    found = find_connection(h, fd_of(c));
    if (found)
        found->asked = true;
    pthread_mutex_unlock(&h->lock);
}

/* ---- answers */

/* The response for /metrics: ours, with a reference that is the caller's too. NULL: out of memory. */
static struct MHD_Response *find_page(struct http *h, int page)
{
    static const char *const types[] = {[PAGE_OPENMETRICS] =
                                            "application/openmetrics-text; version=1.0.0; charset=utf-8",
                                        [PAGE_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8"};
    char *text = NULL;
    size_t size = 0;
    FILE *out = h->pages[page] ? NULL : open_memstream(&text, &size);

    if (!out)
        return h->pages[page];
    h->render(h->ctx, out, page == PAGE_PROMETHEUS);
    if (fclose(out)) {
        free(text);
        return NULL;
    }
    h->pages[page] = MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (!h->pages[page]) {
        free(text);
        return NULL;
    }
    MHD_add_response_header(h->pages[page], MHD_HTTP_HEADER_CONTENT_TYPE, types[page]);
    MHD_add_response_header(h->pages[page], MHD_HTTP_HEADER_CONNECTION, "close");
    return h->pages[page];
}

static enum MHD_Result answer_metrics(struct http *h, struct MHD_Connection *c)
{
    bool openmetrics = http_wants_openmetrics(MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
    struct MHD_Response *page;
    enum MHD_Result result;

    pthread_mutex_lock(&h->lock);
    page = find_page(h, openmetrics ? PAGE_OPENMETRICS : PAGE_PROMETHEUS);
    result = page ? MHD_queue_response(c, MHD_HTTP_OK, page) : MHD_NO;
    pthread_mutex_unlock(&h->lock);
    return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned status, const char *text)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    result = MHD_queue_response(c, status, response);
    MHD_destroy_response(response);
    return result;
}

struct hosts_seen {
    const char *hosts;
    bool refused;
};

static enum MHD_Result see_host(void *ctx, enum MHD_ValueKind kind, const char *key, const char *value)
{
    struct hosts_seen *seen = ctx;

    (void)kind;
    if (!strcasecmp(key, MHD_HTTP_HEADER_HOST))
        seen->refused |= !http_serves_host(value ? value : "", seen->hosts);
    return MHD_YES;
}

/* Whether each name that the request gives us is one of ours. */
static bool names_us(const struct http *h, struct MHD_Connection *c)
{
    struct hosts_seen seen = {h->hosts, false};

    MHD_get_connection_values(c, MHD_HEADER_KIND, see_host, &seen);
    return !seen.refused;
}

/* As MHD_AccessHandlerCallback. The answer is queued before the body of the request, which is then never read. */
static enum MHD_Result answer(void *ctx, struct MHD_Connection *c, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **of_request)
{
    struct http *h = ctx;

    (void)version, (void)data, (void)size, (void)of_request;
    see_request(h, c);
    if (!names_us(h, c))
        return answer_text(c, MHD_HTTP_MISDIRECTED_REQUEST,
                           "not served under this name: ask by address or as localhost, or name it with --host\n");
    if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
        return answer_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    if (!strcmp(url, "/metrics"))
        return answer_metrics(h, c);
    if (!strcmp(url, "/-/healthy"))
        return answer_text(c, MHD_HTTP_OK, "healthy\n");
    if (!strcmp(url, "/"))
        return answer_text(c, MHD_HTTP_OK, h->about);
    return answer_text(c, MHD_HTTP_NOT_FOUND, "not here; the metrics are at /metrics\n");
}

/* ---- the server's state */

void http_hold(struct http *h)
{
    pthread_mutex_lock(&h->lock);
}

void http_release(struct http *h)
{
    pthread_mutex_unlock(&h->lock);
}

void http_refresh(struct http *h)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

    for (int i = 0; i < NPAGES; i++) {
        if (h->pages[i])
            MHD_destroy_response(h->pages[i]); /* freed when it is sent to all who wait for it */
        h->pages[i] = NULL;
    }
    for (int i = 0; i < ALL_CONNECTIONS; i++)
        if (is_open(&h->connections[i]) && now_ns - h->connections[i].since_ns > REQUEST_S * 1000000000ull)
            end_connection(&h->connections[i]);
}

/* ---- begin and end */

/*
 * The server's thread leaves signals to ours. It is told to stop through a descriptor of its own (MHD_USE_ITC): without
 * one it is told by its listening socket, which it does not look at while all connections are taken.
 */
static struct MHD_Daemon *start_daemon(struct http *h, int socket)
{
    struct MHD_Daemon *daemon;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, answer, h,
                              MHD_OPTION_LISTEN_SOCKET, socket,
                              MHD_OPTION_CONNECTION_LIMIT, (unsigned)ALL_CONNECTIONS,
                              MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
                              MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
                              MHD_OPTION_NOTIFY_CONNECTION, on_connection, h,
                              MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return daemon;
}

int http_start(int socket, const struct http_settings *settings, struct http **out)
{
    const char *where = settings->where;
    struct http *h = calloc(1, sizeof *h);

    *out = NULL;
    if (!h) {
        close(socket);
        return fail(-ENOMEM, "out of memory");
    }
    h->render = settings->render;
    h->ctx = settings->ctx;
    h->hosts = settings->hosts;
    pthread_mutex_init(&h->lock, NULL);
    for (int i = 0; i < ALL_CONNECTIONS; i++)
        h->connections[i].fd = -1;
    snprintf(
        h->about, sizeof h->about,
        "erlsnoop serves here what it counts of Erlang VMs.\n"
        "http://%s/metrics     the metrics: the text format of Prometheus, or OpenMetrics for whoever accepts that\n"
        "http://%s/-/healthy   200 while it runs\n",
        where, where);
    h->daemon = start_daemon(h, socket);
    if (!h->daemon) {
        close(socket);
        pthread_mutex_destroy(&h->lock);
        free(h);
        return fail(-EIO, "cannot serve on %s", where);
    }
    *out = h;
    return 0;
}

void http_stop(struct http *h)
{
    if (!h)
        return;
    MHD_stop_daemon(h->daemon); /* closes the socket */
    for (int i = 0; i < NPAGES; i++)
        if (h->pages[i])
            MHD_destroy_response(h->pages[i]);
    pthread_mutex_destroy(&h->lock);
    free(h);
}
