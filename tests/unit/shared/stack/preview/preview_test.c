/* SPDX-License-Identifier: Apache-2.0 */
/* preview_test.c: what a change of a Stack will do, in words. */
#include "support/rows.h"

#include "kube/admission.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/preview/preview.h"
#include "support/deployed.h"
#include "support/facts_builder.h"
#include "support/stack_builder.h"

#define IDS(ids) "{\"clusterIds\":[" ids "]}"
#define LABELS(labels) "{\"selector\":{\"matchLabels\":{" labels "}}}"
#define CHART(name, version, more)                                                                 \
    "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"" version "\"" more "}"
#define DB CHART("db", "1.0.0", "")
#define WEB CHART("web", "2.0.0", ",\"dependsOn\":[\"db\"]")
#define OVERRIDE(where, said) "\"overrides\":[{" where ",\"charts\":[{" said "}]}]"
#define WAVES                                                                                      \
    "\"rollout\":{\"maxConcurrentClusters\":1,\"waves\":[{\"name\":\"canary\",\"selector\":"          \
    "{\"matchLabels\":{\"edge\":\"yes\"}},\"pause\":\"1h\"}]}"

#define CONFIRM(some)                                                                              \
    "removes " some " releases, which is more than spec.rollout.maxRemovals (50%): the controller "  \
    "waits for the annotation herd.suse.com/confirm-removal; status.message then shows the command"

struct version {
    const char *targets, *charts, *spec; /* charts NULL: there was none */
};

