/* SPDX-License-Identifier: Apache-2.0 */
/* fleet.c: Helm on some clusters, as far as a plan can tell. */
#include "support/fleet.h"

#include "support/rows.h"

#include <stdlib.h>

#define REPO "https://charts.example.com"

static const char *const edit_names[EDIT_COUNT] = {
    "version", "bad", "flaky", "values", "skip", "rename", "move", "replace", "remove", "add",
    "labels", "targets", "waves", "bounds", "paused", "onFailure",
};

const char *fleet_edit_name(enum fleet_edit edit)
{
    return edit_names[edit];
}

bool fleet_chance(struct fleet *f, uint32_t per_cent)
{
    return rng_below(&f->rng, 100) < per_cent;
}

static uint32_t below(struct fleet *f, uint32_t bound)
{
    return (uint32_t)rng_below(&f->rng, bound);
}

/* The spec */

struct str fleet_chart_name(const struct fleet *f, uint32_t i)
{
    return str_fmt(f->scene.arena, "%c%u", 'c' + (int)f->spec.charts[i].replaced, i);
}

struct str fleet_release_name(const struct fleet *f, uint32_t i)
{
    return str_fmt(f->scene.arena, "%.*s-%u", STR_ARG(fleet_chart_name(f, i)),
                   f->spec.charts[i].renamed);
}

struct str fleet_namespace(const struct fleet *f, uint32_t i)
{
    return str_fmt(f->scene.arena, "n%u-%u", i, f->spec.charts[i].moved);
}

static struct str version_of(const struct fleet *f, uint32_t i)
{
    const struct fleet_chart *chart = &f->spec.charts[i];

    return str_fmt(f->scene.arena, "1.%u.0%s", chart->version, chart->quality);
}

static void put_ids(struct strbuf *out, const bool *on)
{
    bool first = true;

    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        if (on[k]) {
            strbuf_fmt(out, "%s\"k%u\"", first ? "" : ",", k);
            first = false;
        }
}

static void put_charts(const struct fleet *f, struct strbuf *out)
{
    bool first = true;

    strbuf_lit(out, "\"charts\":[");
    for (uint32_t i = 0; i < FLEET_CHARTS; i++) {
        const struct fleet_chart *chart = &f->spec.charts[i];

        if (!chart->there)
            continue;
        strbuf_fmt(out, "%s{\"name\":\"%.*s\",\"repo\":\"" REPO "\",\"version\":\"%.*s\","
                   "\"namespace\":\"%.*s\",\"releaseName\":\"%.*s\",\"dependsOn\":[",
                   first ? "" : ",", STR_ARG(fleet_chart_name(f, i)), STR_ARG(version_of(f, i)),
                   STR_ARG(fleet_namespace(f, i)), STR_ARG(fleet_release_name(f, i)));
        if (chart->need != FLEET_NONE && f->spec.charts[chart->need].there)
            strbuf_fmt(out, "\"%.*s\"", STR_ARG(fleet_chart_name(f, chart->need)));
        strbuf_lit(out, "]}");
        first = false;
    }
    strbuf_lit(out, "]");
}

static void put_overrides(const struct fleet *f, struct strbuf *out)
{
    static const bool first_three[FLEET_CLUSTERS] = { true, true, true };
    const struct fleet_spec *spec = &f->spec;

    strbuf_lit(out, ",\"overrides\":[{\"clusterIds\":[");
    put_ids(out, first_three);
    strbuf_fmt(out, "],\"charts\":[{\"name\":\"%.*s\",\"values\":{\"inline\":{\"n\":%u}}}]}",
               STR_ARG(fleet_chart_name(f, 0)), spec->values);
    if (spec->skip_chart != FLEET_NONE) {
        if (spec->skip_by_labels) {
            strbuf_lit(out, ",{\"selector\":{\"matchLabels\":{\"skip\":\"yes\"}}");
        } else {
            strbuf_lit(out, ",{\"clusterIds\":[");
            put_ids(out, spec->skip_on);
            strbuf_lit(out, "]");
        }
        strbuf_fmt(out, ",\"charts\":[{\"name\":\"%.*s\",\"skip\":true}]}",
                   STR_ARG(fleet_chart_name(f, spec->skip_chart)));
    }
    strbuf_lit(out, "]");
}

