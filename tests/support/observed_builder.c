/* SPDX-License-Identifier: Apache-2.0 */
/* observed_builder.c: worlds for tests, played word by word. */
#include "support/observed_builder.h"

#include "base/duration.h"
#include "support/rows.h"

#include "stack/model/decode.h"
#include "stack/model/default.h"

#include <stdlib.h>

#define REPO "https://charts.example.com"
#define START_MS 1700000000000LL

static void put_charts(struct strbuf *out, struct str charts)
{
    struct str one;
    bool first = true;

    while (str_split(&charts, ' ', &one)) {
        struct str name;
        struct str need;
        bool first_need = true;

        if (!one.len)
            continue;
        (void)str_split(&one, '<', &name);
        strbuf_fmt(out,
                   "%s{\"name\":\"%.*s\",\"repo\":\"" REPO "\",\"version\":\"1.2.3\","
                   "\"values\":{\"configMapRefs\":[{\"name\":\"%.*s\"}],\"secretRefs\":[{\"name\":"
                   "\"%.*s\",\"optional\":true}]},\"dependsOn\":[",
                   first ? "" : ",", STR_ARG(name), STR_ARG(name), STR_ARG(name));
        first = false;
        while (one.len && str_split(&one, ',', &need)) {
            strbuf_fmt(out, "%s\"%.*s\"", first_need ? "" : ",", STR_ARG(need));
            first_need = false;
        }
        strbuf_lit(out, "]}");
    }
}

#define AUTHOR ",\"annotations\":{\"" STACK_LAST_APPLIED_BY "\":\"ann\"}"

const struct stack *scene_stack(struct arena *arena, const char *charts, const char *members,
                                const char *meta_members)
{
    struct strbuf text = strbuf_new(arena, 1024);
    struct problems problems = problems_new(arena);
    struct json json;
    struct error err = { 0 };

    strbuf_fmt(
        &text,
        "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":"
        "\"shop\",\"namespace\":\"team\",\"uid\":\"uid-1\"%s%s},\"spec\":{\"env\":\"dev\"%s%s,",
        meta_members, strstr(meta_members, "\"annotations\"") ? "" : AUTHOR, members[0] ? "," : "",
        members);
    if (!strstr(members, "\"targets\""))
        strbuf_lit(&text, "\"targets\":{\"selector\":{\"matchLabels\":{\"x\":\"y\"}}},");
    if (charts) {
        strbuf_lit(&text, "\"charts\":[");
        put_charts(&text, str_of(charts));
        strbuf_lit(&text, "],");
    }
    text.len--; /* the last comma */
    strbuf_lit(&text, "}}");
    if (json_read(arena, strbuf_str(&text), &json_limits_default, &json, &err) < 0)
        fail_msg("the scene's Stack is no JSON: %s\n%s", err.text, strbuf_str(&text).at);

    const struct stack *stack = stack_default(arena, stack_decode(arena, json, &problems), NULL);

    for (uint32_t i = 0; i < problems.list.count; i++)
        fail_msg("the scene's Stack: %.*s: %.*s", STR_ARG(problems.list.items[i].field),
                 STR_ARG(problems.list.items[i].message));
    return stack;
}

static void remake_stack(struct scene *s)
{
    struct strbuf meta = strbuf_new(s->arena, 256);

    strbuf_fmt(
        &meta, ",\"generation\":%d%s%s,\"annotations\":{\"" STACK_LAST_APPLIED_BY "\":\"%.*s\"",
        (int)s->generation, s->no_finalizer ? "" : ",\"finalizers\":[\"" STACK_FINALIZER "\"]",
        s->deleting ? ",\"deletionTimestamp\":\"2024-01-01T00:00:00Z\"" : "", STR_ARG(s->author));
    for (uint32_t i = 0; i < SCENE_ANNOTATIONS && s->annotations[i].name.len; i++)
        strbuf_fmt(&meta, ",\"herd.suse.com/%.*s\":\"%.*s\"", STR_ARG(s->annotations[i].name),
                   STR_ARG(s->annotations[i].value));
    strbuf_lit(&meta, "}");
    s->stack = scene_stack(s->arena, s->charts, s->members, str_z(s->arena, strbuf_str(&meta)));
}