/* Clusters: c-1 and c-2 are prod, c-3 is dev, c-4 is prod of the edge; local is Rancher's own. */
static const struct row {
    const char *says;
    struct version now, old;
    const char *applied; /* what a real change is told, a line each */
    const char *dry_run; /* and a dry run; NULL: the same */
} rows[] = {
    { "a new Stack", { IDS("\"c-1\""), DB, NULL }, { 0 }, "",
      "installs db 1.0.0 on 1 cluster: c-1" },
    { "its charts in order, its clusters by a selector", { LABELS("\"env\":\"prod\""), DB "," WEB, NULL }, { 0 }, "",
      "installs db 1.0.0 and web 2.0.0 on 3 clusters: c-1, c-2 and c-4\n"
      "on each cluster db, then web" },
    { "with waves", { LABELS("\"env\":\"prod\""), DB, WAVES }, { 0 }, "",
      "installs db 1.0.0 on 3 clusters: c-1, c-2 and c-4\n"
      "wave canary on 1 cluster: c-4, then 1h of pause, then 2 clusters: c-1 and c-2; at most 1 cluster at a time" },
    { "a wave that somebody approves", { LABELS("\"env\":\"prod\""), DB, "\"rollout\":{\"waves\":[{\"name\":\"canary\",\"selector\":{\"matchLabels\":{\"edge\":\"yes\"}},\"pause\":\"1h\"},"
      "{\"name\":\"rest\",\"selector\":{\"matchLabels\":{\"env\":\"prod\"}},\"approval\":\"Manual\"}]}" }, { 0 }, "",
      "installs db 1.0.0 on 3 clusters: c-1, c-2 and c-4\n"
      "wave canary on 1 cluster: c-4, then 1h of pause, then, once approved, wave rest on 2 clusters: c-1 and c-2" },
    { "a wave without a pause", { IDS("\"c-1\""), DB, "\"rollout\":{\"waves\":[{\"name\":\"canary\",\"clusterIds\":[\"c-1\"],\"pause\":\"0s\"}]}" }, { 0 }, "",
      "installs db 1.0.0 on 1 cluster: c-1\n"
      "wave canary on 1 cluster: c-1" },
    { "a new one that matches nothing", { LABELS("\"env\":\"no\""), DB, NULL }, { 0 }, "", NULL },
    { "a cluster that Rancher does not know", { IDS("\"c-1\",\"c-9\""), DB, NULL }, { 0 }, "",
      "installs db 1.0.0 on 1 cluster: c-1" },
    { "an override that leaves a chart out", { IDS("\"c-1\",\"c-2\""), DB "," WEB, OVERRIDE("\"clusterIds\":[\"c-2\"]", "\"name\":\"web\",\"skip\":true") }, { 0 }, "",
      "installs db 1.0.0 on 2 clusters: c-1 and c-2\n"
      "installs web 2.0.0 on 1 cluster: c-1\n"
      "on each cluster db, then web" },
    { "many charts are counted", { IDS("\"c-1\""), CHART("a", "1.0.0", "") "," CHART("b", "1.0.0", "") "," CHART("c", "1.0.0", "") "," CHART("d", "1.0.0", "") "," CHART("e", "1.0.0", ""), NULL }, { 0 }, "",
      "installs a 1.0.0, b 1.0.0, c 1.0.0, d 1.0.0 and e 1.0.0 on 1 cluster: c-1" },
    { "one that waits, and one that is paused", { IDS("\"c-1\""), DB, "\"dependsOn\":[{\"name\":\"base\"},{\"name\":\"net\"}],\"paused\":true" }, { 0 }, "",
      "installs db 1.0.0 on 1 cluster: c-1\n"
      "not before the Stacks base and net are Ready\n"
      "nothing of this is done while spec.paused is true" },
    { "what goes on does what it was told meanwhile, too", { IDS("\"c-1\""), DB, NULL }, { IDS("\"c-1\""), DB, "\"paused\":true" }, "",
      "what was changed while spec.paused was true is done now, too" },
    { "what goes on with a change", { IDS("\"c-1\""), CHART("db", "1.1.0", ""), NULL }, { IDS("\"c-1\""), DB, "\"paused\":true" }, "",
      "upgrades db 1.0.0 -> 1.1.0 on 1 cluster: c-1\n"
      "what was changed while spec.paused was true is done now, too" },
    { "a promotion keeps what the stored Stack says", { IDS("\"c-1\""), DB, "\"env\":\"prod\",\"security\":\"disabled\",\"observability\":\"enabled\"" }, { IDS("\"c-1\""), DB, "\"env\":\"dev\"" }, "",
      "spec.security stays disabled, though a new Stack in prod has it enabled; write security: enabled into the Stack\n"
      "no release changes" },
    { "nothing that is done", { IDS("\"c-1\""), DB, "\"retry\":{\"limit\":9}" }, { IDS("\"c-1\""), DB, NULL }, "",
      "no release changes" },
    { "timeouts and order change no release", { IDS("\"c-1\""), DB "," CHART("web", "2.0.0", ",\"timeout\":\"5m\""), NULL }, { IDS("\"c-1\""), DB "," WEB, NULL }, "",
      "no release changes" },
    { "another version", { IDS("\"c-1\",\"c-2\""), CHART("db", "1.1.0", ""), NULL }, { IDS("\"c-1\",\"c-2\""), DB, NULL }, "",
      "upgrades db 1.0.0 -> 1.1.0 on 2 clusters: c-1 and c-2" },
    { "other values", { IDS("\"c-1\""), CHART("db", "1.0.0", ",\"values\":{\"inline\":{\"a\":2}}"), NULL }, { IDS("\"c-1\""), CHART("db", "1.0.0", ",\"values\":{\"inline\":{\"a\":1}}"), NULL }, "",
      "upgrades db (values) on 1 cluster: c-1" },
    { "another reference", { IDS("\"c-1\""), CHART("db", "1.0.0", ",\"values\":{\"secretRefs\":[{\"name\":\"b\"}]}"), NULL }, { IDS("\"c-1\""), CHART("db", "1.0.0", ",\"values\":{\"secretRefs\":[{\"name\":\"a\"}]}"), NULL }, "",
      "upgrades db (values) on 1 cluster: c-1" },
    { "all that makes another release", { IDS("\"c-1\""), "{\"name\":\"db\",\"chart\":\"pg\",\"repo\":\"https://y.io\",\"version\":\"2.0.0\",\"wait\":false}", NULL }, { IDS("\"c-1\""), DB, NULL }, "",
      "upgrades db 1.0.0 -> 2.0.0 (repository, chart, wait) on 1 cluster: c-1" },
    { "a slash behind the repository is none", { IDS("\"c-1\""), "{\"name\":\"db\",\"repo\":\"https://x.io/\",\"version\":\"1.0.0\"}", NULL }, { IDS("\"c-1\""), DB, NULL }, "",
      "no release changes" },
    { "a chart more and one less; what goes comes first", { IDS("\"c-1\""), CHART("new", "3.0.0", ""), NULL }, { IDS("\"c-1\""), DB, NULL }, "uninstalls db (once what takes its place is deployed) from 1 cluster: c-1",
      "uninstalls db (once what takes its place is deployed) from 1 cluster: c-1\n"
      "installs new 3.0.0 on 1 cluster: c-1" },
    { "another name of the same release", { IDS("\"c-1\""), CHART("sql", "1.0.0", ",\"chart\":\"db\",\"namespace\":\"db\",\"releaseName\":\"db\""), NULL }, { IDS("\"c-1\""), DB, NULL }, "",
      "no release changes" },
    { "another release of the same name", { IDS("\"c-1\""), CHART("db", "1.0.0", ",\"releaseName\":\"db2\""), NULL }, { IDS("\"c-1\""), DB, NULL }, "moves db 1.0.0 from db/db to db/db2 on 1 cluster: c-1 (installed there first, then uninstalled under the former name)", NULL },
    { "in another namespace, with another version", { IDS("\"c-1\""), CHART("db", "1.1.0", ",\"namespace\":\"data\""), NULL }, { IDS("\"c-1\""), DB, NULL }, "moves db 1.0.0 -> 1.1.0 from db/db to data/db on 1 cluster: c-1 (installed there first, then uninstalled under the former name)", NULL },
    { "only where it is and stays", { IDS("\"c-1\",\"c-2\",\"c-3\""), CHART("db", "1.0.0", ",\"namespace\":\"data\""), OVERRIDE("\"clusterIds\":[\"c-2\"]", "\"name\":\"db\",\"skip\":true") }, { IDS("\"c-1\",\"c-2\",\"c-3\""), DB, OVERRIDE("\"clusterIds\":[\"c-3\"]", "\"name\":\"db\",\"skip\":true") }, "uninstalls db from 1 cluster: c-2\n"
      "moves db 1.0.0 from db/db to data/db on 1 cluster: c-1 (installed there first, then uninstalled under the former name)",
      "uninstalls db from 1 cluster: c-2\n"
      "moves db 1.0.0 from db/db to data/db on 1 cluster: c-1 (installed there first, then uninstalled under the former name)\n"
      "installs db 1.0.0 on 1 cluster: c-3" },
    { "not one that takes another's release", { IDS("\"c-1\""), CHART("db", "1.0.0", ",\"namespace\":\"web\",\"releaseName\":\"web\""), NULL }, { IDS("\"c-1\""), DB "," CHART("web", "1.0.0", ""), NULL }, "uninstalls db from 1 cluster: c-1",
      "uninstalls db from 1 cluster: c-1\n"
      "upgrades db (chart) on 1 cluster: c-1" },
    { "those that move are counted, too", { IDS("\"c-1\""), CHART("a", "1.0.0", ",\"namespace\":\"n\"") "," CHART("b", "1.0.0", ",\"namespace\":\"n\"") "," CHART("c", "1.0.0", ",\"namespace\":\"n\",\"dependsOn\":[\"a\"]"), NULL }, { IDS("\"c-1\""), CHART("a", "1.0.0", "") "," CHART("b", "1.0.0", "") "," CHART("c", "1.0.0", ""), NULL }, "moves a 1.0.0 from a/a to n/a, b 1.0.0 from b/b to n/b and 1 more on 1 cluster: c-1 (installed there first, then uninstalled under the former name)",
      "moves a 1.0.0 from a/a to n/a, b 1.0.0 from b/b to n/b and 1 more on 1 cluster: c-1 (installed there first, then uninstalled under the former name)\n"
      "on each cluster a and b, then c" },
    { "an override's version, only there", { IDS("\"c-1\",\"c-2\""), DB, OVERRIDE("\"clusterIds\":[\"c-2\"]", "\"name\":\"db\",\"version\":\"1.1.0\"") }, { IDS("\"c-1\",\"c-2\""), DB, NULL }, "",
      "upgrades db 1.0.0 -> 1.1.0 on 1 cluster: c-2" },
    { "an override's values", { IDS("\"c-1\",\"c-2\""), DB, OVERRIDE("\"clusterIds\":[\"c-2\"]", "\"name\":\"db\",\"values\":{\"inline\":{\"a\":1}}") }, { IDS("\"c-1\",\"c-2\""), DB, OVERRIDE("\"clusterIds\":[\"c-2\"]", "\"name\":\"db\",\"values\":{\"inline\":{\"a\":2}}") }, "",
      "upgrades db (values) on 1 cluster: c-2" },
    { "an override that leaves a chart out now", { IDS("\"c-1\",\"c-2\""), DB, OVERRIDE("\"clusterIds\":[\"c-2\"]", "\"name\":\"db\",\"skip\":true") }, { IDS("\"c-1\",\"c-2\""), DB, NULL }, "uninstalls db from 1 cluster: c-2", NULL },
    { "and one that does so no more", { IDS("\"c-1\""), DB, NULL }, { IDS("\"c-1\""), DB, OVERRIDE("\"clusterIds\":[\"c-1\"]", "\"name\":\"db\",\"skip\":true") }, "",
      "installs db 1.0.0 on 1 cluster: c-1" },
    { "a cluster more", { IDS("\"c-1\",\"c-2\""), DB "," WEB, NULL }, { IDS("\"c-1\""), DB "," WEB, NULL }, "",
      "installs 2 charts on 1 cluster: c-2\n"
      "on each cluster db, then web" },
    { "one more and two less", { IDS("\"c-3\""), DB, NULL }, { IDS("\"c-1\",\"c-2\""), DB, NULL }, "leaves 2 clusters: c-1 and c-2, and its releases are uninstalled there\n"
      CONFIRM("2 of 2"),
      "leaves 2 clusters: c-1 and c-2, and its releases are uninstalled there\n"
      "installs 1 chart on 1 cluster: c-3\n"
      CONFIRM("2 of 2") },
    { "all of them, and a policy that does not help", { LABELS("\"env\":\"no\""), DB, "\"deletionPolicy\":\"Orphan\"" }, { IDS("\"c-1\""), DB, "\"deletionPolicy\":\"Orphan\"" }, "leaves 1 cluster: c-1, and its releases are uninstalled there\n"
      CONFIRM("1 of 1"),
      "leaves 1 cluster: c-1, and its releases are uninstalled there (deletionPolicy Orphan is for the Stack's own deletion)\n"
      CONFIRM("1 of 1") },
    { "by label in place of id", { LABELS("\"env\":\"dev\""), DB, NULL }, { IDS("\"c-3\""), DB, NULL }, "",
      "no release changes" },
    { "clusters and charts", { IDS("\"c-1\",\"c-3\""), CHART("db", "1.1.0", ""), WAVES }, { IDS("\"c-1\""), DB, NULL }, "",
      "installs 1 chart on 1 cluster: c-3\n"
      "upgrades db 1.0.0 -> 1.1.0 on 1 cluster: c-1\n"
      "wave canary on no cluster today, then 1h of pause, then 2 clusters: c-1 and c-3; at most 1 cluster at a time" },
    { "only what changes is put in order", { IDS("\"c-1\""), CHART("a", "1.1.0", "") "," CHART("b", "1.0.0", ",\"dependsOn\":[\"a\"]") "," CHART("c", "1.1.0", ",\"dependsOn\":[\"b\"]"), NULL },
      { IDS("\"c-1\""), CHART("a", "1.0.0", "") "," CHART("b", "1.0.0", ",\"dependsOn\":[\"a\"]") "," CHART("c", "1.0.0", ",\"dependsOn\":[\"b\"]"), NULL }, "",
      "upgrades a 1.0.0 -> 1.1.0 and c 1.0.0 -> 1.1.0 on 1 cluster: c-1\n"
      "on each cluster a, then c" },
};

