/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server of HTTP with the pages that a scraper asks for: /metrics, /-/healthy and / (libmicrohttpd, on a thread of
 * its own). Who asks is not trusted: connections, their time and the size of what they ask are bounded.
 */
#ifndef TOOLS_HTTP_H
#define TOOLS_HTTP_H

#include <stdbool.h>
#include <stdio.h>

struct http;

/* The page /metrics, as text format 0.0.4 of Prometheus or as OpenMetrics. Called on the server's thread, while nobody
 * holds it. */
typedef void http_render(void *ctx, FILE *out, bool prometheus);

enum { HTTP_WHERE_BYTES = 64 };

/* Listens on "127.0.0.1:9464", "[::1]:9464" or a port of the loopback address, "9464"; port 0: one that is free.
 * `where` becomes address and port. Returns the socket, or a failure, said: FAIL_USAGE for a bad address. */
int http_listen(const char *address, char where[HTTP_WHERE_BYTES]);
struct http_settings {
    const char *where; /* for the page / */
    const char *hosts; /* as of http_serves_host; stays the caller's */
    http_render *render;
    void *ctx; /* for render */
};

/* Serves on the socket, which becomes the server's also after a failure (said). */
int http_start(int socket, const struct http_settings *settings, struct http **out);
void http_stop(struct http *h);

/* Between the two no page is rendered: what it is made of may change. */
void http_hold(struct http *h);
void http_release(struct http *h);
/* To be called now and then, held: what was rendered is not served any more, and connections that take too long end. */
void http_refresh(struct http *h);

/*
 * Whether an Accept header (NULL: there is none) asks for OpenMetrics by name, and no less than for text format 0.0.4.
 */
bool http_wants_openmetrics(const char *accept);
/*
 * Whether a Host header (NULL: there is none) is an address, localhost, or one of `hosts`: names with commas, or NULL.
 */
bool http_serves_host(const char *host, const char *hosts);
/* Whether the text is names of hosts with commas between. */
bool http_is_hosts(const char *hosts);

#endif
