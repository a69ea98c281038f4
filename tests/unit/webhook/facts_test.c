/* facts_test.c: what the webhook knows of clusters, against a scripted API server: unknown until it
 * was read, followed as it changes, kept in trouble, whole for whoever holds it. */
#include "support/rows.h"

#include "support/loopback.h"
#include "support/scripted_api.h"

#include "stack/inventory.h"
#include "stack/policy_set.h"
#include "webhook/facts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define CLUSTER(id, version, spec, labels, ready)                                                  \
    "{\"metadata\":{\"name\":\"" id "\",\"uid\":\"u-" id "\",\"resourceVersion\":\"" version       \
    "\"" labels "},\"spec\":{" spec "},\"status\":{\"conditions\":[{\"type\":\"Connected\","       \
    "\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"" ready "\"}]}}"
#define LABELS(json) ",\"labels\":" json
#define NAMED(name) "\"displayName\":\"" name "\""
#define LIST(version, items)                                                                       \
    "{\"kind\":\"ClusterList\",\"apiVersion\":\"management.cattle.io/v3\",\"metadata\":{"          \
    "\"resourceVersion\":\"" version "\"},\"items\":[" items "]}"
#define EVENT(type, item) "{\"type\":\"" type "\",\"object\":" item "}\n"
#define GONE                                                                                       \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"Expired\","     \
    "\"message\":\"too old\",\"code\":410}"

static const char list_url[] = "/apis/management.cattle.io/v3/clusters?";

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct fact_source *source;
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0), .api = scripted_api_create() };
}

static void start(struct fixture *f)
{
    struct kube_config config = scripted_api_config(f->api);
    struct error err;

    f->source = fact_source_create(&config, NULL, &err);
    if (!f->source)
        fail_msg("%s", err.text);
}

static void tear_down(struct fixture *f)
{
    fact_source_free(f->source);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

static int by_id(const void *a, const void *b)
{
    return str_cmp(((const struct fact_cluster *)a)->id, ((const struct fact_cluster *)b)->id);
}

/* "c-1(Name,ready,{labels}) c-2(...)" by id, or "unknown". */
static struct str shown(struct arena *arena, const struct facts *facts)
{
    struct strbuf out = strbuf_new(arena, 256);
    uint32_t count = facts->clusters.count;
    struct fact_cluster *sorted = arena_array(arena, struct fact_cluster, count + 1);

    if (!facts->clusters_known)
        return count ? STR("unknown, but some are listed") : STR("unknown");
    if (count)
        memcpy(sorted, facts->clusters.items, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_id);
    for (uint32_t i = 0; i < count; i++)
        strbuf_fmt(&out, "%s%.*s(%.*s,%s%s,%.*s)", i ? " " : "", STR_ARG(sorted[i].id),
                   STR_ARG(sorted[i].display_name), sorted[i].ready ? "ready" : "not ready",
                   sorted[i].internal ? ",Rancher's own" : "",
                   STR_ARG(json_is(sorted[i].labels, JSON_OBJECT) ? json_raw(sorted[i].labels)
                                                                  : STR("-")));
    return strbuf_str(&out);
}

/* Look until it is `want`; the test fails with the last look if it does not come. */
static void wait_for(struct fixture *f, const char *row, const char *want)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str got = STR("");

    for (int i = 0; i < LOOPBACK_PATIENCE_MS; i++) {
        arena_reset(arena);
        got = shown(arena, fact_source_take(f->source, arena));
        if (str_eq(got, str_of(want)))
            return;
        usleep(1000);
    }
    rows_expect_str(row, got, str_of(want));
}

static void wait_for_requests(struct fixture *f, const char *method, uint32_t count)
{
    for (int i = 0; i < LOOPBACK_PATIENCE_MS; i++) {
        if (scripted_api_count(f->api, method, list_url) >= count)
            return;
        usleep(1000);
    }
    fail_msg("%s was not asked %u times", method, count);
}