static void set_up(struct arena *arena, struct facts_builder *builder)
{
    some_facts(arena, builder);
    with_cluster(builder, "local", "env=prod");
    builder->facts.clusters.items[0].internal = true;
    with_cluster(builder, "c-4", "env=prod,edge=yes");
    with_cluster(builder, "c-2", "env=prod");
    with_cluster(builder, "c-1", "env=prod");
    with_cluster(builder, "c-3", "env=dev");
}

static struct json document(struct arena *arena, const struct version *version)
{
    struct stack_builder b = a_stack(arena);

    if (!version->charts)
        return (struct json){ NULL, 0 };
    with_targets(&b, version->targets);
    with_raw_chart(&b, version->charts);
    if (version->spec)
        with_spec(&b, version->spec);
    return stack_json(&b);
}

/* With that status, or, if it is NULL, deployed as it says. */
static struct json stored_document(struct arena *arena, const struct version *version,
                                   const char *status, const struct facts *facts)
{
    struct json object = document(arena, version);
    struct str text = json_raw(object);

    if (!version->charts)
        return object;
    if (!status)
        return deployed_stack(arena, object, facts);

    struct str head = STR("\"metadata\":{");
    size_t at = (size_t)str_find(text, head, 0) + head.len;

    return test_json(arena, str_fmt(arena, "%.*s\"generation\":2,%.*s,\"status\":{%s}}", (int)at, text.at,
                                    (int)(text.len - at - 1), text.at + at, status));
}