static void put_rollout(const struct fleet *f, struct strbuf *out)
{
    const struct fleet_spec *spec = &f->spec;

    strbuf_fmt(out, ",\"rollout\":{\"maxConcurrentClusters\":%u,\"maxFailures\":%lld,"
               "\"maxUnavailable\":\"%u\",\"removalDelay\":\"%ds\",\"waves\":[", spec->concurrent,
               (long long)spec->failures_max, spec->unavailable, FLEET_REMOVAL_DELAY_MS / 1000);
    for (uint32_t w = 0; w < spec->waves; w++) {
        bool in[FLEET_CLUSTERS];

        for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
            in[k] = spec->wave_of[k] == w;
        strbuf_fmt(out, "%s{\"name\":\"w%u\",\"pause\":\"%ums\",\"approval\":\"%s\",\"selector\":{"
                   "\"matchExpressions\":[{\"key\":\"id\",\"operator\":\"%s\"", w ? "," : "", w,
                   spec->pause_ms, spec->manual[w] ? "Manual" : "Automatic", "In");
        strbuf_lit(out, ",\"values\":[\"none\"");
        for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
            if (in[k])
                strbuf_fmt(out, ",\"k%u\"", k);
        strbuf_lit(out, "]}]}}");
    }
    strbuf_lit(out, "]}");
}

static const char *members(const struct fleet *f)
{
    struct strbuf out = strbuf_new(f->scene.arena, 2048);

    put_charts(f, &out);
    put_overrides(f, &out);
    put_rollout(f, &out);
    strbuf_fmt(&out, ",\"paused\":%s,\"onFailure\":\"%s\",\"drift\":\"%s\"",
               f->spec.paused ? "true" : "false", f->spec.stops ? "Stop" : "Retry",
               f->spec.corrects ? "Correct" : "Detect");
    return str_z(f->scene.arena, strbuf_str(&out));
}

static void make_waves(struct fleet *f)
{
    f->spec.waves = below(f, FLEET_WAVES + 1);
    f->spec.pause_ms = below(f, 2) * 30000;
    for (uint32_t w = 0; w < FLEET_WAVES; w++)
        f->spec.manual[w] = fleet_chance(f, 30);
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        f->spec.wave_of[k] = below(f, f->spec.waves + 1);
}

static void make_bounds(struct fleet *f)
{
    f->spec.concurrent = fleet_chance(f, 15) ? 0 : 1 + below(f, 2);
    f->spec.failures_max = (int64_t)below(f, 4) - 1;
    f->spec.unavailable = below(f, 3);
}

static void make_charts(struct fleet *f)
{
    uint32_t count = 1 + below(f, FLEET_CHARTS - 1);

    for (uint32_t i = 0; i < FLEET_CHARTS; i++)
        f->spec.charts[i] = (struct fleet_chart){
            .there = i < count,
            .quality = "",
            .need = i && fleet_chance(f, 50) ? below(f, i) : FLEET_NONE,
        };
}

static struct json labels_of(const struct fleet *f, uint32_t k)
{
    struct json labels = { NULL, 0 };
    struct error ignored = { 0 };
    bool skips = f->spec.skip_by_labels && f->spec.skip_on[k];

    (void)json_read(f->scene.arena,
                    str_fmt(f->scene.arena, "{\"id\":\"k%u\"%s}", k, skips ? ",\"skip\":\"yes\"" : ""),
                    &json_limits_default, &labels, &ignored);
    return labels;
}

/* What the spec wants, as the plan will find it. */
static void find_wanted(struct fleet *f)
{
    struct releases *releases =
        releases_new(f->scene.arena, f->scene.stack, &f->scene.observed.references);

    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++) {
        struct str id = str_fmt(f->scene.arena, "k%u", k);
        struct template_facts facts = { id, id, labels_of(f, k) };
        struct u32_list on = releases_overrides(releases, &facts);
        uint32_t at = 0;

        for (uint32_t i = 0; i < FLEET_CHARTS; i++) {
            struct fleet_wanted *to = &f->clusters[k].wanted[i];

            *to = (struct fleet_wanted){ 0 };
            if (!f->spec.charts[i].there)
                continue;

            struct wanted_release wanted = releases_wanted(releases, at++, &on, &facts);

            if (wanted.desired && f->clusters[k].targeted)
                *to = (struct fleet_wanted){ true, wanted.desired->digest };
        }
    }
}

