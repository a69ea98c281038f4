/* SPDX-License-Identifier: Apache-2.0 */
/* stack_test.c: a whole reconciler against a scripted API server and Rancher: what it sends, and in
 * which order. The script forgets what it was sent, so each test ends at its first answer. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "controller/metrics.h"
#include "controller/backends/rancher_apps/rancher_apps.h"
#include "controller/reconcilers/stack/stack.h"

#define AUTHOR "\"annotations\":{\"" STACK_LAST_APPLIED_BY "\":\"ann\"},"
#define STACK(meta, spec, status)                                                                  \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"shop\","     \
    AUTHOR "\"namespace\":\"team\",\"uid\":\"u1\",\"resourceVersion\":\"5\",\"generation\":1" meta        \
    "},\"spec\":" spec status "}"
#define LIST(kind, items)                                                                          \
    "{\"kind\":\"" kind "List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},"   \
    "\"items\":[" items "]}"
#define FINALIZER ",\"finalizers\":[\"herd.suse.com/teardown\"]"
#define CHART                                                                                      \
    "{\"name\":\"web\",\"chart\":\"nginx\",\"repo\":\"https://charts.example.com/\",\"version\":"  \
    "\"1.2.3\",\"values\":{\"inline\":{\"replicas\":2}}}"
#define SPEC "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":[" CHART "]}"
#define CLUSTER(connected)                                                                         \
    "{\"apiVersion\":\"management.cattle.io/v3\",\"kind\":\"Cluster\",\"metadata\":{\"name\":"     \
    "\"c-m-1\",\"resourceVersion\":\"3\",\"labels\":{\"env\":\"dev\"}},\"spec\":{\"displayName\":" \
    "\"one\"},\"status\":{\"conditions\":[{\"type\":\"Connected\",\"status\":\"" connected         \
    "\"},{\"type\":\"Ready\",\"status\":\"" connected "\",\"message\":\"agent away\"}]}}"
#define REPO                                                                                       \
    "{\"metadata\":{\"name\":\"stable\",\"generation\":1,\"resourceVersion\":\"4\"},\"spec\":{"    \
    "\"url\":\"https://charts.example.com\"},\"status\":{\"observedGeneration\":1,"                \
    "\"indexConfigMapName\":\"i\",\"conditions\":[{\"type\":\"Downloaded\",\"status\":\"True\"}]}}"

static const struct observer *const no_observers[] = { NULL };

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct rancher_apps *apps;
    struct recorder *recorder;
    struct metrics *metrics;
    struct stack_reconciler *stacks;
    struct policies *policies; /* NULL: none are followed */
    int64_t settle_ms;
};

static void set_up(struct fixture *f, const char *stacks, const char *clusters)
{
    *f = (struct fixture){ .arena = arena_create(0), .settle_ms = 150000 };
    f->api = scripted_api_create();
    f->loop = loop_create();
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->apps = rancher_apps_create(1);
    f->recorder = recorder_create(f->client, STR("herd-controller"), STR("test"));
    f->metrics = controller_metrics_create();
    scripted_api_say(f->api, "POST", "/events", 201, "{}");
    scripted_api_say(f->api, "GET", "/apis/herd.suse.com/v1/stacks", 200, stacks);
    scripted_api_say(f->api, "GET", "/apis/management.cattle.io/v3/clusters", 200, clusters);
    /* The script has no memory: an answer with the version that it lists is never waited for. */
    scripted_api_say(f->api, "PATCH", "/", 200, STACK(FINALIZER, SPEC, ""));
}

static void on_policies_changed(void *context)
{
    stack_reconciler_policies_changed(((struct fixture *)context)->stacks);
}

static void on_policy_changed(void *context, struct str policy)
{
    (void)context, (void)policy;
}

static void on_clusters_listed(void *context)
{
    if (((struct fixture *)context)->policies)
        policies_clusters_changed(((struct fixture *)context)->policies);
}

static void start(struct fixture *f)
{
    /* After what a test said of them itself. */
    scripted_api_say(f->api, "WATCH", "/", 200, "");
    scripted_api_say(f->api, "GET", "v1/apps?", 200, LIST("App", ""));
    scripted_api_say(f->api, "GET", "v1/operations?", 200, LIST("Operation", ""));
    f->stacks = stack_reconciler_create(&(struct stack_reconciler_options){
        .loop = f->loop,
        .api = f->client,
        .rancher_requests = f->client,
        .rancher_watches = f->client,
        .backend = rancher_apps_backend(f->apps),
        .observers = no_observers,
        .recorder = f->recorder,
        .metrics = f->metrics,
        .settle_ms = f->settle_ms,
        .cluster_operations_max = 3,
        .configuration = configuration_default(),
        .policies = f->policies,
        .clusters_listed = on_clusters_listed,
        .context = f,
    });
    if (f->policies)
        policies_use_clusters(f->policies, stack_reconciler_clusters(f->stacks));
    stack_reconciler_pause(f->stacks, false);
}

static void wait_for(struct fixture *f, const char *method, const char *piece)
{
    scripted_api_run_until(f->api, f->loop, method, piece, 1);
}