static void annotate(struct scene *s, struct str name, struct str value)
{
    for (uint32_t i = 0; i < SCENE_ANNOTATIONS; i++) {
        struct scene_annotation *at = &s->annotations[i];

        if (at->name.len && !str_eq(at->name, name))
            continue;
        at->name = name;
        at->value = value;
        remake_stack(s);
        return;
    }
    fail_msg("the scene has no place for another annotation");
}

struct observed_references scene_references(struct arena *arena, const struct stack *stack,
                                            const char *text)
{
    struct observed_references references = observed_references_new(arena, 0);

    for (uint32_t i = 0; i < stack->spec.charts.count; i++) {
        struct observed_reference config = { .name = stack->spec.charts.items[i].name,
                                             .key = STR("values.yaml"),
                                             .state = REFERENCE_READ,
                                             .text = str_of(text) };
        struct observed_reference secret = { .secret = true,
                                             .name = config.name,
                                             .key = config.key,
                                             .optional = true,
                                             .state = REFERENCE_ABSENT };

        observed_references_push(&references, config);
        observed_references_push(&references, secret);
    }
    return references;
}

struct observed_reference *scene_reference(struct scene *s, bool secret, struct str name)
{
    for (uint32_t i = 0; i < s->observed.references.count; i++)
        if (s->observed.references.items[i].secret == secret &&
            str_eq(s->observed.references.items[i].name, name))
            return &s->observed.references.items[i];
    fail_msg("the scene has no reference '%.*s'", STR_ARG(name));
    return NULL;
}

static void remake(struct scene *s)
{
    remake_stack(s);
    s->observed.references = scene_references(s->arena, s->stack, "{\"a\":1}");
}

struct scene a_scene(struct arena *arena, const char *charts, const char *members)
{
    struct scene s = {
        .arena = arena,
        .charts = charts,
        .members = members,
        .next_charts = charts,
        .next_members = members,
        .generation = 1,
        .author = STR("ann"),
        .problems = problems_new(arena),
        .observed = { .now_ms = START_MS,
                      .clusters_known = true,
                      .clusters = observed_clusters_new(arena, 4),
                      .stacks = observed_stacks_new(arena, 0),
                      .dependents = observed_stacks_new(arena, 0),
                      .settle_ms = 30000,
                      .cluster_operations_max = 3 },
    };

    remake(&s);
    return s;
}

struct wanted_release scene_wanted(struct arena *arena, const struct stack *stack,
                                   const struct observed_references *references, uint32_t chart,
                                   const struct template_facts *cluster)
{
    struct releases *releases = releases_new(arena, stack, references);
    struct u32_list on = releases_overrides(releases, cluster);

    return releases_wanted(releases, chart, &on, cluster);
}

struct desired_release scene_desired(const struct scene *s, struct str x, struct str id)
{
    struct desired_release desired = {
        .namespace_ = x, .release_name = x, .chart_name = x, .digest = STR("sha256:old")
    };
    const struct template_facts facts = { .id = id, .name = id };

    for (uint32_t i = 0; i < s->stack->spec.charts.count; i++)
        if (str_eq(s->stack->spec.charts.items[i].name, x)) {
            struct wanted_release wanted =
                scene_wanted(s->arena, s->stack, &s->observed.references, i, &facts);

            return wanted.desired ? *wanted.desired : desired;
        }
    return desired;
}

struct observed_cluster *scene_cluster(struct scene *s, struct str id)
{
    for (uint32_t i = 0; i < s->observed.clusters.count; i++)
        if (str_eq(s->observed.clusters.items[i].id, id))
            return &s->observed.clusters.items[i];

    struct observed_cluster c = {
        .id = id,
        .targeted = true,
        .state = CLUSTER_READ,
        .releases = observed_releases_new(s->arena, 0),
        .operations = observed_operations_new(s->arena, 0),
        .repos = observed_repos_new(s->arena, 1),
        .versions = observed_versions_new(s->arena, 4),
    };
    struct error err = { 0 };
    struct str labels = str_fmt(s->arena, "{\"id\":\"%.*s\"}", STR_ARG(id));

    (void)json_read(s->arena, labels, &json_limits_default, &c.labels, &err);
    observed_repos_push(
        &c.repos,
        (struct observed_repo){ .url = STR(REPO), .name = STR("herd-repo"), .state = REPO_READY });
    return observed_clusters_push(&s->observed.clusters, c);
}