static void nothing_is_known_where_nothing_is_watched(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err;
    AUTO(fact_source_free) struct fact_source *source = fact_source_create(NULL, NULL, &err);
    const struct facts *facts = fact_source_take(source, arena);

    (void)state;
    rows_expect_str("clusters", shown(arena, facts), STR("unknown"));
}

static void unknown_until_it_was_read(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_hang(f.api, "GET", list_url);
    start(&f);
    wait_for_requests(&f, "GET", 1);
    rows_expect_str("an answer that does not come tells nothing",
                    shown(f.arena, fact_source_take(f.source, f.arena)), STR("unknown"));
    tear_down(&f);

    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 403, "{}");
    start(&f);
    wait_for_requests(&f, "GET", 1);
    rows_expect_str("nor does a refusal", shown(f.arena, fact_source_take(f.source, f.arena)),
                    STR("unknown"));
    tear_down(&f);
}

static void an_empty_list_is_knowledge(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200, LIST("5", ""));
    scripted_api_say_watch(f.api, "", false);
    start(&f);
    wait_for(&f, "there are none, and that is known", "");
    tear_down(&f);
}

static void clusters_appear_change_and_vanish(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200,
                     LIST("5", CLUSTER("c-1", "1", NAMED("one"), LABELS("{\"gpu\":\"true\"}"), "True") ","
                               CLUSTER("c-2", "2", NAMED("two"), "", "False") ","
                               CLUSTER("c-3", "3", "", LABELS("[1]"), "Unknown") ","
                               CLUSTER("local", "4", "\"internal\":true", "", "True")));
    scripted_api_say_watch(
        f.api,
        EVENT("ADDED", CLUSTER("c-4", "6", NAMED("f\\u00fcnf \\\"4\\\""), LABELS("{\"a\":\"\"}"), "True"))
            EVENT("MODIFIED", CLUSTER("c-2", "7", NAMED("zwei"), LABELS("{\"b\":\"c\"}"), "True"))
                EVENT("DELETED", CLUSTER("c-1", "8", NAMED("one"), "", "True")),
        false);
    start(&f);
    wait_for(&f, "what the watch told",
             "c-2(zwei,ready,{\"b\":\"c\"}) c-3(,not ready,-) "
             "c-4(f\xc3\xbcnf \"4\",ready,{\"a\":\"\"}) local(,ready,Rancher's own,-)");
    tear_down(&f);
}

static void what_was_known_stays_in_trouble(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200,
                     LIST("5", CLUSTER("c-1", "1", NAMED("one"), "", "True")));
    scripted_api_say(f.api, "GET", list_url, 500, "broken");
    scripted_api_say_watch(f.api, EVENT("ERROR", GONE), true);
    start(&f);
    wait_for(&f, "read", "c-1(one,ready,-)");
    /* Asked a third time, it has seen the second answer. */
    wait_for_requests(&f, "GET", 3);
    wait_for(&f, "kept", "c-1(one,ready,-)");
    tear_down(&f);
}

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
    struct str_list names;

    if (!facts->stacks.get)
        return STR("unknown");
    if (!facts->stacks.get(facts->stacks.context, arena, STR("default"), str_of(name), &names))
        return STR("-");
    for (uint32_t i = 0; i < names.count; i++)
        strbuf_fmt(&out, "%s%.*s", i ? "," : "", STR_ARG(names.items[i]));
    return strbuf_str(&out);
}

static void wait_for_needs(struct fixture *f, const char *row, const char *name, const char *want)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str got = STR("");

    for (int i = 0; i < LOOPBACK_PATIENCE_MS; i++) {
        arena_reset(arena);
        got = needs_of(arena, fact_source_take(f->source, arena), name);
        if (str_eq(got, str_of(want)))
            return;
        usleep(1000);
    }
    rows_expect_str(row, got, str_of(want));
}