static void tear_down(struct fixture *f)
{
    stack_reconciler_free(f->stacks);
    policies_free(f->policies);
    recorder_free(f->recorder);
    kube_client_free(f->client);
    rancher_apps_free(f->apps);
    metrics_free(f->metrics);
    loop_free(f->loop);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

static void expect_in(struct fixture *f, const char *row, const char *method, const char *piece,
                      const char *part)
{
    struct str last = scripted_api_last(f->api, f->arena, method, piece);

    rows_expect(row, str_find(last, str_of(part), 0) >= 0,
                str_fmt(f->arena, "'%s' in %.*s", part, STR_ARG(last)).at);
}

static void a_new_stack_gets_its_finalizer_first(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", STACK("", SPEC, "")), LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    start(&f);
    wait_for(&f, "PATCH", "\"herd.suse.com/teardown\"");
    expect_in(&f, "only as it was read", "PATCH", "teardown", "\"resourceVersion\":\"5\"");
    rows_expect_int("nothing was asked of Rancher before",
                    scripted_api_count(f.api, "POST", "?action="), 0);
    rows_expect_int("no status says that it begins",
                    scripted_api_count(f.api, "PATCH", "\"status\""), 0);
    tear_down(&f);
}

static void nothing_is_done_before_all_stacks_are_listed(void **state)
{
    struct fixture f;

    (void)state;
    /* The list never ends well: the second page names itself as the next one. */
    set_up(&f, "{\"kind\":\"StackList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
               "\"7\",\"continue\":\"more\"},\"items\":[" STACK("", SPEC, "") "]}",
           LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    start(&f);
    /* So the list began anew, a backoff later. */
    scripted_api_run_until(f.api, f.loop, "GET", "continue=more", 2);
    rows_expect_int("no status, no finalizer", scripted_api_count(f.api, "PATCH", "/"), 0);
    tear_down(&f);
}

static void a_repository_is_made_where_it_is_not(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, "")), LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", ""));
    scripted_api_say(f.api, "POST", "/clusterrepos?", 201, "{}");
    start(&f);
    wait_for(&f, "POST", "/k8s/clusters/c-m-1/apis/catalog.cattle.io/v1/clusterrepos");
    expect_in(&f, "with its URL", "POST", "/clusterrepos",
              "\"url\":\"https://charts.example.com\"");
    tear_down(&f);
}

static void an_upgrade_is_in_the_status_before_it_is_sent(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, "")), LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
    scripted_api_hang(f.api, "POST", "?action=upgrade");
    start(&f);
    wait_for(&f, "POST", "?action=upgrade");
    expect_in(&f, "through the repository that serves the URL", "POST", "?action=upgrade",
              "/k8s/clusters/c-m-1/v1/catalog.cattle.io.clusterrepos/stable?action=upgrade");
    expect_in(&f, "the chart", "POST", "?action=upgrade", "\"chartName\":\"nginx\"");
    expect_in(&f, "its values", "POST", "?action=upgrade", "\"values\":{\"replicas\":2}");
    expect_in(&f, "its stamp", "POST", "?action=upgrade", "\"herd.suse.com/stack\":\"team/shop\"");
    expect_in(&f, "the version was asked for", "GET", "link=info", "chartName=nginx&version=1.2.3");
    expect_in(&f, "the status says what was about to be asked", "PATCH", "/status", "requested");
    expect_in(&f, "and would be rejected if the Stack had changed", "PATCH", "/status",
              "\"resourceVersion\":\"5\"");
    tear_down(&f);
}

static void a_conflict_on_the_status_sends_nothing(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, "")), LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
    scripted_api_say(f.api, "PATCH", "requested", 409,
                     "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Conflict\","
                     "\"message\":\"changed\",\"code\":409}");
    start(&f);
    /* The second try follows the rejection of the first. */
    scripted_api_run_until(f.api, f.loop, "PATCH", "requested", 2);
    rows_expect_int("no upgrade", scripted_api_count(f.api, "POST", "?action=upgrade"), 0);
    tear_down(&f);
}

static void a_rejection_is_told_in_the_status(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, ",\"status\":{\"phase\":\"Deploying\","
                                                    "\"observedGeneration\":1}")),
           LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "link=info", 500,
                     "{\"type\":\"error\",\"links\":{},\"code\":\"ServerError\",\"message\":\"no chart "
                     "version found for nginx-1.2.3\",\"status\":500,\"type\":\"error\"}");
    start(&f);
    wait_for(&f, "PATCH", "no chart version found for nginx-1.2.3");
    rows_expect_int("and nothing is installed",
                    scripted_api_count(f.api, "POST", "?action=upgrade"), 0);
    tear_down(&f);
}

static void a_disconnected_cluster_is_never_called(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, "")), LIST("Cluster", CLUSTER("False")));
    start(&f);
    wait_for(&f, "PATCH", "agent away");
    rows_expect_int("no request", scripted_api_count(f.api, "GET", "/k8s/clusters/c-m-1"), 0);
    tear_down(&f);
}

static void a_missing_config_map_is_named(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f,
           LIST("Stack", STACK(FINALIZER,
                               "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},"
                               "\"charts\":[{\"name\":\"web\",\"repo\":\"https://charts.example.com\","
                               "\"version\":\"1.2.3\",\"values\":{\"configMapRefs\":[{\"name\":"
                               "\"tuning\"}]}}]}",
                               "")),
           LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "/configmaps?", 200, LIST("ConfigMap", ""));
    start(&f);
    wait_for(&f, "PATCH", "ConfigMap team/tuning does not exist");
    expect_in(&f, "one object is watched, not a namespace", "GET", "/configmaps?",
              "fieldSelector=metadata.name");
    tear_down(&f);
}

#define TWO_CLUSTERS                                                                               \
    CLUSTER("True") ",{\"kind\":\"Cluster\",\"metadata\":{\"name\":\"c-m-2\",\"resourceVersion\":"    \
    "\"3\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"
#define SECRET_OF(name, base64)                                                                    \
    "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{\"name\":\"" name "\",\"namespace\":"   \
    "\"team\",\"uid\":\"s1\",\"resourceVersion\":\"6\"},\"data\":{\"values.yaml\":\"" base64 "\"}}"

