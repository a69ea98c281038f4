/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: herd-example [--crd | KUBECONFIG]: a controller that has the example kind alone. */
#include "example_kind/website.h"
#include "io/program.h"
#include "io/signal.h"
#include "runtime/manager.h"

#include <stdio.h>

struct example {
    struct loop *loop;
    struct log *log;
    struct kube_client *client;
};

static void *start(void *context, uint64_t seed)
{
    const struct example *example = context;

    return kind_reconciler_create(&(struct kind_options){
        .kind = &website_kind, .loop = example->loop, .client = example->client, .log = example->log, .seed = seed });
}

static const struct manager_part website_part = {
    .name = "website",
    .start = start,
    .free = kind_reconciler_free,
    .pause = kind_reconciler_pause,
    .busy = kind_reconciler_busy,
    .checks = { { "websites", kind_reconciler_trouble, kind_reconciler_note } },
};
static const struct manager_part *const parts[] = { &website_part };
static const struct metric_row gauges[] = { { .kind = METRIC_GAUGE, .name = "example_leader", .help = "1 while it acts." } };

static int run(struct arena *arena, const char *kubeconfig)
{
    struct example example = { .loop = loop_create() };
    struct error err = { .code = ERROR_NONE };
    struct kube_config config;
    int code = PROGRAM_USAGE;

    AUTO(log_free) struct log *log = log_create(2, LOG_INFO, LOG_TEXT, system_clock(), "herd-example");
    AUTO(metrics_free) struct metrics *metrics = metrics_create(gauges, 1);
    struct manager *manager = manager_create(&(struct manager_options){ .loop = example.loop, .log = log,
        .metrics = metrics, .parts = parts, .part_count = 1, .context = &example });

    example.log = log;
    if (kube_config_load(arena, kubeconfig, NULL, &config, &err) == 0)
        example.client = kube_client_create(&(struct kube_client_options){ .loop = example.loop, .config = &config,
            .user_agent = "herd-example", .may_write = manager_may_write, .may_write_context = manager }, &err);
    if (example.client && manager_listen(manager, "127.0.0.1", 0, &err) == 0) {
        log_info(log, "serving", LOG_INT("metrics_port", health_port(manager_health(manager))));
        code = manager_run(manager, NULL);
    } else {
        fprintf(stderr, "herd-example: %s\n", err.text);
    }
    manager_free(manager);
    kube_client_free(example.client);
    loop_free(example.loop);
    return code;
}

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf crd = strbuf_new(arena, 4096);

    signal_setup();
    if (argc == 2 && strcmp(argv[1], "--crd") != 0)
        return run(arena, argv[1]);
    crd_write(&website_crd, &crd);
    printf("%.*s", STR_ARG(strbuf_str(&crd)));
    return PROGRAM_OK;
}
