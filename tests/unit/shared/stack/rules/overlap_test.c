/* SPDX-License-Identifier: Apache-2.0 */
/* overlap_test.c: two Stacks that claim one release. */
#include "support/rows.h"

#include "stack/preview/preview.h"
#include "support/deployed.h"
#include "support/facts_builder.h"
#include "support/stack_builder.h"

#define LABELS(labels) "{\"selector\":{\"matchLabels\":{" labels "}}}"
#define WITHOUT(key, value)                                                                        \
    "{\"selector\":{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"NotIn\",\"values\":"  \
    "[\"" value "\"]}]}}"
#define IDS(ids) "{\"clusterIds\":[" ids "]}"
#define SKIP(where) "\"overrides\":[{" where ",\"charts\":[{\"name\":\"db\",\"skip\":true}]}]"
#define ON(labels) "\"selector\":{\"matchLabels\":{" labels "}}"
#define TODAY "overlap.today spec.charts[0].releaseName"
#define POSSIBLE "overlap.possible spec.charts[0].releaseName"

/* Clusters: c-1 and c-2 are prod, c-3 is dev, c-4 and c-5 are prod of the edge, local is Rancher's
 * own and says prod. */
static const struct row {
    const char *says;
    const char *targets, *spec; /* of the Stack that is validated; its release is db/db */
    const char *other, *other_spec;
    const char *found;
    const char *message; /* part of the first finding; NULL: not looked at */
} rows[] = {
    { "one id", IDS("\"c-1\""), NULL, IDS("\"c-1\""), NULL, TODAY,
      "the Stack team-a/other claims the release db/db too, on c-1; choose another releaseName or namespace" },
    { "another id", IDS("\"c-1\""), NULL, IDS("\"c-2\""), NULL, "", NULL },
    { "ids in common, in order", IDS("\"c-3\",\"c-2\",\"c-1\""), NULL, IDS("\"c-1\",\"c-2\",\"c-5\""), NULL, TODAY, "on c-1 and c-2" },
    { "an id that Rancher does not know", IDS("\"c-9\",\"c-1\""), NULL, IDS("\"c-9\""), NULL, POSSIBLE " targets.unknown-cluster",
      "both name c-9, which Rancher does not know today" },
    { "a duplicate id", IDS("\"c-9\",\"c-9\""), NULL, IDS("\"c-9\""), NULL, POSSIBLE " targets.unknown-cluster targets.repeated targets.unknown-cluster",
      "both name c-9, which Rancher" },
    { "selectors that match one cluster", LABELS("\"env\":\"prod\""), NULL, LABELS("\"edge\":\"yes\""), NULL, TODAY, "on c-4 and c-5" },
    { "many clusters are counted", LABELS("\"env\":\"prod\""), NULL, LABELS("\"env\":\"prod\""), NULL, TODAY, "on c-1, c-2, c-4 and 1 more" },
    { "selectors that only could", LABELS("\"env\":\"dev\""), NULL, LABELS("\"edge\":\"yes\""), NULL, POSSIBLE,
      "no cluster matches both selectors today, but one could; choose another releaseName or namespace, or selectors that exclude" },
    { "selectors that exclude one another", LABELS("\"env\":\"dev\""), NULL, LABELS("\"env\":\"prod\""), NULL, "", NULL },
    { "and by an expression", LABELS("\"env\":\"dev\""), NULL, WITHOUT("env", "dev"), NULL, "", NULL },
    { "an id and a selector that matches it", IDS("\"c-4\""), NULL, LABELS("\"edge\":\"yes\""), NULL, TODAY, "on c-4" },
    { "a selector and an id that it matches", LABELS("\"edge\":\"yes\""), NULL, IDS("\"c-4\""), NULL, TODAY, "on c-4" },
    { "an id whose cluster has other labels", IDS("\"c-1\""), NULL, LABELS("\"edge\":\"yes\""), NULL, "", NULL },
    { "an id that nobody knows, and a selector", IDS("\"c-9\""), NULL, WITHOUT("env", "dev"), NULL, "targets.unknown-cluster", NULL },
    { "no selector picks Rancher's own cluster", IDS("\"local\""), NULL, LABELS("\"env\":\"prod\""), NULL, "targets.local", NULL },
    { "but an id may name it", IDS("\"local\""), NULL, IDS("\"local\""), NULL, TODAY " targets.local", NULL },
    { "an override that leaves it out there", IDS("\"c-1\""), SKIP("\"clusterIds\":[\"c-1\"]"), IDS("\"c-1\""), NULL, "", NULL },
    { "or elsewhere", IDS("\"c-1\""), SKIP("\"clusterIds\":[\"c-2\"]"), IDS("\"c-1\""), NULL, TODAY, NULL },
    { "one of the other Stack, by selector", IDS("\"c-1\",\"c-4\""), NULL, LABELS("\"env\":\"prod\""), SKIP(ON("\"edge\":\"yes\"")), TODAY, "on c-1;" },
    { "one that leaves all in common out", LABELS("\"edge\":\"yes\""), NULL, LABELS("\"env\":\"prod\""), SKIP(ON("\"edge\":\"yes\"")), "", NULL },
    { "one that leaves out what there is today", LABELS("\"edge\":\"yes\""), NULL, LABELS("\"env\":\"prod\""), SKIP(ON("\"edge\":\"yes\",\"env\":\"prod\"")), "", NULL },
    { "or only a part of what could be", LABELS("\"env\":\"dev\""), NULL, LABELS("\"edge\":\"yes\""), SKIP(ON("\"site\":\"b\"")), POSSIBLE, NULL },
    { "an override of no cluster in particular, as an older Herd took it", LABELS("\"env\":\"dev\""), NULL, LABELS("\"edge\":\"yes\""),
      "\"overrides\":[{\"charts\":[{\"name\":\"db\",\"skip\":true}]}]", "", NULL },
    { "ids that are left out leave room for others", LABELS("\"edge\":\"yes\""), SKIP("\"clusterIds\":[\"c-4\",\"c-5\"]"), LABELS("\"edge\":\"yes\""), NULL, POSSIBLE, NULL },
    { "what an unknown cluster's labels skip is not known", IDS("\"c-9\""), SKIP("\"selector\":{\"matchExpressions\":[{\"key\":\"env\",\"operator\":\"NotIn\",\"values\":[\"x\"]}]}"),
      IDS("\"c-9\""), NULL, POSSIBLE " targets.unknown-cluster", NULL },
    { "another that does not say where", IDS("\"c-1\""), NULL, "{}", NULL, "", NULL },
    { "another that says both", IDS("\"c-1\""), NULL, "{\"clusterIds\":[\"c-1\"],\"selector\":{\"matchLabels\":{\"env\":\"prod\"}}}", NULL, "", NULL },
    { "one that does not say where itself", "{}", NULL, IDS("\"c-1\""), NULL, "!targets.one-of", NULL },
};

