/* status.c: a stored status, read back. What is absent or of a wrong kind reads as zero. */
#include "stack/status.h"

#include "text/time.h"

#include <stdlib.h>

static const char *const phase_names[] = {
    [PHASE_PENDING] = "Pending",
    [PHASE_DEPLOYING] = "Deploying",
    [PHASE_DEPLOYED] = "Deployed",
    [PHASE_FAILED] = "Failed",
    [PHASE_DELETING] = "Deleting",
};

/* Name, and how bad it is: least first. */
static const struct {
    const char *name;
    uint32_t rank;
} states[] = {
    [DEPLOYMENT_UNKNOWN] = { "Unknown", 1 },
    [DEPLOYMENT_PENDING] = { "Pending", 5 },
    [DEPLOYMENT_WAITING] = { "Waiting", 3 },
    [DEPLOYMENT_DEPLOYING] = { "Deploying", 4 },
    [DEPLOYMENT_DEPLOYED] = { "Deployed", 6 },
    [DEPLOYMENT_FAILED] = { "Failed", 0 },
    [DEPLOYMENT_UNINSTALLING] = { "Uninstalling", 2 },
    [DEPLOYMENT_REMOVED] = { "Removed", 7 },
};

const char *stack_phase_name(enum stack_phase phase)
{
    return phase_names[phase];
}

enum stack_phase stack_phase_from(struct str name)
{
    for (enum stack_phase p = PHASE_PENDING; p <= PHASE_DELETING; p++)
        if (str_eq(name, str_of(phase_names[p])))
            return p;
    return PHASE_PENDING;
}

const char *deployment_state_name(enum deployment_state state)
{
    return states[state].name;
}

enum deployment_state deployment_state_from(struct str name)
{
    for (enum deployment_state s = DEPLOYMENT_UNKNOWN; s <= DEPLOYMENT_REMOVED; s++)
        if (str_eq(name, str_of(states[s].name)))
            return s;
    return DEPLOYMENT_UNKNOWN;
}

uint32_t deployment_state_rank(enum deployment_state state)
{
    return states[state].rank;
}

static struct str text_of(struct json object, const char *key)
{
    return json_str(json_get(object, str_of(key)));
}

static int64_t int_of(struct json object, const char *key)
{
    int64_t number = 0;

    (void)json_int64(json_get(object, str_of(key)), &number);
    return number;
}

static uint32_t count_of(struct json object, const char *key)
{
    int64_t number = int_of(object, key);

    return number < 0 ? 0 : number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
}

static int64_t time_of(struct json object, const char *key)
{
    int64_t at = 0;
    struct error ignored;

    (void)time_parse_rfc3339(text_of(object, key), &at, &ignored);
    return at;
}

static struct release_state deployment_read(struct json d)
{
    return (struct release_state){
        .chart_name = text_of(d, "chartName"),
        .cluster_id = text_of(d, "clusterId"),
        .namespace_ = text_of(d, "namespace"),
        .release_name = text_of(d, "releaseName"),
        .state = deployment_state_from(text_of(d, "status")),
        .reason = text_of(d, "reason"),
        .message = text_of(d, "message"),
        .version = text_of(d, "version"),
        .digest = text_of(d, "digest"),
        .revision = count_of(d, "revision"),
        .last_updated_ms = time_of(d, "lastUpdated"),
        .requested_ms = time_of(d, "requestedAt"),
        .operation = text_of(d, "operation"),
        .attempts = count_of(d, "attempts"),
        .terminal = json_bool(json_get(d, STR("terminal"))),
        .last_known = deployment_state_from(text_of(d, "lastKnown")),
        .installed = json_bool(json_get(d, STR("installed"))) ||
                     str_eq(text_of(d, "status"), STR("Deployed")),
        .rollout = text_of(d, "rollout"),
    };
}