#define SECRETS_BY_CLUSTER                                                                         \
    "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\",\"c-m-2\"]},\"charts\":[{\"name\":\"web\","  \
    "\"repo\":\"https://charts.example.com\",\"version\":\"1.2.3\",\"values\":{\"secretRefs\":[{"       \
    "\"name\":\"keys-${cluster.id}\"}]}}],\"overrides\":[{\"clusterIds\":[\"c-m-1\"],\"charts\":[{"     \
    "\"name\":\"web\",\"values\":{\"secretRefs\":[{\"name\":\"extra\"}],\"inline\":{\"on\":"            \
    "\"${cluster.name}\"}}}]},{\"clusterIds\":[\"c-m-3\"],\"charts\":[{\"name\":\"web\",\"values\":{"   \
    "\"secretRefs\":[{\"name\":\"other\"}]}}]}]}"

/* "pin: hunter22" and "token: canary77". */
static void set_up_secrets(struct fixture *f)
{
    set_up(f, LIST("Stack", STACK(FINALIZER, SECRETS_BY_CLUSTER, "")),
           LIST("Cluster", TWO_CLUSTERS));
    scripted_api_say(f->api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f->api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
    scripted_api_say(f->api, "GET", "keys-c-m-1", 200,
                     LIST("Secret", SECRET_OF("keys-c-m-1", "cGluOiBodW50ZXIyMgo=")));
    scripted_api_say(f->api, "GET", "keys-c-m-2", 200, LIST("Secret", ""));
    scripted_api_say(f->api, "GET", "name%3Dextra", 200,
                     LIST("Secret", SECRET_OF("extra", "dG9rZW46IGNhbmFyeTc3Cg==")));
    scripted_api_hang(f->api, "POST", "?action=upgrade");
}

static void each_cluster_gets_its_own_secret(void **state)
{
    struct fixture f;

    (void)state;
    set_up_secrets(&f);
    start(&f);
    wait_for(&f, "POST", "?action=upgrade");
    expect_in(&f, "where it is", "POST", "?action=upgrade", "/c-m-1/");
    expect_in(&f, "with what the override adds", "POST", "?action=upgrade",
              "\"values\":{\"on\":\"one\",\"pin\":\"hunter22\",\"token\":\"canary77\"}");
    wait_for(&f, "PATCH", "Secret team/keys-c-m-2 does not exist");
    rows_expect_int("an override that applies nowhere is not followed",
                    scripted_api_count(f.api, "GET", "name%3Dother"), 0);
    rows_expect_int("nor is what is secret told", scripted_api_count(f.api, "PATCH", "hunter22"), 0);
    tear_down(&f);
}

/* The digest is that of the release as it is wanted: else nothing would be shown at all. */
static void words_of_helm_hide_secrets_of_clusters_and_overrides(void **state)
{
    struct fixture f;

    (void)state;
    set_up_secrets(&f);
    scripted_api_say(
        f.api, "GET", "/c-m-1/apis/catalog.cattle.io/v1/apps?", 200,
        LIST("App",
             "{\"kind\":\"App\",\"metadata\":{\"name\":\"web\",\"namespace\":\"web\",\"uid\":\"a1\","
             "\"resourceVersion\":\"8\"},\"spec\":{\"name\":\"web\",\"version\":1,\"info\":{\"status\":"
             "\"failed\",\"description\":\"bad hunter22 and canary77\"},\"chart\":{\"metadata\":{"
             "\"version\":\"1.2.3\",\"annotations\":{\"herd.suse.com/stack\":\"team/shop\","
             "\"herd.suse.com/stack-uid\":\"u1\",\"herd.suse.com/chart\":\"web\","
             "\"herd.suse.com/spec-hash\":\"sha256-refs:"
             "9a47a8ebf9974f9666f8a40650e26955f7427ddb6e5d4a74b564f6875cfaee89\"}}}}}"));
    start(&f);
    wait_for(&f, "PATCH", "bad [secret] and [secret]");
    tear_down(&f);
}

#define LABELED(value, version)                                                                    \
    "{\"apiVersion\":\"management.cattle.io/v3\",\"kind\":\"Cluster\",\"metadata\":{\"name\":"         \
    "\"c-m-1\",\"resourceVersion\":\"" version "\",\"labels\":{\"env\":\"dev\"" value                 \
    "}},\"spec\":{\"displayName\":\"one\"},\"status\":{\"conditions\":[{\"type\":\"Connected\","        \
    "\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"True\"}]}}"

/* The label comes with the second watch: what was planned before it is planned anew. */
static void a_label_that_values_use_wakes_the_stack(void **state)
{
    static const struct {
        const char *name, *stack;
    } rows[] = {
        { "a placeholder",
          LIST("Stack", STACK(FINALIZER,
                              "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":[{"
                              "\"name\":\"web\",\"repo\":\"https://charts.example.com\",\"version\":"
                              "\"1.2.3\",\"values\":{\"inline\":{\"in\":\"${cluster.labels.region}\"}}}]}",
                              "")) },
        { "an override by label",
          LIST("Stack", STACK(FINALIZER,
                              "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":[{"
                              "\"name\":\"web\",\"repo\":\"https://charts.example.com\",\"version\":"
                              "\"1.2.3\",\"values\":{\"inline\":{\"in\":\"none\"}}}],\"overrides\":[{\"selector\":{"
                              "\"matchExpressions\":[{\"key\":\"region\",\"operator\":\"DoesNotExist\"}]},"
                              "\"charts\":[{\"name\":\"web\",\"skip\":true}]},{\"selector\":{"
                              "\"matchLabels\":{\"region\":\"eu\"}},\"charts\":[{\"name\":\"web\","
                              "\"values\":{\"inline\":{\"in\":\"eu\"}}}]}]}", "")) },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f, rows[i].stack, LIST("Cluster", LABELED("", "3")));
        scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
        scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
        scripted_api_hang(f.api, "POST", "?action=upgrade");
        scripted_api_say(f.api, "WATCH", "v3/clusters", 200,
                         "{\"type\":\"MODIFIED\",\"object\":" LABELED(",\"region\":\"eu\"", "9")
                         "}\n");
        start(&f);
        wait_for(&f, "POST", "\"values\":{\"in\":\"eu\"}");
        tear_down(&f);
    }
}

#define SELECTS(label)                                                                             \
    "{\"env\":\"dev\",\"targets\":{\"selector\":{\"matchLabels\":{" label "}}},\"charts\":[" CHART "]}"
#define EDITED(spec)                                                                               \
    "{\"type\":\"MODIFIED\",\"object\":{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\","        \
    "\"metadata\":{\"name\":\"shop\"," AUTHOR "\"namespace\":\"team\",\"uid\":\"u1\","                \
    "\"resourceVersion\":\"5\",\"generation\":2" FINALIZER "},\"spec\":" spec "}}\n"

#define NO_CLUSTERS                                                                                \
    "no cluster matches spec.targets; the Stack waits until one does\",\"observedGeneration\":"
#define RELABELED(label)                                                                           \
    "{\"type\":\"MODIFIED\",\"object\":" LABELED("," label, "9") "}\n"

/* The clusters cannot be watched before the Stack has its status, so nothing but the label wakes it
 * then. */
static void a_label_that_the_selector_names_wakes_the_stack(void **state)
{
    static const struct {
        const char *edit, *seen, *cluster;
    } rows[] = {
        { "", NO_CLUSTERS "1", RELABELED("\"tier\":\"gold\"") },
        { EDITED(SELECTS("\"region\":\"eu\"")), NO_CLUSTERS "2",
          RELABELED("\"region\":\"eu\"") },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f, LIST("Stack", STACK(FINALIZER, SELECTS("\"tier\":\"gold\""), "")),
               LIST("Cluster", LABELED("", "3")));
        scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
        scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
        scripted_api_hang(f.api, "POST", "?action=upgrade");
        scripted_api_say(f.api, "WATCH", "v1/stacks?watch", 200, rows[i].edit);
        scripted_api_say(f.api, "WATCH", "v3/clusters", 500, "");
        start(&f);
        wait_for(&f, "PATCH", rows[i].seen);
        scripted_api_say(f.api, "WATCH", "v3/clusters", 200, rows[i].cluster);
        wait_for(&f, "POST", "?action=upgrade");
        tear_down(&f);
    }
}

static void a_stack_that_cannot_be_is_told_so(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f,
           LIST("Stack", STACK(FINALIZER,
                               "{\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"charts\":[{\"name\":\"a\","
                               "\"repo\":\"https://c\",\"version\":\"1.2.3\",\"dependsOn\":[\"a\"]}]}",
                               "")),
           LIST("Cluster", CLUSTER("True")));
    start(&f);
    wait_for(&f, "PATCH", "\"type\":\"Accepted\"");
    rows_expect_int("and nothing is asked", scripted_api_count(f.api, "POST", "/k8s"), 0);
    tear_down(&f);
}

#define POLICY                                                                                      \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"StackPolicy\",\"metadata\":{\"name\":\"dev\","   \
    "\"uid\":\"p1\",\"resourceVersion\":\"5\"},\"spec\":{\"match\":{\"clusterSelector\":{"             \
    "\"matchLabels\":{\"env\":\"dev\"}}},\"rules\":[{\"name\":\"r\",\"field\":\"spec.env\",\"allow\":["  \
    "\"dev\"]}]}}"
#define ABANDONS                                                                                    \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"shop\","        \
    "\"annotations\":{\"" STACK_LAST_APPLIED_BY "\":\"ann\",\"" STACK_ABANDON_CLUSTERS                \
    "\":\"c-99\"},\"namespace\":\"team\",\"uid\":\"u1\",\"resourceVersion\":\"5\",\"generation\":1"    \
    FINALIZER "},\"spec\":" SPEC "}"

static void a_stored_stack_stays_valid_when_a_cluster_is_gone(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", ABANDONS), LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "/stackpolicies", 200, LIST("StackPolicy", POLICY));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
    scripted_api_hang(f.api, "POST", "?action=upgrade");
    f.policies = policies_create(&(struct policies_options){
        .loop = f.loop, .api = f.client, .changed = on_policies_changed,
        .one_changed = on_policy_changed, .context = &f });
    start(&f);
    wait_for(&f, "PATCH", "\"type\":\"Accepted\"");
    expect_in(&f, "also by policies for clusters", "PATCH", "\"type\":\"Accepted\"",
              "\"type\":\"Accepted\",\"status\":\"True\"");
    tear_down(&f);
}

#define REJECTED(reason, code)                                                                      \
    "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason "\",\"message\":\"no\","    \
    "\"code\":" code "}"

/* Waits for the second try, and expects that the first one ended with backoff. */
static void expect_backoff(struct fixture *f, const char *row, const char *piece)
{
    scripted_api_run_until(f->api, f->loop, "PATCH", piece, 2);
    rows_expect(row, metrics_value(f->metrics, CONTROLLER_RETRIES, NULL) >= 1,
                "nothing was put off");
}

static void a_rejected_finalizer_is_tried_again_with_backoff(void **state)
{
    static const struct {
        const char *name;
        int status;
        const char *body;
    } rows[] = {
        { "it is forbidden", 403, REJECTED("Forbidden", "403") },
        { "there are too many requests", 429, REJECTED("TooManyRequests", "429") },
        { "the Stack changed", 409, REJECTED("Conflict", "409") },
        { "the Stack is gone", 404, REJECTED("NotFound", "404") },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f, LIST("Stack", STACK("", SPEC, "")), LIST("Cluster", CLUSTER("True")));
        scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
        scripted_api_say(f.api, "PATCH", "\"herd.suse.com/teardown\"", rows[i].status,
                         rows[i].body);
        start(&f);
        expect_backoff(&f, rows[i].name, "\"herd.suse.com/teardown\"");
        wait_for(&f, "PATCH", "adding the teardown finalizer");
        tear_down(&f);
    }
}

static void a_status_that_is_not_taken_is_tried_again_with_backoff(void **state)
{
    static const struct {
        const char *name;
        int status;
        const char *body;
    } rows[] = {
        { "the Stack changed", 409, REJECTED("Conflict", "409") },
        { "the Stack is gone", 404, REJECTED("NotFound", "404") },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, "")),
               LIST("Cluster", CLUSTER("False")));
        scripted_api_say(f.api, "PATCH", "agent away", rows[i].status, rows[i].body);
        start(&f);
        expect_backoff(&f, rows[i].name, "agent away");
        tear_down(&f);
    }
}

