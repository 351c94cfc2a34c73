/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics of a session over HTTP: reads what views count, once a second, and tells whoever scrapes.
 *
 *   socket = server_listen(...);  server_begin(&settings, &server);
 *   question.readers[question.nreaders++] = server_reader(server);  engine_run(...);
 *   server_linger(server);  server_end(server);
 */
#ifndef TOOLS_SERVER_H
#define TOOLS_SERVER_H

#include "session/engine.h"

struct server;

struct server_settings {
    const char *listen; /* as of http_listen */
    const char *hosts;  /* as of http_serves_host; stays the caller's, as `on` does */
    const bool *on;     /* VIEW_COUNT: what is told */
    uint64_t linger_ns; /* a VM that ended is served for so long */
};

/* Exemplars are made of what took so long, unless asked for otherwise. */
#define SERVER_SLOWER "10ms"

/* Listens. Owns: server_end frees; NULL after a failure. Fails: said; FAIL_USAGE for a bad address. */
int server_begin(const struct server_settings *settings, struct server **out);
struct engine_reader server_reader(struct server *server);
/*
 * The VM, or the command, has ended by itself: what was counted is there to be scraped for a while. Returns when that
 * is over, or at a signal.
 */
void server_linger(struct server *server);
void server_end(struct server *server);

#endif