static struct observed_release *release_in(struct observed_cluster *c, struct str namespace_,
                                           struct str name)
{
    for (uint32_t i = 0; i < c->releases.count; i++)
        if (str_eq(c->releases.items[i].name, name) &&
            str_eq(c->releases.items[i].namespace_, namespace_))
            return &c->releases.items[i];
    return observed_releases_push(
        &c->releases, (struct observed_release){ .name = name, .namespace_ = namespace_ });
}

static struct observed_release *release_of(struct observed_cluster *c, struct str name)
{
    return release_in(c, name, name);
}

static struct observed_version *version_of(struct scene *s, struct observed_cluster *c,
                                           struct str chart)
{
    (void)s;
    for (uint32_t i = 0; i < c->versions.count; i++)
        if (str_eq(c->versions.items[i].chart, chart))
            return &c->versions.items[i];
    return observed_versions_push(&c->versions,
                                  (struct observed_version){ .repo = STR(REPO),
                                                             .chart = chart,
                                                             .version = STR("1.2.3"),
                                                             .state = VERSION_FOUND,
                                                             .resolved = STR("1.2.3") });
}

/* One word, and the place "x@a" as the two. */
static struct str word(struct str *rest)
{
    struct str w = { "", 0 };

    *rest = str_trim(*rest);
    if (rest->len && !str_split(rest, ' ', &w))
        w = STR("");
    return w;
}

struct place {
    struct str chart;
    struct observed_cluster *cluster;
};

static struct place place(struct scene *s, struct str *rest)
{
    struct str at = word(rest);
    struct str chart;

    (void)str_split(&at, '@', &chart);
    return (struct place){ chart, scene_cluster(s, at) };
}

static uint32_t choice(struct str w, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(w, str_of(names[i])))
            return i;
    fail_msg("the scene does not know the word '%.*s'", STR_ARG(w));
    return 0;
}

#define CHOICE(w, ...)                                                                             \
    choice((w), (const char *const[]){ __VA_ARGS__ },                                              \
           sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void play_app(struct scene *s, struct str rest)
{
    struct place at = place(s, &rest);
    struct observed_release *app = release_of(at.cluster, at.chart);
    struct desired_release desired = scene_desired(s, at.chart, at.cluster->id);
    uint64_t revision = 0;

    app->phase = (enum release_phase)(
        1 + CHOICE(word(&rest), "deployed", "failed", "pending", "uninstalling", "other"));
    (void)str_to_u64(word(&rest), &revision);
    app->revision = (uint32_t)revision;
    app->chart_version = STR("1.2.3");
    app->stack = STR("team/shop");
    app->stack_uid = STR("uid-1");
    app->chart_name = at.chart;
    app->digest = desired.digest;
    app->depends_on = desired.depends_on;
    app->stamped_revision = app->revision;
    app->health = (struct observed_health){ .failed = false };
    while (rest.len) {
        struct str how = word(&rest);

        switch (CHOICE(how, "old", "foreign", "other", "former", "version", "says", "rolledback",
                       "unmarked", "taken", "wanted", "adopted", "follows", "corrected", "unready",
                       "broken", "missing", "crashing")) {
        case 0:
            app->digest = STR("sha256:old");
            break;
        case 1:
            app->stack = app->stack_uid = app->digest = STR("");
            app->stamped_revision = 0;
            if (!app->marked_uid.len)
                app->chart_name = app->depends_on = app->replaces = STR("");
            break;
        case 2:
            app->stack = STR("team/other");
            app->stack_uid = STR("uid-2");
            break;
        case 3:
            app->stack_uid = STR("uid-0");
            break;
        case 4:
            app->chart_version = word(&rest);
            break;
        case 5:
            app->description = rest;
            rest.len = 0;
            break;
        case 6:
            app->digest = STR("sha256:old");
            app->stamped_revision = 1;
            break;
        case 7:
            app->marked_uid = app->marked_digest = STR("");
            break;
        case 8:
            app->marked_uid = STR("uid-2");
            app->marked_stack = STR("team/other");
            break;
        case 9:
            app->owner_wants = true;
            break;
        case 10:
            app->adopter = STR("team/other");
            break;
        case 11: {
            struct str name = word(&rest);

            app->replaces = kube_key(s->arena, name, name);
            break;
        }
        case 12: {
            uint64_t times = 0;

            (void)str_to_u64(word(&rest), &times);
            app->corrections = (uint32_t)times;
            break;
        }
        case 13:
        case 14:
        case 15:
        case 16:
            app->health = (struct observed_health){ .message = rest,
                                                    .pods_read = !str_eq(how, STR("crashing")),
                                                    .failed = str_eq(how, STR("broken")),
                                                    .missing = str_eq(how, STR("missing")) };
            rest.len = 0;
            break;
        }
    }
}

static void play_gone(struct scene *s, struct str rest)
{
    struct place at = place(s, &rest);
    struct observed_releases *all = &at.cluster->releases;

    for (uint32_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].name, at.chart))
            all->items[i--] = all->items[--all->count];
}