static void set_up(struct arena *arena, struct facts_builder *builder)
{
    some_facts(arena, builder);
    with_cluster(builder, "local", "env=prod");
    builder->facts.clusters.items[0].internal = true;
    with_cluster(builder, "c-5", "env=prod,edge=yes");
    with_cluster(builder, "c-2", "env=prod");
    with_cluster(builder, "c-4", "env=prod,edge=yes");
    with_cluster(builder, "c-1", "env=prod");
    with_cluster(builder, "c-3", "env=dev");
}

static struct json stack_on(struct arena *arena, const char *targets, const char *spec)
{
    struct stack_builder b = a_stack(arena);

    with_targets(&b, targets);
    with_chart(&b, "db", "");
    if (spec)
        with_spec(&b, spec);
    return stack_json(&b);
}

/* "!rule field" of overlaps; of other rules the field is not what is tested here. */
static struct str found_text(struct arena *arena, const struct problems *problems)
{
    struct strbuf text = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < problems->list.count; i++) {
        const struct problem *one = &problems->list.items[i];

        strbuf_fmt(&text, "%s%s%.*s", i ? " " : "", one->severity == SEVERITY_DENY ? "!" : "",
                   STR_ARG(one->rule));
        if (str_starts(one->rule, STR("overlap.")))
            strbuf_fmt(&text, " %.*s", STR_ARG(one->field));
    }
    return strbuf_str(&text);
}

static void expect_says(const char *row, struct arena *arena, const struct problem *problem,
                        const char *part)
{
    struct str text = str_fmt(arena, "%.*s; %.*s", STR_ARG(problem->message),
                              STR_ARG(problem->remedy));

    if (str_find(text, str_of(part), 0) < 0)
        rows_expect_str(row, text, str_of(part));
}

static struct verdict validated(struct arena *arena, const struct facts_builder *builder,
                             struct json object)
{
    struct rule_severities severities = rule_severities_default();