static struct str previewed(struct arena *arena, const struct facts *facts,
                            const struct version *now, const struct version *old,
                            const char *status, bool full)
{
    struct problems ignored = problems_new(arena);
    const struct stack *stack =
        stack_default(arena, stack_decode(arena, document(arena, now), &ignored), NULL);
    struct json stored = stored_document(arena, old, status, facts);
    struct str_list lines = stack_preview(arena, stack, resolved_targets_of(arena, stack, facts), stored, facts, full);
    struct strbuf text = strbuf_new(arena, 64);
    struct str head = STR("preview: ");

    for (uint32_t i = 0; i < lines.count; i++) {
        rows_expect("each line says what it is", str_starts(lines.items[i], head), "preview");
        strbuf_fmt(&text, "%s%.*s", i ? "\n" : "",
                   STR_ARG(str_slice(lines.items[i], head.len, lines.items[i].len)));
    }
    return strbuf_str(&text);
}

static void changes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts_builder builder;

        set_up(arena, &builder);
        rows_expect_str(rows[i].says,
                        previewed(arena, &builder.facts, &rows[i].now, &rows[i].old, NULL, false),
                        str_of(rows[i].applied));
        rows_expect_str(rows[i].says,
                        previewed(arena, &builder.facts, &rows[i].now, &rows[i].old, NULL, true),
                        str_of(rows[i].dry_run ? rows[i].dry_run : rows[i].applied));
    }
}