static void stacks_are_known_by_what_they_wait_for(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 403, "{}");
    scripted_api_say(f.api, "GET", stacks_url, 200,
                     LIST("5", STACK("shop", "1", NEEDS("db") "," NEEDS("A/b,c") ",7," NEEDS("cache"))
                          "," STACK("db", "2", "") "," STACK("gone", "3", "")));
    scripted_api_say_watch(f.api,
                           EVENT("MODIFIED", STACK("db", "6", NEEDS("disk")))
                               EVENT("DELETED", STACK("gone", "7", ""))
                                   EVENT("ADDED", STACK("disk", "8", "")),
                           false);
    start(&f);
    wait_for_needs(&f, "added", "disk", "");
    wait_for_needs(&f, "names that can be none lead nowhere", "shop", "db,cache");
    wait_for_needs(&f, "changed", "db", "disk");
    wait_for_needs(&f, "deleted", "gone", "-");
    wait_for_needs(&f, "never there", "other", "-");
    wait_for(&f, "clusters that cannot be read are a matter of their own", "unknown");

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
    scripted_api_say(f.api, "GET", list_url, 200, LIST("5", CLUSTER("c-1", "1", "", "", "True")));
    scripted_api_say(f.api, "GET", stacks_url, 403, "{}");
    start(&f);
    wait_for(&f, "clusters", "c-1(,ready,-)");
    wait_for_needs(&f, "Stacks", "shop", "unknown");
    tear_down(&f);
}

/* --- many readers --- */

enum { READERS = 8, CLUSTERS = 200 };

struct reader {
    struct fixture *f;
    atomic_bool *end;
    pthread_t thread;
    uint64_t odd; /* snapshots that were not whole */
};

/* A snapshot is one of three: nothing, all old or (some of) them new. */
static bool is_whole(const struct facts *facts)
{
    if (!facts->clusters_known)
        return facts->clusters.count == 0;
    if (facts->clusters.count != CLUSTERS)
        return false;
    for (uint32_t i = 0; i < facts->clusters.count; i++) {
        const struct fact_cluster *cluster = &facts->clusters.items[i];
        struct str name = cluster->display_name;
        struct str label = json_str(json_get(cluster->labels, STR("is")));

        if (!str_starts(cluster->id, STR("c-")) || !str_eq(name, label))
            return false;
    }
    return true;
}

static void *read_again_and_again(void *context)
{
    struct reader *reader = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);

    do {
        reader->odd += !is_whole(fact_source_take(reader->f->source, arena));
        arena_reset(arena);
    } while (!atomic_load(reader->end));
    return NULL;
}

static struct str clusters_called(struct arena *arena, const char *name, bool events, int version)
{
    struct strbuf out = strbuf_new(arena, 64 * 1024);

    for (int i = 0; i < CLUSTERS; i++)
        strbuf_fmt(&out,
                   "%s{\"metadata\":{\"name\":\"c-%d\",\"uid\":\"u%d\",\"resourceVersion\":\"%d\","
                   "\"labels\":{\"is\":\"%s\"}},\"spec\":{\"displayName\":\"%s\"}}%s",
                   events ? "{\"type\":\"MODIFIED\",\"object\":" : i ? "," : "", i, i, version + i,
                   name, name, events ? "}\n" : "");
    return strbuf_str(&out);
}

static bool all_are(struct fixture *f, struct arena *arena, const char *name)
{
    const struct facts *facts = fact_source_take(f->source, arena);

    for (uint32_t i = 0; i < facts->clusters.count; i++)
        if (!str_eq(facts->clusters.items[i].display_name, str_of(name)))
            return false;
    return facts->clusters_known;
}