#define HELD                                                                                       \
    ",\"status\":{\"phase\":\"Deployed\",\"observedGeneration\":1,\"targetClusters\":["            \
    "\"c-m-1\"],\"deployments\":[{\"chartName\":\"web\",\"clusterId\":\"c-m-1\",\"namespace\":"    \
    "\"web\",\"releaseName\":\"web\",\"status\":\"Deployed\",\"reason\":\"Deployed\",\"digest\":"  \
    "\"sha256:1\",\"revision\":1}]}"
#define DELETED ",\"deletionTimestamp\":\"2024-01-01T00:00:00Z\""

static void set_up_listless(struct fixture *f)
{
    set_up(f, LIST("Stack", STACK(FINALIZER DELETED, SPEC, HELD)), LIST("Cluster", ""));
}

/* Rancher's list is a list, and empty: that proves nothing. */
static void a_cluster_is_gone_only_if_rancher_says_so_of_it(void **state)
{
    static const struct {
        const char *name;
        int status;
        const char *body;
        const char *says;
    } rows[] = {
        { "it is there", 200, CLUSTER("True"), "its list of clusters lacks it" },
        { "Rancher serves no clusters at present", 404, "404 page not found",
          "whether it is gone is not known" },
        { "a 404 about something else", 404, REJECTED("NotFound", "404"),
          "whether it is gone is not known" },
        { "it may not be asked for", 403, REJECTED("Forbidden", "403"),
          "herd.suse.com/abandon-clusters" },
        { "no answer", 500, "", "whether it is gone is not known" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up_listless(&f);
        scripted_api_say(f.api, "GET", "/v3/clusters/c-m-1", rows[i].status, rows[i].body);
        start(&f);
        wait_for(&f, "PATCH", rows[i].says);
        rows_expect_int(rows[i].name, scripted_api_count(f.api, "PATCH", "\"finalizers\":"), 0);
        tear_down(&f);
    }
}

#define OUR_APP                                                                                    \
    "{\"kind\":\"App\",\"metadata\":{\"name\":\"web\",\"namespace\":\"web\",\"uid\":\"a1\","       \
    "\"resourceVersion\":\"8\"},\"spec\":{\"name\":\"web\",\"version\":1,\"info\":{\"status\":"    \
    "\"deployed\"},\"chart\":{\"metadata\":{\"version\":\"1.2.3\",\"annotations\":{"               \
    "\"herd.suse.com/stack\":\"team/shop\",\"herd.suse.com/stack-uid\":\"u1\","                    \
    "\"herd.suse.com/chart\":\"web\",\"herd.suse.com/spec-hash\":\"sha256:1\"}}}}}"

/* Neither a target nor an entry names the cluster: the budget had no room for it. */
static void a_cluster_that_is_only_held_is_cleared(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f,
           LIST("Stack", STACK(FINALIZER,
                               "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},"
                               "\"rollout\":{\"maxRemovals\":\"100%\"},\"charts\":[" CHART "]}",
                               ",\"status\":{\"phase\":\"Deploying\",\"observedGeneration\":1,"
                               "\"heldClusters\":[\"c-m-2\"]}")),
           LIST("Cluster",
                "{\"kind\":\"Cluster\",\"metadata\":{\"name\":\"c-m-2\",\"resourceVersion\":\"3\"},"
                "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"));
    scripted_api_say(f.api, "GET", "/c-m-2/apis/catalog.cattle.io/v1/apps?", 200,
                     LIST("App", OUR_APP));
    scripted_api_say(f.api, "GET", "/namespaces/web/apps/web", 200, OUR_APP);
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_hang(f.api, "POST", "?action=uninstall");
    start(&f);
    wait_for(&f, "POST", "/k8s/clusters/c-m-2/v1/catalog.cattle.io.apps/web/web?action=uninstall");
    rows_expect_int("which was looked at before",
                    scripted_api_count(f.api, "GET", "/namespaces/web/apps/web"), 1);
    tear_down(&f);
}

