/* observed_builder.c: worlds for tests, played word by word. */
#include "support/observed_builder.h"

#include "support/rows.h"

#include "base/flag.h"
#include "stack/decode.h"
#include "stack/default.h"

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
        strbuf_fmt(out, "%s{\"name\":\"%.*s\",\"repo\":\"" REPO "\",\"version\":\"1.2.3\","
                   "\"dependsOn\":[", first ? "" : ",", STR_ARG(name));
        first = false;
        while (one.len && str_split(&one, ',', &need)) {
            strbuf_fmt(out, "%s\"%.*s\"", first_need ? "" : ",", STR_ARG(need));
            first_need = false;
        }
        strbuf_lit(out, "]}");
    }
}

const struct stack *scene_stack(struct arena *arena, const char *charts, const char *members,
                                const char *meta_members)
{
    struct strbuf text = strbuf_new(arena, 1024);
    struct problems problems = problems_new(arena);
    struct json json;
    struct error err = { 0 };

    strbuf_fmt(&text,
               "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":"
               "\"shop\",\"namespace\":\"team\",\"uid\":\"uid-1\"%s},\"spec\":{\"env\":\"dev\"%s%s,",
               meta_members, members[0] ? "," : "", members);
    if (!strstr(members, "\"targets\""))
        strbuf_lit(&text, "\"targets\":{\"selector\":{\"matchLabels\":{\"x\":\"y\"}}},");
    strbuf_lit(&text, "\"charts\":[");
    put_charts(&text, str_of(charts));
    strbuf_lit(&text, "]}}");
    if (json_read(arena, strbuf_str(&text), &json_limits_default, &json, &err) < 0)
        fail_msg("the scene's Stack is no JSON: %s\n%s", err.text, strbuf_str(&text).at);

    const struct stack *stack = stack_default(arena, stack_decode(arena, json, &problems), NULL);

    for (uint32_t i = 0; i < problems.list.count; i++)
        fail_msg("the scene's Stack: %.*s: %.*s", STR_ARG(problems.list.items[i].field),
                 STR_ARG(problems.list.items[i].message));
    return stack;
}

static void remake(struct scene *s)
{
    struct str meta = str_fmt(
        s->arena, ",\"generation\":%d%s%s%s%s%s", (int)s->generation,
        s->no_finalizer ? "" : ",\"finalizers\":[\"" STACK_FINALIZER "\"]",
        s->deleting ? ",\"deletionTimestamp\":\"2024-01-01T00:00:00Z\"" : "",
        s->abandon ? ",\"annotations\":{\"" STACK_ABANDON_CLUSTERS "\":\"" : "",
        s->abandon ? s->abandon : "", s->abandon ? "\"}" : "");

    s->stack = scene_stack(s->arena, s->charts, s->members, meta.at);

    struct observed_values *values =
        arena_array(s->arena, struct observed_values, s->stack->spec.charts.count);

    for (uint32_t i = 0; i < s->stack->spec.charts.count; i++)
        values[i] = (struct observed_values){ .ready = true, .json = STR("{\"a\":1}") };
    s->observed.values = values;
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
        .problems = problems_new(arena),
        .observed = { .now_ms = START_MS,
                      .clusters_known = true,
                      .clusters = observed_clusters_new(arena, 4),
                      .stacks = observed_stacks_new(arena, 0),
                      .settle_ms = 30000,
                      .cluster_operations_max = 3 },
    };

    remake(&s);
    return s;
}

struct desired_release scene_desired(const struct scene *s, struct str x, struct str id)
{
    struct desired_release desired = { .namespace_ = x,
                                       .release_name = x,
                                       .chart_name = x,
                                       .digest = STR("sha256:old") };
    struct error err = { 0 };

    for (uint32_t i = 0; i < s->stack->spec.charts.count; i++)
        if (str_eq(s->stack->spec.charts.items[i].name, x) &&
            release_desire(s->arena, s->stack, i, id, (struct json){ NULL, 0 },
                           &(struct base_values){
                               .json = s->observed.values[i].json,
                               .secret_versions = s->observed.values[i].secret_versions },
                           &desired, &err) < 0)
            fail_msg("%s", err.text);
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
    observed_repos_push(&c.repos, (struct observed_repo){
        .url = STR(REPO), .name = STR("herd-repo"), .state = REPO_READY });
    return observed_clusters_push(&s->observed.clusters, c);
}

static struct observed_release *release_of(struct observed_cluster *c, struct str name)
{
    for (uint32_t i = 0; i < c->releases.count; i++)
        if (str_eq(c->releases.items[i].name, name))
            return &c->releases.items[i];
    return observed_releases_push(&c->releases, (struct observed_release){ .name = name,
                                                                           .namespace_ = name });
}