static void a_snapshot_stays_whole_while_it_is_replaced(void **state)
{
    struct fixture f;
    struct reader readers[READERS];
    atomic_bool enough = false;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200,
                     str_fmt(f.arena, LIST("5", "%.*s"),
                             STR_ARG(clusters_called(f.arena, "old", false, 10)))
                         .at);

    struct str news = str_fmt(f.arena, "%.*s%.*s",
                              STR_ARG(clusters_called(f.arena, "mid", true, 1000)),
                              STR_ARG(clusters_called(f.arena, "new", true, 2000)));

    scripted_api_say_watch(f.api, news.at, false);
    start(&f);

    AUTO(arena_free) struct arena *held_by = arena_create(0);
    const struct facts *held = fact_source_take(f.source, held_by);
    bool held_knows = held->clusters_known;

    for (int i = 0; i < READERS; i++) {
        readers[i] = (struct reader){ .f = &f, .end = &enough };
        assert_int_equal(
            pthread_create(&readers[i].thread, NULL, read_again_and_again, &readers[i]), 0);
    }
    for (int i = 0; i < LOOPBACK_PATIENCE_MS; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);

        if (all_are(&f, arena, "new"))
            break;
        usleep(1000);
    }
    rows_expect("the last state comes", all_are(&f, f.arena, "new"), "all new");
    atomic_store(&enough, true);
    for (int i = 0; i < READERS; i++) {
        pthread_join(readers[i].thread, NULL);
        rows_expect_int("every snapshot is whole", (int64_t)readers[i].odd, 0);
    }
    rows_expect("one that is held stays as it was",
                is_whole(held) && held->clusters_known == held_knows, "unchanged");
    tear_down(&f);
    rows_expect("even behind its source's end", is_whole(held), "unchanged");
}

/* --- out of room --- */

struct taking {
    struct fact_source *source;
    struct arena *arena;
    const struct facts *facts;
};

static void take(void *context)
{
    struct taking *taking = context;

    taking->facts = fact_source_take(taking->source, taking->arena);
}

/* A reference that is lost would be a leak that LeakSanitizer tells. */
static void taking_can_be_abandoned_anywhere(void **state)
{
    struct error err;
    AUTO(fact_source_free) struct fact_source *source = fact_source_create(NULL, NULL, &err);
    size_t nth = 1;
    bool done = false;

    (void)state;
    for (; !done; nth++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct taking taking = { .source = source, .arena = arena };

        arena_fail_at(arena, nth);
        done = arena_run(arena, take, &taking) == 0;
        rows_expect("facts, or none", done == (taking.facts != NULL), "one of both");
        assert_true(nth < 10);
    }
    rows_expect("it was abandoned at least once", nth > 2, "points");
}

/* --- policies --- */

#define POLICY(name, version, spec)                                                                \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":{\"name\":\"" name   \
    "\",\"uid\":\"u-" name "\",\"resourceVersion\":\"" version "\"},\"spec\":" spec "}"
#define DENIES "{\"rules\":[{\"name\":\"r\",\"field\":\"spec.env\",\"deny\":[\"x\"]}]}"
#define IS_BAD "{\"rules\":[{\"name\":\"r\",\"field\":\"spec.env\",\"pattern\":\"(\"}]}"

/* --- inventories --- */

static const char inventories_url[] = "/apis/herd.suse.com/v1/clusterinventories?";

#define INVENTORY(id, version, count)                                                              \
    "{\"metadata\":{\"name\":\"" id "\",\"uid\":\"i-" id "\",\"resourceVersion\":\"" version   \
    "\"},\"status\":{\"resources\":[{\"name\":\"nvidia.com/gpu\",\"allocatable\":" count        \
    "}],\"conditions\":[{\"type\":\"Observed\",\"status\":\"True\"}]}}"

/* "c-1=8 c-2=-", or "nobody writes any". */
static struct str inventories_of(struct arena *arena, const struct facts *facts)
{
    struct strbuf out = strbuf_new(arena, 64);

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
    return facts->inventories_kept ? strbuf_str(&out) : STR("nobody writes any");
}

static void wait_for_inventories(struct fixture *f, const char *row, const char *want)
{
    for (int tries = 0;; tries++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const struct facts *facts = fact_source_take(f->source, arena);
        struct str got = inventories_of(arena, facts);

        if (facts->clusters_known && str_eq(got, str_of(want)))
            return;
        if (tries == 2000)
            rows_expect_str(row, got, str_of(want));
        usleep(5000);
    }
}