void fleet_make(struct fleet *f, struct arena *arena, uint64_t seed)
{
    f->rng = rng_from_seed(seed);
    f->more = rng_from_seed(~seed);
    f->blocks = rng_below(&f->more, 100) < 50;
    f->sickens = rng_below(&f->more, 100) < 50;
    f->scene.arena = arena;
    f->works = fleet_works_new(arena, 8);
    f->spec.skip_chart = FLEET_NONE;
    make_charts(f);
    make_waves(f);
    make_bounds(f);
    f->spec.corrects = fleet_chance(f, 30);
    f->scene = a_scene(arena, NULL, members(f));
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        f->clusters[k] = (struct fleet_cluster){
            .connected = true,
            .targeted = k < 2 || fleet_chance(f, 80),
            .releases = observed_releases_new(arena, FLEET_CHARTS),
            .operations = observed_operations_new(arena, 16),
        };
    find_wanted(f);
}

/* Edits */

/* A chart that is there, or is not. */
static uint32_t some_chart(struct fleet *f, bool there)
{
    uint32_t from = below(f, FLEET_CHARTS);

    for (uint32_t n = 0; n < FLEET_CHARTS; n++)
        if (f->spec.charts[(from + n) % FLEET_CHARTS].there == there)
            return (from + n) % FLEET_CHARTS;
    return FLEET_NONE;
}

static uint32_t count_charts(const struct fleet *f)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < FLEET_CHARTS; i++)
        count += f->spec.charts[i].there;
    return count;
}

static void edit_skip(struct fleet *f)
{
    f->spec.skip_chart = f->spec.skip_chart == FLEET_NONE ? some_chart(f, true) : FLEET_NONE;
    f->spec.skip_by_labels = fleet_chance(f, 50);
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        f->spec.skip_on[k] = fleet_chance(f, 50);
}

static bool edit_chart(struct fleet *f, enum fleet_edit edit)
{
    uint32_t at = some_chart(f, edit != EDIT_ADD);
    struct fleet_chart *chart;

    if (at == FLEET_NONE || (edit == EDIT_REMOVE && count_charts(f) < 2))
        return false;
    chart = &f->spec.charts[at];
    chart->renamed += edit == EDIT_RENAME;
    chart->moved += edit == EDIT_MOVE;
    chart->replaced += edit == EDIT_REPLACE || edit == EDIT_ADD;
    chart->there = edit != EDIT_REMOVE;
    if (edit <= EDIT_FLAKY) {
        chart->version++;
        chart->quality = edit == EDIT_BAD ? "-bad" : edit == EDIT_FLAKY ? "-flaky" : "";
        memset(f->flaked, 0, sizeof(f->flaked));
    }
    return true;
}

static void edit_targets(struct fleet *f)
{
    f->clusters[below(f, FLEET_CLUSTERS)].targeted ^= true;
    if (fleet_chance(f, 30))
        f->clusters[below(f, FLEET_CLUSTERS)].targeted ^= true;
}

bool fleet_edit(struct fleet *f, enum fleet_edit edit)
{
    switch (edit) {
    case EDIT_VERSION:
    case EDIT_BAD:
    case EDIT_FLAKY:
    case EDIT_RENAME:
    case EDIT_MOVE:
    case EDIT_REPLACE:
    case EDIT_REMOVE:
    case EDIT_ADD:
        return edit_chart(f, edit);
    case EDIT_VALUES: f->spec.values++; break;
    case EDIT_SKIP: edit_skip(f); break;
    case EDIT_LABELS:
    case EDIT_TARGETS: edit_targets(f); break;
    case EDIT_WAVES: make_waves(f); break;
    case EDIT_BOUNDS: make_bounds(f); break;
    case EDIT_PAUSED: f->spec.paused ^= true; break;
    case EDIT_ON_FAILURE: f->spec.stops ^= true; break;
    case EDIT_COUNT: break;
    }
    return true;
}

