/* status_write.c: a status as JSON, within its budget, equal bytes for equal values.
 *
 * Two orders: what is kept when there is no room for all (first what a restarted controller must
 * know: requests under way, then failures to count, then the worst), and how the kept ones are
 * shown: worst first, then by cluster and chart. */
#include "stack/status.h"

#include "base/limits.h"
#include "base/map.h"
#include "text/time.h"

#include <stdlib.h>

static int by_shown(const void *a, const void *b)
{
    const struct release_state *x = *(const struct release_state *const *)a;
    const struct release_state *y = *(const struct release_state *const *)b;
    uint32_t rx = deployment_state_rank(x->state);
    uint32_t ry = deployment_state_rank(y->state);
    int order;

    if (rx != ry)
        return rx < ry ? -1 : 1;
    if ((order = str_cmp(x->cluster_id, y->cluster_id)) != 0)
        return order;
    if ((order = str_cmp(x->chart_name, y->chart_name)) != 0)
        return order;
    if ((order = str_cmp(x->namespace_, y->namespace_)) != 0)
        return order;
    return str_cmp(x->release_name, y->release_name);
}

/* How much it matters that it is remembered. */
static uint32_t weight(const struct release_state *s)
{
    return s->requested_ms ? 0 : s->attempts || s->rollout.len ? 1 : 2;
}

static int by_need(const void *a, const void *b)
{
    const struct release_state *x = *(const struct release_state *const *)a;
    const struct release_state *y = *(const struct release_state *const *)b;

    if (weight(x) != weight(y))
        return weight(x) < weight(y) ? -1 : 1;
    return by_shown(a, b);
}

static void put_text(struct json_writer *w, const char *key, struct str text)
{
    if (text.len == 0)
        return;
    json_put_key(w, str_of(key));
    json_put_str(w, text);
}

static void put_count(struct json_writer *w, const char *key, int64_t count)
{
    if (count == 0)
        return;
    json_put_key(w, str_of(key));
    json_put_int(w, count);
}

static void deployment_write(struct json_writer *w, struct arena *arena,
                             const struct release_state *s)
{
    json_open_object(w);
    json_field_str(w, "chartName", s->chart_name);
    json_field_str(w, "clusterId", s->cluster_id);
    put_text(w, "namespace", s->namespace_);
    put_text(w, "releaseName", s->release_name);
    json_field_str(w, "status", str_of(deployment_state_name(s->state)));
    put_text(w, "reason", s->reason);
    put_text(w, "message", s->message);
    put_text(w, "version", s->version);
    put_text(w, "digest", s->digest);
    put_count(w, "revision", s->revision);
    json_field_str(w, "lastUpdated", time_rfc3339(arena, s->last_updated_ms));
    if (s->requested_ms)
        json_field_str(w, "requestedAt", time_rfc3339_micro(arena, s->requested_ms));
    put_text(w, "operation", s->operation);
    put_count(w, "attempts", s->attempts);
    if (s->terminal)
        json_field_bool(w, "terminal", true);
    if (s->last_known != DEPLOYMENT_UNKNOWN)
        json_field_str(w, "lastKnown", str_of(deployment_state_name(s->last_known)));
    if (s->installed && s->state != DEPLOYMENT_DEPLOYED)
        json_field_bool(w, "installed", true);
    put_text(w, "rollout", s->rollout);
    json_close_object(w);
}

/* Bytes of one entry, as it would be written, and its comma. */
static size_t deployment_bytes(struct strbuf *scratch, struct arena *arena,
                               const struct release_state *s)
{
    struct json_writer w = json_writer(scratch);

    scratch->len = 0;
    deployment_write(&w, arena, s);
    return scratch->len + 1;
}

static void summary_write(struct json_writer *w, const struct stack_status *status)
{
    uint32_t counts[DEPLOYMENT_REMOVED];

    stack_status_summary(status, counts);
    json_put_key(w, STR("summary"));
    json_open_object(w);
    for (enum deployment_state s = DEPLOYMENT_UNKNOWN; s < DEPLOYMENT_REMOVED; s++)
        put_count(w, deployment_state_name(s), counts[s]);
    json_close_object(w);
}

