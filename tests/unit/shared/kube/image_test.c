/* SPDX-License-Identifier: Apache-2.0 */
/* image_test.c: what is a reference to an image, and its parts. */
#include "support/rows.h"

#include "kube/image.h"

#define SHA "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
    const char *says, *text, *name, *tag, *digest;
} good_rows[] = {
    { "a name alone", "nginx", "nginx", "", "" },
    { "a name and a tag", "nginx:1.27", "nginx", "1.27", "" },
    { "a path", "team/group/app:v1", "team/group/app", "v1", "" },
    { "a registry", "ghcr.io/abi/abi:latest", "ghcr.io/abi/abi", "latest", "" },
    { "a registry with a port, and no tag", "localhost:5000/app", "localhost:5000/app", "", "" },
    { "a port, and a tag", "registry.example.com:5000/app:2", "registry.example.com:5000/app", "2", "" },
    { "localhost is a registry", "localhost/app", "localhost/app", "", "" },
    { "an address of IPv6", "[2001:db8::1]:5000/app:1", "[2001:db8::1]:5000/app", "1", "" },
    { "a registry in capitals", "Registry.example.com/app", "Registry.example.com/app", "", "" },
    { "a digest", "app@" SHA, "app", "", SHA },
    { "a tag and a digest", "app:1@" SHA, "app", "1", SHA },
    { "an algorithm that is not known", "app@sha512+b64:0123456789abcdef0123456789abcdef", "app", "",
      "sha512+b64:0123456789abcdef0123456789abcdef" },
    { "separators", "a.b/c_d/e__f/g---h", "a.b/c_d/e__f/g---h", "", "" },
    { "a tag with every kind of character", "app:_A.b-9", "app", "_A.b-9", "" },
};

static const struct {
    const char *says, *text, *wrong;
} bad_rows[] = {
    { "nothing", "", "no name" },
    { "a tag alone", ":1", "no name" },
    { "a digest alone", "@" SHA, "no name" },
    { "a tag that is missing", "app:", "the tag behind ':' is missing" },
    { "a space", "app x", "each part of its name" },
    { "a space around it", " app", "each part of its name" },
    { "capitals", "app/App", "each part of its name" },
    { "two slashes", "team//app", "each part of its name" },
    { "a slash at the end", "team/app/", "no name behind its last" },
    { "a registry alone", "registry.example.com/", "no name behind its last" },
    { "two dots", "a..b", "each part of its name" },
    { "three underscores", "a___b", "each part of its name" },
    { "a separator at the end", "app-", "each part of its name" },
    { "two kinds of separators", "a.-b", "each part of its name" },
    { "a tag that begins with a dot", "app:.1", "its tag must consist" },
    { "a tag with a slash is a port", "app:1/x:y/z", "each part of its name" },
    { "a port that is no number", "host.x:port/app", "must be a registry" },
    { "a host that ends with a dash", "host-.x-/app", "must be a registry" },
    { "a URL", "https://registry.example.com/app", "must be a registry" },
    { "a short digest", "app@sha256:abc", "its digest" },
    { "a digest that is no hexadecimal number", "app@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdez",
      "its digest" },
    { "an algorithm of no letters", "app@sha2!:0123456789abcdef0123456789abcdef", "its digest" },
    { "a digest without an algorithm", "app@0123456789abcdef0123456789abcdef", "its digest" },
    { "two digests", "app@" SHA "@" SHA, "its digest" },
};

static void good_references_are_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good_rows) / sizeof(good_rows[0]); i++) {
        struct image_reference image = { .name = STR("?") };
        const char *wrong = image_reference_read(str_of(good_rows[i].text), &image);

        rows_expect(good_rows[i].says, !wrong, wrong ? wrong : "");
        rows_expect_str(good_rows[i].says, image.name, str_of(good_rows[i].name));
        rows_expect_str(good_rows[i].says, image.tag, str_of(good_rows[i].tag));
        rows_expect_str(good_rows[i].says, image.digest, str_of(good_rows[i].digest));
    }
}

static void bad_references_say_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_rows) / sizeof(bad_rows[0]); i++) {
        struct image_reference image = { .name = STR("untouched") };
        const char *wrong = image_reference_read(str_of(bad_rows[i].text), &image);

        rows_expect(bad_rows[i].says, wrong && str_find(str_of(wrong), str_of(bad_rows[i].wrong), 0) >= 0, wrong ? wrong : "it was taken");
        rows_expect_str(bad_rows[i].says, image.name, STR("untouched"));
    }
}

static void lengths_are_bounded(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf name = strbuf_new(arena, 256);
    struct image_reference image;

    (void)state;
    while (name.len < 255)
        strbuf_char(&name, 'a');
    rows_expect("255 bytes of a name", !image_reference_read(strbuf_str(&name), &image), "it is taken");
    strbuf_char(&name, 'a');
    rows_expect("256 bytes", image_reference_read(strbuf_str(&name), &image) != NULL, "it is rejected");
    rows_expect("128 bytes of a tag", !image_reference_read(str_fmt(arena, "a:%.*s", 128, strbuf_str(&name).at), &image), "it is taken");
    rows_expect("129 bytes", image_reference_read(str_fmt(arena, "a:%.*s", 129, strbuf_str(&name).at), &image) != NULL, "it is rejected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_references_are_taken_apart),
        cmocka_unit_test(bad_references_say_why),
        cmocka_unit_test(lengths_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
