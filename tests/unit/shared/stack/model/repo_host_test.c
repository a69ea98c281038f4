/* SPDX-License-Identifier: Apache-2.0 */
/* repo_host_test.c: which hosts are reserved, in every form that a resolver takes. */
#include "support/rows.h"

#include "support/repeat.h"

#include "stack/model/repo_host.h"

static void hosts(void **state)
{
    static const struct {
        const char *host, *what; /* how that begins; "" = ordinary */
    } rows[] = {
        { "charts.example.com", "" }, { "x.io", "" }, { "10.0.0.1", "" }, { "192.168.1.1", "" }, { "128.0.0.1", "" },
        { "126.255.255.255", "" }, { "169.253.255.255", "" }, { "169.255.0.0", "" }, { "1.0.0.0", "" },
        { "8.8.8.8", "" }, { "[fd00::1]", "" }, { "[2001:db8::1]", "" }, { "[::2:0:0:0]", "" },
        { "[::ffff:10.0.0.1]", "" }, { "[64:ff9b::808:808]", "" }, { "[2002:808:808::1]", "" },
        { "127.0.0.1", "a loopback" }, { "127.0.0.2", "a loopback" }, { "127.255.255.255", "a loopback" },
        { "127.1", "a loopback" }, { "127.0.1", "a loopback" }, { "127.16777215", "a loopback" }, { "127", "the unspec" },
        { "2130706433", "a loopback" }, { "0x7f000001", "a loopback" }, { "0X7F000001", "a loopback" },
        { "017700000001", "a loopback" }, { "0177.0.0.1", "a loopback" }, { "0x7f.0.0.1", "a loopback" },
        { "0x7f.1", "a loopback" }, { "0177.0x0.0.01", "a loopback" }, { "00000000177.0.0.1", "a loopback" },
        { "127.0.0.1.", "a loopback" }, { "127.0.0.0x1", "a loopback" }, { "127.0x1", "a loopback" },
        { "0.0.0.0", "the unspecified" }, { "0", "the unspecified" }, { "0x0", "the unspecified" }, { "0.1", "the unspecified" },
        { "169.254.169.254", "the metadata" }, { "169.254.1.1", "a link-local" }, { "2852039166", "the metadata" },
        { "0xa9fea9fe", "the metadata" }, { "0xA9.0xFE.0xA9.0xFE", "the metadata" }, { "0251.0376.0251.0376", "the metadata" },
        { "169.16689662", "the metadata" }, { "169.254.43518", "the metadata" }, { "100.100.100.200", "the metadata" },
        { "168.63.129.16", "the metadata" }, { "100.100.100.201", "" },
        { "256.0.0.1", "" }, { "127.0.0.256", "" }, { "127.0.65536", "" }, { "4294967296", "" }, { "127.0.0.1.1", "" },
        { "08.0.0.1", "" }, { "127..1", "" }, { "0x7g.0.0.1", "" }, { "127.0.0.1.nip.io", "" }, { "-127.0.0.1", "" },
        { "[::1]", "a loopback" }, { "::1", "a loopback" }, { "[0:0:0:0:0:0:0:1]", "a loopback" }, { "[::0001]", "a loopback" },
        { "[::]", "the unspecified" }, { "[0::0]", "the unspecified" },
        { "[fe80::1]", "a link-local" }, { "[FEBF::1]", "a link-local" }, { "[fe80::1%25eth0]", "a link-local" },
        { "[fd00:ec2::254]", "the metadata" }, { "[FD00:0EC2::0254]", "the metadata" }, { "[fd20:ce::254]", "the metadata" },
        { "[fd00:ec2::253]", "" },
        { "[::ffff:127.0.0.1]", "a loopback" }, { "[::ffff:7f00:1]", "a loopback" }, { "[::FFFF:169.254.169.254]", "the metadata" },
        { "[0:0:0:0:0:ffff:0:0]", "the unspecified" }, { "[::127.0.0.1]", "a loopback" }, { "[64:ff9b::7f00:1]", "a loopback" },
        { "[64:ff9b:1::a9fe:a9fe]", "the metadata" }, { "[::ffff:0:127.0.0.1]", "a loopback" }, { "[fec0::1]", "a link-local" },
        { "192.0.0.192", "the metadata" }, { "metadata.azure.internal", "the metadata" },
        { "[64:ff9b::169.254.169.254]", "the metadata" }, { "[2002:7f00:1::]", "a loopback" }, { "[::2]", "the unspecified" },
        { "localhost", "a loopback" }, { "LocalHost", "a loopback" }, { "localhost.", "a loopback" }, { "localhost..", "a loopback" },
        { "charts.localhost", "a loopback" }, { "a.b.LOCALHOST.", "a loopback" }, { "localhost.localdomain", "a loopback" },
        { "ip6-localhost", "a loopback" }, { "metadata.google.internal", "the metadata" }, { "Metadata.Google.Internal.", "the metadata" },
        { "metadata", "the metadata" }, { "instance-data.ec2.internal", "the metadata" },
        { "mylocalhost", "" }, { "localhost.example.com", "" }, { "metadata.example.com", "" }, { "x.metadata", "" },
        { "", "" }, { ".", "" }, { "[", "" }, { "[]", "" }, { "[%]", "" }, { "[::1", "" }, { "[::g]", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *what = repo_host_reserved(str_of(rows[i].host));

        rows_expect_str(rows[i].host, str_slice(str_of(what ? what : ""), 0, strlen(rows[i].what) + (rows[i].what[0] == 0)),
                        str_of(rows[i].what));
    }
}

static void long_hosts(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    rows_expect("a name far below", repo_host_reserved(repeat(arena, "", "a.", 500, "localhost")), "reserved");
    rows_expect("many zeros", repo_host_reserved(repeat(arena, "", "0", 2000, "177.0.0.1")), "reserved");
    rows_expect("many brackets", !repo_host_reserved(repeat(arena, "", "[", 2000, "::1]")), "ordinary");
    rows_expect("many dots", !repo_host_reserved(repeat(arena, "", ".", 2000, "")), "ordinary");
}

static void allowed_ones(void **state)
{
    static const struct {
        const char *host;
        bool has;
    } rows[] = {
        { "localhost", true }, { "LOCALHOST.", true }, { "[::1]", true }, { "::1", true }, { "127.0.0.1", true },
        { "127.1", false }, { "a.localhost", false }, { "local", false }, { "", false }, { "[::0001]", false },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct repo_hosts all = { 0 };

    (void)state;
    rows_expect("none", !repo_hosts_have(&all, STR("localhost")) && !repo_hosts_have(NULL, STR("")), "not allowed");
    rows_expect("added", repo_hosts_add(&all, STR("localhost")) && repo_hosts_add(&all, STR("[::1]")) &&
                             repo_hosts_add(&all, STR("127.0.0.1")), "added");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows_expect_int(rows[i].host, repo_hosts_have(&all, str_of(rows[i].host)), rows[i].has);
    for (int i = 0; i < 3; i++)
        rows_expect("while there is room", repo_hosts_add(&all, repeat(arena, "", "a", 255, "")), "added");
    rows_expect("beyond it", !repo_hosts_add(&all, repeat(arena, "", "a", 255, "")), "not added");
    rows_expect("what was there stays", repo_hosts_have(&all, STR("127.0.0.1")), "allowed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts),
        cmocka_unit_test(long_hosts),
        cmocka_unit_test(allowed_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
