/* SPDX-License-Identifier: Apache-2.0 */
/* tls_test.c: certificates issued, read, and followed through files. */
#include "support/rows.h"

#include "support/folder.h"
#include "support/loopback.h"

#include "io/file.h"

#include <unistd.h>

static void test_what_is_issued_can_be_read(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct tls_pair ca = loopback_ca(arena, "herd CA");
    struct tls_pair leaf = loopback_leaf(arena, &ca, "herd.test");
    struct tls_pair again = loopback_leaf(arena, &ca, "herd.test");
    struct tls_facts facts;
    struct tls_facts others;
    struct error err;
    int64_t now_ms = clock_wall_ms(system_clock());

    (void)state;
    assert_int_equal(tls_inspect(arena, ca.certificate_pem, &facts, &err), 0);
    rows_expect_str("a CA's subject", facts.subject, STR("CN=herd CA"));
    rows_expect("is a CA", facts.is_ca, "is_ca");
    assert_int_equal(tls_inspect(arena, leaf.certificate_pem, &facts, &err), 0);
    assert_int_equal(tls_inspect(arena, again.certificate_pem, &others, &err), 0);
    rows_expect_str("a leaf's subject", facts.subject, STR("CN=herd.test"));
    rows_expect("is no CA", !facts.is_ca, "is_ca");
    rows_expect_int("128 bits of serial", (int64_t)facts.serial.len, 32);
    rows_expect("never the same", !str_eq(facts.serial, others.serial), "serials");
    rows_expect("valid now", facts.not_before_ms <= now_ms && facts.not_after_ms > now_ms, "now");
    assert_int_equal(tls_check_pair(&leaf, &err), 0);
}

static const struct request_row {
    const char *name;
    const char *dns;
    const char *address;
    const char *common_name;
    bool reversed;
    const char *says;
} request_rows[] = {
    { "a sound request", "a.test", "::1", "x", false, NULL },
    { "a wildcard", "*.a.test", NULL, "x", false, NULL },
    { "a DNS name with a comma", "a.test,IP:1.2.3.4", NULL, "x", false, "is not a DNS name" },
    { "a DNS name with a line end", "a\ntest", NULL, "x", false,
      "a\\x0atest\" is not a DNS name" },
    { "an empty DNS name", "", NULL, "x", false, "is not a DNS name" },
    { "an address that is a name", NULL, "localhost", "x", false, "is not a numeric address" },
    { "an end before the beginning", NULL, NULL, "x", true, "cannot end before it begins" },
    { "a name that is too long", NULL, NULL,
      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", false, "too long" },
};

static void test_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(request_rows) / sizeof(request_rows[0]); i++) {
        const struct request_row *row = &request_rows[i];
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct tls_request request = { .common_name = str_of(row->common_name),
                                       .not_before_ms = 1000,
                                       .not_after_ms = row->reversed ? 999 : 2000 };
        struct tls_pair pair;
        struct error err;

        request.dns_names = str_list_new(arena, 1);
        request.addresses = str_list_new(arena, 1);
        if (row->dns)
            str_list_push(&request.dns_names, str_of(row->dns));
        if (row->address)
            str_list_push(&request.addresses, str_of(row->address));

        int failed = tls_issue(arena, &request, NULL, &pair, &err);

        rows_expect_int(row->name, failed, row->says ? -1 : 0);
        if (row->says)
            rows_expect(row->name, strstr(err.text, row->says), err.text);
    }
}

static void test_only_a_ca_issues(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct tls_pair ca = loopback_ca(arena, "herd CA");
    struct tls_pair leaf = loopback_leaf(arena, &ca, "herd.test");
    struct tls_pair mixed = { ca.certificate_pem, leaf.key_pem };
    struct tls_request request = { .common_name = STR("x"), .not_after_ms = 1000 };
    struct tls_pair pair;
    struct error err;

    (void)state;
    assert_int_equal(tls_issue(arena, &request, &leaf, &pair, &err), -1);
    rows_expect_str("a leaf issues nothing", str_of(err.text),
                    STR("the issuer's certificate is not one of a CA"));
    assert_int_equal(tls_issue(arena, &request, &mixed, &pair, &err), -1);
    rows_expect_str("nor do two halves", str_of(err.text),
                    STR("issuer: certificate and key do not belong together"));
}

