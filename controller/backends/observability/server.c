/* SPDX-License-Identifier: Apache-2.0 */
/* server.c: rounds of questions, asked one after the other.
 *
 * resting -> asking   the timer fires, somebody wants something and there is a token
 * asking  -> resting  all was answered, or something was not: the timer is set
 * resting -> resting  there is no token, or it was rejected too often: its file is looked at */
#include "controller/backends/observability/server.h"

#include "base/memory.h"
#include "controller/backends/observability/server_upkeep.h"
#include "controller/backends/observability/server_wire.h"
#include "controller/backends/secret_folder.h"
#include "controller/limits.h"
#include "kube/backoff.h"
#include "stack/model/reasons.h"
#include "text/digest.h"

enum {
    ANSWER_MS = 10000,
    FAILURES_BORNE = 1, /* in a row */
    REJECTIONS_MAX = 3,
};

#define SECRET "the Secret herd-suse-observability"

/* What one round found out. */
struct answers {
    struct arena *arena;
    struct suse_wants wants;
    struct str_list known; /* clusters that the server has */
    struct map *samples;   /* name of a cluster -> struct samples */
    struct map *indexes;   /* the same -> struct sample_index */
};

struct question;

struct suse_server {
    struct kube_client *client;
    struct str url;
    struct secret_folder *secret;
    struct server_upkeep *upkeep;
    struct loop *loop;
    struct loop_timer *timer;
    int64_t due_ms; /* when that fires, if it is set */
    struct suse_server_events events;
    struct rng rng;
    struct arena *memory; /* of url */
    struct arena *token;  /* of the digest of the token that was sent last */
    struct str digest;
    uint32_t rejections; /* of that, in a row, and what was said of the last one */
    struct str rejected;
    struct backoff backoff;
    int64_t token_look_ms;
    struct answers *current; /* NULL = there are none */
    struct answers *next;    /* of the round under way, or NULL */
    const struct question *at;
    uint32_t queried;      /* of the clusters that are wanted: for their pods, */
    uint32_t gpus_queried; /* and for their GPUs */
    struct arena *trouble; /* of these two: why nothing is known; "" = it is */
    struct str reason, message;
};

/* --- answers --- */

static struct answers *answers_create(void)
{
    struct answers *answers = mem_new(struct answers);

    answers->arena = arena_create(0);
    answers->wants = (struct suse_wants){ .clusters = str_list_new(answers->arena, 8),
                                          .namespaces = str_list_new(answers->arena, 8),
                                          .interval_ms = LIMIT_METRICS_INTERVAL_MAX,
                                          .monitors = { str_list_new(answers->arena, 8),
                                                        str_list_new(answers->arena, 2),
                                                        suse_monitors_new(answers->arena, 8) } };
    answers->known = str_list_new(answers->arena, 0);
    return answers;
}

static void answers_free(struct answers *answers)
{
    if (!answers)
        return;
    arena_free(answers->arena);
    mem_free(answers);
}

static void make_places(struct answers *answers)
{
    const struct str_list *clusters = &answers->wants.clusters;

    answers->samples = map_new(answers->arena, clusters->count);
    for (uint32_t i = 0; i < clusters->count; i++) {
        struct samples *samples = arena_new(answers->arena, struct samples);

        *samples = samples_new(answers->arena, 16);
        map_put(answers->samples, clusters->items[i], samples);
    }
}

static void make_indexes(struct answers *answers)
{
    answers->indexes = map_new(answers->arena, map_count(answers->samples));
    for (uint32_t i = 0; i < map_count(answers->samples); i++) {
        struct sample_index *index = arena_new(answers->arena, struct sample_index);

        *index = sample_index_new(answers->arena, map_value(answers->samples, i));
        index->nothing = STR("SUSE Observability has no series of its pods");
        map_put(answers->indexes, map_key(answers->samples, i), index);
    }
}

/* --- questions --- */

struct question {
    bool (*is_due)(const struct suse_server *server);
    struct str (*path)(struct suse_server *server, struct arena *arena);
    int (*read)(struct suse_server *server, struct str body, struct error *err);
    const char *shown;
    bool repeats; /* until it is not due */
};

static bool is_always_due(const struct suse_server *server)
{
    (void)server;
    return true;
}

static struct str info_path(struct suse_server *server, struct arena *arena)
{
    (void)server, (void)arena;
    return server_info_path;
}