static void the_same_again_is_told_nothing_of(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts_builder builder;

        set_up(arena, &builder);
        rows_expect_str(rows[i].says,
                        previewed(arena, &builder.facts, &rows[i].now, &rows[i].now, NULL, true), STR(""));
    }
}

/* What clusters have is what the status says, whatever the spec before said. */

#define ENTRY(chart, cluster, state, version, more)                                                \
    "{\"chartName\":\"" chart "\",\"clusterId\":\"" cluster "\",\"namespace\":\"" chart "\","        \
    "\"releaseName\":\"" chart "\",\"status\":\"" state "\",\"version\":\"" version "\"" more "}"
#define THERE ",\"digest\":\"sha256:x\""
#define SEEN(targets, entries)                                                                     \
    "\"observedGeneration\":2,\"targetClusters\":[" targets "],\"deployments\":[" entries "]"
#define RANGE CHART("db", "^1.0", "")
#define NEWER CHART("db", "1.1.0", "")
#define NEW CHART("new", "3.0.0", "")
#define BOTH CHART("db", "1.0.0", "") "," CHART("web", "2.0.0", "")
#define ON_C1 IDS("\"c-1\"")

static const struct {
    const char *says, *status;
    struct version now, old;
    const char *applied, *dry_run;
} stored_rows[] = {
    { "where no controller has looked nothing is upgraded", "\"observedGeneration\":-1",
      { ON_C1, NEWER, NULL }, { ON_C1, DB, NULL }, "", "installs db 1.1.0 on 1 cluster: c-1" },
    { "nor removed", "\"observedGeneration\":-1",
      { IDS("\"c-2\""), NEW, NULL }, { ON_C1, DB, NULL }, "", "installs new 3.0.0 on 1 cluster: c-2" },
    { "a release that was never asked for is installed", SEEN("\"c-1\"", ENTRY("db", "c-1", "Waiting", "1.0.0", "")),
      { ON_C1, NEWER, NULL }, { ON_C1, DB, NULL }, "", "installs db 1.1.0 on 1 cluster: c-1" },
    { "and not removed", SEEN("\"c-1\"", ENTRY("db", "c-1", "Waiting", "1.0.0", "")),
      { ON_C1, NEW, NULL }, { ON_C1, DB, NULL }, "", "installs new 3.0.0 on 1 cluster: c-1" },
    { "nor is the cluster that has nothing else lost", SEEN("\"c-1\"", ENTRY("db", "c-1", "Waiting", "1.0.0", "")),
      { IDS("\"c-2\""), DB, NULL }, { ON_C1, DB, NULL }, "", "installs 1 chart on 1 cluster: c-2" },
    { "one that failed is somewhere between two versions", SEEN("\"c-1\"", ENTRY("db", "c-1", "Failed", "1.0.0", THERE)),
      { ON_C1, NEWER, NULL }, { ON_C1, DB, NULL }, "", "upgrades db to 1.1.0 (Failed now) on 1 cluster: c-1" },
    { "clusters that differ are told apart", SEEN("\"c-1\",\"c-2\",\"c-3\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE) "," ENTRY("db", "c-2", "Deployed", "0.9.0", THERE)),
      { IDS("\"c-1\",\"c-2\",\"c-3\""), NEWER, NULL }, { IDS("\"c-1\",\"c-2\",\"c-3\""), DB, NULL }, "",
      "upgrades db 1.0.0 -> 1.1.0 on 1 cluster: c-1\nupgrades db 0.9.0 -> 1.1.0 on 1 cluster: c-2\ninstalls db 1.1.0 on 1 cluster: c-3" },
    { "a range is what it came to", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.3", THERE)),
      { ON_C1, NEWER, NULL }, { ON_C1, RANGE, NULL }, "", "upgrades db 1.0.3 -> 1.1.0 on 1 cluster: c-1" },
    { "the version that it came to, written out", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE)),
      { ON_C1, DB, NULL }, { ON_C1, RANGE, NULL }, "", "no release changes" },
    { "what is still to go is told", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE) "," ENTRY("web", "c-1", "Uninstalling", "2.0.0", THERE)),
      { ON_C1, NEWER, NULL }, { ON_C1, DB, NULL }, "uninstalls web from 1 cluster: c-1",
      "uninstalls web from 1 cluster: c-1\nupgrades db 1.0.0 -> 1.1.0 on 1 cluster: c-1" },
    { "and what comes back", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE) "," ENTRY("web", "c-1", "Uninstalling", "2.0.0", THERE)),
      { ON_C1, BOTH, NULL }, { ON_C1, DB, NULL }, "", "upgrades web to 2.0.0 (Uninstalling now) on 1 cluster: c-1" },
    { "a cluster that it holds and does not target", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE) "," ENTRY("db", "c-2", "Deployed", "1.0.0", THERE)),
      { ON_C1, DB, "\"retry\":{\"limit\":9}" }, { ON_C1, DB, NULL }, "leaves 1 cluster: c-2, and its releases are uninstalled there", NULL },
    { "also where no entry says what it holds", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE)) ",\"heldClusters\":[\"c-2\"]",
      { ON_C1, DB, "\"retry\":{\"limit\":9}" }, { ON_C1, DB, NULL }, "leaves 1 cluster: c-2, and its releases are uninstalled there", NULL },
    { "and where Rancher does not know it any more", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE)) ",\"heldClusters\":[\"c-9\"]",
      { ON_C1, NEWER, NULL }, { ON_C1, DB, NULL }, "leaves 1 cluster: c-9, and its releases are uninstalled there",
      "leaves 1 cluster: c-9, and its releases are uninstalled there\nupgrades db 1.0.0 -> 1.1.0 on 1 cluster: c-1" },
    { "what the status leaves out is not guessed", SEEN("\"c-1\",\"c-2\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE)) ",\"deploymentsOmitted\":1",
      { IDS("\"c-1\",\"c-2\""), NEWER, NULL }, { IDS("\"c-1\",\"c-2\""), DB, NULL }, "",
      "upgrades db 1.0.0 -> 1.1.0 on 1 cluster: c-1\nthe status leaves out 1 release; what happens to it is not known" },
    { "nor on a cluster that is lost", SEEN("\"c-1\",\"c-2\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE)) ",\"deploymentsOmitted\":1",
      { ON_C1, DB, NULL }, { IDS("\"c-1\",\"c-2\""), DB, NULL },
      "leaves 1 cluster: c-2, and its releases are uninstalled there\nthe status leaves out 1 release; what happens to it is not known", NULL },
    { "the spec before was not seen yet", "\"observedGeneration\":1,\"targetClusters\":[\"c-1\"],\"deployments\":[" ENTRY("db", "c-1", "Deployed", "0.9.0", THERE) "]",
      { ON_C1, NEWER, NULL }, { ON_C1, DB, NULL }, "",
      "upgrades db 0.9.0 -> 1.1.0 on 1 cluster: c-1\nthe controller has not seen the spec before this one: what that changed is done, too" },
    { "half of what is there needs no confirmation", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE) "," ENTRY("web", "c-1", "Deployed", "2.0.0", THERE)),
      { ON_C1, DB, NULL }, { ON_C1, BOTH, NULL }, "uninstalls web from 1 cluster: c-1", NULL },
    { "what is replaced in the same edit is not counted", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE) "," ENTRY("web", "c-1", "Deployed", "2.0.0", THERE)),
      { ON_C1, NEW, NULL }, { ON_C1, BOTH, NULL }, "uninstalls db and web from 1 cluster: c-1",
      "uninstalls db and web from 1 cluster: c-1\ninstalls new 3.0.0 on 1 cluster: c-1" },
    { "what was to be installed anyhow replaces nothing", SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE) "," ENTRY("web", "c-1", "Waiting", "2.0.0", "")),
      { ON_C1, CHART("web", "2.0.0", ""), NULL }, { ON_C1, BOTH, NULL }, "uninstalls db from 1 cluster: c-1\n" CONFIRM("1 of 1"),
      "uninstalls db from 1 cluster: c-1\ninstalls web 2.0.0 on 1 cluster: c-1\n" CONFIRM("1 of 1") },
    { "what moves has its successor", SEEN("\"c-1\"", "{\"chartName\":\"db\",\"clusterId\":\"c-1\",\"namespace\":\"old\",\"releaseName\":\"db\",\"status\":\"Deployed\",\"version\":\"1.0.0\"" THERE "}"),
      { ON_C1, NEWER, NULL }, { ON_C1, DB, NULL },
      "moves db 1.0.0 -> 1.1.0 from old/db to db/db on 1 cluster: c-1 (installed there first, then uninstalled under the former name)", NULL },
    { "on each cluster by itself", SEEN("\"c-1\",\"c-2\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE) "," ENTRY("db", "c-2", "Deployed", "1.0.0", THERE)),
      { ON_C1, NEW, NULL }, { IDS("\"c-1\",\"c-2\""), DB, NULL },
      "leaves 1 cluster: c-2, and its releases are uninstalled there\nuninstalls db (once what takes its place is deployed) from 1 cluster: c-1",
      "leaves 1 cluster: c-2, and its releases are uninstalled there\nuninstalls db (once what takes its place is deployed) from 1 cluster: c-1\ninstalls new 3.0.0 on 1 cluster: c-1" },
};