/* What stands in the two files after a change, and what comes of it. */
enum content { GOOD, OTHER, EXPIRED, HALF, EMPTY, GARBAGE, MISSING };

static const struct change_row {
    const char *name;
    enum content certificate;
    enum content key;
    int result;
    const char *says;
} change_rows[] = {
    { "the same pair", GOOD, GOOD, 1, NULL },
    { "a new pair", OTHER, OTHER, 1, NULL },
    { "a new certificate with the old key", OTHER, GOOD, -1, "do not belong together" },
    { "the old certificate with a new key", GOOD, OTHER, -1, "do not belong together" },
    { "half a certificate", HALF, GOOD, -1, "cut or garbled" },
    { "half a key", GOOD, HALF, -1, "cut or garbled" },
    { "an empty certificate", EMPTY, GOOD, -1, "is empty" },
    { "an empty key", GOOD, EMPTY, -1, "is empty" },
    { "no certificate at all", MISSING, GOOD, -1, "No such file" },
    { "no key at all", GOOD, MISSING, -1, "No such file" },
    { "something else", GARBAGE, GARBAGE, -1, "holds no PEM block" },
    { "an expired pair", EXPIRED, EXPIRED, -1, "expired" },
};

static void write_content(const char *name, enum content content, struct str good, struct str other,
                          struct str expired)
{
    struct str bytes[] = { good, other, expired, str_slice(good, 0, good.len / 2), STR(""),
                           STR("not PEM"), STR("") };
    struct error err;

    if (content == MISSING)
        unlink(name);
    else if (file_replace(name, bytes[content], 0600, &err) != 0)
        fail_msg("%s", err.text);
}

static void test_a_source_takes_whole_pairs_only(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct tls_pair ca = loopback_ca(arena, "herd CA");
    struct tls_pair good = loopback_leaf(arena, &ca, "herd.test");
    struct tls_pair other = loopback_leaf(arena, &ca, "herd.test");
    struct tls_pair expired = loopback_issue(
        arena, (struct tls_request){ .common_name = STR("x"), .not_before_ms = 1000,
                                     .not_after_ms = 2000 }, &ca);

    (void)state;
    for (size_t i = 0; i < sizeof(change_rows) / sizeof(change_rows[0]); i++) {
        const struct change_row *row = &change_rows[i];
        const char *folder = folder_create(arena);
        struct tls_source *source = loopback_source(arena, folder, &good);
        const char *certificate = folder_name(arena, folder, "tls.crt");
        struct str before = tls_source_serial(source, arena);
        uint64_t generation = tls_source_generation(source);
        struct error err = { .code = ERROR_NONE };

        rows_expect_int("nothing changed", tls_source_refresh(source, &err), 0);
        write_content(certificate, row->certificate, good.certificate_pem, other.certificate_pem,
                      expired.certificate_pem);
        write_content(folder_name(arena, folder, "tls.key"), row->key, good.key_pem,
                      other.key_pem, expired.key_pem);
        rows_expect_int(row->name, tls_source_refresh(source, &err), row->result);
        rows_expect(row->name, (tls_source_generation(source) > generation) == (row->result == 1),
                    "a number for each pair taken");
        if (row->says) {
            rows_expect(row->name, strstr(err.text, row->says), err.text);
            rows_expect(row->name, strstr(err.text, folder), "names the file");
            rows_expect_str(row->name, tls_source_serial(source, arena), before);
            rows_expect_int("it is told as long as it stands", tls_source_refresh(source, &err),
                            -1);
            write_content(certificate, OTHER, good.certificate_pem, other.certificate_pem,
                          STR(""));
            write_content(folder_name(arena, folder, "tls.key"), OTHER, good.key_pem,
                          other.key_pem, STR(""));
            rows_expect_int("and fixed", tls_source_refresh(source, &err), 1);
        }
        rows_expect("the end is known",
                    tls_source_not_after_ms(source) > clock_wall_ms(system_clock()), "not_after");
        tls_source_free(source);
        folder_remove(folder);
    }
}

