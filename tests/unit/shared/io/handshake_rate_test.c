/* SPDX-License-Identifier: Apache-2.0 */
/* handshake_rate_test.c: what one address may do in a second, and what it cannot do to others. */
#include "support/rows.h"

#include "io/handshake_rate.h"

#include <arpa/inet.h>
#include <netinet/in.h>

enum { PER_SECOND = 3, ADDRESSES = 4 };

struct step {
    const char *name;
    uint64_t key;
    int64_t at_ms;
    int times;
    int allowed;
};

static void run(const struct step *steps, size_t count)
{
    AUTO(handshake_rate_free) struct handshake_rate *rate =
        handshake_rate_create(PER_SECOND, ADDRESSES);

    for (size_t i = 0; i < count; i++) {
        int allowed = 0;

        for (int k = 0; k < steps[i].times; k++)
            allowed += handshake_rate_allows(rate, steps[i].key, steps[i].at_ms);
        rows_expect_int(steps[i].name, allowed, steps[i].allowed);
    }
}

static void test_one_address(void **state)
{
    static const struct step steps[] = {
        { "exactly the limit", 7, 5000, 3, 3 },
        { "one more", 7, 5000, 1, 0 },
        { "the second's last millisecond", 7, 5999, 2, 0 },
        { "the next second, which rejected ones do not delay", 7, 6000, 4, 3 },
        { "a second counts from its first handshake", 7, 7500, 1, 1 },
        { "to its end", 7, 8499, 3, 2 },
        { "and no further", 7, 8500, 3, 3 },
        { "after a long time", 7, 100000000, 4, 3 },
    };

    (void)state;
    run(steps, sizeof(steps) / sizeof(steps[0]));
}

static void test_many_addresses(void **state)
{
    static const struct step steps[] = {
        { "one address uses up its own", 1, 0, 100, 3 },
        { "another has all of its own", 2, 0, 4, 3 },
        { "the number 0 is an address too", 0, 0, 4, 3 },
        { "the last that finds room", 4, 500, 4, 3 },
        { "where none is left nobody is closed", 5, 500, 10, 10 },
        { "nor anybody's count forgotten", 1, 999, 1, 0 },
        { "a second that ended makes room", 5, 1000, 4, 3 },
        { "each for one", 6, 1000, 4, 3 },
        { "also who was forgotten", 1, 1000, 4, 3 },
        { "those whose second goes on keep it", 4, 1499, 1, 0 },
    };

    (void)state;
    run(steps, sizeof(steps) / sizeof(steps[0]));
}

static const struct {
    const char *name;
    const char *one, *other; /* with ':': IPv6 */
    bool equal;
} key_rows[] = {
    { "an IPv4 address", "10.0.0.1", "10.0.0.1", true },
    { "its neighbour is another", "10.0.0.1", "10.0.0.2", false },
    { "the same in IPv6's words", "10.0.0.1", "::ffff:10.0.0.1", true },
    { "its neighbour there", "::ffff:10.0.0.2", "::ffff:10.0.0.1", false },
    { "an IPv6 network of 64 bits is one", "2001:db8::1", "2001:db8::ffff:1:2:3", true },
    { "the next one is another", "2001:db8::1", "2001:db8:0:1::1", false },
    { "a high bit counts", "2001:db8::1", "a001:db8::1", false },
    { "IPv6's own loopback is nobody's IPv4 address", "::1", "0.0.0.0", false },
};

static uint64_t key_of(const char *text)
{
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(1) };
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(2) };

    if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
        return handshake_rate_key((const struct sockaddr *)&four);
    assert_int_equal(inet_pton(AF_INET6, text, &six.sin6_addr), 1);
    return handshake_rate_key((const struct sockaddr *)&six);
}

static void test_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(key_rows) / sizeof(key_rows[0]); i++)
        rows_expect(key_rows[i].name,
                    (key_of(key_rows[i].one) == key_of(key_rows[i].other)) == key_rows[i].equal,
                    key_rows[i].other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_address),
        cmocka_unit_test(test_many_addresses),
        cmocka_unit_test(test_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
