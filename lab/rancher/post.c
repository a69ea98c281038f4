/* SPDX-License-Identifier: Apache-2.0 */
/* post.c: ?action=install, upgrade and uninstall, up to the 201.
 *
 * The checks stand in the order in which Rancher makes them, and what they raise comes out as 500
 * ServerError with the bare text. A client that goes away meanwhile changes nothing: the work was
 * stored before the answer is tried. */
#include "lab/rancher/jsonf.h"
#include "lab/rancher/helm_step.h"
#include "lab/rancher/inside.h"

enum {
    SYNCHRONOUS_MS = 2000,              /* Rancher sleeps until the account's token is there */
    LOCAL_BODY_MAX = 1024 * 1024,       /* setting public-api-body-limit, local only */
    OPERATION_SECRET_MAX = 1024 * 1024, /* Kubernetes' bound on a Secret's data */
    TARBALL_BYTES = 24 * 1024,          /* a small chart, which goes into the same Secret */
    UNINSTALL_MS = 6000,
    EXPIRE_MS = 3600 * 1000,
    NAME_TRIES = 8,
};

struct post {
    struct simulation *simulation;
    struct http_exchange *exchange;
    struct arena *arena;
    struct str cluster;
    struct action action;
    struct str operation; /* of the last task */
    struct json repo;     /* the ClusterRepo of a deployment */
};

static bool is_real(const struct post *p)
{
    return downstream_of(p->simulation->downstream, p->cluster) != NULL;
}

static void reject(struct post *p, const char *text)
{
    reply_e1(p->exchange, 500, "ServerError", str_dup(p->arena, str_of(text)));
}

static struct str new_operation(struct post *p)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    struct strbuf out = strbuf_new(p->arena, 24);
    uint64_t chance = simulation_chance(p->simulation);

    strbuf_lit(&out, "helm-operation-");
    for (int i = 0; i < 5; i++) {
        strbuf_char(&out, letters[chance % (sizeof(letters) - 1)]);
        chance /= sizeof(letters) - 1;
    }
    return strbuf_str(&out);
}

static void reply_201(struct post *p)
{
    const struct fault_place place = { .cluster = p->cluster };
    struct fault_rule rule;

    if (faults_strike(p->simulation, FAULT_LOST_RESPONSE, &place, &rule)) {
        http_drop(p->exchange);
        return;
    }
    reply_json(p->exchange, 201,
               jsonf(p->arena,
                     "{'type':'chartActionOutput','links':{},'operationName':%s,"
                     "'operationNamespace':%s}",
                     p->operation, p->action.namespace_));
}

static enum fault_runs run_of(struct post *p, struct str release)
{
    switch (p->action.which) {
    case TASK_UNINSTALL:
        return FAULT_RUN_UNINSTALL;
    case TASK_INSTALL:
        return FAULT_RUN_INSTALL;
    case TASK_UPGRADE:
        break;
    }
    return world_history(p->simulation, p->arena, p->cluster, p->action.namespace_, release).count
               ? FAULT_RUN_UPGRADE
               : FAULT_RUN_FIRST_UPGRADE;
}

/* The fault that a task will meet: a rule's, else the chart's own. */
static enum fault_id task_fault(struct post *p, struct str release, struct str repo,
                                const struct catalogue_chart *chart)
{
    const struct fault_place place = { p->cluster, release, chart ? chart->name : STR(""), repo,
                                       run_of(p, release) };
    struct fault_rule rule;

    if (faults_strike_stage(p->simulation, FAULT_ON_TASK, &place, &rule))
        return rule.id;
    return chart ? fault_from(chart->fault) : FAULT_NONE;
}

static struct task task_of(struct post *p, struct str release, int64_t install_ms)
{
    const struct action *action = &p->action;
    const struct task_pace pace = { p->simulation->scale, install_ms, action->timeout_ms,
                                    simulation_chance(p->simulation) };
    struct task task = {
        .cluster = p->cluster,
        .namespace_ = action->namespace_,
        .operation = new_operation(p),
        .action = action->which,
        .release = release,
        .wait = action->wait,
        .keep_history = action->keep_history,
        .take_ownership = action->take_ownership,
        .history_max = action->history_max,
        .instant = p->simulation->scale <= 0 && !is_real(p),
        .values = STR("{}"),
        .description = action->description,
        .times = task_times_of(simulation_now(p->simulation), &pace),
    };