static void the_status_says_what_is_there(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stored_rows) / sizeof(stored_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts_builder builder;
        const char *says = stored_rows[i].says, *status = stored_rows[i].status;
        const char *full = stored_rows[i].dry_run ? stored_rows[i].dry_run : stored_rows[i].applied;

        set_up(arena, &builder);
        rows_expect_str(says, previewed(arena, &builder.facts, &stored_rows[i].now, &stored_rows[i].old, status, false),
                        str_of(stored_rows[i].applied));
        rows_expect_str(says, previewed(arena, &builder.facts, &stored_rows[i].now, &stored_rows[i].old, status, true),
                        str_of(full));
    }
}

/* A Stack that goes by a selector keeps the clusters of its status while no other is known. */
static void a_selector_among_unknown_clusters(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct facts facts = { .clusters_known = false };
    struct version old = { LABELS("\"a\":\"b\""), DB, NULL }, now = { LABELS("\"a\":\"b\""), NEWER, NULL };
    const char *status = SEEN("\"c-1\"", ENTRY("db", "c-1", "Deployed", "1.0.0", THERE));

    (void)state;
    rows_expect_str("nothing is said to go", previewed(arena, &facts, &now, &old, status, false), STR(""));
    rows_expect_str("what changes is told", previewed(arena, &facts, &now, &old, status, true),
                    STR("upgrades db 1.0.0 -> 1.1.0 on 1 cluster: c-1\nthe clusters are not known to the webhook"));
}

