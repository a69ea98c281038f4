/* SPDX-License-Identifier: Apache-2.0 */
/* inventory_test.c: nodes counted, a status written when it changes, read as far as it makes sense. */
#include "support/rows.h"

#include "stack/gpu/inventory.h"
#include "stack/model/limits.h"
#include "support/stack_builder.h"
#include "text/json_write.h"

#define NODE(ready, spec, allocatable)                                                                  \
    "{\"spec\":{" spec "},\"status\":{\"allocatable\":{" allocatable "},\"conditions\":["                 \
    "{\"type\":\"MemoryPressure\",\"status\":\"False\"},{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}"

static const struct {
    const char *says, *node, *kept;
} node_rows[] = {
    { "a node with GPUs", NODE("True", "", "\"cpu\":\"32\",\"nvidia.com/gpu\":\"8\""), "ro nvidia.com/gpu=8" },
    { "a number in place of a text", NODE("True", "", "\"nvidia.com/gpu\":8"), "ro nvidia.com/gpu=8" },
    { "slices", NODE("True", "", "\"nvidia.com/gpu\":\"0\",\"nvidia.com/mig-1g.10gb\":\"7\""), "ro nvidia.com/mig-1g.10gb=7" },
    { "cordoned", NODE("True", "\"unschedulable\":true", "\"amd.com/gpu\":\"4\""), "r amd.com/gpu=4" },
    { "not ready", NODE("False", "", "\"amd.com/gpu\":\"4\""), " amd.com/gpu=4" },
    { "not heard of", NODE("Unknown", "", "\"amd.com/gpu\":\"4\""), " amd.com/gpu=4" },
    { "no quantity", NODE("True", "", "\"amd.com/gpu\":\"many\""), "ro" },
    { "less than none", NODE("True", "", "\"amd.com/gpu\":\"-1\""), "ro" },
    { "no node at all", "[]", "" },
};

static void nodes_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(node_rows) / sizeof(node_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct strbuf kept = strbuf_new(arena, 64);

        inventory_keep_node(test_json(arena, str_of(node_rows[i].node)), &kept);
        rows_expect_str(node_rows[i].says, strbuf_str(&kept), str_of(node_rows[i].kept));
    }
}

/* Nodes by ';', reservations "stack resource=count" by ';'. */
static struct inventory an_inventory(struct arena *arena, const char *nodes, const char *reservations)
{
    struct inventory inventory = inventory_new(arena);
    struct str rest = str_of(nodes);
    struct str one;

    inventory.ready = inventory.known = true;
    inventory.reason = STR("NodesRead");
    inventory.message = STR("the nodes were read");
    inventory.labels = test_json(arena, STR("{\"gpu\":\"true\",\"env\":\"prod\"}"));
    while (rest.len && str_split(&rest, ';', &one))
        inventory_add_node(&inventory, one);
    rest = str_of(reservations);
    while (rest.len && str_split(&rest, ';', &one)) {
        struct inventory_reservation reservation = { .amounts = named_counts_new(arena, 1) };
        struct named_count amount = { .count = 0 };
        uint64_t count = 0;

        (void)str_split(&one, ' ', &reservation.stack);
        (void)str_split(&one, '=', &amount.name);
        (void)str_to_u64(one, &count);
        amount.count = (int64_t)count;
        named_counts_push(&reservation.amounts, amount);
        inventory_add_reservation(&inventory, &reservation);
    }
    return inventory;
}

static struct json absent(void)
{
    return (struct json){ NULL, 0 };
}

static void a_status_is_written_whole(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory inventory = an_inventory(
        arena, "ro nvidia.com/gpu=8;r nvidia.com/gpu=4;;ro amd.com/gpu=1", "a/x nvidia.com/gpu=2;b/y nvidia.com/gpu=3");

    (void)state;
    rows_expect_str(
        "all of it", inventory_status(arena, &inventory, absent(), 1700000000000),
        STR("{\"ready\":true,\"labels\":{\"env\":\"prod\",\"gpu\":\"true\"},\"nodes\":4,\"readyNodes\":3,\"gpus\":13,"
            "\"reservedGPUs\":5,\"resources\":["
            "{\"name\":\"amd.com/gpu\",\"allocatable\":1,\"schedulable\":1,\"largestNode\":1,\"reserved\":0},"
            "{\"name\":\"nvidia.com/gpu\",\"allocatable\":12,\"schedulable\":8,\"largestNode\":8,\"reserved\":5}],"
            "\"reservations\":[{\"stack\":\"a/x\",\"resources\":{\"nvidia.com/gpu\":2}},"
            "{\"stack\":\"b/y\",\"resources\":{\"nvidia.com/gpu\":3}}],"
            "\"observedAt\":\"2023-11-14T22:13:20Z\",\"conditions\":[{\"type\":\"Observed\",\"status\":\"True\","
            "\"lastTransitionTime\":\"2023-11-14T22:13:20Z\",\"reason\":\"NodesRead\",\"message\":\"the nodes were read\"}]}"));
}