/* "5/6" */
static void ready_read(struct str text, struct stack_status *status)
{
    struct str part;
    uint64_t ready = 0;
    uint64_t releases = 0;

    if (!str_split(&text, '/', &part) || !str_to_u64(part, &ready) ||
        !str_to_u64(text, &releases) || ready > UINT32_MAX || releases > UINT32_MAX)
        return;
    status->ready = (uint32_t)ready;
    status->releases = (uint32_t)releases;
}

static void ids_read(struct json ids, struct str_list *to)
{
    struct json_iter it = json_iter(ids);

    if (!json_is(ids, JSON_ARRAY))
        return;
    while (json_next(&it))
        if (json_is(it.value, JSON_STRING))
            str_list_push(to, json_str(it.value));
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Those that are named, and those that the rest of the status vouches for: clusters of entries with
 * which something was asked for, and, where entries were left out, all targets. So a status of a
 * Herd that did not name them yet reads well, too. */
static void held_read(struct json json, struct stack_status *status)
{
    struct str_list *held = &status->held_clusters;
    uint32_t kept = 0;

    ids_read(json_get(json, STR("heldClusters")), held);
    for (uint32_t i = 0; i < status->deployments.count; i++) {
        const struct release_state *d = &status->deployments.items[i];

        if (d->digest.len || d->requested_ms)
            str_list_push(held, d->cluster_id);
    }
    for (uint32_t i = 0; status->deployments_omitted && i < status->target_clusters.count; i++)
        str_list_push(held, status->target_clusters.items[i]);
    if (held->count > 1)
        qsort(held->items, held->count, sizeof(struct str), by_text);
    for (uint32_t i = 0; i < held->count; i++)
        if (held->items[i].len && (kept == 0 || !str_eq(held->items[kept - 1], held->items[i])))
            held->items[kept++] = held->items[i];
    held->count = kept;
}

void stack_status_summary(const struct stack_status *status, uint32_t counts[DEPLOYMENT_REMOVED])
{
    memcpy(counts, status->omitted, sizeof(status->omitted));
    for (uint32_t i = 0; i < status->deployments.count; i++)
        if (status->deployments.items[i].state < DEPLOYMENT_REMOVED)
            counts[status->deployments.items[i].state]++;
}

/* What the summary counts and deployments[] does not list. */
static void omitted_read(struct json summary, struct stack_status *status)
{
    uint32_t listed[DEPLOYMENT_REMOVED];

    if (!status->deployments_omitted)
        return;
    stack_status_summary(status, listed);
    for (enum deployment_state s = DEPLOYMENT_UNKNOWN; s < DEPLOYMENT_REMOVED; s++) {
        uint32_t all = count_of(summary, deployment_state_name(s));

        status->omitted[s] = all > listed[s] ? all - listed[s] : 0;
    }
}

struct stack_status stack_status_read(struct arena *arena, struct json json)
{
    struct json targets = json_get(json, STR("targetClusters"));
    struct json deployments = json_get(json, STR("deployments"));
    struct stack_status status = {
        .phase = stack_phase_from(text_of(json, "phase")),
        .message = text_of(json, "message"),
        .observed_generation = int_of(json, "observedGeneration"),
        .counted = json_is(json_get(json, STR("clusters")), JSON_NUMBER),
        .clusters = count_of(json, "clusters"),
        .charts = count_of(json, "charts"),
        .target_clusters = str_list_new(arena, json_count(targets)),
        .held_clusters = str_list_new(arena, json_count(targets)),
        .deployments = release_states_new(arena, json_count(deployments)),
        .deployments_omitted = count_of(json, "deploymentsOmitted"),
        .conditions = kube_conditions_read(arena, json_get(json, STR("conditions"))),
        .last_applied_by = text_of(json, "lastAppliedBy"),
    };

    ready_read(text_of(json, "ready"), &status);
    ids_read(targets, &status.target_clusters);
    if (json_is(deployments, JSON_ARRAY)) {
        struct json_iter it = json_iter(deployments);

        while (json_next(&it))
            if (json_is(it.value, JSON_OBJECT))
                release_states_push(&status.deployments, deployment_read(it.value));
    }
    held_read(json, &status);
    omitted_read(json_get(json, STR("summary")), &status);
    return status;
}