/* Clusters that are not known are those that are named. */
static const struct row blind_rows[] = {
    { "by id", { IDS("\"c-1\",\"c-7\""), CHART("db", "1.1.0", ""), NULL }, { IDS("\"c-1\""), DB, NULL },
      "", "installs 1 chart on 1 cluster: c-7\nupgrades db 1.0.0 -> 1.1.0 on 1 cluster: c-1\nthe clusters are not known to the webhook" },
    { "by a selector", { LABELS("\"a\":\"b\""), CHART("db", "1.1.0", ""), NULL }, { LABELS("\"a\":\"b\""), DB, NULL },
      "", "the clusters are not known to the webhook" },
    { "a new one", { LABELS("\"a\":\"b\""), DB "," WEB, NULL }, { 0 },
      "", "installs db 1.0.0 and web 2.0.0\non each cluster db, then web\nthe clusters are not known to the webhook" },
};

static void clusters_that_are_not_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(blind_rows) / sizeof(blind_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts facts = { .clusters_known = false };
        const struct row *row = &blind_rows[i];

        rows_expect_str(row->says, previewed(arena, &facts, &row->now, &row->old, NULL, false),
                        str_of(row->applied));
        rows_expect_str(row->says, previewed(arena, &facts, &row->now, &row->old, NULL, true),
                        str_of(row->dry_run));
    }
}