    /* Helm's own time does not run faster than life. */
    if (is_real(p)) {
        task.times.timeout_ms = task.times.running_ms + helm_time_ms(action->timeout_ms);
        task.times.expire_ms = task.times.accepted_ms + EXPIRE_MS;
    }
    p->operation = task.operation;
    return task;
}

/* Five letters are few: a name that is taken is drawn again. */
static int accept_task(struct post *p, struct task *task, struct error *err)
{
    for (int i = 0; i < NAME_TRIES; i++) {
        struct error why = { 0 };

        if (engine_accept(p->simulation, p->arena, task, &why) == 0)
            return 0;
        *err = why;
        if (why.code != ERROR_ALREADY_EXISTS)
            return -1;
        task->operation = p->operation = new_operation(p);
    }
    return -1;
}

/* ---- install and upgrade --------------------------------------------------------------------- */

/* 0 and the repository; or -1, answered. */
static int find_repo(struct post *p, struct str name, const struct catalogue_repo **ret_repo,
                     bool *ret_downloaded)
{
    struct error err = { 0 };
    struct str object = STR("");

    if (world_get(p->simulation, p->arena, p->cluster, &res_repos, STR(""), name, &object, &err) !=
            0 ||
        json_read(p->arena, object, &json_limits_default, &p->repo, &err) != 0) {
        reply_store_error(p->exchange, &err);
        return -1;
    }
    *ret_repo = repos_catalogue(p->simulation, p->arena, p->cluster, p->repo);
    *ret_downloaded = json_str(json_walk(p->repo, "status", "indexConfigMapName", NULL)).len > 0;
    return 0;
}

/* What the download of the tarball and the namespace meet. -1, answered. */
static int meet_post_faults(struct post *p, const struct action_chart *chart)
{
    struct str url = json_str(json_walk(p->repo, "spec", "url", NULL));
    const struct fault_place place = { p->cluster, chart->release, chart->chart, STR(""),
                                       run_of(p, chart->release) };
    struct fault_rule rule;

    if (!faults_strike_stage(p->simulation, FAULT_ON_POST, &place, &rule))
        return 0;

    const struct str pairs[] = {
        STR("url"),
        str_fmt(p->arena, "%.*s/%.*s-%.*s.tgz", STR_ARG(url), STR_ARG(chart->chart),
                STR_ARG(chart->version)),
        STR("namespace"),
        p->action.namespace_,
        STR("values"),
        chart->values,
    };

    reject(
        p,
        fault_text(p->arena, fault_row(rule.id)->text, pairs, sizeof(pairs) / sizeof(pairs[0])).at);
    return -1;
}

/* A version of the same chart that was not asked for. */
static const struct catalogue_chart *wrong_version(const struct catalogue_chart *chart)
{
    for (uint32_t i = 0; i < catalogue_chart_count(); i++) {
        const struct catalogue_chart *other = catalogue_chart_at(i);

        if (str_eq(other->repo, chart->repo) && str_eq(other->name, chart->name) &&
            !str_eq(other->version, chart->version))
            return other;
    }
    return chart;
}

/* What is to be deployed, of the simulated world or downloaded. */
static const struct catalogue_chart *find_chart(struct post *p, const struct catalogue_repo *repo,
                                                const struct action_chart *wanted,
                                                struct str *ret_tarball, struct error *err)
{
    const struct catalogue_chart *chart = NULL;
    struct real_chart *real = arena_new(p->arena, struct real_chart);

    *ret_tarball = STR("");
    if (is_real(p)) {
        if (repos_real_chart(p->simulation, p->arena, p->cluster, p->repo, wanted, real, err) != 0)
            return NULL;
        *ret_tarball = real->tarball;
        return &real->row;
    }
    if (!repo)
        error_set(err, ERROR_NOT_FOUND, "no chart name found");
    else
        catalogue_find(p->arena, repo, wanted->chart, wanted->version, &chart, err);
    return chart;
}