static int read_info(struct suse_server *server, struct str body, struct error *err)
{
    return server_info_read(server->next->arena, body, err);
}

static struct str stackpacks_path(struct suse_server *server, struct arena *arena)
{
    (void)server, (void)arena;
    return server_stackpacks_path;
}

static int read_clusters(struct suse_server *server, struct str body, struct error *err)
{
    struct answers *next = server->next;

    return server_clusters_read(next->arena, str_dup(next->arena, body), &next->known, err);
}

static bool is_query_due(const struct suse_server *server)
{
    return server->queried < server->next->wants.clusters.count;
}

/* As many as one query names. */
static struct str_list next_clusters(const struct suse_server *server, struct arena *arena,
                                     uint32_t *at)
{
    const struct str_list *wanted = &server->next->wants.clusters;
    struct str_list clusters = str_list_new(arena, LIMIT_SERVER_CLUSTERS);

    while (*at < wanted->count && clusters.count < LIMIT_SERVER_CLUSTERS)
        str_list_push(&clusters, wanted->items[(*at)++]);
    return clusters;
}

static struct str query_path(struct suse_server *server, struct arena *arena)
{
    const struct str_list clusters = next_clusters(server, arena, &server->queried);

    return server_samples_path(arena, &clusters, &server->next->wants.namespaces);
}

static int read_samples(struct suse_server *server, struct str body, struct error *err)
{
    struct answers *next = server->next;

    return server_samples_read(next->arena, str_dup(next->arena, body), next->samples, err);
}

static bool are_gpus_due(const struct suse_server *server)
{
    return server->gpus_queried < server->next->wants.clusters.count;
}

static struct str gpus_path(struct suse_server *server, struct arena *arena)
{
    const struct str_list clusters = next_clusters(server, arena, &server->gpus_queried);

    return server_gpus_path(arena, &clusters);
}

static int read_gpus(struct suse_server *server, struct str body, struct error *err)
{
    struct answers *next = server->next;

    return server_gpus_read(next->arena, str_dup(next->arena, body), next->samples, err);
}

static const struct question questions[] = {
    { is_always_due, info_path, read_info, "/api/server/info", false },
    { is_always_due, stackpacks_path, read_clusters, "/api/stackpack", false },
    { is_query_due, query_path, read_samples, "/prometheus/api/v1/query", true },
    { are_gpus_due, gpus_path, read_gpus, "/prometheus/api/v1/query", true },
};
static const struct question *const questions_end =
    questions + sizeof(questions) / sizeof(*questions);

/* --- rounds --- */

static void forget(struct suse_server *server)
{
    answers_free(server->current);
    server->current = NULL;
}

static void set_trouble(struct suse_server *server, struct str reason, struct str message)
{
    struct arena *arena = arena_create(0);

    server->reason = reason; /* of a table */
    server->message = str_dup(arena, message);
    arena_free(server->trouble);
    server->trouble = arena;
    if (reason.len)
        forget(server);
}

static void tell(struct suse_server *server)
{
    if (server->events.answered)
        server->events.answered(server->events.context);
}

static void set_timer(struct suse_server *server, int64_t delay_ms)
{
    server->due_ms = loop_now_ms(server->loop) + delay_ms;
    loop_timer_set(server->timer, delay_ms);
}

static void rest(struct suse_server *server, int64_t delay_ms)
{
    answers_free(server->next);
    server->next = NULL;
    set_timer(server, delay_ms);
}

static void succeed(void *context)
{
    struct suse_server *server = context;
    int64_t interval_ms = server->next->wants.interval_ms;

    make_indexes(server->next);
    forget(server);
    server->current = TAKE(server->next);
    server->rejections = 0;
    backoff_reset(&server->backoff);
    set_trouble(server, STR(""), STR(""));
    rest(server, interval_ms + (int64_t)rng_below(&server->rng, (uint64_t)interval_ms / 2 + 1));
    tell(server);
}

/* What is known stands after a first failure, which may be of the moment. */
static void fail(struct suse_server *server, struct str reason, struct str message,
                 int64_t retry_after_ms)
{
    bool borne = server->backoff.failures < FAILURES_BORNE;

    if (!borne)
        set_trouble(server, reason, message);
    rest(server, backoff_next(&server->backoff, retry_after_ms, &server->rng));
    if (!borne)
        tell(server);
}