enum op_word { OP_UPGRADE, OP_UNINSTALL, OP_STRANGER, OP_LOG, OP_PODS };

static void play_op(struct scene *s, struct str rest, enum op_word what)
{
    struct place at = place(s, &rest);
    struct str name = word(&rest);
    struct observed_operations *all = &at.cluster->operations;
    struct observed_operation *op = NULL;

    for (uint32_t i = 0; i < all->count; i++)
        if (str_eq(all->items[i].name, name))
            op = &all->items[i];
    if (!op)
        op = observed_operations_push(
            all,
            (struct observed_operation){ .namespace_ = at.chart,
                                         .name = name,
                                         .release_name = at.chart,
                                         .stack_uid = what == OP_STRANGER ? STR("") : STR("uid-1"),
                                         .uninstall = what == OP_UNINSTALL,
                                         .created_ms = s->observed.now_ms });
    if (what == OP_PODS) {
        op->pods_read = true;
        op->pods = str_trim(rest);
        return;
    }
    if (what == OP_LOG)
        op->log_read = true;
    else
        op->state = (enum operation_state)CHOICE(word(&rest), "running", "succeeded", "failed");
    op->message = str_trim(rest);
    op->proven = what == OP_LOG && op->state == OPERATION_SUCCEEDED && !op->message.len;
}

static void play_cluster(struct scene *s, struct str rest)
{
    struct observed_cluster *c = scene_cluster(s, word(&rest));

    for (uint32_t i = 0; i < s->stack->spec.charts.count; i++)
        (void)version_of(s, c, s->stack->spec.charts.items[i].name);
    while (rest.len) {
        uint32_t state = CHOICE(word(&rest), "gone", "disconnected", "not_synced", "read", "stale",
                                "untargeted", "targeted", "near", "resumed");

        if (state == 8)
            c->resumed_ms = s->observed.now_ms;
        else if (state == 7)
            c->nearest = word(&rest);
        else if (state < 5)
            c->state = (enum cluster_state)state;
        else
            c->targeted = state == 6;
    }
}

static void play_values(struct scene *s, struct str rest)
{
    struct str chart = word(&rest);
    struct str reason = word(&rest);

    struct observed_reference *secret = scene_reference(s, true, chart);

    static const enum reference_state states[] = { REFERENCE_READ, REFERENCE_ABSENT,
                                                   REFERENCE_NOT_SYNCED };

    scene_reference(s, false, chart)->state =
        states[CHOICE(reason, "ready", "ConfigMapNotFound", "not_synced")];
    secret->version = word(&rest);
    secret->state = secret->version.len ? REFERENCE_READ : REFERENCE_ABSENT;
}

/* "a,b" in order. */
static struct str_list ids_of(struct scene *s, struct str text)
{
    struct str_list ids = str_list_new(s->arena, 2);
    struct str id;

    while (str_split(&text, ',', &id))
        str_list_push(&ids, id);
    return ids;
}

static void play_stack(struct scene *s, struct str rest, struct observed_stacks *among)
{
    struct str name = word(&rest);
    uint32_t state = CHOICE(word(&rest), "missing", "waiting", "ready", "goes");
    struct observed_stack stack = { .name = name,
                                    .exists = state > 0,
                                    .ready = state == 2,
                                    .deleting = state == 3,
                                    .depends_on = str_list_new(s->arena, 0) };

    while (rest.len)
        switch (CHOICE(word(&rest), "distant", "needs", "on", "pending", "held")) {
        case 0:
            stack.distant = true;
            break;
        case 1:
            str_list_push(&stack.depends_on, word(&rest));
            break;
        case 2:
            stack.targets = ids_of(s, word(&rest));
            stack.current = true;
            break;
        case 3:
            stack.pending = ids_of(s, word(&rest));
            break;
        case 4:
            stack.held = ids_of(s, word(&rest));
            break;
        }
    for (uint32_t i = 0; i < among->count; i++)
        if (str_eq(among->items[i].name, name)) {
            among->items[i] = stack;
            return;
        }
    observed_stacks_push(among, stack);
}