/* Nothing of the Stack is on c-m-2 yet, and its lists do not come. */
static void a_cluster_that_does_not_come_up_holds_no_other(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f,
           LIST("Stack", STACK(FINALIZER,
                               "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\","
                               "\"c-m-2\"]},"
                               "\"charts\":[" CHART "]}",
                               HELD)),
           LIST("Cluster", CLUSTER("True") ","
                "{\"kind\":\"Cluster\",\"metadata\":{\"name\":\"c-m-2\",\"resourceVersion\":\"3\"},"
                "\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}"));
    scripted_api_hang(f.api, "GET", "/c-m-2/apis/catalog.cattle.io/v1/clusterrepos?");
    scripted_api_say(f.api, "GET", "/c-m-1/apis/catalog.cattle.io/v1/clusterrepos?", 200,
                     LIST("ClusterRepo", REPO));
    start(&f);
    wait_for(&f, "PATCH", "ResolvingVersion");
    tear_down(&f);
}

static void a_cluster_that_is_gone_is_skipped_with_an_event(void **state)
{
    struct fixture f;

    (void)state;
    set_up_listless(&f);
    scripted_api_say(f.api, "GET", "/v3/clusters/c-m-1", 404,
                     "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"NotFound\","
                     "\"message\":\"no\",\"details\":{\"name\":\"c-m-1\"},\"code\":404}");
    start(&f);
    wait_for(&f, "PATCH", "\"finalizers\":[]");
    wait_for(&f, "POST", "\"ClusterGone\"");
    expect_in(&f, "as a warning", "POST", "\"ClusterGone\"", "\"Warning\"");
    expect_in(&f, "with its name", "POST", "\"ClusterGone\"",
              "c-m-1 (web): Rancher has no such cluster");
    tear_down(&f);
}