void fleet_change(struct fleet *f, bool of_spec)
{
    f->scene.next_charts = NULL;
    f->scene.next_members = members(f);
    f->scene.observed.clusters.count = 0;
    if (of_spec)
        scene_play(&f->scene, "change");
    find_wanted(f);
}

void fleet_annotate(struct fleet *f, const char *name, struct str value)
{
    scene_play(&f->scene, str_fmt(f->scene.arena, "annotate %s %.*s", name, STR_ARG(value)).at);
}

/* What is there */

struct observed_release *fleet_app(const struct fleet *f, uint32_t k, struct str namespace_,
                                   struct str name)
{
    const struct observed_releases *all = &f->clusters[k].releases;

    for (uint32_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].name, name) && str_eq(all->items[i].namespace_, namespace_))
            return &all->items[i];
    return NULL;
}

bool fleet_owns(const struct observed_release *app)
{
    return str_eq(app->marked_uid.len ? app->marked_uid : app->stack_uid, STR("uid-1"));
}

bool fleet_is_deployed(const struct fleet *f, uint32_t k, uint32_t i)
{
    const struct fleet_wanted *wanted = &f->clusters[k].wanted[i];
    const struct observed_release *app =
        fleet_app(f, k, fleet_namespace(f, i), fleet_release_name(f, i));

    if (!wanted->wanted || !app || !fleet_owns(app) || app->phase != RELEASE_DEPLOYED)
        return false;
    return str_eq(app->digest, wanted->digest) ||
           (!f->spec.corrects && !app->stack.len && str_eq(app->marked_digest, wanted->digest));
}

bool fleet_is_wanted(const struct fleet *f, uint32_t k, const struct observed_release *app)
{
    for (uint32_t i = 0; i < FLEET_CHARTS; i++)
        if (f->clusters[k].wanted[i].wanted && str_eq(app->name, fleet_release_name(f, i)) &&
            str_eq(app->namespace_, fleet_namespace(f, i)))
            return true;
    return false;
}

bool fleet_is_done(const struct fleet *f, uint32_t k)
{
    const struct fleet_cluster *c = &f->clusters[k];

    for (uint32_t i = 0; i < FLEET_CHARTS; i++)
        if (c->wanted[i].wanted && !fleet_is_deployed(f, k, i))
            return false;
    for (uint32_t i = 0; i < c->releases.count; i++)
        if (fleet_owns(&c->releases.items[i]) && !fleet_is_wanted(f, k, &c->releases.items[i]))
            return false;
    return true;
}

/* Helm */

static void remove_app(struct fleet *f, uint32_t k, const struct observed_release *app)
{
    struct observed_releases *all = &f->clusters[k].releases;

    for (uint32_t i = 0; i < all->count; i++)
        if (&all->items[i] == app) {
            all->items[i] = all->items[--all->count];
            return;
        }
}

/* The next revision of a release; the mark stays. */
static void store(struct fleet *f, const struct fleet_work *w, enum release_phase phase)
{
    struct observed_release *app = fleet_app(f, w->cluster, w->makes.namespace_, w->makes.name);
    struct observed_release made = w->makes;

    if (!app)
        app = observed_releases_push(&f->clusters[w->cluster].releases,
                                     (struct observed_release){
                                         .uid = str_fmt(f->scene.arena, "app-%u", ++f->apps) });
    made.uid = app->uid;
    made.phase = phase;
    made.revision = app->phase == RELEASE_PENDING ? app->revision : app->revision + 1;
    made.marked_stack = app->marked_stack;
    made.marked_uid = app->marked_uid;
    made.marked_digest = app->marked_digest;
    made.corrections = app->corrections;
    made.marked_ms = app->marked_ms;
    *app = made;
}

static struct observed_operation *operation_of(struct fleet *f, const struct fleet_work *w)
{
    struct observed_operations *all = &f->clusters[w->cluster].operations;