static void play_reject(struct scene *s, struct str rest)
{
    struct place at = place(s, &rest);
    uint32_t course = CHOICE(word(&rest), "again", "terminal", "transient");
    bool terminal = course == 1;

    if (course == 2)
        stack_status_note_transient(s->arena, &s->before, at.cluster->id, at.chart, word(&rest),
                                    STR("rejected"), s->observed.now_ms);
    else
        stack_status_note_failure(s->arena, &s->before, at.cluster->id, at.chart, terminal,
                                  word(&rest), STR("rejected"), s->observed.now_ms);
}

static void play_change(struct scene *s)
{
    s->charts = s->next_charts;
    s->members = s->next_members;
    s->generation++;
    remake(s);
    for (uint32_t c = 0; c < s->observed.clusters.count; c++)
        for (uint32_t i = 0; i < s->stack->spec.charts.count; i++)
            (void)version_of(s, &s->observed.clusters.items[c],
                             s->stack->spec.charts.items[i].name);
}

/* Marks are written at once, and asked of no row. */
static void write_marks(struct scene *s)
{
    struct actions *all = &s->plan.actions;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct action *a = &all->items[i];
        struct observed_release *app;

        if (a->kind != ACTION_MARK) {
            all->items[kept++] = *a;
            continue;
        }
        if (s->observed.clusters.items[a->cluster].state != CLUSTER_READ)
            fail_msg("a release is marked on a cluster that is not read");
        app = release_in(&s->observed.clusters.items[a->cluster], a->namespace_, a->release_name);
        app->marked_uid = s->stack->meta.uid;
        app->marked_digest = str_dup(s->arena, a->digest);
        app->chart_name = a->chart_name;
        app->replaces = a->replaces;
        app->corrections = a->corrections;
        app->marked_revision = a->revision;
        app->marked_ms = s->observed.now_ms;
    }
    all->count = kept;
}

void scene_plan(struct scene *s)
{
    struct error err = { 0 };
    struct json json;

    s->observed.problems = &s->problems;
    s->observed.before = s->written.len ? &s->before : NULL;
    s->plan = stack_plan(s->arena, s->stack, &s->observed);
    s->status = stack_status_of(s->arena, s->stack, &s->observed, &s->plan);
    write_marks(s);
    s->written = stack_status_write_within(s->arena, &s->status,
                                           s->shown_max ? s->shown_max - 1 : UINT32_MAX);
    if (json_read(s->arena, s->written, &json_limits_default, &json, &err) < 0)
        fail_msg("the status is no JSON: %s", err.text);
    s->before = stack_status_read(s->arena, json);
}

static struct vulnerabilities *one_vulnerability(struct arena *arena, const char *cve)
{
    struct vulnerabilities *found = arena_new(arena, struct vulnerabilities);

    *found = (struct vulnerabilities){ .list = vulnerability_list_new(arena, 1) };
    vulnerability_list_push(&found->list,
                            (struct vulnerability){ .severity = VULNERABILITY_CRITICAL,
                                                    .cve = str_of(cve),
                                                    .package = STR("openssl"),
                                                    .version = STR("3.0.1"),
                                                    .fixed = STR("3.0.2") });
    return found;
}

static void play_scan(struct scene *s, struct str rest)
{
    struct place at = place(s, &rest);
    struct observed_release *app = release_of(at.cluster, at.chart);
    uint32_t state = CHOICE(word(&rest), "unasked", "early", "queued", "passed", "critical");
    struct observed_image image = { .digest = STR("sha256:1"),
                                    .name = STR("docker.io/x:1"),
                                    .scan = state == 2 ? IMAGE_QUEUED : IMAGE_SCANNED,
                                    .failure = STR("") };

    image.findings.critical = state == 4 ? 2 : 0;
    if (state == 4)
        image.findings.worst = one_vulnerability(s->arena, "CVE-2099-0001");
    app->workloads = STR("Deployment/web");
    app->scans = (struct observed_scans){ .known = state > 0, .settled = state > 1 };
    app->scans.images = observed_images_new(s->arena, 1);
    observed_images_push(&app->scans.images, image);
}