static void reject(struct suse_server *server, int status)
{
    bool last = ++server->rejections >= REJECTIONS_MAX;

    server->rejected =
        str_fmt(server->token,
                "SUSE Observability %.*s %s the service token for GET %s (HTTP %d)%s; put one that "
                "may read there into the entry token of " SECRET,
                STR_ARG(server->url), last ? "has rejected" : "rejects", server->at->shown, status,
                last ? " three times, so Herd sends none until it changes" : "");
    fail(server, REASON(SUSE_OBSERVABILITY_TOKEN_REJECTED), server->rejected, -1);
}

static void ask(struct suse_server *server);

static int read_answer(struct suse_server *server, const struct kube_answer *answer,
                       struct error *ret_error)
{
    *ret_error = answer->error;
    if (ret_error->code != ERROR_NONE)
        return -1;
    if (server->at->read(server, answer->body, ret_error) < 0)
        return error_wrap(ret_error, "GET %s", server->at->shown);
    return 0;
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct suse_server *server = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error error;

    if (answer->status == 401 || answer->status == 403) {
        reject(server, answer->status);
    } else if (read_answer(server, answer, &error) < 0) {
        fail(server, REASON(SUSE_OBSERVABILITY_UNREACHABLE),
             str_fmt(arena, "SUSE Observability %.*s does not answer as it should: %s",
                     STR_ARG(server->url), error.text),
             answer->retry_after_ms);
    } else {
        if (!server->at->repeats)
            server->at++;
        ask(server);
    }
}

static void ask(struct suse_server *server)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct http_header token = { STR_INIT("X-API-Key"),
                                       secret_folder_entry(server->secret, 0) };

    while (server->at < questions_end && !server->at->is_due(server))
        server->at++;
    if (server->at == questions_end) {
        if (!server_upkeep_begin(server->upkeep, &server->next->wants.monitors, succeed, server))
            succeed(server);
        return;
    }
    kube_client_send(server->client,
                     &(struct kube_raw){ .method = "GET",
                                         .path = server->at->path(server, arena),
                                         .headers = &token,
                                         .header_count = 1,
                                         .timeout_ms = ANSWER_MS },
                     on_answer, server);
}

/* It becomes a header: nothing that ends a line. */
static bool is_token(struct str token)
{
    for (size_t i = 0; i < token.len; i++)
        if (token.at[i] <= ' ' || token.at[i] > '~')
            return false;
    return token.len > 0;
}

/* Another token than before begins anew. */
static void note_token(struct suse_server *server, struct str token)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str digest = digest_sha256_hex(arena, token);

    if (str_eq(digest, server->digest))
        return;
    arena_reset(server->token);
    server->digest = str_dup(server->token, digest);
    server->rejections = 0;
}

static void copy_all(struct str_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        list->items[i] = str_dup(list->arena, list->items[i]);
}

static struct answers *wanted_answers(struct suse_server *server)
{
    struct answers *answers = answers_create();

    server->events.add_wants(server->events.context, &answers->wants);
    copy_all(&answers->wants.clusters);
    copy_all(&answers->wants.namespaces);
    make_places(answers);
    return answers;
}

/* Until the file of the token changes. */
static void rest_in_trouble(struct suse_server *server, struct str reason, struct str message)
{
    bool known = str_eq(server->reason, reason);

    if (!known)
        set_trouble(server, reason, message);
    rest(server, server->token_look_ms);
    if (!known)
        tell(server);
}

/* Nobody wants anything; who does later, begins anew: see suse_server_look. */
static void stop(struct suse_server *server)
{
    answers_free(TAKE(server->next));
    forget(server);
    set_trouble(server, STR(""), STR(""));
    backoff_reset(&server->backoff);
}

static void begin_round(void *context)
{
    struct suse_server *server = context;
    struct str token = secret_folder_entry(server->secret, 0);

    server->next = wanted_answers(server);
    if (!server->next->wants.clusters.count && !server_upkeep_has_dropped(server->upkeep)) {
        stop(server);
        return;
    }
    if (!is_token(token)) {
        rest_in_trouble(
            server, REASON(SUSE_OBSERVABILITY_NOT_CONFIGURED),
            STR("Herd has no service token for SUSE Observability: put one into the entry "
                "token of " SECRET " (docs/observability.md)"));
        return;
    }
    note_token(server, token);
    if (server->rejections >= REJECTIONS_MAX) {
        rest_in_trouble(server, REASON(SUSE_OBSERVABILITY_TOKEN_REJECTED), server->rejected);
        return;
    }
    server->at = questions;
    server->queried = server->gpus_queried = 0;
    ask(server);
}

