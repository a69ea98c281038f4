/* SPDX-License-Identifier: Apache-2.0 */
/* facts_kinds_test.c: what the webhook knows beside clusters: Stacks, inventories and policies. */
#include "facts_fixture.h"

#include "stack/gpu/inventory.h"
#include "stack/policy/policy_set.h"

/* --- Stacks --- */

#define STACK(name, version, needs)                                                                \
    "{\"metadata\":{\"namespace\":\"default\",\"name\":\"" name "\",\"uid\":\"u-" name          \
    "\",\"resourceVersion\":\"" version "\"},\"spec\":{\"dependsOn\":[" needs "]}}"
#define NEEDS(name) "{\"name\":\"" name "\"}"

static const char stacks_url[] = "/apis/herd.suse.com/v1/stacks?";

/* "db,cache", "-" of a Stack that there is not, "unknown". */
static struct str needs_of(struct arena *arena, const struct facts *facts, const char *name)
{
    struct strbuf out = strbuf_new(arena, 64);
    struct fact_stack stack;

    if (!facts->stacks.get)
        return STR("unknown");
    if (!facts->stacks.get(facts->stacks.context, arena, STR("default"), str_of(name), &stack))
        return STR("-");
    for (uint32_t i = 0; i < stack.depends_on.count; i++)
        strbuf_fmt(&out, "%s%.*s", i ? "," : "", STR_ARG(stack.depends_on.items[i]));
    return strbuf_str(&out);
}

static void stacks_are_known_by_what_they_wait_for(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 403, "{}");
    scripted_api_say(f.api, "GET", stacks_url, 200,
                     LIST("5", STACK("shop", "1", NEEDS("db") "," NEEDS("A/b,c") ",7," NEEDS("cache"))
                          "," STACK("db", "2", "") "," STACK("gone", "3", "")));
    scripted_api_say_watch(f.api,
                           EVENT("MODIFIED", STACK("db", "6", NEEDS("disk")))
                               EVENT("DELETED", STACK("gone", "7", ""))
                                   EVENT("ADDED", STACK("disk", "8", "")),
                           false);
    start(&f);
    wait_for(&f, "added", needs_of, "disk", "");
    wait_for(&f, "names that can be none lead nowhere", needs_of, "shop", "db,cache");
    wait_for(&f, "changed", needs_of, "db", "disk");
    wait_for(&f, "deleted", needs_of, "gone", "-");
    wait_for(&f, "never there", needs_of, "other", "-");
    wait_for_requests(&f, clusters_url, 2);
    wait_for(&f, "clusters that cannot be read are a matter of their own", clusters_of, "", "unknown");

    AUTO(arena_free) struct arena *held_by = arena_create(0);
    const struct facts *held = fact_source_take(f.source, held_by);

    tear_down(&f);
    rows_expect_str("held facts outlive their source", needs_of(held_by, held, "db"), STR("disk"));
}

static void stacks_that_cannot_be_read_are_unknown(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 200, LIST("5", CLUSTER("c-1", "1", "", "", "True")));
    scripted_api_say(f.api, "GET", stacks_url, 403, "{}");
    start(&f);
    wait_for(&f, "clusters", clusters_of, "", "c-1(,ready,-)");
    wait_for_requests(&f, stacks_url, 2);
    wait_for(&f, "Stacks", needs_of, "shop", "unknown");
    tear_down(&f);
}

/* --- inventories --- */

static const char inventories_url[] = "/apis/herd.suse.com/v1/clusterinventories?";

#define INVENTORY(id, version, count)                                                              \
    "{\"metadata\":{\"name\":\"" id "\",\"uid\":\"i-" id "\",\"resourceVersion\":\"" version   \
    "\"},\"status\":{\"resources\":[{\"name\":\"nvidia.com/gpu\",\"allocatable\":" count        \
    "}],\"conditions\":[{\"type\":\"Observed\",\"status\":\"True\"}]}}"

/* "c-1=8 c-2=-", or "unknown", or "nobody writes any". */
static struct str inventories_of(struct arena *arena, const struct facts *facts, const char *of)
{
    struct strbuf out = strbuf_new(arena, 64);