#define STATUS(members) ",\"status\":{\"phase\":\"Deploying\",\"observedGeneration\":1," members "}"
#define FAILED_LONG_AGO                                                                            \
    STATUS("\"targetClusters\":[\"c-m-1\"],\"deployments\":[{\"chartName\":\"web\",\"clusterId\":"   \
           "\"c-m-1\",\"namespace\":\"web\",\"releaseName\":\"web\",\"status\":\"Failed\",\"reason\":" \
           "\"InstallFailed\",\"message\":\"install failed: no\",\"attempts\":1,\"lastUpdated\":"     \
           "\"2024-01-01T00:00:00Z\"}]")

static void what_a_peer_puts_off_is_not_asked_for_earlier(void **state)
{
    struct fixture f;
    int64_t began_ms;

    (void)state;
    set_up(&f,
           LIST("Stack", STACK(FINALIZER,
                               "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},"
                               "\"retry\":{\"backoff\":\"1s\"},\"charts\":[" CHART "]}",
                               FAILED_LONG_AGO)),
           LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
    scripted_api_say_header(f.api, "POST", "?action=upgrade", 429, "Retry-After", "4",
                            REJECTED("TooManyRequests", "429"));
    start(&f);
    wait_for(&f, "POST", "?action=upgrade");
    began_ms = clock_monotonic_ms(loop_clock(f.loop));
    /* By the spec's own backoff the next try is due within three seconds. */
    scripted_api_run_until(f.api, f.loop, "POST", "?action=upgrade", 2);
    /* It was sent before it was seen, on a busy machine well before. */
    rows_expect("the wait of Retry-After", clock_monotonic_ms(loop_clock(f.loop)) - began_ms > 3500,
                "too early");
    tear_down(&f);
}

static void what_rancher_does_not_validate_is_no_attempt(void **state)
{
    static const struct {
        const char *name;
        int status;
        const char *body;
        const char *reason;
    } rows[] = {
        { "flow control", 429, REJECTED("TooManyRequests", "429"), "TooManyRequests" },
        { "a cluster that is not provisioned", 503,
          "{\"Code\":{\"Code\":\"ClusterUnavailable\",\"Status\":503},\"Message\":\"no\"}",
          "RancherUnavailable" },
        { "a tunnel that is down", 500, "cluster agent disconnected", "RancherUnavailable" },
        { "a token", 401, "", "TokenRejected" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f,
               LIST("Stack", STACK(FINALIZER,
                                   "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},"
                                   "\"onFailure\":\"Stop\",\"charts\":[" CHART "]}", "")),
               LIST("Cluster", CLUSTER("True")));
        scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
        scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
        scripted_api_say(f.api, "POST", "?action=upgrade", rows[i].status, rows[i].body);
        start(&f);
        wait_for(&f, "PATCH", rows[i].reason);
        rows_expect_int(rows[i].name, scripted_api_count(f.api, "PATCH", "\"attempts\""), 0);
        rows_expect_int(rows[i].name, scripted_api_count(f.api, "PATCH", "\"Failed\""), 0);
        scripted_api_run_until(f.api, f.loop, "POST", "?action=upgrade", 2);
        tear_down(&f);
    }
}

#define REQUESTED_BY_ANOTHER_CLOCK                                                                 \
    STATUS("\"targetClusters\":[\"c-m-1\"],\"deployments\":[{\"chartName\":\"web\",\"clusterId\":"   \
           "\"c-m-1\",\"namespace\":\"web\",\"releaseName\":\"web\",\"status\":\"Deploying\",\"reason\":" \
           "\"Installing\",\"requestedAt\":\"2024-01-01T00:00:00.000000Z\",\"lastUpdated\":"            \
           "\"2024-01-01T00:00:00Z\"}]")

static void a_request_of_the_leader_before_is_lost_by_the_own_clock(void **state)
{
    struct fixture f;
    int64_t began_ms;

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, REQUESTED_BY_ANOTHER_CLOCK)),
           LIST("Cluster", CLUSTER("True")));
    f.settle_ms = 1000;
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
    scripted_api_hang(f.api, "POST", "?action=upgrade");
    began_ms = loop_now_ms(f.loop);
    start(&f);
    wait_for(&f, "POST", "?action=upgrade");
    rows_expect("it is repeated only once it would have shown since this one leads",
                loop_now_ms(f.loop) - began_ms >= f.settle_ms, "at once");
    tear_down(&f);
}

static void a_repository_that_is_asked_in_vain_is_asked_again(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, "")), LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "link=info", 429, REJECTED("TooManyRequests", "429"));
    scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
    scripted_api_hang(f.api, "POST", "?action=upgrade");
    start(&f);
    wait_for(&f, "POST", "?action=upgrade");
    rows_expect_int("nothing failed meanwhile", scripted_api_count(f.api, "PATCH", "\"Failed\""), 0);
    tear_down(&f);
}