/* Each cluster by overrides of its own. The review must go on within its memory and time. */
static void too_much_to_be_told_is_not_looked_for(void **state)
{
    enum { CLUSTERS = 300, OVERRIDES = 9, CHARTS = 100 };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(arena_free) struct arena *used = arena_create(0);
    struct facts_builder builder;
    struct stack_builder b = a_stack(arena);
    struct problems ignored = problems_new(arena);
    struct strbuf spec = strbuf_new(arena, 4096);

    (void)state;
    some_facts(arena, &builder);
    for (int i = 0; i < CLUSTERS; i++)
        with_cluster(&builder, str_fmt(arena, "c-%d", i).at, "env=prod");
    for (int i = 0; i < CHARTS; i++)
        with_chart(&b, str_fmt(arena, "x%d", i).at, "");
    strbuf_lit(&spec, "\"overrides\":[");
    for (int i = 0; i < OVERRIDES; i++) {
        strbuf_fmt(&spec, "%s{\"clusterIds\":[\"none\"", i ? "," : "");
        for (int k = 0; k < CLUSTERS; k++)
            if (k >> i & 1)
                strbuf_fmt(&spec, ",\"c-%d\"", k);
        strbuf_lit(&spec, "],\"charts\":[");
        for (int k = 0; k < CHARTS; k++)
            strbuf_fmt(&spec, "%s{\"name\":\"x%d\",\"version\":\"2.%d.0\"}", k ? "," : "", k, i);
        strbuf_lit(&spec, "]}");
    }
    strbuf_lit(&spec, "]");
    with_targets(&b, "{\"selector\":{\"matchLabels\":{\"env\":\"prod\"}}}");
    with_spec(&b, str_z(arena, strbuf_str(&spec)));

    const struct stack *stack = stack_default(arena, stack_decode(arena, stack_json(&b), &ignored), NULL);
    struct str_list lines = stack_preview(used, stack, resolved_targets_of(arena, stack, &builder.facts), (struct json){ NULL, 0 },
                                          &builder.facts, true);

    rows_expect_int("one line", lines.count, 1);
    rows_expect("says so", str_find(lines.items[0], STR("the changes of charts are not listed"), 0) >= 0, lines.items[0].at);
    rows_expect("in little memory", arena_used(used) < 1 << 20, "1 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes),
        cmocka_unit_test(the_same_again_is_told_nothing_of),
        cmocka_unit_test(the_status_says_what_is_there),
        cmocka_unit_test(a_selector_among_unknown_clusters),
        cmocka_unit_test(clusters_that_are_not_known),
        cmocka_unit_test(too_much_to_be_told_is_not_looked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