static void test_a_source_must_start_whole(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err;

    (void)state;
    assert_null(tls_source_create("/no/such.crt", "/no/such.key", NULL, &err));
    rows_expect_str("a missing file is named", str_of(err.text),
                    STR("cannot read /no/such.crt: No such file or directory"));
}

/* The third file: each row's text is put there at the start, and in the place of a good one. */
static void test_client_cas(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct tls_pair ca = loopback_ca(arena, "herd CA");
    struct tls_pair leaf = loopback_leaf(arena, &ca, "herd.test");
    struct tls_pair newer = loopback_leaf(arena, &ca, "herd.test");
    const struct {
        const char *name;
        struct str bytes;
        const char *says; /* NULL: it is taken */
    } rows[] = {
        { "a CA", ca.certificate_pem, NULL },
        { "text before it",
          str_fmt(arena, "# of the API servers\n%.*s", STR_ARG(ca.certificate_pem)), NULL },
        { "nothing", STR(""), "holds no certificate" },
        { "garbage", STR("not PEM"), "holds no certificate" },
        { "half a CA", str_slice(ca.certificate_pem, 0, 200), "holds no certificate" },
        { "a key", ca.key_pem, "holds no certificate" },
        { "who is no CA", leaf.certificate_pem, "certificate 1, CN=herd.test, is not a CA's" },
        { "a CA and who is none",
          str_fmt(arena, "%.*s%.*s", STR_ARG(ca.certificate_pem), STR_ARG(leaf.certificate_pem)),
          "certificate 2, CN=herd.test, is not a CA's" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *folder = folder_create(arena);
        const char *file = folder_name(arena, folder, "clients.crt");
        const char *certificate = folder_name(arena, folder, "tls.crt");
        const char *key = folder_name(arena, folder, "tls.key");
        struct error err = { .code = ERROR_NONE };

        tls_source_free(loopback_source(arena, folder, &leaf));
        folder_put(file, rows[i].bytes, 0644);

        struct tls_source *source = tls_source_create(certificate, key, file, &err);

        rows_expect_int(rows[i].name, source != NULL, rows[i].says == NULL);
        if (rows[i].says)
            rows_expect(rows[i].name, strstr(err.text, rows[i].says) && strstr(err.text, file),
                        err.text);
        tls_source_free(source);
        folder_put(file, ca.certificate_pem, 0644);
        source = tls_source_create(certificate, key, file, &err);
        rows_expect("good ones are taken", source != NULL, err.text);

        struct str before = tls_source_serial(source, arena);

        folder_put(file, rows[i].bytes, 0644);
        folder_put(key, newer.key_pem, 0600);
        folder_put(certificate, newer.certificate_pem, 0644);
        rows_expect_int(rows[i].name, tls_source_refresh(source, &err), rows[i].says ? -1 : 1);
        rows_expect("a new certificate does not wait for them",
                    !str_eq(tls_source_serial(source, arena), before), "serial");
        tls_source_free(source);
        folder_remove(folder);
    }
}

/* A key under a password would make OpenSSL ask on the terminal. */
static void test_a_locked_key_is_told(void **state)
{
    static const char locked[] =
        "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
        "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"
        "-----END EC PRIVATE KEY-----\n";
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct tls_pair pair = loopback_ca(arena, "herd CA");
    struct error err;

    (void)state;
    pair.key_pem = str_of(locked);
    assert_int_equal(tls_check_pair(&pair, &err), -1);
    rows_expect_str("a locked key", str_of(err.text),
                    STR("key: is locked by a password; give the key without one"));
}

/* Who believes whom: the leaf of one CA, another CA, a chain over an intermediate. */
static void test_trust(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct tls_pair ca = loopback_ca(arena, "herd CA");
    struct tls_pair other = loopback_ca(arena, "herd CA");
    struct tls_pair leaf = loopback_leaf(arena, &ca, "herd.test");
    struct tls_request request = { .common_name = STR("between"), .is_ca = true };
    struct tls_pair between = loopback_issue(arena, request, &ca);
    struct tls_pair deep = loopback_leaf(arena, &between, "herd.test");
    struct str chain = str_fmt(arena, "%.*s%.*s", STR_ARG(deep.certificate_pem),
                               STR_ARG(between.certificate_pem));
    struct tls_request old = { .common_name = STR("old"), .not_before_ms = 1000,
                               .not_after_ms = 2000 };

    (void)state;
    const struct {
        const char *name;
        struct str chain, ca;
        bool believes;
    } rows[] = {
        { "its own CA", leaf.certificate_pem, ca.certificate_pem, true },
        { "another CA of the same name", leaf.certificate_pem, other.certificate_pem, false },
        { "a chain over another certificate", chain, ca.certificate_pem, true },
        { "a chain that lacks it", deep.certificate_pem, ca.certificate_pem, false },
        { "whose anchor is in between", deep.certificate_pem, between.certificate_pem, true },
        { "dates do not count", loopback_issue(arena, old, &ca).certificate_pem,
          ca.certificate_pem, true },
        { "no certificate", STR("nonsense"), ca.certificate_pem, false },
        { "no CA", leaf.certificate_pem, STR(""), false },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows_expect_int(rows[i].name, tls_verifies(rows[i].chain, rows[i].ca), rows[i].believes);
}

static void test_bundles(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct tls_pair ca = loopback_ca(arena, "one");
    struct tls_pair other = loopback_ca(arena, "two");
    struct str first = ca.certificate_pem;
    struct str second = other.certificate_pem;
    struct str cut = str_slice(first, 0, first.len / 2);
    struct str text = str_fmt(arena, "# a comment\n%.*s-----BEGIN CERTIFICATE-----\nAAAA\n"
                                     "-----END CERTIFICATE-----\n%.*s%.*s",
                              STR_ARG(first), STR_ARG(second), STR_ARG(cut));
    struct tls_certificates found = tls_split(arena, text, 8);

    (void)state;
    rows_expect_int("what can be read is found, and nothing else", found.count, 2);
    rows_expect_str("as OpenSSL writes it", found.items[0].pem, first);
    rows_expect_str("the second too", found.items[1].facts.subject, STR("CN=two"));
    rows_expect_int("no more than asked for", tls_split(arena, text, 1).count, 1);
    rows_expect_int("of nothing, nothing", tls_split(arena, STR(""), 8).count, 0);
}

static void test_names(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct tls_pair ca = loopback_ca(arena, "herd.test");
    struct tls_pair leaf = loopback_leaf(arena, &ca, "herd.test");
    struct str_list names = str_list_new(arena, 2);
    struct str_list addresses = str_list_new(arena, 2);

    (void)state;
    str_list_push(&names, STR("herd.test"));
    str_list_push(&addresses, STR("127.0.0.1"));
    rows_expect("made out to both", tls_serves(arena, leaf.certificate_pem, &names, &addresses),
                "serves");
    rows_expect("a common name is no name",
                !tls_serves(arena, ca.certificate_pem, &names, &addresses), "does not serve");
    str_list_push(&addresses, STR("127.0.0.2"));
    rows_expect("an address more", !tls_serves(arena, leaf.certificate_pem, &names, &addresses),
                "does not serve");
    addresses.count = 0;
    str_list_push(&names, STR("other.test"));
    rows_expect("a name more", !tls_serves(arena, leaf.certificate_pem, &names, &addresses),
                "does not serve");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_issued_can_be_read),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_trust),
        cmocka_unit_test(test_bundles),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_only_a_ca_issues),
        cmocka_unit_test(test_a_source_takes_whole_pairs_only),
        cmocka_unit_test(test_a_source_must_start_whole),
        cmocka_unit_test(test_client_cas),
        cmocka_unit_test(test_a_locked_key_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
