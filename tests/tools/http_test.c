/* SPDX-License-Identifier: Apache-2.0 */
/* What a scraper's headers mean: which format it wants, and whether it is us that it asks. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/http.h"

static const struct {
    const char *accept;
    bool openmetrics;
} formats[] = {
    {NULL, false},
    {"", false},
    {"*/*", false}, /* curl */
    {"text/plain", false},
    {"application/*", false},
    {"text/plainer", false},
    {",,;;q=,", false},
    {"text/plain;q=0,*/*", false},
    {"application/openmetrics-text;q=0, */*", false},
    {"application/openmetrics-text;version=1.0.0;q=0.3, text/plain;version=0.0.4 ; q=0.5", false},
    {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false}, /* a browser */
    {"application/openmetrics-text", true},
    {"Application/OpenMetrics-Text; version=1.0.0", true},
    {"application/openmetrics-text;q=0", false},
    {"application/openmetrics-text;q=0.5,text/plain", false},
    {"application/openmetrics-text;q=0.5,*/*", false},
    {"text/plain;q=0.5, application/openmetrics-text", true},
    /* Prometheus 2.42, and 3.0. */
    {"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
     "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true},
    {"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
     "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
     "text/plain;version=0.0.4;q=0.3,*/*;q=0.2", true},
    {"text/plain;version=0.0.4;q=0.5,*/*;q=0.1", false}, /* Prometheus told to use it */
};

START_TEST(test_http_wants_openmetrics)
{
    ck_assert_msg(http_wants_openmetrics(formats[_i].accept) == formats[_i].openmetrics, "%s", formats[_i].accept);
}
END_TEST

static const struct {
    const char *host, *hosts;
    bool served;
} asked[] = {
    {NULL, NULL, true},
    {"127.0.0.1", NULL, true},
    {"127.0.0.1:9464", NULL, true},
    {"192.0.2.1:80", NULL, true},
    {"[::1]", NULL, true},
    {"[::1]:9464", NULL, true},
    {"localhost", NULL, true},
    {"LocalHost:9464", NULL, true},
    {"node1:9464", "node1", true},
    {"NODE1", "a,node1,b", true},
    {"b", "a,node1,b", true},
    {"", NULL, false},
    {"", "a", false},
    {":9464", NULL, false},
    {"evil.example", NULL, false},
    {"evil.example:9464", "node1", false},
    {"node", "node1", false},
    {"node11", "node1", false},
    {"a,node1", "a,node1", false},
    {"localhost.evil.example", NULL, false},
    {"127.0.0.1.evil.example", NULL, false},
    {"evil.example:80]", NULL, false},
    {"[evil.example]", NULL, false},
    {"127.0.0.1@evil.example", NULL, false},
    {"127.1", NULL, false},
    {"[::1", NULL, false},
    {"::1", NULL, false},
};

START_TEST(test_http_serves_host)
{
    ck_assert_msg(http_serves_host(asked[_i].host, asked[_i].hosts) == asked[_i].served, "%s", asked[_i].host);
}
END_TEST

START_TEST(test_http_is_hosts)
{
    ck_assert(http_is_hosts("a") && http_is_hosts("node-1.example.org,b_2"));
    ck_assert(!http_is_hosts("") && !http_is_hosts(",") && !http_is_hosts("a,") && !http_is_hosts(",a") &&
              !http_is_hosts("a,,b") && !http_is_hosts("a b") && !http_is_hosts("a:80") && !http_is_hosts("*"));
}
END_TEST

static const char *const addresses[] = {
    "", ":", "x", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1: 80",
    "127.0.0.1:80x", "::1:80", "[::1]", "[::1:80", "[]:80", "localhost:80", "256.0.0.1:80",
    "127.0.0.1:99999999999999999999", "[::1%lo]:80", "0x7f.1:80", ":80"};

START_TEST(test_http_listen_refuses_what_is_no_address)
{
    char where[HTTP_WHERE_BYTES];

    ck_assert_int_lt(http_listen(addresses[_i], where), 0);
}
END_TEST

static const char *const good_addresses[][2] = {
    {"127.0.0.1:0", "127.0.0.1:"}, {"0", "127.0.0.1:"}, {"0.0.0.0:0", "0.0.0.0:"}};

/* And says on which port. */
START_TEST(test_http_listen_takes_addresses)
{
    char where[HTTP_WHERE_BYTES];
    size_t length = strlen(good_addresses[_i][1]);
    int fd = http_listen(good_addresses[_i][0], where);

    ck_assert_int_ge(fd, 0);
    ck_assert(!strncmp(where, good_addresses[_i][1], length) && atoi(where + length) > 0);
    close(fd);
}
END_TEST

Suite *http_suite(void)
{
    Suite *suite = suite_create("http");
    TCase *headers = tcase_create("headers"), *addresses_of = tcase_create("addresses");

    tcase_add_loop_test(headers, test_http_wants_openmetrics, 0, sizeof formats / sizeof *formats);
    tcase_add_loop_test(headers, test_http_serves_host, 0, sizeof asked / sizeof *asked);
    tcase_add_test(headers, test_http_is_hosts);
    suite_add_tcase(suite, headers);
    tcase_add_loop_test(addresses_of, test_http_listen_refuses_what_is_no_address, 0,
                        sizeof addresses / sizeof *addresses);
    tcase_add_loop_test(addresses_of, test_http_listen_takes_addresses, 0,
                        sizeof good_addresses / sizeof *good_addresses);
    suite_add_tcase(suite, addresses_of);
    return suite;
}