/* The entries that fit into `room` bytes, as they are shown. */
static uint32_t choose(struct arena *arena, const struct release_states *all, size_t room,
                       const struct release_state **ret_chosen)
{
    struct strbuf scratch = strbuf_new(arena, 1024);
    size_t used = 0;
    uint32_t fit = 0;

    for (uint32_t i = 0; i < all->count; i++)
        ret_chosen[i] = &all->items[i];
    if (all->count == 0)
        return 0;
    qsort(ret_chosen, all->count, sizeof(*ret_chosen), by_need);
    while (fit < all->count) {
        used += deployment_bytes(&scratch, arena, ret_chosen[fit]);
        if (used > room)
            break;
        fit++;
    }
    if (fit)
        qsort(ret_chosen, fit, sizeof(*ret_chosen), by_shown);
    return fit;
}

/* Targets stand in the status anyway: what reads it adds those that may be held. */
static void held_write(struct json_writer *w, struct arena *arena,
                       const struct stack_status *status)
{
    struct map *targets = map_new(arena, status->target_clusters.count);
    bool begun = false;

    for (uint32_t i = 0; i < status->target_clusters.count; i++)
        map_put(targets, status->target_clusters.items[i], w);
    for (uint32_t i = 0; i < status->held_clusters.count; i++) {
        struct str id = status->held_clusters.items[i];

        if (map_get(targets, id))
            continue;
        if (!begun) {
            json_put_key(w, STR("heldClusters"));
            json_open_array(w);
            begun = true;
        }
        json_put_str(w, id);
    }
    if (begun)
        json_close_array(w);
}

static void head_write(struct json_writer *w, struct arena *arena,
                       const struct stack_status *status)
{
    json_field_str(w, "phase", str_of(stack_phase_name(status->phase)));
    json_field_str(w, "message", status->message);
    json_field_int(w, "observedGeneration", status->observed_generation);
    if (status->counted)
        json_field_int(w, "clusters", status->clusters);
    json_field_int(w, "charts", status->charts);
    if (status->counted) {
        json_field_str(w, "ready", str_fmt(arena, "%u/%u", status->ready, status->releases));
        summary_write(w, status);
    }
    put_text(w, "lastAppliedBy", status->last_applied_by);
    json_put_key(w, STR("conditions"));
    kube_conditions_write(&status->conditions, w);
    json_put_key(w, STR("targetClusters"));
    json_open_array(w);
    for (uint32_t i = 0; i < status->target_clusters.count; i++)
        json_put_str(w, status->target_clusters.items[i]);
    json_close_array(w);
    held_write(w, arena, status);
}

struct str stack_status_write(struct arena *arena, const struct stack_status *status)
{
    /* For the closing brackets and deploymentsOmitted. */
    enum { TAIL_BYTES = 64 };
    const struct release_states *all = &status->deployments;
    const struct release_state **chosen =
        (const struct release_state **)arena_alloc(arena, sizeof(void *) * (size_t)all->count);
    struct strbuf out = strbuf_new(arena, 4096);
    struct json_writer w = json_writer(&out);
    size_t room;
    uint32_t fit;

    json_open_object(&w);
    head_write(&w, arena, status);
    room = out.len + TAIL_BYTES < LIMIT_STATUS_BYTES ? LIMIT_STATUS_BYTES - out.len - TAIL_BYTES
                                                     : 0;
    fit = choose(arena, all, room, chosen);
    json_put_key(&w, STR("deployments"));
    json_open_array(&w);
    for (uint32_t i = 0; i < fit; i++)
        deployment_write(&w, arena, chosen[i]);
    json_close_array(&w);
    put_count(&w, "deploymentsOmitted", (int64_t)(all->count - fit) + status->deployments_omitted);
    json_close_object(&w);
    return strbuf_str(&out);
}
