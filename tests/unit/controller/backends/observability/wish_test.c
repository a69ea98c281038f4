/* SPDX-License-Identifier: Apache-2.0 */
/* wish_test.c: what a Stack wants of a cluster, and what it is told of it as time goes by. */
#include "support/rows.h"

#include "controller/backends/observability/wish.h"
#include "controller/limits.h"

static struct stack a_stack_of(struct arena *arena, const char *interval)
{
    struct stack stack = { .meta.uid = STR("u"), .spec.observability_profile = {
        .scrape_interval = str_of(interval), .alerts = TOGGLE_ENABLED, .dashboards = str_list_new(arena, 1) } };

    str_list_push(&stack.spec.observability_profile.dashboards, STR("ai-workloads"));
    return stack;
}

static struct observed_cluster empty_cluster(struct arena *arena)
{
    return (struct observed_cluster){ .id = STR("c-m-1"), .targeted = true, .releases = observed_releases_new(arena, 1) };
}

static struct observed_cluster cluster_of(struct arena *arena, const char *unready)
{
    struct observed_cluster cluster = empty_cluster(arena);

    observed_releases_push(&cluster.releases,
                           (struct observed_release){ .namespace_ = STR("shop"), .name = STR("web"), .stack_uid = STR("u"),
                                                      .uid = STR("app"), .phase = RELEASE_DEPLOYED, .health.message = str_of(unready),
                                                      .workloads = STR("Deployment/shop/web ") });
    return cluster;
}

static enum metrics_state told(struct wish *wish, struct arena *arena)
{
    struct observed_cluster cluster = cluster_of(arena, "");

    wish_tell(wish, arena, &cluster.releases);
    return cluster.releases.items[0].metrics.state;
}

struct round_facts {
    struct known *known;
    struct sample_index none, up;
};

static struct round_facts facts_of(struct arena *arena)
{
    struct samples up = samples_new(arena, 1), none = samples_new(arena, 1);

    samples_push(&up, (struct sample){ .namespace_ = STR("shop"), .pod = STR("web-5d8f-x7k2p"), .value = 1 });
    return (struct round_facts){ known_create(), sample_index_new(arena, &none), sample_index_new(arena, &up) };
}

static bool settle(struct wish *wish, const struct round_facts *facts, const struct sample_index *samples, int64_t now_ms)
{
    return wish_settle(wish, STR("team/shop"), facts->known, samples, now_ms);
}

static void a_release_has_time_to_get_targets(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(wish_free) struct wish *wish = wish_create();
    struct stack stack = a_stack_of(arena, "30s");
    struct observed_cluster ready = cluster_of(arena, ""), unready = cluster_of(arena, "no");
    struct round_facts facts = facts_of(arena);

    (void)state;
    wish_renew(wish, &stack, &unready, 0);
    rows_expect_int("nobody was asked", told(wish, arena), METRICS_NOT_ASKED);
    wish_renew(wish, &stack, &ready, 1000);
    rows_expect_int("no target", settle(wish, &facts, &facts.none, 2000), true);
    rows_expect_int("it may get one yet", told(wish, arena), METRICS_PENDING);
    wish_renew(wish, &stack, &unready, LIMIT_METRICS_APPEAR);
    settle(wish, &facts, &facts.none, LIMIT_METRICS_APPEAR + 1000);
    rows_expect_int("while it is not ready nothing is missing", told(wish, arena), METRICS_PENDING);
    wish_renew(wish, &stack, &ready, LIMIT_METRICS_APPEAR + 1000);
    settle(wish, &facts, &facts.none, 2 * LIMIT_METRICS_APPEAR);
    rows_expect_int("it was ready for as long as a target takes", told(wish, arena), METRICS_INACTIVE);
    rows_expect_int("a target came", settle(wish, &facts, &facts.up, 3 * LIMIT_METRICS_APPEAR), true);
    rows_expect_int("a target came", told(wish, arena), METRICS_ACTIVE);
    rows_expect_int("the same again is no news", settle(wish, &facts, &facts.up, 3 * LIMIT_METRICS_APPEAR), false);
    wish_renew(wish, &stack, &unready, 4 * LIMIT_METRICS_APPEAR);
    settle(wish, &facts, &facts.none, 4 * LIMIT_METRICS_APPEAR);
    rows_expect_int("what had one misses it at once", told(wish, arena), METRICS_INACTIVE);
    settle(wish, &facts, NULL, 4 * LIMIT_METRICS_APPEAR);
    rows_expect_int("nothing answers", told(wish, arena), METRICS_UNKNOWN);
    known_free(facts.known);
}