/* One chart of the action, checked and stored. -1, answered. */
static int accept_chart(struct post *p, const struct catalogue_repo *repo, struct str repo_name,
                        const struct action_chart *wanted)
{
    struct str tarball;
    struct error err = { 0 };
    const struct catalogue_chart *chart = find_chart(p, repo, wanted, &tarball, &err);

    if (!chart) {
        reject(p, err.text);
        return -1;
    }
    if (meet_post_faults(p, wanted) != 0)
        return -1;
    if (world_make_namespace(p->simulation, p->arena, p->cluster, p->action.namespace_, &err) !=
        0) {
        reject(p, err.text);
        return -1;
    }

    struct task task = task_of(p, wanted->release, chart->install_ms);

    task.fault = task_fault(p, wanted->release, repo_name, chart);
    if (task.fault == FAULT_WRONG_VERSION && !is_real(p))
        chart = wrong_version(chart);
    task.repo = repo_name;
    task.chart = chart->name;
    task.version = chart->version;
    task.values = wanted->values.len ? wanted->values : STR("{}");
    task.annotations = wanted->annotations;
    task.description = wanted->description;
    task.reset_values = wanted->reset_values;
    task.tarball = tarball;
    task.command =
        action_command(p->arena, &p->action, wanted, wanted->release, chart->version, repo_name);
    if (wanted->values.len + (tarball.len ? tarball.len : TARBALL_BYTES) > OPERATION_SECRET_MAX) {
        reject(p, str_fmt(p->arena,
                          "Secret \"%.*s\" is invalid: data: Too long: must have at most "
                          "1048576 bytes",
                          STR_ARG(task.operation))
                      .at);
        return -1;
    }
    simulation_sleep(p->simulation, SYNCHRONOUS_MS);
    if (accept_task(p, &task, &err) != 0) {
        reject(p, err.text);
        return -1;
    }
    return 0;
}

static void deploy(struct post *p, struct str repo_name)
{
    const struct catalogue_repo *repo = NULL;
    struct error err = { 0 };
    bool downloaded = false;
    struct str body = http_view(p->exchange)->body;

    if (find_repo(p, repo_name, &repo, &downloaded) != 0)
        return;
    if (str_eq(p->cluster, LOCAL_CLUSTER) && body.len > LOCAL_BODY_MAX) {
        reject(p, "http: request body too large");
        return;
    }
    if (action_read(p->arena, p->action.which, body, &p->action, &err) != 0) {
        reject(p, err.text);
        return;
    }
    if (!downloaded) {
        reject(p, "configmaps \"\" not found");
        return;
    }
    if (!p->action.charts.count) {
        reject(p, "no charts provided");
        return;
    }
    /* Several charts are an `upgrade --install` each, and the Operation shows the last one. */
    if (p->action.charts.count > 1)
        p->action.which = TASK_UPGRADE;
    for (uint32_t i = 0; i < p->action.charts.count; i++) {
        struct action_chart *chart = &p->action.charts.items[i];

        if (!chart->release.len)
            chart->release = chart->chart;
        if (accept_chart(p, repo, repo_name, chart) != 0)
            return;
    }
    atomic_fetch_add(&p->simulation->counts[COUNT_ACCEPTED], 1);
    reply_201(p);
}

/* ---- uninstall ------------------------------------------------------------------------------- */

static void uninstall(struct post *p, struct str namespace_, struct str app)
{
    struct error err = { 0 };
    struct str stored;

    if (world_get(p->simulation, p->arena, p->cluster, &res_apps, namespace_, app, &stored, &err) !=
        0) {
        reply_store_error(p->exchange, &err);
        return;
    }
    if (action_read(p->arena, TASK_UNINSTALL, http_view(p->exchange)->body, &p->action, &err) !=
        0) {
        reject(p, err.text);
        return;
    }
    p->action.namespace_ = namespace_;

    struct revisions history = world_history(p->simulation, p->arena, p->cluster, namespace_, app);
    struct task task = task_of(p, app, UNINSTALL_MS);

    task.at_revision = history.count ? history.items[0].number : 0;
    task.fault = task_fault(p, app, STR(""), NULL);
    task.command = action_command(p->arena, &p->action, NULL, app, STR(""), STR(""));
    simulation_sleep(p->simulation, SYNCHRONOUS_MS);
    if (accept_task(p, &task, &err) != 0) {
        reject(p, err.text);
        return;
    }
    atomic_fetch_add(&p->simulation->counts[COUNT_ACCEPTED], 1);
    reply_201(p);
}

void post_action(struct simulation *simulation, struct http_exchange *exchange, struct str cluster,
                 struct str namespace_, struct str name, struct str action)
{
    struct post p = { .simulation = simulation,
                      .exchange = exchange,
                      .arena = http_view(exchange)->arena,
                      .cluster = cluster };

    atomic_fetch_add(&simulation->counts[COUNT_POSTS], 1);
    p.action.which = str_eq(action, STR("install"))   ? TASK_INSTALL
                     : str_eq(action, STR("upgrade")) ? TASK_UPGRADE
                                                      : TASK_UNINSTALL;
    if (p.action.which == TASK_UNINSTALL)
        uninstall(&p, namespace_, name);
    else
        deploy(&p, name);
}
