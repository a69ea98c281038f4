/* SPDX-License-Identifier: Apache-2.0 */
/* repos.c: ClusterRepos download their indexes, each cluster on its own, as
 * rancher v2.14 pkg/controllers/dashboard/helm/repo.go and repo_oci.go do. */
#include "lab/rancher/inside.h"

#include "base/duration.h"
#include "kube/meta.h"
#include "text/time.h"

enum { RETRY_FIRST_MS = 300 * 1000, RETRIES_MAX = 3, REFRESH_MS = 3600 * 1000 };

/* A fault of the simulation: the answer that it makes. */
static bool is_struck(struct simulation *simulation, struct str cluster, struct str name,
                      enum repo_answer *ret_answer)
{
    const struct fault_place place = { .cluster = cluster, .repo = name };
    struct fault_rule rule;

    if (faults_strike(simulation, FAULT_REPO_DOWN, &place, &rule))
        *ret_answer = REPO_DOWN;
    else if (faults_strike(simulation, FAULT_REPO_HTML, &place, &rule))
        *ret_answer = REPO_HTML;
    else
        return false;
    return true;
}

static bool is_old(struct simulation *simulation, struct str cluster, struct str name)
{
    const struct fault_place place = { .cluster = cluster, .repo = name };
    struct fault_rule rule;

    return faults_strike(simulation, FAULT_REPO_OLD, &place, &rule);
}

static const struct catalogue_repo *old_of(struct arena *arena, const struct catalogue_repo *repo)
{
    struct catalogue_repo *old = arena_new(arena, struct catalogue_repo);

    *old = *repo;
    old->old = true;
    return old;
}

const struct catalogue_repo *repos_catalogue(struct simulation *simulation, struct arena *arena,
                                             struct str cluster, struct json repo)
{
    const struct catalogue_repo *now =
        catalogue_repo_of(json_str(json_walk(repo, "spec", "url", NULL)));
    const struct catalogue_repo *old = now ? old_of(arena, now) : NULL;
    struct error ignored = { 0 };
    struct str kept = STR("");

    if (now && repos_real_kept_index(simulation, arena, cluster, repo, &kept, &ignored) == 0 &&
        str_eq(kept, catalogue_index(arena, old)))
        return old;
    return now;
}

/* What the download of a repository ends with: "" and its index, or why there is none. */
static struct str download_index(struct simulation *simulation, struct arena *arena,
                                 struct str cluster, struct str name, struct json object,
                                 struct str *ret_index, bool *ret_final)
{
    struct str url = json_str(json_walk(object, "spec", "url", NULL));
    const struct catalogue_repo *repo = catalogue_repo_of(url);
    enum repo_answer answer = repo ? repo->answer : REPO_DOWN;
    bool struck = is_struck(simulation, cluster, name, &answer);
    struct error err = { 0 };

    if (!struck && downstream_of(simulation->downstream, cluster))
        return repos_real_index(simulation, arena, object, ret_index, &err) == 0
                   ? STR("")
                   : str_dup(arena, str_of(err.text));
    *ret_final = answer == REPO_DENIED;
    if (answer == REPO_INDEX)
        *ret_index =
            catalogue_index(arena, is_old(simulation, cluster, name) ? old_of(arena, repo) : repo);
    return catalogue_repo_failure(arena, answer, url);
}

static int store_index(struct simulation *simulation, struct arena *arena, struct str cluster,
                       struct str name, struct str index, struct repo_result *result,
                       struct error *err)
{
    struct str map = object_index(arena, result->config_map, name, index);
    struct str stored;
    struct json root;

    if (world_ensure(simulation, arena, cluster, &res_configmaps, SYSTEM_NAMESPACE, map, err) !=
            0 ||
        world_get(simulation, arena, cluster, &res_configmaps, SYSTEM_NAMESPACE, result->config_map,
                  &stored, err) != 0 ||
        json_read(arena, stored, &json_limits_default, &root, err) != 0)
        return -1;
    result->config_map_version = json_str(json_walk(root, "metadata", "resourceVersion", NULL));
    return 0;
}

static struct str text_of(struct json repo, const char *part, const char *key)
{
    return json_str(json_walk(repo, part, key, NULL));
}

static bool is_true(struct json repo, const char *type)
{
    struct json_iter it = json_iter(json_walk(repo, "status", "conditions", NULL));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), str_of(type)))
            return str_eq(json_str(json_get(it.value, STR("status"))), STR("True"));
    return false;
}

