/* SPDX-License-Identifier: Apache-2.0 */
/* kept_stack_test.c: what a cached Stack costs, and that nothing is lost by it. */
#include "support/rows.h"

#include "controller/reconcilers/stack/kept_stack.h"
#include "io/file.h"
#include "kube/meta.h"
#include "runtime/cache.h"
#include "stack/model/status.h"

/* The RAG example as the API server stores it once it is Deployed on two clusters. */
#define STORED "tests/golden/controller/rag-stored.json"

enum { STORED_BYTES_MAX = 64 * 1024, KEPT_BYTES_MAX = 2048 };

static struct json read_stored(struct arena *arena)
{
    struct error err = { 0 };
    struct json json;
    struct str text;

    if (file_read(arena, STORED, STORED_BYTES_MAX, &text, &err) < 0 ||
        json_read(arena, text, &json_limits_default, &json, &err) < 0)
        fail_msg("%s", err.text);
    return json;
}

static void a_deployed_stack_is_kept_in_two_kib(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf kept = strbuf_new(arena, 0);

    (void)state;
    assert_true(keep_stack(NULL, read_stored(arena), &kept));
    if (kept.len > KEPT_BYTES_MAX)
        fail_msg("kept in %zu bytes, not in %d", kept.len, KEPT_BYTES_MAX);
}

static void what_is_kept_reads_back(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json stored = read_stored(arena);
    struct strbuf kept = strbuf_new(arena, 0);
    struct error err = { 0 };
    struct json back;

    (void)state;
    keep_stack(NULL, stored, &kept);
    assert_int_equal(kept_stack_read(arena, strbuf_str(&kept), &back, &err), 0);
    rows_expect("the spec is whole",
                json_equal(json_get(back, STR("spec")), json_get(stored, STR("spec"))), "equal");
    rows_expect("the status is whole",
                json_equal(json_get(back, STR("status")), json_get(stored, STR("status"))), "equal");
    rows_expect("kubectl's copy is not kept",
                json_is(json_get(json_walk(back, "metadata", "annotations", NULL),
                                 STR("kubectl.kubernetes.io/last-applied-configuration")), JSON_ABSENT), "absent");
    rows_expect("managed fields are not kept",
                json_is(json_walk(back, "metadata", "managedFields", NULL), JSON_ABSENT), "absent");
}

static void policies_see_all_labels_and_annotations(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf kept = strbuf_new(arena, 0);
    struct str text = STR("{\"metadata\":{\"labels\":{\"example.com/team\":\"a\"},\"annotations\":{\"example.com/on-call\":\"b\"}}}");
    struct error err = { 0 };
    struct json object, back;

    (void)state;
    assert_int_equal(json_read(arena, text, &json_limits_default, &object, &err), 0);
    keep_stack(NULL, object, &kept);
    assert_int_equal(kept_stack_read(arena, strbuf_str(&kept), &back, &err), 0);
    rows_expect_str("a label", json_str(json_get(json_walk(back, "metadata", "labels", NULL), STR("example.com/team"))), STR("a"));
    rows_expect_str("an annotation",
                    json_str(json_get(json_walk(back, "metadata", "annotations", NULL), STR("example.com/on-call"))), STR("b"));
}

/* Its status stands apart, so that who reads only the spec does not unpack it. */
static void a_large_status_reads_back_and_is_counted_without(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf text = strbuf_new(arena, 0);
    struct strbuf kept = strbuf_new(arena, 0);
    struct error err = { 0 };
    struct json stored, whole, spec;

    (void)state;
    strbuf_lit(&text, "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"targets\":{\"clusterIds\":[\"c-1\"]}},"
                      "\"status\":{\"phase\":\"Deployed\",\"security\":{\"scanStatus\":\"Failed\"},"
                      "\"summary\":{\"Deployed\":2,\"Failed\":1},\"deployments\":[");
    for (int i = 0; i < 400; i++)
        strbuf_fmt(&text, "%s{\"chartName\":\"web\",\"clusterId\":\"c-m-%d\"}", i ? "," : "", i);
    strbuf_lit(&text, "]}}");
    assert_int_equal(json_read(arena, strbuf_str(&text), &json_limits_default, &stored, &err), 0);
    keep_stack(NULL, stored, &kept);
    assert_int_equal(kept_stack_read(arena, strbuf_str(&kept), &whole, &err), 0);
    assert_int_equal(kept_stack_read_spec(arena, strbuf_str(&kept), &spec, &err), 0);
    rows_expect("the status is whole",
                json_equal(json_get(whole, STR("status")), json_get(stored, STR("status"))), "equal");
    rows_expect("who reads the spec does not get it", !json_get(spec, STR("status")).index, "absent");
    rows_expect("but all else", json_equal(json_get(spec, STR("spec")), json_get(stored, STR("spec"))) &&
                json_equal(json_get(spec, STR("metadata")), json_get(whole, STR("metadata"))), "equal");
    rows_expect_str("the tally", kept_stack_tally(strbuf_str(&kept)),
                    STR("{\"phase\":\"Deployed\",\"scans\":\"Failed\",\"summary\":{\"Deployed\":2,\"Failed\":1}}"));
    rows_expect_str("the targets", kept_stack_targets(strbuf_str(&kept)), STR("{\"clusterIds\":[\"c-1\"]}"));
    for (size_t len = 0; len < kept.len; len += 7)
        assert_int_equal(kept_stack_read(arena, str_make(kept.at, len), &whole, &err), -1);
}

static void bytes_that_are_cut_give_no_stack(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf kept = strbuf_new(arena, 0);
    struct error err = { 0 };
    struct json back;

    (void)state;
    keep_stack(NULL, read_stored(arena), &kept);
    for (size_t len = 0; len < kept.len; len += 7)
        assert_int_equal(kept_stack_read(arena, str_make(kept.at, len), &back, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deployed_stack_is_kept_in_two_kib),
        cmocka_unit_test(what_is_kept_reads_back),
        cmocka_unit_test(policies_see_all_labels_and_annotations),
        cmocka_unit_test(a_large_status_reads_back_and_is_counted_without),
        cmocka_unit_test(bytes_that_are_cut_give_no_stack),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
