/* release_test.c: what a chart is to be on a cluster, its digest, and values merged by Helm's rule. */
#include "support/rows.h"

#include "support/observed_builder.h"

static struct json json_of(struct arena *arena, const char *text)
{
    struct json json = { NULL, 0 };
    struct error err = { 0 };

    if (text[0] && json_read(arena, str_of(text), &json_limits_default, &json, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return json;
}

static struct desired_release desire(struct arena *arena, const char *members, const char *labels)
{
    const struct stack *stack = scene_stack(arena, "db api<db", members, "");
    struct desired_release desired = { .digest = STR("") };
    struct error err = { 0 };

    if (release_desire(arena, stack, 1, STR("c-1"), json_of(arena, labels),
                       &(struct base_values){
                           .json = STR("{\"b\":{\"x\":1,\"y\":2},\"a\":[1]}") },
                       &desired, &err) < 0)
        fail_msg("%s", err.text);
    return desired;
}

#define OVERRIDE(where, what) "\"overrides\":[{" where ",\"charts\":[{\"name\":\"api\"," what "}]}]"

static void lays_overrides_over(void **state)
{
    static const struct {
        const char *row, *members, *labels, *values, *version;
        bool skip;
    } rows[] = {
        { "no override: keys sorted", "", "", "{\"a\":[1],\"b\":{\"x\":1,\"y\":2}}", "1.2.3", false },
        { "by id: maps merge, null deletes", OVERRIDE("\"clusterIds\":[\"c-1\"]",
          "\"values\":{\"b\":{\"x\":null,\"z\":3}}"), "", "{\"a\":[1],\"b\":{\"y\":2,\"z\":3}}",
          "1.2.3", false },
        { "lists replace", OVERRIDE("\"clusterIds\":[\"c-1\"]", "\"values\":{\"a\":[2]}"), "",
          "{\"a\":[2],\"b\":{\"x\":1,\"y\":2}}", "1.2.3", false },
        { "by label", OVERRIDE("\"selector\":{\"matchLabels\":{\"gpu\":\"true\"}}",
          "\"version\":\"2.0.0\""), "{\"gpu\":\"true\"}", "{\"a\":[1],\"b\":{\"x\":1,\"y\":2}}",
          "2.0.0", false },
        { "not where the label differs", OVERRIDE("\"selector\":{\"matchLabels\":{\"gpu\":\"true\"}}",
          "\"version\":\"2.0.0\""), "{\"gpu\":\"false\"}", "{\"a\":[1],\"b\":{\"x\":1,\"y\":2}}",
          "1.2.3", false },
        { "skip", OVERRIDE("\"clusterIds\":[\"c-2\",\"c-1\"]", "\"skip\":true"), "",
          "{\"a\":[1],\"b\":{\"x\":1,\"y\":2}}", "1.2.3", true },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct desired_release d = desire(arena, rows[i].members, rows[i].labels);

        rows_expect_str(rows[i].row, d.values, str_of(rows[i].values));
        rows_expect_str(rows[i].row, d.version, str_of(rows[i].version));
        rows_expect_int(rows[i].row, d.skip, rows[i].skip);
        rows_expect_str(rows[i].row, d.depends_on, STR("db"));
        rows_expect(rows[i].row, d.digest.len == 71 && str_starts(d.digest, STR("sha256:")),
                    "the digest is one");
    }
    (void)state;
}

static void digests_what_makes_another_release(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str plain = desire(arena, "", "").digest;

    rows_expect_str("equal for equal", desire(arena, "", "").digest, plain);
    rows_expect_str("an override elsewhere changes nothing",
                    desire(arena, OVERRIDE("\"clusterIds\":[\"c-9\"]", "\"version\":\"2.0.0\""),
                           "").digest, plain);
    rows_expect("values count",
                !str_eq(desire(arena, OVERRIDE("\"clusterIds\":[\"c-1\"]", "\"values\":{\"q\":1}"),
                               "").digest, plain), "another digest");
    rows_expect("the version counts",
                !str_eq(desire(arena, OVERRIDE("\"clusterIds\":[\"c-1\"]", "\"version\":\"2.0.0\""),
                               "").digest, plain), "another digest");
    (void)state;
}

/* The content of a Secret is in no digest, for it could be found by trying; its version is. */
static void digests_no_content_of_secrets(void **state)
{
    static const struct {
        const char *row, *json, *config_json, *secret_versions, *members;
        bool same;
    } rows[] = {
        { "another content alone", "{\"pin\":2}", "{\"a\":1}", "keys=u1/7", "", true },
        { "another version", "{\"pin\":1}", "{\"a\":1}", "keys=u1/8", "", false },
        { "another object of that name", "{\"pin\":1}", "{\"a\":1}", "keys=u2/7", "", false },
        { "another ConfigMap", "{\"pin\":1}", "{\"a\":2}", "keys=u1/7", "", false },
        { "an override", "{\"pin\":1}", "{\"a\":1}", "keys=u1/7",
          OVERRIDE("\"clusterIds\":[\"c-1\"]", "\"values\":{\"b\":1}"), false },
        { "an override for another cluster", "{\"pin\":1}", "{\"a\":1}", "keys=u1/7",
          OVERRIDE("\"clusterIds\":[\"c-2\"]", "\"values\":{\"b\":1}"), true },
        { "no Secret at all", "{\"pin\":1}", "", "", "", false },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = { .code = ERROR_NONE };
    struct str first = STR("");

    (void)state;
    for (size_t i = 0; i <= sizeof(rows) / sizeof(rows[0]); i++) {
        bool plain = i == 0;
        const struct stack *stack =
            scene_stack(arena, "db api<db", plain ? "" : rows[i - 1].members, "");
        struct base_values base = { STR("{\"pin\":1}"), STR("{\"a\":1}"), STR("keys=u1/7") };
        struct desired_release d = { .digest = STR("") };

        if (!plain)
            base = (struct base_values){ str_of(rows[i - 1].json), str_of(rows[i - 1].config_json),
                                         str_of(rows[i - 1].secret_versions) };
        assert_int_equal(release_desire(arena, stack, 1, STR("c-1"), (struct json){ NULL, 0 },
                                        &base, &d, &err), 0);
        if (plain)
            first = d.digest;
        else
            rows_expect_int(rows[i - 1].row, str_eq(d.digest, first), rows[i - 1].same);
        rows_expect("it says what it is", str_starts(d.digest, STR(DIGEST_OF_SECRETS)) ==
                                              (base.secret_versions.len > 0), d.digest.at);
    }
}

static void tells_nothing_of_a_secret_that_cannot_be_read(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct values_source source = { STR("Secret team/keys"), STR("a: 1\npin: *canary\n"), true };
    struct error err = { .code = ERROR_NONE };
    struct str values;

    (void)state;
    rows_expect_int("it is refused", release_values(arena, &source, 1, (struct json){ NULL, 0 },
                                                    &values, &err), -1);
    rows_expect("with its name and the place",
                str_starts(str_of(err.text), STR("Secret team/keys: line 2, column ")), err.text);
    rows_expect("not with its words", !strstr(err.text, "canary"), err.text);
}

static void merges_values(void **state)
{
    static const struct {
        const char *row, *first, *second, *inline_;
        const char *want; /* or part of the error, after '!' */
    } rows[] = {
        { "nothing is an empty map", "", "", "", "{}" },
        { "YAML, then JSON, then inline", "a: 1\nb: {c: 2}\n", "{\"b\":{\"d\":3}}", "{\"a\":4}",
          "{\"a\":4,\"b\":{\"c\":2,\"d\":3}}" },
        { "null deletes", "a: 1\nb: 2\n", "b: null\n", "{\"a\":null}", "{}" },
        { "a list is no map", "- a\n", "", "", "!ConfigMap team/one holds an array" },
        { "a syntax error names the reference", "a: [", "", "", "!ConfigMap team/one" },
        { "two documents are one too many", "a: 1\n---\nb: 2\n", "", "", "!2 YAML documents" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct values_source sources[] = {
            { STR("ConfigMap team/one"), str_of(rows[i].first), false },
            { STR("ConfigMap team/two"), str_of(rows[i].second), false },
        };
        struct str values = STR("untouched");
        struct error err = { 0 };
        int result = release_values(arena, sources, 2, json_of(arena, rows[i].inline_), &values,
                                    &err);

        if (rows[i].want[0] != '!') {
            rows_expect_str(rows[i].row, values, str_of(rows[i].want));
            continue;
        }
        rows_expect_int(rows[i].row, result, -1);
        rows_expect_int(rows[i].row, err.code, ERROR_INVALID);
        rows_expect_str(rows[i].row, values, STR("untouched"));
        if (str_find(str_of(err.text), str_of(rows[i].want + 1), 0) < 0)
            fail_msg("%s\n  got: %s", rows[i].row, err.text);
    }
    (void)state;
}

static void names_repositories(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str name = release_repo_name(arena, STR("https://charts.example.com/stable"));

    rows_expect_int("herd- and ten digits", (int64_t)name.len, 15);
    rows_expect_str("a trailing slash is nothing",
                    release_repo_name(arena, STR("https://charts.example.com/stable/")), name);
    rows_expect("another URL is another name",
                !str_eq(release_repo_name(arena, STR("https://charts.example.com/x")), name),
                "names differ");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lays_overrides_over),
        cmocka_unit_test(digests_what_makes_another_release),
        cmocka_unit_test(digests_no_content_of_secrets),
        cmocka_unit_test(tells_nothing_of_a_secret_that_cannot_be_read),
        cmocka_unit_test(merges_values),
        cmocka_unit_test(names_repositories),
    };

    return cmocka_run_group_tests_name("shared/stack/release", tests, NULL, NULL);
}