static void play_scanner(struct scene *s, struct str rest)
{
    struct observed_cluster *cluster = scene_cluster(s, word(&rest));
    struct str reason = word(&rest);

    cluster->scan_reason = str_eq(reason, STR("-")) ? STR("") : reason;
    cluster->scan_message =
        cluster->scan_reason.len ? STR("the scanner cannot tell; repair it") : STR("");
}

struct str scene_change_of(const struct stack_status *status, struct str wave)
{
    for (uint32_t i = 0; i < status->waves.count; i++)
        if (str_eq(status->waves.items[i].name, wave))
            return status->waves.items[i].change;
    return status->change;
}

static void play_one(struct scene *s, struct str line)
{
    struct str rest = str_trim(line);
    struct str verb = word(&rest);
    uint64_t number = 0;
    int64_t ms = 0;

    if (verb.len > 1 && verb.at[0] == '+') {
        if (!duration_parse(str_slice(verb, 1, verb.len), &ms))
            fail_msg("not a duration: %.*s", STR_ARG(verb));
        s->observed.now_ms += ms;
        return;
    }
    switch (CHOICE(verb, "cluster", "app", "gone", "op", "uninstall", "log", "repo", "version",
                   "values", "stack", "clusters", "room", "problem", "reject", "change", "delete",
                   "abandon", "nofinalizer", "plan", "finalizer", "pods", "stranger", "author",
                   "shut", "annotate", "confirm", "approve", "local", "backoff", "rancher",
                   "leftover", "dependent", "unasked", "scan", "scanner", "unlisted")) {
    case 0:
        play_cluster(s, rest);
        break;
    case 1:
        play_app(s, rest);
        break;
    case 2:
        play_gone(s, rest);
        break;
    case 3:
        play_op(s, rest, OP_UPGRADE);
        break;
    case 4:
        play_op(s, rest, OP_UNINSTALL);
        break;
    case 5:
        play_op(s, rest, OP_LOG);
        break;
    case 6: {
        struct observed_cluster *c = scene_cluster(s, word(&rest));

        c->repos.items[0].state = (enum repo_state)CHOICE(
            word(&rest), "not_synced", "absent", "downloading", "ready", "failed", "unusable");
        c->repos.items[0].message = STR("no such host");
        break;
    }
    case 7: {
        struct place at = place(s, &rest);

        version_of(s, at.cluster, at.chart)->state = (enum version_state)CHOICE(
            word(&rest), "not_synced", "found", "missing", "failed", "stale", "refreshing");
        break;
    }
    case 8:
        play_values(s, rest);
        break;
    case 9:
        play_stack(s, rest, &s->observed.stacks);
        break;
    case 10:
        s->observed.clusters_known = CHOICE(word(&rest), "unknown", "known") == 1;
        break;
    case 11:
        (void)str_to_u64(word(&rest), &number);
        s->observed.cluster_operations_max = (uint32_t)number;
        break;
    case 12:
        problems_add(&s->problems, (struct problem){ .rule = STR("graph.cycle"),
                                                     .field = STR("spec.charts"),
                                                     .message = STR("it is wrong"),
                                                     .severity = SEVERITY_DENY });
        break;
    case 13:
        play_reject(s, rest);
        break;
    case 14:
        play_change(s);
        break;
    case 15:
        s->deleting = true;
        remake_stack(s);
        break;
    case 16:
        annotate(s, STR("abandon-clusters"), rest);
        break;
    case 17:
        s->no_finalizer = true;
        remake_stack(s);
        break;
    case 18:
        scene_plan(s);
        break;
    case 19:
        s->no_finalizer = false;
        remake_stack(s);
        break;
    case 20:
        play_op(s, rest, OP_PODS);
        break;
    case 21:
        play_op(s, rest, OP_STRANGER);
        break;
    case 22:
        s->author = word(&rest);
        remake_stack(s);
        break;
    case 23: {
        struct observed_cluster *c = scene_cluster(s, word(&rest));

        c->access_reason = word(&rest);
        c->access_message = rest;
        break;
    }
    case 24: {
        struct str name = word(&rest);

        annotate(s, name, rest);
        break;
    }
    case 25:
        annotate(s, STR("confirm-removal"), s->before.removal.token);
        break;
    case 26:
        annotate(s, STR("approve"),
                 str_fmt(s->arena, "%.*s@%.*s", STR_ARG(rest),
                         STR_ARG(scene_change_of(&s->before, rest))));
        break;
    case 27:
        scene_cluster(s, word(&rest))->local = true;
        break;
    case 28: {
        struct observed_cluster *c = scene_cluster(s, word(&rest));

        c->backoff_reason = word(&rest);
        c->backoff_message = STR("Rancher is busy");
        break;
    }
    case 29:
        s->observed.rancher_trouble_reason = word(&rest);
        s->observed.rancher_trouble_message = STR("Rancher rejects the token");
        break;
    case 30: {
        struct observed_cluster *c = scene_cluster(s, word(&rest));
        struct str name = word(&rest);

        c->leftovers = observed_leftovers_new(s->arena, 1);
        if (name.len)
            observed_leftovers_push(&c->leftovers, (struct observed_leftover){ .name = name });
        break;
    }
    case 31:
        play_stack(s, rest, &s->observed.dependents);
        break;
    case 32:
        scene_cluster(s, word(&rest))->unasked_message = STR("the API server is asked");
        break;
    case 33:
        play_scan(s, rest);
        break;
    case 34:
        play_scanner(s, rest);
        break;
    case 35:
        scene_cluster(s, word(&rest))->unlisted_message = STR("its Operations are being listed");
        break;
    }
}