static void a_version_is_missing_from_a_fresh_index_only(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, "")), LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "link=info", 500,
                     "{\"code\":\"ServerError\",\"message\":\"no chart version found for x\"}");
    start(&f);
    wait_for(&f, "PATCH", "/k8s/clusters/c-m-1/apis/catalog.cattle.io/v1/clusterrepos/stable");
    expect_in(&f, "by a change of its spec", "PATCH", "/clusterrepos/stable", "\"forceUpdate\":\"");
    rows_expect_int("before it is said", scripted_api_count(f.api, "PATCH", "ChartVersionNotFound"),
                    0);
    wait_for(&f, "PATCH", "ChartVersionNotFound");
    rows_expect_int("once", scripted_api_count(f.api, "PATCH", "/clusterrepos/stable"), 1);
    tear_down(&f);
}

#define OUR_REPO(labels)                                                                           \
    "{\"metadata\":{\"name\":\"%.*s\",\"uid\":\"r1\",\"generation\":1,\"resourceVersion\":\"4\"" labels   \
    "},\"spec\":{\"url\":\"https://charts.example.com\"},\"status\":{\"observedGeneration\":1,"        \
    "\"indexConfigMapName\":\"i\",\"conditions\":[{\"type\":\"Downloaded\",\"status\":\"True\"}]}}"
#define MANAGED ",\"labels\":{\"herd.suse.com/managed\":\"true\"}"
#define ANOTHER(meta, cluster)                                                                     \
    ",{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"other\","           \
    AUTHOR "\"namespace\":\"elsewhere\",\"uid\":\"u2\",\"resourceVersion\":\"6\",\"generation\":1" FINALIZER meta \
    "},\"spec\":{\"env\":\"dev\",\"paused\":true,\"targets\":{\"clusterIds\":[\"" cluster                 \
    "\"]},\"charts\":[" CHART "]}}"

static void a_repository_goes_with_the_last_that_uses_it(void **state)
{
    static const struct {
        const char *name, *another, *labels, *app_repo;
        bool goes;
    } rows[] = {
        { "nobody uses it", "", MANAGED, "", true },
        { "another Stack on another cluster does not", ANOTHER("", "c-m-2"), MANAGED, "", true },
        { "nor does one that goes, too", ANOTHER(DELETED, "c-m-1"), MANAGED, "", true },
        { "another Stack there does", ANOTHER("", "c-m-1"), MANAGED, "", false },
        { "somebody's release came from it", "", MANAGED, "herd", false },
        { "Herd did not make it", "", "", "", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str name = release_repo_name(arena, STR("https://charts.example.com"));
        struct str app = str_fmt(arena,
                                 "{\"metadata\":{\"name\":\"x\",\"namespace\":\"x\",\"uid\":\"a\","
                                 "\"resourceVersion\":\"8\",\"labels\":{\"catalog.cattle.io/cluster-repo-"
                                 "name\":\"%.*s\"}},\"spec\":{\"name\":\"x\",\"version\":1}}",
                                 STR_ARG(name));

        set_up(&f,
               str_fmt(arena, LIST("Stack", STACK(FINALIZER DELETED, SPEC, "") "%s"),
                       rows[i].another).at,
               LIST("Cluster", CLUSTER("True")));
        scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200,
                         str_fmt(arena, LIST("ClusterRepo", "%s"),
                                 str_fmt(arena, *rows[i].labels ? OUR_REPO(MANAGED) : OUR_REPO(""),
                                         STR_ARG(name)).at).at);
        scripted_api_say(f.api, "GET", "v1/apps?", 200,
                         str_fmt(arena, LIST("App", "%s"), *rows[i].app_repo ? app.at : "").at);
        scripted_api_say(f.api, "DELETE", "/clusterrepos/", 200, "{}");
        start(&f);
        wait_for(&f, "PATCH", "\"finalizers\":[]");
        rows_expect_int(rows[i].name, scripted_api_count(f.api, "DELETE", "/clusterrepos/herd-"),
                        rows[i].goes);
        if (rows[i].goes)
            expect_in(&f, "as it was seen", "DELETE", "/clusterrepos/herd-",
                      "\"preconditions\":{\"uid\":\"r1\",\"resourceVersion\":\"4\"}");
        tear_down(&f);
    }
}

static void a_stack_goes_though_its_repository_may_not(void **state)
{
    struct fixture f;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str name = release_repo_name(arena, STR("https://charts.example.com"));

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER DELETED, SPEC, "")), LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200,
                     str_fmt(arena, LIST("ClusterRepo", OUR_REPO(MANAGED)), STR_ARG(name)).at);
    scripted_api_say(f.api, "DELETE", "/clusterrepos/", 403, REJECTED("Forbidden", "403"));
    start(&f);
    wait_for(&f, "PATCH", "\"finalizers\":[]");
    rows_expect_int("it was tried", scripted_api_count(f.api, "DELETE", "/clusterrepos/"), 1);
    tear_down(&f);
}

static void a_rejected_token_is_told_by_each_stack_that_needs_it(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f, LIST("Stack", STACK(FINALIZER, SPEC, "")), LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    scripted_api_say(f.api, "GET", "link=info", 200, "{\"chart\":{\"version\":\"1.2.3\"}}");
    scripted_api_hang(f.api, "POST", "?action=upgrade");
    start(&f);
    stack_reconciler_rancher_trouble(f.stacks, STR("TokenRejected"), STR("renew it"));
    wait_for(&f, "PATCH", "TokenRejected");
    expect_in(&f, "it is stalled", "PATCH", "TokenRejected",
              "\"type\":\"Stalled\",\"status\":\"True\"");
    expect_in(&f, "and what to do", "PATCH", "TokenRejected", "renew it");
    rows_expect_int("nothing is asked", scripted_api_count(f.api, "GET", "link=info"), 0);
    stack_reconciler_rancher_trouble(f.stacks, STR(""), STR(""));
    wait_for(&f, "POST", "?action=upgrade");
    tear_down(&f);
}