/* --- the server --- */

struct suse_server *suse_server_create(const struct suse_server_options *options, struct error *err)
{
    static const char *const entries[] = { "token" };
    AUTO(suse_server_free) struct suse_server *server = mem_new(struct suse_server);
    const struct kube_client_options client = { .loop = options->loop,
                                                .config = options->config,
                                                .may_write = options->may_write,
                                                .may_write_context = options->may_write_context,
                                                .user_agent = "herd-controller/" HERD_VERSION };

    server->memory = arena_create(0);
    server->token = arena_create(0);
    server->trouble = arena_create(0);
    server->url = str_dup(server->memory, options->config->server);
    server->rng = rng_from_seed(options->seed);
    server->backoff =
        backoff_new(options->retry_ms ? options->retry_ms : LIMIT_METRICS_INTERVAL_MIN,
                    LIMIT_METRICS_INTERVAL_MAX);
    server->token_look_ms = options->retry_ms ? options->retry_ms : LIMIT_SERVER_TOKEN_LOOK;
    server->secret = secret_folder_create(options->folder, STR(""), entries, 1);
    server->loop = options->loop;
    server->timer = loop_timer_create(options->loop, begin_round, server);
    server->client = kube_client_create(&client, err);
    if (!server->client)
        return NULL;
    server->upkeep = server_upkeep_create(server->client, server->secret);
    return TAKE(server);
}

void suse_server_free(struct suse_server *server)
{
    if (!server)
        return;
    kube_client_free(server->client);
    server_upkeep_free(server->upkeep);
    loop_timer_free(server->timer);
    secret_folder_free(server->secret);
    answers_free(server->current);
    answers_free(server->next);
    arena_free(server->trouble);
    arena_free(server->token);
    arena_free(server->memory);
    mem_free(server);
}

void suse_server_follow(struct suse_server *server, const struct suse_server_events *events)
{
    server->events = *events;
}

void suse_server_look(struct suse_server *server, int64_t within_ms)
{
    if (server->next || server->backoff.failures)
        return;
    if (!loop_timer_is_set(server->timer) || server->due_ms > loop_now_ms(server->loop) + within_ms)
        set_timer(server, within_ms);
}

static struct suse_view without(struct str reason, struct str message)
{
    return (struct suse_view){ .asked = true, .reason = reason, .message = message };
}

struct suse_view suse_server_view(const struct suse_server *server, struct str cluster)
{
    const struct sample_index *samples;

    if (!server)
        return without(REASON(SUSE_OBSERVABILITY_NOT_CONFIGURED),
                       STR("the agent of SUSE Observability runs there, and Herd does not know its "
                           "server: start herd-controller with --suse-observability-url and "
                           "--suse-observability-credentials-dir (docs/observability.md)"));
    if (server->reason.len)
        return without(server->reason, server->message);
    samples = server->current ? map_get(server->current->indexes, cluster) : NULL;
    if (!samples)
        return (struct suse_view){ .asked = false };
    if (!str_list_has(&server->current->known, cluster))
        return without(REASON(SUSE_OBSERVABILITY_CLUSTER_UNKNOWN),
                       STR("SUSE Observability has no instance of its StackPack Kubernetes for it, "
                           "and drops what its agent sends: add one with the agent's "
                           "stackstate.cluster.name"));
    return (struct suse_view){
        .asked = true,
        .samples = samples,
        .monitors_trouble = server_upkeep_trouble(server->upkeep),
        .generation = server_upkeep_generation(server->upkeep),
    };
}

bool suse_server_monitors(const struct suse_server *server, struct str prefix, uint32_t *ret_count)
{
    return server_upkeep_count(server->upkeep, prefix, ret_count);
}

/* The round that removes them may be the last one. */
void suse_server_drop(struct suse_server *server, struct str prefix)
{
    server_upkeep_drop(server->upkeep, prefix);
    suse_server_look(server, 0);
}