    severities.of[RULE_TARGETS_LOCAL] = SEVERITY_WARN; /* what is rejected is told of no other */
    return stack_admit(arena, object, (struct json){ NULL, 0 }, &builder->facts, &severities);
}

static void two_stacks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts_builder builder;

        set_up(arena, &builder);
        with_stored(&builder, "team-a/other", stack_on(arena, rows[i].other, rows[i].other_spec));

        struct verdict verdict =
            validated(arena, &builder, stack_on(arena, rows[i].targets, rows[i].spec));

        rows_expect_str(rows[i].says, found_text(arena, &verdict.problems), str_of(rows[i].found));
        if (rows[i].message)
            expect_says(rows[i].says, arena, &verdict.problems.list.items[0], rows[i].message);
    }
}

/* Of clusters nothing is known, so nothing is said of them. */
static void where_nothing_is_known_of_clusters(void **state)
{
    static const struct {
        const char *row;
        const char *targets, *other;
        const char *message;
    } cases[] = {
        { "one id", IDS("\"c-1\""), IDS("\"c-1\""), "claims the release db/db too; both name c-1; choose" },
        { "selectors", LABELS("\"env\":\"dev\""), LABELS("\"edge\":\"yes\""), "too; a cluster could match both selectors;" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts_builder builder;

        some_facts(arena, &builder);
        builder.facts.clusters_known = false;
        with_stored(&builder, "team-a/other", stack_on(arena, cases[i].other, NULL));

        struct verdict verdict = validated(arena, &builder, stack_on(arena, cases[i].targets, NULL));

        rows_expect_str(cases[i].row, found_text(arena, &verdict.problems), STR(POSSIBLE));
        expect_says(cases[i].row, arena, &verdict.problems.list.items[0], cases[i].message);
    }
}

/* Whichever is validated: both claim, or neither does. */
static void it_is_the_same_from_either_side(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts_builder builder;

        set_up(arena, &builder);
        with_stored(&builder, "team-a/other", stack_on(arena, rows[i].targets, rows[i].spec));

        struct verdict verdict =
            validated(arena, &builder, stack_on(arena, rows[i].other, rows[i].other_spec));
        struct str found = found_text(arena, &verdict.problems);
        struct str want = str_of(rows[i].found);

        rows_expect_int(rows[i].says, str_find(found, STR("overlap.today"), 0) >= 0,
                        str_find(want, STR("overlap.today"), 0) >= 0);
        rows_expect_int(rows[i].says, str_find(found, STR("overlap.possible"), 0) >= 0,
                        str_find(want, STR("overlap.possible"), 0) >= 0);
    }
}

static const char same[] = IDS("\"c-1\"");

static void it_is_not_compared_with_itself(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts_builder builder;

    (void)state;
    set_up(arena, &builder);
    with_stored(&builder, "default/shop", stack_on(arena, same, NULL));

    struct verdict verdict = validated(arena, &builder, stack_on(arena, same, NULL));

    rows_expect_str("itself", found_text(arena, &verdict.problems), STR(""));
    with_stored(&builder, "team-b/shop", stack_on(arena, same, NULL));
    verdict = validated(arena, &builder, stack_on(arena, same, NULL));
    rows_expect_str("a namesake", found_text(arena, &verdict.problems), STR(TODAY));
}

static void other_releases_are_nobodys_business(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts_builder builder;
    struct stack_builder b = a_stack(arena);

    (void)state;
    set_up(arena, &builder);
    with_targets(&b, same);
    with_raw_chart(&b, "{\"name\":\"x\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\",\"namespace\":\"a\"}");
    with_raw_chart(&b, "{\"name\":\"y\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\",\"namespace\":\"db\",\"releaseName\":\"db\"}");
    with_stored(&builder, "team-a/other", stack_on(arena, same, NULL));

    struct verdict verdict = validated(arena, &builder, stack_json(&b));

    rows_expect_str("by namespace and name", found_text(arena, &verdict.problems),
                    STR("overlap.today spec.charts[1].releaseName"));
}