/* Whether there is something to download now; else *ret_next_ms says when, 0 never. */
static bool is_due(struct json repo, const char *condition, int64_t generation, int64_t now_ms,
                   int64_t *ret_next_ms)
{
    struct str next_text = text_of(repo, "status", "nextRetryAt");
    int64_t observed = 0;
    int64_t next = 0;
    struct error ignored;

    *ret_next_ms = 0;
    json_int64(json_walk(repo, "status", "observedGeneration", NULL), &observed);
    if (observed != generation)
        return true;
    if (is_true(repo, condition))
        return false;
    if (!next_text.len || time_parse_rfc3339(next_text, &next, &ignored) != 0)
        return false;
    *ret_next_ms = next;
    return now_ms >= next;
}

static void fill_failure(struct simulation *simulation, struct arena *arena, struct json repo,
                         struct str message, bool final, struct repo_result *result)
{
    int64_t retries = 0;
    int64_t observed = 0;
    int64_t wait_ms = RETRY_FIRST_MS;

    json_int64(json_walk(repo, "status", "observedGeneration", NULL), &observed);
    if (observed == result->generation)
        json_int64(json_walk(repo, "status", "numberOfRetries", NULL), &retries);
    result->retries = final ? 0 : retries + 1;
    result->message = message;
    if (final)
        return;
    /* 5, 10, 20 minutes; after those, with the next refresh. */
    for (int64_t i = 0; i < retries && i < 2; i++)
        wait_ms *= 2;
    if (retries >= RETRIES_MAX)
        wait_ms = REFRESH_MS;
    result->message = str_fmt(arena, "%.*s. Will retry after %.*s", STR_ARG(message),
                              STR_ARG(duration_text(arena, wait_ms)));

    int64_t scaled_ms = simulation_scaled(simulation, wait_ms);

    result->next_retry =
        time_rfc3339(arena, simulation_now(simulation) + (scaled_ms < 1000 ? 1000 : scaled_ms));
}

static int download(struct simulation *simulation, struct arena *arena, struct str cluster,
                    struct json repo, const struct kube_meta *meta, const char *condition,
                    struct error *err)
{
    struct str url = text_of(repo, "spec", "url");
    bool git = url.len == 0;
    bool final = false;
    struct str index = STR("{\"apiVersion\":\"v1\",\"entries\":{}}");
    struct str failure =
        git ? STR("")
            : download_index(simulation, arena, cluster, meta->name, repo, &index, &final);
    struct repo_result result = {
        .ok = failure.len == 0,
        .condition = str_of(condition),
        .url = git ? text_of(repo, "spec", "gitRepo") : url,
        .generation = meta->generation,
        .config_map = str_fmt(arena, "%.*s-%lld-%.*s", STR_ARG(meta->name),
                              (long long)meta->generation, STR_ARG(str_slice(meta->uid, 0, 8))),
        .now = time_rfc3339(arena, simulation_now(simulation)),
    };
    struct str stored;

    if (!result.ok)
        fill_failure(simulation, arena, repo, failure, final, &result);
    else if (store_index(simulation, arena, cluster, meta->name, index, &result, err) != 0)
        return -1;
    if (world_merge(simulation, arena, cluster, &res_repos, STR(""), meta->name, STR("status"),
                    object_repo_status(arena, &result), &stored, err) != 0)
        return -1;
    /* The write itself puts the repository on the agenda again. */
    return 0;
}

void repos_reconcile(struct simulation *simulation, struct arena *arena, struct str cluster,
                     struct str name)
{
    struct error err = { 0 };
    struct str object = STR("");
    struct json repo;
    struct kube_meta meta;
    int64_t next_ms = 0;

    if (world_get(simulation, arena, cluster, &res_repos, STR(""), name, &object, &err) != 0 ||
        json_read(arena, object, &json_limits_default, &repo, &err) != 0)
        return;
    kube_meta_read(repo, &meta);

    bool oci = str_starts(text_of(repo, "spec", "url"), STR("oci://"));
    struct json enabled = json_walk(repo, "spec", "enabled", NULL);
    const char *condition = oci ? "OCIDownloaded" : "Downloaded";

    if (json_is(enabled, JSON_BOOL) && !json_bool(enabled))
        return;
    if (!is_due(repo, condition, meta.generation, simulation_now(simulation), &next_ms)) {
        if (next_ms)
            simulation_put(simulation,
                           &(struct agenda_entry){ AGENDA_REPO, cluster, STR(""), name }, next_ms);
        return;
    }
    if (download(simulation, arena, cluster, repo, &meta, condition, &err) != 0)
        log_warn(simulation->log, "ClusterRepo not written", LOG_STR("cluster", cluster),
                 LOG_STR("repo", name), LOG_Z("error", err.text));
}

void repos_schedule(struct simulation *simulation, struct str cluster, struct str name)
{
    int64_t wait_ms =
        simulation_scaled(simulation, 1000 + (int64_t)(simulation_chance(simulation) % 2000));

    simulation_put(simulation, &(struct agenda_entry){ AGENDA_REPO, cluster, STR(""), name },
                   simulation_now(simulation) + wait_ms);
}