void scene_play(struct scene *s, const char *words)
{
    struct str rest = str_of(words);
    struct str line;

    while (str_split(&rest, ';', &line))
        if (str_trim(line).len)
            play_one(s, line);
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static struct str joined(struct arena *arena, struct str_list parts)
{
    struct strbuf text = strbuf_new(arena, 64);

    if (parts.count)
        qsort(parts.items, parts.count, sizeof(struct str), by_text);
    for (uint32_t i = 0; i < parts.count; i++)
        strbuf_fmt(&text, "%s%.*s", i ? " " : "", STR_ARG(parts.items[i]));
    return strbuf_str(&text);
}

struct str scene_actions(const struct scene *s)
{
    struct str_list parts = str_list_new(s->arena, 8);

    for (uint32_t i = 0; i < s->plan.actions.count; i++) {
        const struct action *a = &s->plan.actions.items[i];

        if (a->cluster == UINT32_MAX)
            str_list_push(&parts, str_of(action_name(a->kind)));
        else
            str_list_push(&parts, str_fmt(s->arena, "%s:%.*s@%.*s", action_name(a->kind),
                                          STR_ARG(a->chart_name),
                                          STR_ARG(s->observed.clusters.items[a->cluster].id)));
    }
    return joined(s->arena, parts);
}

struct str scene_states(const struct scene *s)
{
    struct str_list parts = str_list_new(s->arena, 8);

    for (uint32_t i = 0; i < s->plan.releases.count; i++) {
        const struct release_state *r = &s->plan.releases.items[i];

        str_list_push(&parts, str_fmt(s->arena, "%.*s@%.*s=%s/%.*s", STR_ARG(r->chart_name),
                                      STR_ARG(r->cluster_id), deployment_state_name(r->state),
                                      STR_ARG(r->reason)));
    }
    return joined(s->arena, parts);
}

const struct release_state *scene_state(const struct scene *s, const char *who)
{
    for (uint32_t i = 0; i < s->plan.releases.count; i++) {
        const struct release_state *r = &s->plan.releases.items[i];
        struct str name =
            str_fmt(s->arena, "%.*s@%.*s", STR_ARG(r->chart_name), STR_ARG(r->cluster_id));

        if (str_eq(name, str_of(who)))
            return r;
    }
    fail_msg("no release %s in the plan", who);
    return NULL;
}

struct str scene_condition(const struct scene *s, const char *type)
{
    const struct kube_condition *c = kube_condition_find(&s->status.conditions, str_of(type));

    return c ? str_fmt(s->arena, "%s/%.*s", condition_status_name(c->status), STR_ARG(c->reason))
             : STR("");
}
