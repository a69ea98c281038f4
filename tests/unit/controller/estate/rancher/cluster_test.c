/* cluster_test.c: when a cluster is starting, read, and too long unheard of to act on. */
#include "support/rows.h"
#include "support/loopback.h"
#include "support/scripted_api.h"

#include "base/limits.h"
#include "controller/estate/rancher/cluster.h"

#define LIST(kind)                                                                                 \
    "{\"kind\":\"" kind "List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"},"   \
    "\"items\":[]}"

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct rancher_client *rancher;
    struct cluster *cluster;
    bool told;
};

static void on_release(void *context, struct str release)
{
    (void)context;
    (void)release;
}

static void on_changed(void *context, struct str id)
{
    struct fixture *f = context;

    (void)id;
    f->told = true;
}

static void on_trouble(void *context, struct str id, const struct error *error)
{
    (void)context;
    (void)id;
    (void)error;
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0) };
    f->api = scripted_api_create();
    f->loop = loop_create();
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->rancher = rancher_client_create(f->client, f->client);
    f->cluster = cluster_create(&(struct cluster_options){
        .rancher = f->rancher, .id = STR("c-m-1"), .release_changed = on_release,
        .stack_changed = on_release, .cluster_changed = on_changed, .room_freed = on_release,
        .trouble = on_trouble, .context = f });
    scripted_api_say(f->api, "WATCH", "/", 200, "");
    scripted_api_say(f->api, "GET", "/apps?", 200, LIST("App"));
    scripted_api_say(f->api, "GET", "/operations?", 200, LIST("Operation"));
    scripted_api_say(f->api, "GET", "/clusterrepos?", 200, LIST("ClusterRepo"));
}

static void tear_down(struct fixture *f)
{
    cluster_free(f->cluster);
    rancher_client_free(f->rancher);
    kube_client_free(f->client);
    loop_free(f->loop);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

static int64_t now(const struct fixture *f)
{
    return loop_now_ms(f->loop);
}

static void follow(struct fixture *f)
{
    f->told = false;
    cluster_follow(f->cluster, true);
}

static void is_stale_once_it_is_unheard_of(void **state)
{
    struct fixture f;

    set_up(&f);
    rows_expect("what was never read is not stale",
                !cluster_is_stale(f.cluster, now(&f) + 3600000), "not stale");
    follow(&f);
    rows_expect("nor what is being read", !cluster_is_stale(f.cluster, now(&f) + 3600000),
                "not stale");
    loopback_run_until(f.loop, &f.told);
    rows_expect("it is read", cluster_is_read(f.cluster), "read");
    rows_expect("and fresh", !cluster_is_stale(f.cluster, now(&f)), "not stale");
    rows_expect("until nothing was heard for the bound",
                cluster_is_stale(f.cluster, now(&f) + LIMIT_WATCH_DEAD_TIME + 1), "stale");
    tear_down(&f);
    (void)state;
}

static void starts_but_once(void **state)
{
    struct fixture f;

    set_up(&f);
    rows_expect("not before it is followed", !cluster_is_starting(f.cluster, now(&f)), "no");
    follow(&f);
    rows_expect("its first lists are waited for", cluster_is_starting(f.cluster, now(&f)), "yes");
    rows_expect("not for ever", !cluster_is_starting(f.cluster, now(&f) + 20000), "no");
    cluster_follow(f.cluster, false);
    loopback_run_until(f.loop, &(bool){ true });

    int64_t began_ms = now(&f);

    follow(&f);
    rows_expect("one that never came up does not begin anew",
                !cluster_is_starting(f.cluster, began_ms + 20000), "no");
    loopback_run_until(f.loop, &f.told);
    rows_expect("not once it is read", !cluster_is_starting(f.cluster, now(&f)), "no");
    cluster_follow(f.cluster, false);
    follow(&f);
    rows_expect("nor when it comes back", !cluster_is_starting(f.cluster, now(&f)), "no");
    tear_down(&f);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_stale_once_it_is_unheard_of),
        cmocka_unit_test(starts_but_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
