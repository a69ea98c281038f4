/* SPDX-License-Identifier: Apache-2.0 */
/* backend_test.c: a back end that is not Rancher's Apps: the reconciler of Stacks deploys through what
 * backend.h says, and asks Rancher for nothing itself. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "controller/metrics.h"
#include "controller/reconcilers/stack/stack.h"

#define STACK                                                                                      \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"shop\","     \
    "\"annotations\":{\"" STACK_LAST_APPLIED_BY "\":\"ann\"},\"namespace\":\"team\",\"uid\":\"u1\"," \
    "\"resourceVersion\":\"5\",\"generation\":1,\"finalizers\":[\"herd.suse.com/teardown\"]},"     \
    "\"spec\":{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":[{\"name\":"   \
    "\"web\",\"repo\":\"https://charts.example.com\",\"version\":\"1.2.3\"}]}}"
#define CLUSTER                                                                                    \
    "{\"metadata\":{\"name\":\"c-m-1\",\"resourceVersion\":\"3\"},\"status\":{\"conditions\":["    \
    "{\"type\":\"Connected\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define LIST(kind, items)                                                                          \
    "{\"kind\":\"" kind "List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},"   \
    "\"items\":[" items "]}"

/* It installs what it is told to, with a program of its own; here that rejects everything. */
static const struct observer *const no_observers[] = { NULL };

struct bundles {
    struct backend backend;
    struct collection *followed; /* NULL: not open */
    struct capacity *capacity;
    struct loop_timer *answer;
    bool answered;
    request_done *done;
    void *done_context;
};

struct fixture {
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct recorder *recorder;
    struct metrics *metrics;
    struct bundles bundles;
    struct stack_reconciler *stacks;
};

static void on_bundle(void *context, struct kube_object *before, struct kube_object *after)
{
    (void)context, (void)before, (void)after;
}

static void open_cluster(void *context, struct connection *connection,
                         const struct backend_events *events)
{
    struct bundles *bundles = context;

    (void)events;
    bundles->followed = connection_follow(connection, &(struct collection_options){
        .resource = KUBE_RESOURCE_INIT("fleet.cattle.io", "v1alpha1", "bundles", "Bundle", true),
        .need = COLLECTION_REQUIRED, .on_change = on_bundle });
}

static void close_cluster(void *context, struct str cluster_id)
{
    struct bundles *bundles = context;

    (void)cluster_id;
    connection_drop(bundles->followed);
    bundles->followed = NULL;
}

/* It needs no repositories and resolves versions by itself, so it says that both are done. */
static int64_t observe(void *context, struct str cluster_id, struct arena *arena,
                       const struct backend_question *question, int64_t now_ms,
                       struct observed_cluster *into)
{
    (void)context, (void)cluster_id, (void)now_ms;
    into->releases = observed_releases_new(arena, 0);
    into->operations = observed_operations_new(arena, 0);
    into->leftovers = observed_leftovers_new(arena, 0);
    into->repos = observed_repos_new(arena, 1);
    into->versions = observed_versions_new(arena, 1);
    for (uint32_t i = 0; i < question->repos.count; i++)
        observed_repos_push(&into->repos, (struct observed_repo){ .url = question->repos.items[i],
                                                                  .name = STR("none"),
                                                                  .state = REPO_READY });
    for (uint32_t i = 0; i < question->versions.count; i++) {
        struct observed_version *version =
            observed_versions_push(&into->versions, question->versions.items[i]);

        version->state = VERSION_FOUND;
        version->resolved = version->version;
    }
    return -1;
}

static void reject(void *context)
{
    struct bundles *bundles = context;
    struct request_outcome outcome = { .result = REQUEST_REJECTED, .retry_after_ms = -1 };

    error_set(&outcome.error, ERROR_FORBIDDEN, "the bundle is not wanted here");
    bundles->done(bundles->done_context, &outcome);
    bundles->answered = true;
}

static bool act(void *context, const struct backend_order *order, request_done *done,
                void *done_context)
{
    struct bundles *bundles = context;

    rows_expect_int("it is asked to install, and for nothing that it has no use for",
                    order->action->kind, ACTION_UPGRADE);
    rows_expect_str("on that cluster", order->cluster_id, STR("c-m-1"));
    rows_expect_str("for that Stack", order->key, STR("team/shop"));
    bundles->done = done;
    bundles->done_context = done_context;
    loop_timer_set(bundles->answer, 0);
    return true;
}

static struct capacity *capacity_of(void *context, struct str cluster_id)
{
    (void)cluster_id;
    return ((struct bundles *)context)->capacity;
}

static void offer_capacity(void *context, struct str cluster_id, uint32_t operations_max,
                           int64_t now_ms, void (*wake)(void *context, struct str stack),
                           void *wake_context)
{
    (void)context, (void)cluster_id, (void)operations_max, (void)now_ms, (void)wake;
    (void)wake_context;
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .api = scripted_api_create(), .loop = loop_create() };
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->recorder = recorder_create(f->client, STR("herd-controller"), STR("test"));
    f->metrics = controller_metrics_create();
    f->bundles.capacity = capacity_create();
    f->bundles.answer = loop_timer_create(f->loop, reject, &f->bundles);
    f->bundles.backend = (struct backend){
        .actions = 1 << ACTION_UPGRADE, .open = open_cluster, .close = close_cluster,
        .observe = observe, .act = act, .capacity = capacity_of, .offer_capacity = offer_capacity,
        .context = &f->bundles };
    scripted_api_say(f->api, "POST", "/events", 201, "{}");
    scripted_api_say(f->api, "GET", "/stacks", 200, LIST("Stack", STACK));
    scripted_api_say(f->api, "GET", "/v3/clusters", 200, LIST("Cluster", CLUSTER));
    scripted_api_say(f->api, "GET", "/bundles", 200, LIST("Bundle", ""));
    scripted_api_say(f->api, "PATCH", "/", 200, STACK);
    scripted_api_say(f->api, "WATCH", "/", 200, "");
    f->stacks = stack_reconciler_create(&(struct stack_reconciler_options){
        .loop = f->loop, .api = f->client, .rancher_requests = f->client,
        .rancher_watches = f->client, .backend = &f->bundles.backend, .observers = no_observers, .recorder = f->recorder,
        .metrics = f->metrics, .settle_ms = 150000, .cluster_operations_max = 3,
        .configuration = configuration_default() });
    stack_reconciler_pause(f->stacks, false);
}

static void tear_down(struct fixture *f)
{
    stack_reconciler_free(f->stacks);
    recorder_free(f->recorder);
    kube_client_free(f->client);
    capacity_free(f->bundles.capacity);
    loop_timer_free(f->bundles.answer);
    metrics_free(f->metrics);
    loop_free(f->loop);
    scripted_api_free(f->api);
}

static void another_back_end_delivers(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    loopback_run_until(f.loop, &f.bundles.answered);
    rows_expect("the status said so before",
                scripted_api_count(f.api, "PATCH", "\"requestedAt\"") >= 1, "it did not");
    rows_expect_int("nothing was asked of Rancher's Apps",
                    (int)scripted_api_count(f.api, "GET", "catalog.cattle.io"), 0);
    rows_expect_int("nor sent there", (int)scripted_api_count(f.api, "POST", "/k8s/clusters/"), 0);
    tear_down(&f);
    rows_expect("it was closed before the connection", !f.bundles.followed, "open");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_back_end_delivers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
