/* SPDX-License-Identifier: Apache-2.0 */
/* counters.c: GET /lab/counters: what was asked of each release, for tests that must prove that
 * nothing was done twice. Counted from the Operations that are kept: a kill resets nothing. */
#include "lab/rancher/jsonf.h"
#include "lab/rancher/inside.h"

struct tally {
    int64_t actions[3];
    int64_t failed;
    int64_t under_way;
    int64_t revision; /* of the App; 0 = there is none */
    struct str state;
};

struct count_walk {
    struct arena *arena;
    struct map *tallies; /* "cluster/namespace/release" */
    struct str cluster;
};

static struct tally *tally_of(struct count_walk *walk, struct str namespace_, struct str release)
{
    struct str key = str_fmt(walk->arena, "%.*s/%.*s/%.*s", STR_ARG(walk->cluster),
                             STR_ARG(namespace_), STR_ARG(release));
    struct tally *tally = map_get(walk->tallies, key);

    if (!tally) {
        tally = arena_new(walk->arena, struct tally);
        tally->state = STR("");
        map_put(walk->tallies, key, tally);
    }
    return tally;
}

static bool count_operation(void *context, struct str object)
{
    struct count_walk *walk = context;
    struct error ignored;
    struct json root;
    struct task task;

    if (json_read(walk->arena, str_dup(walk->arena, object), &json_limits_default, &root,
                  &ignored) != 0 ||
        task_decode(
            walk->arena,
            json_str(json_walk(root, "metadata", "annotations", OPERATION_TASK_ANNOTATION, NULL)),
            &task, &ignored) != 0)
        return true;

    struct tally *tally = tally_of(walk, task.namespace_, task.release);

    tally->actions[task.action]++;
    if (object_operation_stage(root) != STAGE_ENDED)
        tally->under_way++;
    else if (json_is(json_walk(root, "metadata", "annotations", OPERATION_LOG_ANNOTATION, NULL),
                     JSON_STRING))
        tally->failed++;
    return true;
}

static bool count_app(void *context, struct str object)
{
    struct count_walk *walk = context;
    struct error ignored;
    struct json root;

    if (json_read(walk->arena, str_dup(walk->arena, object), &json_limits_default, &root,
                  &ignored) != 0)
        return true;

    struct tally *tally = tally_of(walk, json_str(json_walk(root, "metadata", "namespace", NULL)),
                                   json_str(json_walk(root, "metadata", "name", NULL)));

    json_int64(json_walk(root, "spec", "version", NULL), &tally->revision);
    tally->state = json_str(json_walk(root, "status", "summary", "state", NULL));
    return true;
}

static void put_releases(struct count_walk *walk, struct strbuf *out)
{
    for (uint32_t i = 0; i < map_count(walk->tallies); i++) {
        const struct tally *tally = map_value(walk->tallies, i);
        struct str rest = map_key(walk->tallies, i);
        struct str cluster = STR("");
        struct str namespace_ = STR("");

        str_split(&rest, '/', &cluster);
        str_split(&rest, '/', &namespace_);
        jsonf_put(out,
                  "%r{'cluster':%s,'namespace':%s,'release':%s,'install':%d,'upgrade':%d,"
                  "'uninstall':%d,'failed':%d,'underWay':%d,'revision':%d,'state':%s}",
                  i ? STR(",") : STR(" "), cluster, namespace_, rest, tally->actions[TASK_INSTALL],
                  tally->actions[TASK_UPGRADE], tally->actions[TASK_UNINSTALL], tally->failed,
                  tally->under_way, tally->revision, tally->state);
    }
}

/* `out` is beside the request's arena: nothing may be abandoned under the lock. */
static void put_faults(struct simulation *simulation, struct strbuf *out)
{
    pthread_mutex_lock(&simulation->faults_lock);
    for (uint32_t i = 0; i < simulation->faults.count; i++) {
        const struct fault_rule *rule = &simulation->faults.items[i];

        jsonf_put(out, "%r{'key':%s,'fault':%s,'hits':%d}", i ? STR(",") : STR(" "), rule->key,
                  fault_row(rule->id)->name, rule->hits);
    }
    pthread_mutex_unlock(&simulation->faults_lock);
}

void counters_handle(struct simulation *simulation, struct http_exchange *exchange)
{
    struct arena *arena = http_view(exchange)->arena;
    struct count_walk walk = { .arena = arena, .tallies = map_new(arena, 64) };
    struct str_list ids = clusters_ids(simulation, arena);
    struct strbuf releases = strbuf_new(arena, 4096);
    struct strbuf faults = strbuf_new(arena_beside(arena), 512);
    struct error err = { 0 };

    for (uint32_t i = 0; i < ids.count; i++) {
        walk.cluster = ids.items[i];
        world_list(simulation, arena, walk.cluster, &res_operations, STR(""), count_operation,
                   &walk, &err);
        world_list(simulation, arena, walk.cluster, &res_apps, STR(""), count_app, &walk, &err);
    }
    put_releases(&walk, &releases);
    put_faults(simulation, &faults);
    reply_json(
        exchange, 200,
        jsonf(arena,
              "{'requests':{'plain':%d,'steve':%d,'norman':%d,'posts':%d,'accepted':%d},"
              "'neuvector':{'requests':%d,'logins':%d,'rejected':%d,'scans':%d,'compliance':%d,"
              "'sessions':%d},"
              "'suseObservability':{'requests':%d,'rejected':%d},"
              "'agenda':%d,'faults':[%r],'releases':[%r]}",
              (int64_t)atomic_load(&simulation->counts[COUNT_PLAIN]),
              (int64_t)atomic_load(&simulation->counts[COUNT_STEVE]),
              (int64_t)atomic_load(&simulation->counts[COUNT_NORMAN]),
              (int64_t)atomic_load(&simulation->counts[COUNT_POSTS]),
              (int64_t)atomic_load(&simulation->counts[COUNT_ACCEPTED]),
              (int64_t)atomic_load(&simulation->counts[COUNT_NEUVECTOR]),
              (int64_t)atomic_load(&simulation->counts[COUNT_NEUVECTOR_LOGINS]),
              (int64_t)atomic_load(&simulation->counts[COUNT_NEUVECTOR_REJECTED]),
              (int64_t)atomic_load(&simulation->counts[COUNT_NEUVECTOR_SCANS]),
              (int64_t)atomic_load(&simulation->counts[COUNT_NEUVECTOR_COMPLIANCE]),
              (int64_t)sessions_count(simulation->sessions),
              (int64_t)atomic_load(&simulation->counts[COUNT_SUSE_OBSERVABILITY]),
              (int64_t)atomic_load(&simulation->counts[COUNT_SUSE_OBSERVABILITY_REJECTED]),
              (int64_t)simulation_agenda_count(simulation),
              faults.len ? strbuf_str(&faults) : STR(" "),
              releases.len ? strbuf_str(&releases) : STR(" ")));
}