    for (uint32_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].name, w->operation))
            return &all->items[i];
    fail_msg("an operation is lost");
    return NULL;
}

static void begin(struct fleet *f, struct fleet_work *w)
{
    w->stage = WORK_RUNS;
    observed_operations_push(&f->clusters[w->cluster].operations, (struct observed_operation){
        .namespace_ = w->makes.namespace_, .name = w->operation, .release_name = w->makes.name,
        .stack_uid = STR("uid-1"), .uninstall = w->uninstall, .state = OPERATION_RUNNING,
        .created_ms = w->sent_ms / 1000 * 1000 });
    if (!w->uninstall && fleet_chance(f, 50))
        store(f, w, RELEASE_PENDING);
}

static bool fails(struct fleet *f, const struct fleet_work *w)
{
    struct str version = w->makes.chart_version;
    bool flaky = str_ends(version, STR("-flaky")) && !f->flaked[w->cluster];

    if (w->uninstall)
        return f->storms && fleet_chance(f, 15);
    f->flaked[w->cluster] = f->flaked[w->cluster] || flaky;
    return flaky || str_ends(version, STR("-bad")) || (f->storms && fleet_chance(f, 10));
}

/* Whether it is over. */
static bool end(struct fleet *f, struct fleet_work *w)
{
    struct observed_operation *op = operation_of(f, w);
    struct observed_release *app = fleet_app(f, w->cluster, w->makes.namespace_, w->makes.name);

    if (fails(f, w)) {
        op->state = OPERATION_FAILED;
        op->log_read = fleet_chance(f, 50);
        op->message = STR("no");
        op->pods_read = true;
        if (!w->uninstall && ((app && app->phase == RELEASE_PENDING) || fleet_chance(f, 50)))
            store(f, w, RELEASE_FAILED);
        return true;
    }
    op->state = OPERATION_SUCCEEDED;
    w->stage = WORK_ENDED_WELL;
    return false;
}

static void show_end(struct fleet *f, const struct fleet_work *w)
{
    struct observed_release *app = fleet_app(f, w->cluster, w->makes.namespace_, w->makes.name);

    if (!w->uninstall)
        store(f, w, RELEASE_DEPLOYED);
    else if (app)
        remove_app(f, w->cluster, app);
}

static bool is_over(struct fleet *f, struct fleet_work *w)
{
    bool late = f->scene.observed.now_ms - w->sent_ms >= 20000;

    switch (w->stage) {
    case WORK_SENT:
        if (late || fleet_chance(f, 70))
            begin(f, w);
        return false;
    case WORK_RUNS:
        if (fleet_chance(f, 60) && end(f, w))
            return true;
        if (w->stage == WORK_RUNS || fleet_chance(f, 20))
            return false;
        break;
    case WORK_ENDED_WELL:
        break;
    }
    show_end(f, w);
    return true;
}

/* Somebody upgrades or takes away a release that is marked. */
static void meddle(struct fleet *f, uint32_t k)
{
    struct observed_releases *all = &f->clusters[k].releases;
    struct observed_release *app = all->count ? &all->items[below(f, all->count)] : NULL;

    if (!app || !app->marked_uid.len || app->phase != RELEASE_DEPLOYED)
        return;
    for (uint32_t i = 0; i < f->works.count; i++)
        if (f->works.items[i].cluster == k && str_eq(f->works.items[i].makes.name, app->name))
            return;
    if (fleet_chance(f, 30)) {
        f->clusters[k].robbed = true;
        remove_app(f, k, app);
        return;
    }
    app->revision++;
    /* What the mark does not say yet is lost with the stamp. */
    if (!str_eq(app->marked_digest, app->digest))
        app->replaces = STR("");
    app->stack = app->stack_uid = app->digest = STR("");
    app->stamped_revision = 0;
}

/* Whether somebody may deploy to the cluster. */
static void move_block(struct fleet *f, struct fleet_cluster *c)
{
    bool ends = rng_below(&f->more, 100) < 25;
    bool begins = rng_below(&f->more, 100) < 10;
    enum fleet_block next = (enum fleet_block)(1 + rng_below(&f->more, BLOCK_OTHER_STACK));

    if (!f->storms || !f->blocks || (c->block && ends))
        c->block = BLOCK_NONE;
    else if (!c->block && begins)
        c->block = next;
}