/* "state reason: message" after what was found of its monitor, at these times since it is ready. */
static void what_has_no_target_is_explained(void **state)
{
    static const struct {
        const char *row;
        enum monitor_state found;
        const char *found_message;
        bool late, had_one;
        const char *want;
    } rows[] = {
        { "nothing says where its metrics are", MONITOR_NOTHING, "no port", false, false, "1 NoMetricsEndpoint: no port" },
        { "nor later", MONITOR_NOTHING, "no port", true, false, "1 NoMetricsEndpoint: no port" },
        { "but it had a target", MONITOR_NOTHING, "no port", false, true, "3 : none of its pods is scraped" },
        { "its monitor is new", MONITOR_MADE, "", false, false, "2 : none of its pods is scraped" },
        { "its monitor brings none", MONITOR_MADE, "", true, false,
          "3 MonitorWithoutTargets: Prometheus scrapes nothing by the monitor that Herd made of it" },
        { "its monitor is not selected", MONITOR_MADE, "label it", false, false, "3 MonitorsNotSelected: label it" },
        { "its monitor may not be made", MONITOR_REFUSED, "forbidden", true, false, "3 : forbidden" },
        { "another one should bring some", MONITOR_OTHERS, "", true, false, "3 : none of its pods is scraped" },
        { "it is not known", MONITOR_UNDECIDED, "", false, false, "2 : none of its pods is scraped" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(wish_free) struct wish *wish = wish_create();
        struct stack stack = a_stack_of(arena, "30s");
        struct observed_cluster cluster = cluster_of(arena, "");
        struct round_facts facts = facts_of(arena);
        const struct observed_metrics *told_of = &cluster.releases.items[0].metrics;

        monitor_findings_push(&facts.known->monitors,
                              (struct monitor_finding){ STR("shop/web"), rows[i].found, str_of(rows[i].found_message) });
        wish_renew(wish, &stack, &cluster, 0);
        if (rows[i].had_one)
            settle(wish, &facts, &facts.up, 1);
        settle(wish, &facts, &facts.none, 1);
        if (rows[i].late)
            settle(wish, &facts, &facts.none, LIMIT_METRICS_APPEAR + 1);
        wish_tell(wish, arena, &cluster.releases);
        rows_expect_str(rows[i].row, str_fmt(arena, "%d %.*s: %.*s", told_of->state, STR_ARG(told_of->reason), STR_ARG(told_of->message)),
                        str_of(rows[i].want));
        known_free(facts.known);
    }
}

static void rules_have_time_to_be_loaded(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(wish_free) struct wish *wish = wish_create();
    struct stack stack = a_stack_of(arena, "30s");
    struct observed_cluster cluster = cluster_of(arena, "");
    struct round_facts facts = facts_of(arena);
    struct known *known = facts.known;

    (void)state;
    known->prometheus = (struct wire_prometheus){ .namespace_ = STR("m"), .name = STR("p") };
    wish_renew(wish, &stack, &cluster, 0);
    settle(wish, &facts, &facts.up, LIMIT_METRICS_APPEAR);
    rows_expect_str("it is not known which are loaded", wish_rules_trouble(wish), STR(""));
    known->counts_alerts = true;
    settle(wish, &facts, &facts.up, 1000);
    rows_expect_str("they are new", wish_rules_trouble(wish), STR(""));
    rows_expect_int("they are not loaded", settle(wish, &facts, &facts.up, 1000 + LIMIT_METRICS_APPEAR), true);
    rows_expect("they are not loaded",
                str_starts(wish_rules_trouble(wish), STR("Prometheus m/p has not loaded PrometheusRule shop/herd-web, although")),
                wish_rules_trouble(wish).at);
    str_list_push(&known->rules.releases, STR("team/shop web"));
    rows_expect_int("they are", settle(wish, &facts, &facts.up, 2000 + LIMIT_METRICS_APPEAR), true);
    rows_expect_str("they are", wish_rules_trouble(wish), STR(""));
    rows_expect("nothing was lost", !wish_lost_rules(wish), "it was");
    known->rules.releases.count = 0;
    rows_expect_int("somebody deletes them: that is no fault of Prometheus",
                    settle(wish, &facts, &facts.up, 3000 + LIMIT_METRICS_APPEAR), false);
    rows_expect("it is looked after", wish_lost_rules(wish), "it is not");
    settle(wish, &facts, &facts.up, 4000 + LIMIT_METRICS_APPEAR);
    rows_expect("once", !wish_lost_rules(wish), "again");
    rows_expect_int("they stay away, although they are there again",
                    settle(wish, &facts, &facts.up, 3000 + 2 * LIMIT_METRICS_APPEAR), true);
    rows_expect("they are not loaded", wish_rules_trouble(wish).len > 0, "nothing is told");
    str_list_push(&known->rules.releases, STR("team/shop web"));
    settle(wish, &facts, &facts.up, 3000 + 2 * LIMIT_METRICS_APPEAR);
    rule_findings_push(&known->unselected, (struct rule_finding){ STR("team/other"), STR("no") });
    settle(wish, &facts, &facts.up, 2000 + LIMIT_METRICS_APPEAR);
    rows_expect_str("those of another Stack are not selected", wish_rules_trouble(wish), STR(""));
    rule_findings_push(&known->unselected, (struct rule_finding){ STR("team/shop"), STR("label it") });
    settle(wish, &facts, &facts.up, 2000 + LIMIT_METRICS_APPEAR);
    rows_expect_str("its own are not", wish_rules_trouble(wish), STR("label it"));
    known_free(known);
}

static void namespaces_are_those_of_workloads(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(wish_free) struct wish *wish = wish_create();
    struct stack stack = a_stack_of(arena, "30s");
    struct observed_cluster cluster = cluster_of(arena, "");
    struct str_list namespaces = str_list_new(arena, 2);

    (void)state;
    cluster.releases.items[0].workloads = STR("Deployment/shop/web DaemonSet/kube-system/agent ");
    wish_renew(wish, &stack, &cluster, 0);
    wish_add_namespaces(wish, &namespaces);
    rows_expect_int("both", namespaces.count, 2);
    rows_expect_str("also another than the release's", namespaces.items[1], STR("kube-system"));
}

/* A pass of the Stack may come while a round applies what the one before wanted. */
static void what_is_to_be_there_outlives_the_next_pass(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(wish_free) struct wish *wish = wish_create();
    struct stack stack = a_stack_of(arena, "30s");
    struct observed_cluster cluster = cluster_of(arena, ""), none = empty_cluster(arena), left = cluster_of(arena, "");
    const struct wire_prometheus prometheus = { .namespace_ = STR_INIT("m"), .name = STR_INIT("p"),
                                               .rules = { STR_INIT("{\"matchLabels\":{\"release\":\"p\"}}"), STR_INIT("{}") } };
    struct upkeep upkeep = upkeep_new(arena), leaving = upkeep_new(arena), later = upkeep_new(arena), last = upkeep_new(arena);

    (void)state;
    rows_expect_int("it is new", wish_renew(wish, &stack, &cluster, 0), true);
    rows_expect_int("it is the same", wish_renew(wish, &stack, &cluster, 0), false);
    wish_add_upkeep(wish, STR("team/shop"), &prometheus, &upkeep);
    rows_expect_int("the release goes", wish_renew(wish, &stack, &none, 0), true);
    rows_expect_str("its rule", upkeep.rules.items[0].namespace_, STR("shop"));
    rows_expect_str("its rule", upkeep.rules.items[0].name, STR("herd-web"));
    rows_expect_str("its dashboard", upkeep.dashboards.items[0].namespace_, STR("m"));
    left.targeted = false;
    wish_renew(wish, &stack, &left, 0);
    wish_add_upkeep(wish, STR("team/shop"), &prometheus, &leaving);
    rows_expect_int("no target any more: the rules of what is still there stay", leaving.rules.count, 1);
    rows_expect_int("dashboards do not", leaving.dashboards.count, 0);
    rows_expect_str("they are removed", leaving.dropped.items[0],
                    STR("herd-dashboard-ai-workloads"));
    rows_expect_int("it ends", wish_end(wish, &stack), true);
    rows_expect_int("it has ended", wish_end(wish, &stack), false);
    wish_add_upkeep(wish, STR("team/shop"), &prometheus, &later);
    rows_expect_int("it wants nothing", later.rules.count + later.dashboards.count, 0);
    rows_expect_str("but to have its dashboard removed", later.dropped.items[0], STR("herd-dashboard-ai-workloads"));
    stack.spec.paused = true;
    wish_renew(wish, &stack, &cluster, 0);
    wish_add_upkeep(wish, STR("team/shop"), &prometheus, &last);
    rows_expect_int("paused: nothing is changed", last.rules.count + map_count(last.stacks.strings) + last.dropped.count, 0);
    rows_expect_int("nor may another Stack's leaving remove its dashboard", last.kept.count, 1);
    rows_expect_str("its dashboard", last.kept.items[0], STR("herd-dashboard-ai-workloads"));
}

static void a_stack_that_goes_waits_for_two_rounds_at_most(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(wish_free) struct wish *wish = wish_create();
    struct stack stack = a_stack_of(arena, "30s");

    (void)state;
    wish_note_begin(wish);
    rows_expect_int("nothing is over", wish_holds(wish), false);
    rows_expect_int("it goes", wish_end(wish, &stack), true);
    rows_expect_int("and waits", wish_holds(wish), true);
    wish_note_end(wish);
    wish_note_begin(wish);
    rows_expect_int("the round that was under way does not count", wish_holds(wish), true);
    rows_expect_int("another pass", wish_end(wish, &stack), false);
    wish_note_end(wish);
    rows_expect_int("that one failed", wish_holds(wish), true);
    wish_note_begin(wish);
    wish_note_end(wish);
    rows_expect_int("so did the next one", wish_holds(wish), false);
    stack.spec.paused = true;
    rows_expect_int("paused", wish_end(wish, &stack), true);
    stack.spec.paused = false;
    rows_expect_int("and not any more", wish_end(wish, &stack), true);
    stack.spec.paused = true;
    wish_end(wish, &stack);
    rows_expect_int("a paused one waits for nothing", wish_holds(wish), false);
}

static void what_goes_when_herd_has_just_started_has_its_dashboards_removed(void **state)
{
    static const struct wire_prometheus prometheus = { .namespace_ = STR_INIT("m"),
                                                       .name = STR_INIT("p") };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(wish_free) struct wish *wish = wish_create();
    struct stack stack = a_stack_of(arena, "30s");
    struct upkeep upkeep = upkeep_new(arena);

    (void)state;
    wish_end(wish, &stack);
    wish_add_upkeep(wish, STR("team/shop"), &prometheus, &upkeep);
    rows_expect_int("those that its spec names", upkeep.dropped.count, 1);
    rows_expect_str("by name", upkeep.dropped.items[0], STR("herd-dashboard-ai-workloads"));
}

static void traces_are_wanted_also_without_a_prometheus(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(wish_free) struct wish *wish = wish_create();
    struct stack stack = a_stack_of(arena, "30s");
    struct observed_cluster cluster = cluster_of(arena, "");
    struct upkeep upkeep = upkeep_new(arena), paused = upkeep_new(arena), none = upkeep_new(arena);
    struct traces_found found = traces_found_new(arena);
    struct observed_monitoring monitoring = { .asked = true };

    (void)state;
    traced_releases_push(&found.releases, (struct traced_release){ STR("shop/web"), false });
    traced_releases_push(&found.releases, (struct traced_release){ STR("shop/others"), true });
    found.has_operator = found.counted = true;
    stack.spec.observability_profile.tracing = (struct tracing){ .enabled = true, .sampling_ratio = STR("0.2") };
    wish_renew(wish, &stack, &cluster, 0);
    wish_add_upkeep(wish, STR("team/shop"), NULL, &upkeep);
    rows_expect_int("its release", upkeep.traces.count, 1);
    rows_expect_str("its ratio", upkeep.traces.items[0].sampling_ratio, STR("0.2"));
    rows_expect_int("nothing for a Prometheus", upkeep.rules.count + upkeep.dashboards.count, 0);
    rows_expect_int("it counts", wish_count_traces(wish, &found, &monitoring), true);
    rows_expect_int("its own", monitoring.traced, 1);
    rows_expect_str("which do not arrive", monitoring.untraced, STR("web"));
    stack.spec.paused = true;
    wish_renew(wish, &stack, &cluster, 0);
    wish_add_upkeep(wish, STR("team/shop"), NULL, &paused);
    rows_expect_int("paused: they are counted, and nothing is changed", paused.traces.items[0].paused, true);
    rows_expect_int("nothing of it is removed", map_count(paused.stacks.strings), 0);
    stack.spec.paused = stack.spec.observability_profile.tracing.enabled = false;
    rows_expect_int("it wants none", wish_renew(wish, &stack, &cluster, 0), true);
    wish_add_upkeep(wish, STR("team/shop"), NULL, &none);
    rows_expect_int("none is kept", none.traces.count, 0);
    rows_expect_int("what is there is removed", map_count(none.stacks.strings), 1);
    rows_expect_int("nor counted", wish_count_traces(wish, &found, &monitoring), false);
}

static void it_is_asked_within_bounds(void **state)
{
    static const struct {
        const char *interval;
        int64_t want;
    } rows[] = { { "30s", 30000 }, { "1s", LIMIT_METRICS_INTERVAL_MIN },
                 { "1h", LIMIT_METRICS_INTERVAL_MAX }, { "", LIMIT_METRICS_INTERVAL_MAX } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(wish_free) struct wish *wish = wish_create();
        struct stack stack = a_stack_of(arena, rows[i].interval);
        struct observed_cluster none = empty_cluster(arena);

        wish_renew(wish, &stack, &none, 0);
        rows_expect_int(rows[i].interval, wish_interval_ms(wish), rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_release_has_time_to_get_targets),
        cmocka_unit_test(what_has_no_target_is_explained),
        cmocka_unit_test(rules_have_time_to_be_loaded),
        cmocka_unit_test(namespaces_are_those_of_workloads),
        cmocka_unit_test(what_is_to_be_there_outlives_the_next_pass),
        cmocka_unit_test(a_stack_that_goes_waits_for_two_rounds_at_most),
        cmocka_unit_test(what_goes_when_herd_has_just_started_has_its_dashboards_removed),
        cmocka_unit_test(traces_are_wanted_also_without_a_prometheus),
        cmocka_unit_test(it_is_asked_within_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