static struct observed_version *version_of(struct scene *s, struct observed_cluster *c,
                                           struct str chart)
{
    (void)s;
    for (uint32_t i = 0; i < c->versions.count; i++)
        if (str_eq(c->versions.items[i].chart, chart))
            return &c->versions.items[i];
    return observed_versions_push(&c->versions, (struct observed_version){
        .repo = STR(REPO), .chart = chart, .version = STR("1.2.3"), .state = VERSION_FOUND,
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

    app->phase = (enum release_phase)(1 + CHOICE(word(&rest), "deployed", "failed", "pending",
                                                 "uninstalling", "other"));
    (void)str_to_u64(word(&rest), &revision);
    app->revision = (uint32_t)revision;
    app->chart_version = STR("1.2.3");
    app->stack = STR("team/shop");
    app->stack_uid = STR("uid-1");
    app->chart_name = at.chart;
    app->digest = desired.digest;
    app->depends_on = desired.depends_on;
    while (rest.len) {
        switch (CHOICE(word(&rest), "old", "foreign", "other", "former", "version", "says")) {
        case 0:
            app->digest = STR("sha256:old");
            break;
        case 1:
            app->stack = app->stack_uid = app->chart_name = app->digest = STR("");
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
        op = observed_operations_push(all, (struct observed_operation){
            .namespace_ = at.chart, .name = name, .release_name = at.chart,
            .stack_uid = what == OP_STRANGER ? STR("") : STR("uid-1"),
            .uninstall = what == OP_UNINSTALL, .created_ms = s->observed.now_ms });
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
        uint32_t state = CHOICE(word(&rest), "gone", "disconnected", "unread", "read", "stale",
                                "untargeted", "targeted", "near");

        if (state == 7)
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

    for (uint32_t i = 0; i < s->stack->spec.charts.count; i++)
        if (str_eq(s->stack->spec.charts.items[i].name, chart)) {
            s->observed.values[i].ready = str_eq(reason, STR("ready"));
            s->observed.values[i].secret_versions = word(&rest);
            s->observed.values[i].reason = reason;
            s->observed.values[i].message = STR("its values are not there");
        }
}

static void play_stack(struct scene *s, struct str rest)
{
    struct str name = word(&rest);
    uint32_t state = CHOICE(word(&rest), "missing", "waiting", "ready");
    struct observed_stack stack = { .name = name, .exists = state > 0, .ready = state == 2,
                                    .depends_on = str_list_new(s->arena, 0) };

    while (rest.len)
        if (CHOICE(word(&rest), "distant", "needs") == 0)
            stack.distant = true;
        else
            str_list_push(&stack.depends_on, word(&rest));

    for (uint32_t i = 0; i < s->observed.stacks.count; i++)
        if (str_eq(s->observed.stacks.items[i].name, name)) {
            s->observed.stacks.items[i] = stack;
            return;
        }
    observed_stacks_push(&s->observed.stacks, stack);
}

static void play_refuse(struct scene *s, struct str rest)
{
    struct place at = place(s, &rest);
    bool terminal = CHOICE(word(&rest), "again", "terminal") == 1;

    stack_status_note_failure(s->arena, &s->before, at.cluster->id, at.chart, terminal, word(&rest),
                              STR("refused"), s->observed.now_ms);
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

void scene_plan(struct scene *s)
{
    struct error err = { 0 };
    struct json json;

    s->observed.problems = &s->problems;
    s->observed.before = s->written.len ? &s->before : NULL;
    s->admitted = stack_admitted(s->arena, s->receipts, STR("key"), s->stack, s->observed.before);
    s->observed.admitted = &s->admitted;
    s->plan = stack_plan(s->arena, s->stack, &s->observed);
    s->status = stack_status_of(s->arena, s->stack, &s->observed, &s->plan);
    s->written = stack_status_write(s->arena, &s->status);
    if (json_read(s->arena, s->written, &json_limits_default, &json, &err) < 0)
        fail_msg("the status is no JSON: %s", err.text);
    s->before = stack_status_read(s->arena, json);
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
                   "values", "stack", "clusters", "room", "problem", "refuse", "change", "delete",
                   "abandon", "nofinalizer", "plan", "finalizer", "pods", "stranger", "receipts",
                   "shut")) {
    case 0: play_cluster(s, rest); break;
    case 1: play_app(s, rest); break;
    case 2: play_gone(s, rest); break;
    case 3: play_op(s, rest, OP_UPGRADE); break;
    case 4: play_op(s, rest, OP_UNINSTALL); break;
    case 5: play_op(s, rest, OP_LOG); break;
    case 6: {
        struct observed_cluster *c = scene_cluster(s, word(&rest));

        c->repos.items[0].state = (enum repo_state)CHOICE(word(&rest), "unread", "absent",
                                                          "downloading", "ready", "failed");
        c->repos.items[0].message = STR("no such host");
        break;
    }
    case 7: {
        struct place at = place(s, &rest);

        version_of(s, at.cluster, at.chart)->state =
            (enum version_state)CHOICE(word(&rest), "unread", "found", "missing", "failed");
        break;
    }
    case 8: play_values(s, rest); break;
    case 9: play_stack(s, rest); break;
    case 10: s->observed.clusters_known = CHOICE(word(&rest), "unknown", "known") == 1; break;
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
    case 13: play_refuse(s, rest); break;
    case 14: play_change(s); break;
    case 15: s->deleting = true; remake(s); break;
    case 16: s->abandon = str_z(s->arena, rest); remake(s); break;
    case 17: s->no_finalizer = true; remake(s); break;
    case 18: scene_plan(s); break;
    case 19: s->no_finalizer = false; remake(s); break;
    case 20: play_op(s, rest, OP_PODS); break;
    case 21: play_op(s, rest, OP_STRANGER); break;
    case 22: s->receipts = receipts_mode_from(word(&rest)); break;
    case 23: {
        struct observed_cluster *c = scene_cluster(s, word(&rest));

        c->shut_reason = word(&rest);
        c->shut_message = rest;
        break;
    }
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
        struct str name = str_fmt(s->arena, "%.*s@%.*s", STR_ARG(r->chart_name),
                                  STR_ARG(r->cluster_id));

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