/* How the workloads of a release are. */
static void move_health(struct fleet *f, struct fleet_cluster *c)
{
    uint64_t at = rng_below(&f->more, FLEET_CHARTS);
    uint64_t draw = rng_below(&f->more, 100);

    for (uint32_t i = 0; (!f->storms || !f->sickens || draw < 20) && i < c->releases.count; i++)
        c->releases.items[i].health = (struct observed_health){ .failed = false };
    if (f->storms && f->sickens && draw >= 92 && at < c->releases.count)
        c->releases.items[at].health = (struct observed_health){
            .message = STR("Deployment web: 0 of 1"), .failed = draw >= 96, .pods_read = true };
}

void fleet_move(struct fleet *f)
{
    f->scene.observed.now_ms += 1000 + (int64_t)rng_below(&f->rng, f->storms ? 9000 : 17000);
    for (uint32_t i = 0; i < f->works.count; i++)
        if (is_over(f, &f->works.items[i]))
            f->works.items[i--] = f->works.items[--f->works.count];
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++) {
        struct fleet_cluster *c = &f->clusters[k];

        if (!f->storms || fleet_chance(f, 30))
            c->connected = true;
        else if (fleet_chance(f, 3))
            c->connected = false;
        if (f->storms && fleet_chance(f, 2))
            meddle(f, k);
        move_block(f, c);
        move_health(f, c);
    }
}

/* The plan's view */

static void show_block(struct fleet *f, const struct fleet_cluster *c, struct observed_cluster *to)
{
    if (c->block == BLOCK_DENIED) {
        to->access_reason = REASON(ACCESS_DENIED);
        to->access_message = STR("ann may not deploy there");
    } else if (c->block == BLOCK_ACCESS_EXPIRED) {
        to->unasked_message = STR("the API server is asked whether ann may deploy there");
    } else if (c->block == BLOCK_OTHER_STACK) {
        struct observed_stack *base = &f->scene.observed.stacks.items[0];

        str_list_push(&base->targets, to->id);
        str_list_push(&base->pending, to->id);
        base->ready = false;
    }
}

static void show_cluster(struct fleet *f, uint32_t k)
{
    const struct fleet_cluster *c = &f->clusters[k];
    struct observed_cluster shown = {
        .id = str_fmt(f->scene.arena, "k%u", k),
        .targeted = c->targeted,
        .local = c->local,
        .state = c->connected ? CLUSTER_READ : CLUSTER_DISCONNECTED,
        .labels = labels_of(f, k),
        .repos = observed_repos_new(f->scene.arena, 1),
        .versions = observed_versions_new(f->scene.arena, FLEET_CHARTS),
    };

    shown.display_name = shown.id;
    if (c->connected) {
        shown.releases = c->releases;
        shown.operations = c->operations;
        observed_repos_push(&shown.repos, (struct observed_repo){
            .url = STR(REPO), .name = STR("herd-repo"), .state = REPO_READY });
        for (uint32_t i = 0; i < FLEET_CHARTS; i++)
            observed_versions_push(&shown.versions, (struct observed_version){
                .repo = STR(REPO), .chart = fleet_chart_name(f, i), .version = version_of(f, i),
                .state = VERSION_FOUND, .resolved = version_of(f, i) });
    }
    show_block(f, c, &shown);
    f->seen[f->scene.observed.clusters.count] = k;
    observed_clusters_push(&f->scene.observed.clusters, shown);
}

/* Targets, and what the status names: as controller/reconcilers/stack/gather.c finds them. */
static bool is_looked_at(const struct fleet *f, uint32_t k)
{
    const struct stack_status *before = &f->scene.before;
    struct str id = str_fmt(f->scene.arena, "k%u", k);

    if (f->clusters[k].targeted)
        return true;
    if (!f->scene.written.len)
        return false;
    if (str_list_has(&before->target_clusters, id) || str_list_has(&before->held_clusters, id))
        return true;
    for (uint32_t i = 0; i < before->deployments.count; i++)
        if (str_eq(before->deployments.items[i].cluster_id, id))
            return true;
    return false;
}