    (void)of;
    for (uint32_t i = 0; i < facts->clusters.count; i++) {
        const struct fact_cluster *cluster = &facts->clusters.items[i];
        const struct inventory_figures *figures =
            cluster->inventory ? inventory_find(cluster->inventory, STR("nvidia.com/gpu")) : NULL;

        strbuf_fmt(&out, "%s%.*s=", i ? " " : "", STR_ARG(cluster->id));
        if (figures)
            strbuf_fmt(&out, "%lld", (long long)figures->allocatable);
        else
            strbuf_char(&out, '-');
    }
    if (!facts->clusters_known)
        return STR("unknown");
    return facts->inventories_kept ? strbuf_str(&out) : STR("nobody writes any");
}

static void inventories_are_followed(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 200, LIST("1", CLUSTER("c-1", "1", "", "", "True")));
    scripted_api_say(f.api, "GET", inventories_url, 200, LIST("1", INVENTORY("c-1", "1", "8")));
    /* Once for whoever watches clusters, and once for whoever watches inventories. */
    for (int i = 0; i < 2; i++)
        scripted_api_say_watch(f.api, EVENT("MODIFIED", INVENTORY("c-1", "2", "4")), false);
    start(&f);
    wait_for(&f, "of the cluster of its name, as it changes", inventories_of, "", "c-1=4");
    tear_down(&f);
}

static void clusters_are_known_where_nobody_writes_inventories(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 200, LIST("1", CLUSTER("c-1", "1", "", "", "True")));
    scripted_api_say(f.api, "GET", inventories_url, 404, "{}");
    start(&f);
    wait_for(&f, "no such kind", inventories_of, "", "nobody writes any");
    tear_down(&f);
}

/* --- policies --- */

static const char policies_url[] = "/apis/herd.suse.com/v1/stackpolicies?";

#define POLICY(name, version, spec)                                                                \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":{\"name\":\"" name   \
    "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"" version "\"},\"spec\":" spec "}"
#define DENIES "{\"rules\":[{\"name\":\"r\",\"field\":\"spec.env\",\"deny\":[\"x\"]}]}"
#define IS_BAD "{\"rules\":[{\"name\":\"r\",\"field\":\"spec.env\",\"pattern\":\"(\"}]}"

/* "a b", "pending", "none". */
static struct str policies_of(struct arena *arena, const struct facts *facts, const char *of)
{
    struct strbuf out = strbuf_new(arena, 64);

    (void)of;
    if (facts->policies_pending)
        return facts->policies ? STR("pending, but some are listed") : STR("pending");
    if (!facts->policies)
        return STR("none");
    for (uint32_t i = 0; i < policy_set_count(facts->policies); i++)
        strbuf_fmt(&out, "%s%.*s", i ? " " : "", STR_ARG(policy_set_name(facts->policies, i)));
    return strbuf_str(&out);
}

static void policies_are_followed(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", clusters_url, 403, "{}");
    scripted_api_say(f.api, "GET", policies_url, 200,
                     LIST("5", POLICY("b", "1", DENIES) "," POLICY("bad", "2", IS_BAD) ","
                               POLICY("c", "3", DENIES)));
    scripted_api_say_watch(f.api,
                           EVENT("ADDED", POLICY("a", "6", DENIES))
                               EVENT("DELETED", POLICY("c", "7", DENIES))
                                   EVENT("MODIFIED", POLICY("bad", "8", DENIES)),
                           false);
    start(&f);
    wait_for(&f, "one that is not in order is left out until it is", policies_of, "", "a b bad");
    tear_down(&f);
}

static void nobody_passes_before_policies_were_read(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", policies_url, 403, "{}");
    start(&f);
    rows_expect_str("at first", known(&f, policies_of, ""), STR("pending"));
    wait_for_requests(&f, policies_url, 2);
    rows_expect_str("while they cannot be read", known(&f, policies_of, ""), STR("pending"));
    tear_down(&f);

    set_up(&f);
    scripted_api_say(f.api, "GET", policies_url, 404, "{\"kind\":\"Status\",\"code\":404}");
    start(&f);
    wait_for(&f, "where there is no such kind, there are none", policies_of, "", "none");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_are_known_by_what_they_wait_for),
        cmocka_unit_test(stacks_that_cannot_be_read_are_unknown),
        cmocka_unit_test(inventories_are_followed),
        cmocka_unit_test(clusters_are_known_where_nobody_writes_inventories),
        cmocka_unit_test(policies_are_followed),
        cmocka_unit_test(nobody_passes_before_policies_were_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