static void an_unknown_cluster_is_told_with_the_nearest(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f,
           LIST("Stack", STACK(FINALIZER,
                               "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-l\"]},"
                               "\"charts\":[" CHART "]}", "")),
           LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "/v3/clusters/c-m-l", 404,
                     "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"NotFound\",\"message\":"
                     "\"no\",\"details\":{\"name\":\"c-m-l\"},\"code\":404}");
    start(&f);
    wait_for(&f, "PATCH", "Rancher has no cluster c-m-l (did you mean c-m-1?)");
    expect_in(&f, "it is not Ready", "PATCH", "/status", "\"ready\":\"0/1\"");
    wait_for(&f, "POST", "\"type\":\"Warning\",\"reason\":\"ClusterNotFound\"");
    tear_down(&f);
}

#define WAITS_FOR(name)                                                                            \
    "{\"env\":\"dev\",\"targets\":{\"clusterIds\":[\"c-m-1\"]},\"dependsOn\":[{\"name\":\"" name       \
    "\"}],\"charts\":[" CHART "]}"

static void stacks_that_wait_for_one_another_are_told(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f,
           LIST("Stack", STACK(FINALIZER, WAITS_FOR("base"), "") ",{\"apiVersion\":"
                "\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"base\","
                AUTHOR "\"namespace\":\"team\",\"uid\":\"u2\",\"resourceVersion\":\"5\",\"generation\":1"
                FINALIZER "},\"spec\":" WAITS_FOR("shop") "}"),
           LIST("Cluster", CLUSTER("True")));
    scripted_api_say(f.api, "GET", "v1/clusterrepos?", 200, LIST("ClusterRepo", REPO));
    start(&f);
    wait_for(&f, "PATCH", "dependency cycle: shop -> base -> shop");
    wait_for(&f, "PATCH", "dependency cycle: base -> shop -> base");
    wait_for(&f, "POST", "\"type\":\"Warning\",\"reason\":\"StackCycle\"");
    tear_down(&f);
}

static void releases_are_counted_that_the_status_does_not_list(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f,
           LIST("Stack", STACK(FINALIZER, SPEC,
                               STATUS("\"summary\":{\"Deployed\":300,\"Failed\":1},"
                                      "\"deploymentsOmitted\":300,\"deployments\":[{\"chartName\":"
                                      "\"web\",\"clusterId\":\"c-m-1\",\"status\":\"Failed\"}]"))),
           LIST("Cluster", CLUSTER("False")));
    start(&f);
    wait_for(&f, "PATCH", "agent away");
    rows_expect_int("by the summary",
                    (int)metrics_value(f.metrics, CONTROLLER_RELEASES,
                                       (struct str[]){ STR("Deployed") }), 300);
    rows_expect_int("and by the list",
                    (int)metrics_value(f.metrics, CONTROLLER_RELEASES,
                                       (struct str[]){ STR("Failed") }), 1);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_stack_gets_its_finalizer_first),
        cmocka_unit_test(nothing_is_done_before_all_stacks_are_listed),
        cmocka_unit_test(a_repository_is_made_where_it_is_not),
        cmocka_unit_test(an_upgrade_is_in_the_status_before_it_is_sent),
        cmocka_unit_test(a_conflict_on_the_status_sends_nothing),
        cmocka_unit_test(a_rejection_is_told_in_the_status),
        cmocka_unit_test(a_disconnected_cluster_is_never_called),
        cmocka_unit_test(a_missing_config_map_is_named),
        cmocka_unit_test(each_cluster_gets_its_own_secret),
        cmocka_unit_test(words_of_helm_hide_secrets_of_clusters_and_overrides),
        cmocka_unit_test(a_label_that_values_use_wakes_the_stack),
        cmocka_unit_test(a_label_that_the_selector_names_wakes_the_stack),
        cmocka_unit_test(a_stack_that_cannot_be_is_told_so),
        cmocka_unit_test(a_stored_stack_stays_valid_when_a_cluster_is_gone),
        cmocka_unit_test(a_rejected_finalizer_is_tried_again_with_backoff),
        cmocka_unit_test(a_status_that_is_not_taken_is_tried_again_with_backoff),
        cmocka_unit_test(what_a_peer_puts_off_is_not_asked_for_earlier),
        cmocka_unit_test(what_rancher_does_not_validate_is_no_attempt),
        cmocka_unit_test(a_request_of_the_leader_before_is_lost_by_the_own_clock),
        cmocka_unit_test(a_repository_that_is_asked_in_vain_is_asked_again),
        cmocka_unit_test(a_version_is_missing_from_a_fresh_index_only),
        cmocka_unit_test(a_repository_goes_with_the_last_that_uses_it),
        cmocka_unit_test(a_stack_goes_though_its_repository_may_not),
        cmocka_unit_test(a_rejected_token_is_told_by_each_stack_that_needs_it),
        cmocka_unit_test(an_unknown_cluster_is_told_with_the_nearest),
        cmocka_unit_test(stacks_that_wait_for_one_another_are_told),
        cmocka_unit_test(releases_are_counted_that_the_status_does_not_list),
        cmocka_unit_test(a_cluster_is_gone_only_if_rancher_says_so_of_it),
        cmocka_unit_test(a_cluster_that_is_gone_is_skipped_with_an_event),
        cmocka_unit_test(a_cluster_that_is_only_held_is_cleared),
        cmocka_unit_test(a_cluster_that_does_not_come_up_holds_no_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