void fleet_plan(struct fleet *f)
{
    f->scene.observed.clusters = observed_clusters_new(f->scene.arena, FLEET_CLUSTERS);
    f->scene.observed.stacks = observed_stacks_new(f->scene.arena, 1);
    observed_stacks_push(&f->scene.observed.stacks, (struct observed_stack){
        .name = STR("base"), .exists = true, .current = true, .ready = true,
        .targets = str_list_new(f->scene.arena, 1), .pending = str_list_new(f->scene.arena, 1),
        .depends_on = str_list_new(f->scene.arena, 0) });
    str_list_push(&f->scene.observed.stacks.items[0].targets, STR("elsewhere"));
    for (uint32_t k = 0; k < FLEET_CLUSTERS; k++)
        if (is_looked_at(f, k))
            show_cluster(f, k);
    scene_plan(&f->scene);
}

static void send(struct fleet *f, const struct action *a)
{
    const struct observed_release *app =
        fleet_app(f, f->seen[a->cluster], a->namespace_, a->release_name);
    struct fleet_work w = { .cluster = f->seen[a->cluster],
                            .uninstall = a->kind == ACTION_UNINSTALL,
                            .sent_ms = f->scene.observed.now_ms,
                            .makes = { .namespace_ = a->namespace_, .name = a->release_name } };

    if (f->storms && fleet_chance(f, 8))
        return; /* lost */
    if (w.uninstall && !app)
        return; /* Rancher knows none */
    if (!w.uninstall) {
        w.makes.stack = STR("team/shop");
        w.makes.stack_uid = STR("uid-1");
        w.makes.digest = a->desired->digest;
        w.makes.depends_on = a->desired->depends_on;
        w.makes.replaces = a->replaces;
        w.makes.chart_name = a->chart_name;
        w.makes.chart_version = a->version;
        w.makes.stamped_revision = a->revision + 1;
    }
    w.operation = str_fmt(f->scene.arena, "op-%u", ++f->operations);
    fleet_works_push(&f->works, w);
}

/* The pending revision goes, and with it what was at work on it. */
static void remove_lock(struct fleet *f, const struct action *a)
{
    uint32_t k = f->seen[a->cluster];
    struct observed_release *app = fleet_app(f, k, a->namespace_, a->release_name);

    if (!app || app->phase != RELEASE_PENDING || app->revision != a->revision)
        return;
    for (uint32_t i = 0; i < f->works.count; i++)
        if (f->works.items[i].cluster == k && str_eq(f->works.items[i].makes.name, app->name))
            f->works.items[i--] = f->works.items[--f->works.count];
    app->phase = RELEASE_DEPLOYED;
    app->digest = STR("sha256:before");
    app->stamped_revision = --app->revision;
}

static void read_operation(struct fleet *f, const struct action *a)
{
    struct observed_operations *all = &f->clusters[f->seen[a->cluster]].operations;

    for (uint32_t i = 0; i < all->count; i++) {
        struct observed_operation *op = &all->items[i];

        if (!str_eq(op->name, a->operation))
            continue;
        op->pods_read = op->pods_read || a->kind == ACTION_READ_PODS;
        op->log_read = op->log_read || a->kind == ACTION_READ_LOG;
        op->proven = op->log_read && op->state == OPERATION_SUCCEEDED;
    }
}

void fleet_send(struct fleet *f)
{
    for (uint32_t i = 0; i < f->scene.plan.actions.count; i++) {
        const struct action *a = &f->scene.plan.actions.items[i];

        if (a->kind == ACTION_UPGRADE || a->kind == ACTION_UNINSTALL)
            send(f, a);
        else if (a->kind == ACTION_REMOVE_LOCK)
            remove_lock(f, a);
        else if (a->kind == ACTION_READ_LOG || a->kind == ACTION_READ_PODS)
            read_operation(f, a);
        else
            fail_msg("the fleet knows no %s", action_name(a->kind));
    }
}