static void unknown_is_never_zero(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory inventory = an_inventory(arena, "ro nvidia.com/gpu=8", "a/x nvidia.com/gpu=2");
    struct str status;

    (void)state;
    inventory.known = false;
    inventory.reason = STR("Disconnected");
    status = inventory_status(arena, &inventory, absent(), 0);
    rows_expect("no nodes", str_find(status, STR("odes\":"), 0) < 0, status.at);
    rows_expect("no GPUs", str_find(status, STR("\"gpus\""), 0) < 0, status.at);
    rows_expect("nothing allocatable", str_find(status, STR("allocatable"), 0) < 0, status.at);
    rows_expect("but what is reserved", str_find(status, STR("\"reserved\":2"), 0) > 0, status.at);
    rows_expect("it says so", str_find(status, STR("\"status\":\"Unknown\""), 0) > 0, status.at);
}

static void nothing_is_written_when_nothing_changed(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory inventory = an_inventory(arena, "ro nvidia.com/gpu=8", "a/x nvidia.com/gpu=2");
    struct json before = test_json(arena, inventory_status(arena, &inventory, absent(), 1000));
    struct inventory other = an_inventory(arena, "r nvidia.com/gpu=8", "a/x nvidia.com/gpu=2");

    (void)state;
    rows_expect_str("the same, later", inventory_status(arena, &inventory, before, 9000), STR(""));
    rows_expect("a cordoned node", inventory_status(arena, &other, before, 9000).len > 0, "is written");
    inventory.message = STR("other words");
    rows_expect("other words", inventory_status(arena, &inventory, before, 9000).len > 0, "are written");
    rows_expect("the first time", inventory_status(arena, &inventory, absent(), 0).len > 0, "is written");
}

/* The status with another `value` of one member, last of all; NULL: without it. */
static struct json with(struct arena *arena, struct json status, const char *member, const char *value)
{
    struct json_iter it = json_iter(status);
    struct strbuf out = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    while (json_next(&it))
        if (!str_eq(it.key, str_of(member))) {
            json_put_key(&w, it.key);
            json_put_raw(&w, json_raw(it.value));
        }
    if (value) {
        json_put_key(&w, str_of(member));
        json_put_raw(&w, str_of(value));
    }
    json_close_object(&w);
    return test_json(arena, strbuf_str(&out));
}