/* Whoever is rejected learns nothing of other Stacks, and fixes what is wrong first. */
static void a_rejected_stack_is_told_of_no_other(void **state)
{
    static const struct {
        const char *row, *spec;
        enum severity overlap;
        const char *found;
    } cases[] = {
        { "accepted", NULL, SEVERITY_WARN, TODAY },
        { "rejected", "\"env\":\"no such env!\"", SEVERITY_WARN, "!shape.env" },
        { "rejected for the overlap too", "\"env\":\"no such env!\"", SEVERITY_DENY,
          "!" TODAY " !shape.env" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct rule_severities severities = rule_severities_default();
        struct facts_builder builder;

        severities.of[RULE_OVERLAP_TODAY] = cases[i].overlap;
        set_up(arena, &builder);
        with_stored(&builder, "team-a/other", stack_on(arena, same, NULL));

        struct verdict verdict =
            stack_admit(arena, stack_on(arena, same, cases[i].spec), (struct json){ NULL, 0 },
                        &builder.facts, &severities);

        rows_expect_str(cases[i].row, found_text(arena, &verdict.problems), str_of(cases[i].found));
        rows_expect_int(cases[i].row, verdict.warnings.count, verdict.allowed);
    }
}

static void a_stack_that_goes_claims_until_it_is_gone(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts_builder builder;
    struct json going = test_json(
        arena, STR("{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"o\","
                   "\"deletionTimestamp\":\"2026-08-20T08:00:00Z\"},\"spec\":{\"targets\":{\"clusterIds\":"
                   "[\"c-1\"]},\"charts\":[{\"name\":\"db\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\"}]}}"));

    (void)state;
    set_up(arena, &builder);
    with_stored(&builder, "default/o", going);

    struct verdict verdict = validated(arena, &builder, stack_on(arena, same, NULL));

    rows_expect_str("found", found_text(arena, &verdict.problems), STR(TODAY));
    expect_says("told", arena, &verdict.problems.list.items[0],
                "the Stack default/o, which is being deleted, claims the release db/db too, on c-1; wait until "
                "that Stack is gone, or choose another releaseName or namespace");
}

/* In whatever order they come, twice or not. */
static void many_are_counted_and_the_text_is_the_same(void **state)
{
    static const char *const names[] = { "n/e", "n/b", "n/d", "m/z", "n/c", "n/b", "n/a" };
    enum { COUNT = sizeof(names) / sizeof(names[0]) };
    struct str before = STR("");
    AUTO(arena_free) struct arena *arena = arena_create(0);

    (void)state;
    for (int turn = 0; turn < COUNT; turn++) {
        struct facts_builder builder;
        struct strbuf all = strbuf_new(arena, 256);

        set_up(arena, &builder);
        for (int i = 0; i < COUNT; i++)
            with_stored(&builder, names[(i + turn) % COUNT], stack_on(arena, same, NULL));

        struct verdict verdict = validated(arena, &builder, stack_on(arena, same, NULL));

        for (uint32_t i = 0; i < verdict.warnings.count; i++)
            strbuf_fmt(&all, "%.*s\n", STR_ARG(verdict.warnings.items[i]));
        if (turn)
            rows_expect_str("the same in another order", strbuf_str(&all), before);
        before = strbuf_str(&all);
    }
#define WARNING(rest)                                                                              \
    "spec.charts[0].releaseName: Duplicate value: " rest "; choose another releaseName or namespace, or leave "     \
    "these clusters to one of the two\n"
    rows_expect_str("by name, then counted", before,
                    STR(WARNING("the Stack m/z claims the release db/db too, on c-1")
                        WARNING("the Stack n/a claims the release db/db too, on c-1")
                        WARNING("the Stack n/b claims the release db/db too, on c-1")
                        WARNING("3 more Stacks claim the release db/db too")));
}

static void what_was_not_compared_is_said(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts_builder builder;

    (void)state;
    set_up(arena, &builder);
    builder.cut = true;

    struct verdict verdict = validated(arena, &builder, stack_on(arena, same, NULL));

    rows_expect_str("found", found_text(arena, &verdict.problems), STR(POSSIBLE));
    expect_says("told", arena, &verdict.problems.list.items[0],
                "so many Stacks claim the release db/db that not all were compared");
}

/* A Stack of many charts, each of which many others claim. These are listed and read one after the
 * other in one place: else so many would not fit a review. */
static void a_review_ends(void **state)
{
    enum { STACKS = 500, CHARTS = 40, ROOM = 256 * 1024 };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts_builder builder;
    struct stack_builder b = a_stack(arena);
    uint32_t cut = 0;

    (void)state;
    set_up(arena, &builder);
    with_targets(&b, LABELS("\"env\":\"dev\""));
    for (int i = 0; i < CHARTS; i++)
        with_chart(&b, str_fmt(arena, "c%d", i).at, "");
    with_stored(&builder, "n/s", stack_json(&b));
    for (int i = 0; i < STACKS; i++)
        fact_claimants_push(&builder.stored,
                            (struct fact_claimant){ STR("n"), str_fmt(arena, "s%03d", i),
                                                    builder.stored.items[0].packed });
    with_targets(&b, LABELS("\"edge\":\"yes\""));

    struct json object = stack_json(&b);
    size_t before = arena_used(arena);
    struct verdict verdict = validated(arena, &builder, object);
    struct str found = found_text(arena, &verdict.problems);

    rows_expect("in little room", arena_used(arena) - before < ROOM, "under 256 KiB");
    for (uint32_t i = 0; i < verdict.problems.list.count; i++)
        cut += str_starts(verdict.problems.list.items[i].message, STR("Duplicate value: so many Stacks"));
    rows_expect("the first are compared", str_find(found, STR(POSSIBLE), 0) >= 0, "compared");
    rows_expect("the last are not, and it is said", cut > CHARTS / 2 && cut < CHARTS, "some");
}

/* Each look at a cluster goes through what overrides skip there, of both. */
static void overrides_count_as_work(void **state)
{
    enum { CLUSTERS = 400, CHARTS = 40, OVERRIDES = 100 };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts_builder builder;
    struct stack_builder b = a_stack(arena);
    struct strbuf spec = strbuf_new(arena, 4096);
    uint32_t cut = 0;

    (void)state;
    some_facts(arena, &builder);
    for (int i = 0; i < CLUSTERS; i++)
        with_cluster(&builder, str_fmt(arena, "c-%d", i).at, "edge=yes");
    for (int i = 0; i < CHARTS; i++)
        with_chart(&b, str_fmt(arena, "c%d", i).at, "");
    for (int i = 0; i < OVERRIDES; i++)
        strbuf_fmt(&spec, "%s{\"selector\":{\"matchLabels\":{\"env\":\"e%d\"}},\"charts\":[{\"name\":\"c0\",\"skip\":true}]}",
                   i ? "," : "\"overrides\":[", i);
    strbuf_lit(&spec, "]");
    with_spec(&b, str_z(arena, strbuf_str(&spec)));
    with_targets(&b, LABELS("\"edge\":\"yes\""));
    with_stored(&builder, "n/s", stack_json(&b));

    struct verdict verdict = validated(arena, &builder, stack_json(&b));

    for (uint32_t i = 0; i < verdict.problems.list.count; i++)
        cut += str_starts(verdict.problems.list.items[i].message, STR("Duplicate value: so many Stacks"));
    rows_expect("some are compared, and of the others it is said", cut > CHARTS / 4 && cut < CHARTS, "some");
}

/* What is denied by configuration is excused as all else is: where an update does not touch it. */
static const struct {
    const char *says, *now, *old, *found;
} updates[] = {
    { "it is new", IDS("\"c-1\""), NULL, "!" TODAY },
    { "it was there", IDS("\"c-1\""), IDS("\"c-1\""), TODAY },
    { "there was another", IDS("\"c-1\",\"c-2\""), IDS("\"c-1\""), "!" TODAY },
    { "it goes", IDS("\"c-3\""), IDS("\"c-1\""), "" },
};

static void denied_by_configuration(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(updates) / sizeof(updates[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts_builder builder;
        struct rule_severities severities = rule_severities_default();
        struct json old = { NULL, 0 };

        set_up(arena, &builder);
        with_stored(&builder, "team-a/other", stack_on(arena, IDS("\"c-1\",\"c-2\""), NULL));
        severities.of[RULE_OVERLAP_TODAY] = SEVERITY_DENY;
        if (updates[i].old)
            old = stack_on(arena, updates[i].old, NULL);

        struct verdict verdict =
            stack_admit(arena, stack_on(arena, updates[i].now, "\"paused\":true"), old,
                        &builder.facts, &severities);

        rows_expect_str(updates[i].says, found_text(arena, &verdict.problems),
                        str_of(updates[i].found));
    }
}

static void without_clusters_selectors_are_compared(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts_builder builder;

    (void)state;
    some_facts(arena, &builder);
    builder.facts.clusters_known = false;
    with_stored(&builder, "team-a/other", stack_on(arena, LABELS("\"env\":\"prod\""), NULL));

    struct verdict verdict =
        validated(arena, &builder, stack_on(arena, LABELS("\"edge\":\"yes\""), NULL));

    rows_expect_str("found", found_text(arena, &verdict.problems), STR(POSSIBLE));
    expect_says("told", arena, &verdict.problems.list.items[0],
                "the Stack team-a/other claims the release db/db too; a cluster could match both selectors");
}

/* An author may be told that a release is taken, but not by which Stack of another team. */
static void stacks_of_other_namespaces_are_not_named(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts_builder builder;
    struct verdict verdict;

    (void)state;
    set_up(arena, &builder);
    builder.facts.names_all_stacks = false;
    with_stored(&builder, "team-a/other", stack_on(arena, IDS("\"c-1\""), NULL));
    with_stored(&builder, "default/ours", stack_on(arena, IDS("\"c-2\""), NULL));
    verdict = validated(arena, &builder, stack_on(arena, IDS("\"c-1\",\"c-2\""), NULL));
    rows_expect_str("both are told", found_text(arena, &verdict.problems), STR(TODAY " " TODAY));
    expect_says("of another", arena, &verdict.problems.list.items[1],
                "a Stack of another namespace claims the release db/db too, on c-1; choose another releaseName");
    expect_says("of its own", arena, &verdict.problems.list.items[0], "the Stack default/ours claims the release db/db too, on c-2");
    for (uint32_t i = 0; i < verdict.warnings.count; i++)
        rows_expect("no word of the other", str_find(verdict.warnings.items[i], STR("team-a"), 0) < 0, verdict.warnings.items[i].at);
}

/* What the warning says will not be is not promised beside it. */
static void what_is_contested_is_not_promised(void **state)
{
    static const struct {
        const char *says, *other, *old, *now;
        bool blind;
        const char *line;
    } cases[] = {
        { "a release that is free", IDS("\"c-3\""), NULL, IDS("\"c-1\""), false, "preview: installs db 1.2.3 on 1 cluster: c-1" },
        { "one that another claims there", IDS("\"c-1\""), NULL, IDS("\"c-1\",\"c-2\""), false,
          "preview: installs db 1.2.3 (if its release is free) on 2 clusters: c-1 and c-2" },
        { "one that another names, where no cluster is known", IDS("\"c-1\""), NULL, IDS("\"c-1\""), true,
          "preview: installs db 1.2.3 (if its release is free) on 1 cluster: c-1" },
        { "on a cluster more", IDS("\"c-2\""), IDS("\"c-1\""), IDS("\"c-1\",\"c-2\""), false,
          "preview: installs 1 chart on 1 cluster: c-2 (what another Stack has there stays its own)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts_builder builder;
        struct json old = { NULL, 0 };

        set_up(arena, &builder);
        builder.facts.clusters_known = !cases[i].blind;
        with_stored(&builder, "team-a/other", stack_on(arena, cases[i].other, NULL));
        if (cases[i].old)
            old = deployed_stack(arena, stack_on(arena, cases[i].old, NULL), &builder.facts);

        struct verdict verdict = validated(arena, &builder, stack_on(arena, cases[i].now, NULL));
        struct str_list lines = stack_preview(arena, verdict.stack, verdict.chosen, old, &builder.facts, true);

        rows_expect(cases[i].says, lines.count > 0, "a line");
        rows_expect_str(cases[i].says, lines.items[0], str_of(cases[i].line));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_stacks),
        cmocka_unit_test(where_nothing_is_known_of_clusters),
        cmocka_unit_test(it_is_the_same_from_either_side),
        cmocka_unit_test(it_is_not_compared_with_itself),
        cmocka_unit_test(other_releases_are_nobodys_business),
        cmocka_unit_test(a_rejected_stack_is_told_of_no_other),
        cmocka_unit_test(a_stack_that_goes_claims_until_it_is_gone),
        cmocka_unit_test(many_are_counted_and_the_text_is_the_same),
        cmocka_unit_test(what_was_not_compared_is_said),
        cmocka_unit_test(a_review_ends),
        cmocka_unit_test(overrides_count_as_work),
        cmocka_unit_test(denied_by_configuration),
        cmocka_unit_test(without_clusters_selectors_are_compared),
        cmocka_unit_test(stacks_of_other_namespaces_are_not_named),
        cmocka_unit_test(what_is_contested_is_not_promised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