static void inventories_are_followed(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200, LIST("1", CLUSTER("c-1", "1", "", "", "True")));
    scripted_api_say(f.api, "GET", inventories_url, 200, LIST("1", INVENTORY("c-1", "1", "8")));
    /* Once for whoever watches clusters, and once for whoever watches inventories. */
    for (int i = 0; i < 2; i++)
        scripted_api_say_watch(f.api, EVENT("MODIFIED", INVENTORY("c-1", "2", "4")), false);
    start(&f);
    wait_for_inventories(&f, "of the cluster of its name, as it changes", "c-1=4");
    tear_down(&f);
}

static void clusters_are_known_where_nobody_writes_inventories(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 200, LIST("1", CLUSTER("c-1", "1", "", "", "True")));
    scripted_api_say(f.api, "GET", inventories_url, 404, "{}");
    start(&f);
    wait_for_inventories(&f, "no such kind", "nobody writes any");
    tear_down(&f);
}

static const char policies_url[] = "/apis/herd.suse.com/v1/stackpolicies?";

/* "a b", "pending", "none". */
static struct str policies_of(struct arena *arena, const struct facts *facts)
{
    struct strbuf out = strbuf_new(arena, 64);

    if (facts->policies_pending)
        return facts->policies ? STR("pending, but some are listed") : STR("pending");
    if (!facts->policies)
        return STR("none");
    for (uint32_t i = 0; i < policy_set_count(facts->policies); i++)
        strbuf_fmt(&out, "%s%.*s", i ? " " : "", STR_ARG(policy_set_name(facts->policies, i)));
    return strbuf_str(&out);
}

static void wait_for_policies(struct fixture *f, const char *row, const char *want)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str got = STR("");

    for (int i = 0; i < LOOPBACK_PATIENCE_MS; i++) {
        arena_reset(arena);
        got = policies_of(arena, fact_source_take(f->source, arena));
        if (str_eq(got, str_of(want)))
            return;
        usleep(1000);
    }
    rows_expect_str(row, got, str_of(want));
}

static void policies_are_followed(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", list_url, 403, "{}");
    scripted_api_say(f.api, "GET", policies_url, 200,
                     LIST("5", POLICY("b", "1", DENIES) "," POLICY("bad", "2", IS_BAD) ","
                               POLICY("c", "3", DENIES)));
    scripted_api_say_watch(f.api,
                           EVENT("ADDED", POLICY("a", "6", DENIES))
                               EVENT("DELETED", POLICY("c", "7", DENIES))
                                   EVENT("MODIFIED", POLICY("bad", "8", DENIES)),
                           false);
    start(&f);
    wait_for_policies(&f, "one that is not in order is left out until it is", "a b bad");
    tear_down(&f);
}

static void nobody_passes_before_policies_were_read(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", policies_url, 403, "{}");
    start(&f);
    rows_expect_str("at first", policies_of(f.arena, fact_source_take(f.source, f.arena)),
                    STR("pending"));
    tear_down(&f);

    set_up(&f);
    scripted_api_say(f.api, "GET", policies_url, 404, "{\"kind\":\"Status\",\"code\":404}");
    start(&f);
    wait_for_policies(&f, "where there is no such kind, there are none", "none");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_where_nothing_is_watched),
        cmocka_unit_test(unknown_until_it_was_read),
        cmocka_unit_test(an_empty_list_is_knowledge),
        cmocka_unit_test(clusters_appear_change_and_vanish),
        cmocka_unit_test(what_was_known_stays_in_trouble),
        cmocka_unit_test(stacks_are_known_by_what_they_wait_for),
        cmocka_unit_test(stacks_that_cannot_be_read_are_unknown),
        cmocka_unit_test(a_snapshot_stays_whole_while_it_is_replaced),
        cmocka_unit_test(taking_can_be_abandoned_anywhere),
        cmocka_unit_test(inventories_are_followed),
        cmocka_unit_test(clusters_are_known_where_nobody_writes_inventories),
        cmocka_unit_test(policies_are_followed),
        cmocka_unit_test(nobody_passes_before_policies_were_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