/* Whatever another writes into it: then it is written as if that had never been there. */
static void what_others_write_is_set_right(void **state)
{
    static const struct {
        const char *member, *value; /* NULL: it was taken away */
        bool unknown;
    } rows[] = {
        { "displayName", "\"x\"", false },
        { "ready", "false", false },
        { "labels", "{\"env\":\"prod\",\"gpu\":\"true\",\"more\":\"x\"}", false },
        { "labels", NULL, false },
        { "nodes", "1000", false },
        { "nodes", "1000", true },
        { "readyNodes", NULL, false },
        { "gpus", "1000", false },
        { "gpus", "1000", true },
        { "gpus", NULL, false },
        { "reservedGPUs", "0", false },
        { "resources", "[]", false },
        { "resources", "[{\"name\":\"nvidia.com/gpu\",\"reserved\":2,\"allocatable\":8}]", true },
        { "reservations", "[{\"stack\":\"a/x\",\"resources\":{\"nvidia.com/gpu\":2}},{\"stack\":\"\",\"resources\":{}}]", false },
        { "reservationsOmitted", "0", false },
        { "observedAt", NULL, false },
        { "observedAt", "\"today\"", false },
        { "observedAt", "\"2199-01-01T00:00:00Z\"", false },
        { "conditions", NULL, false },
        { "conditions", "[{\"type\":\"Observed\",\"status\":\"True\",\"lastTransitionTime\":\"1970-01-01T00:00:01Z\","
          "\"reason\":\"NodesRead\",\"message\":\"the nodes were read\",\"observedGeneration\":7}]", false },
        { "conditions", "[{\"type\":\"Observed\",\"status\":\"True\",\"lastTransitionTime\":\"1970-01-01T00:00:01Z\","
          "\"reason\":\"NodesRead\",\"message\":\"the nodes were read\"},{\"type\":\"Fine\",\"status\":\"True\"}]", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct inventory inventory = an_inventory(arena, "ro nvidia.com/gpu=8", "a/x nvidia.com/gpu=2");
        struct json written, found;

        if (rows[i].unknown) {
            inventory.known = false;
            inventory.reason = STR("Disconnected");
        }
        written = test_json(arena, inventory_status(arena, &inventory, absent(), 1000));
        found = with(arena, written, rows[i].member, rows[i].value);

        struct str again = inventory_status(arena, &inventory, found, 9000);

        rows_expect(rows[i].member, again.len > 0, "is noticed");
        if (!str_eq(str_of(rows[i].member), STR("conditions")))
            rows_expect_str(rows[i].member, again,
                            json_raw(with(arena, with(arena, written, "observedAt", "\"1970-01-01T00:00:09Z\""),
                                          "conditions", str_z(arena, json_raw(json_get(written, STR("conditions")))))));
        rows_expect_str(rows[i].member, inventory_status(arena, &inventory, test_json(arena, again), 9000), STR(""));
    }
}

static void what_is_read_is_what_was_written(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory inventory = an_inventory(arena, "ro nvidia.com/gpu=8 amd.com/gpu=1;r", "a/x nvidia.com/gpu=2;b/y amd.com/gpu=1");
    struct str status = inventory_status(arena, &inventory, absent(), 1000);
    struct inventory read = inventory_read(arena, test_json(arena, str_fmt(arena, "{\"status\":%.*s}", STR_ARG(status))));

    (void)state;
    rows_expect_str("written again", inventory_status(arena, &read, absent(), 1000), status);
    rows_expect_int("reserved for a Stack", inventory_reserved_to(&read, STR("b/y"), STR("amd.com/gpu")), 1);
    rows_expect_int("of another resource", inventory_reserved_to(&read, STR("b/y"), STR("nvidia.com/gpu")), 0);
    rows_expect_int("to no Stack", inventory_reserved_to(&read, STR("b/z"), STR("amd.com/gpu")), 0);
    rows_expect("a resource that there is not", !inventory_find(&read, STR("gpu.intel.com/i915")), "is NULL");
}

static void foreign_bytes_are_read_as_far_as_they_make_sense(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory read = inventory_read(arena, test_json(arena, STR(
        "{\"status\":{\"nodes\":-1,\"labels\":7,\"resources\":[{\"name\":\"\"},3,{\"name\":\"nvidia.com/gpu\",\"allocatable\":-4,"
        "\"reserved\":\"x\"}],\"reservations\":[{\"stack\":\"b\",\"resources\":{\"nvidia.com/gpu\":1}},{\"stack\":\"a\"},{}],"
        "\"conditions\":{}}}")));

    (void)state;
    rows_expect("not known", !read.known, "is not known");
    rows_expect_int("nodes", read.nodes, 0);
    rows_expect_int("one resource", read.figures.count, 1);
    rows_expect_int("less than none is none", read.figures.items[0].allocatable, 0);
    rows_expect_str("reservations are sorted", read.reservations.items[0].stack, STR("a"));
    rows_expect("nothing at all", !inventory_read(arena, absent()).known, "is not known");
}

static void a_long_list_is_cut_and_counted(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory inventory = inventory_new(arena);

    (void)state;
    for (int i = 0; i < LIMIT_INVENTORY_RESERVATIONS + 3; i++) {
        struct inventory_reservation reservation = { .stack = str_fmt(arena, "team/s%04d", i), .amounts = named_counts_new(arena, 1) };

        named_counts_push(&reservation.amounts, (struct named_count){ STR("amd.com/gpu"), 2 });
        inventory_add_reservation(&inventory, &reservation);
    }
    rows_expect_int("listed", inventory.reservations.count, LIMIT_INVENTORY_RESERVATIONS);
    rows_expect_int("counted", inventory.reservations_omitted, 3);
    rows_expect_int("and all reserved", inventory_find(&inventory, STR("amd.com/gpu"))->reserved, 2 * (LIMIT_INVENTORY_RESERVATIONS + 3));
}

/* Authors name resources: a cluster's inventory must not be too large to be written for one of them. */
static void resources_that_nobody_has_are_bounded(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct inventory inventory = an_inventory(arena, "ro nvidia.com/gpu=8", "");

    (void)state;
    for (int s = 0; s < LIMIT_INVENTORY_RESERVATIONS; s++) {
        struct inventory_reservation reservation = { .stack = str_fmt(arena, "team/s%04d", s), .amounts = named_counts_new(arena, 1) };

        for (int i = 0; i < 1000; i++)
            named_counts_push(&reservation.amounts, (struct named_count){
                str_fmt(arena, "nvidia.com/mig-a-slice-that-no-card-of-any-year-was-ever-cut-into-%d", s * 1000 + i), 1 });
        named_counts_push(&reservation.amounts, (struct named_count){ STR("nvidia.com/gpu"), 1 });
        inventory_add_reservation(&inventory, &reservation);
    }
    rows_expect_int("resources", inventory.figures.count, LIMIT_INVENTORY_RESOURCES);
    rows_expect_int("what there is counts", inventory_find(&inventory, STR("nvidia.com/gpu"))->reserved, LIMIT_INVENTORY_RESERVATIONS);
    rows_expect("the status", inventory_status(arena, &inventory, absent(), 0).len < 1000000, "can be written");
    rows_expect_int("and of whom", inventory_reserved_to(&inventory, STR("team/s0255"), STR("nvidia.com/gpu")), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_kept),
        cmocka_unit_test(a_status_is_written_whole),
        cmocka_unit_test(unknown_is_never_zero),
        cmocka_unit_test(nothing_is_written_when_nothing_changed),
        cmocka_unit_test(what_others_write_is_set_right),
        cmocka_unit_test(what_is_read_is_what_was_written),
        cmocka_unit_test(foreign_bytes_are_read_as_far_as_they_make_sense),
        cmocka_unit_test(a_long_list_is_cut_and_counted),
        cmocka_unit_test(resources_that_nobody_has_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
