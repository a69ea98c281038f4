/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: herd-controller: reads its flags and runs what parts.def names on one loop; or, if its
 * first word is `report` or `replay`, does that (report/command.h, replay/command.h). */
#include "controller/backends/neuvector/neuvector.h"
#include "controller/backends/observability/observability.h"
#include "controller/backends/rancher_apps/rancher_apps.h"
#include "controller/metrics.h"
#include "controller/parts.h"
#include "controller/replay/command.h"
#include "controller/report/command.h"
#include "io/process.h"
#include "io/signal.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    LARGE_BLOCK_BYTES = 256 * 1024,
    TRIM_MS = 30000,
};

static int open_spans(struct controller *controller, uint64_t seed, struct error *err)
{
    const struct options *options = controller->options;

    controller->spans = span_exporter_create(
        &(struct span_exporter_options){
            .loop = controller->loop,
            .target = &options->spans,
            .source = { STR("herd-controller"), STR(HERD_VERSION), options->identity },
            .log = controller->log,
            .metrics = controller->metrics,
            .spans = CONTROLLER_SPANS,
            .seed = seed,
        },
        err);
    return controller->spans || !options->spans.url.len ? 0 : -1;
}

/* What can be rejected of flags and the files they name, before anything is served. */
static int open_all(struct controller *controller, uint64_t seed, struct error *err)
{
    const struct options *options = controller->options;

    controller->configured = configured_create(options->config_file, &options->configuration, err);
    if (!controller->configured)
        return error_wrap(err, "--config-file");
    if (open_spans(controller, seed, err) < 0)
        return -1;
    controller->connections = (struct connections){ .loop = controller->loop,
                                                    .metrics = controller->metrics,
                                                    .manager = controller->manager };
    return connections_open(&controller->connections, options, err);
}

static int open_suse_server(const struct controller *controller,
                            struct observability *observability, uint64_t seed,
                            struct suse_server **ret_server, struct error *err)
{
    const struct options *options = controller->options;
    const struct suse_server_options of_server = { .loop = controller->loop,
                                                   .config = &options->suse_observability,
                                                   .folder = options->suse_folder,
                                                   .may_write = manager_may_write,
                                                   .may_write_context = controller->manager,
                                                   .seed = seed };

    if (!options->suse_observability.server.len)
        return 0;
    *ret_server = suse_server_create(&of_server, err);
    if (!*ret_server)
        return error_wrap(err, "--suse-observability-url");
    observability_use(observability, *ret_server);
    return 0;
}

/* What a rollout took and gave back lies between what stays: malloc would keep it. */
static void trim_memory(void *context)
{
    program_settle();
    loop_timer_set(*(struct loop_timer **)context, TRIM_MS);
}

static int serve(struct controller *controller, uint64_t seed)
{
    const struct options *options = controller->options;
    AUTO(loop_timer_free) struct loop_timer *trim = NULL;
    const struct leader_options lease = {
        .client = controller->connections.lease,
        .namespace_ = options->lease_namespace,
        .name = options->lease_name,
        .seed = seed,
    };

    log_info(controller->log, "serving",
             LOG_INT("metrics_port", health_port(manager_health(controller->manager))),
             LOG_INT("console_port", controller->console ? console_port(controller->console) : 0),
             LOG_STR("api", options->api.server), LOG_STR("rancher", options->rancher.server));
    trim = loop_timer_create(controller->loop, trim_memory, &trim);
    loop_timer_set(trim, TRIM_MS);
    return manager_run(controller->manager, options->leader_elect ? &lease : NULL);
}

static int run(const struct options *options, struct log *log, uint64_t seed)
{
    AUTO(rancher_apps_free) struct rancher_apps *rancher_apps = rancher_apps_create(seed);
    AUTO(neuvector_free)
    struct neuvector *neuvector =
        neuvector_create(&(struct neuvector_options){ .folder = options->neuvector_folder,
                                                      .interval_ms = options->neuvector_interval_ms,
                                                      .seed = seed,
                                                      .log = log });
    AUTO(observability_free) struct observability *observability = observability_create(seed ^ 1);
    const struct observer *const observers[] = { neuvector_observer(neuvector),
                                                 observability_observer(observability), NULL };
    struct controller controller = { .options = options,
                                     .log = log,
                                     .backend = rancher_apps_backend(rancher_apps),
                                     .observers = observers };
    struct suse_server *suse_server = NULL;
    struct error err = { .code = ERROR_NONE };
    int code;

    controller.loop = loop_create();
    controller.metrics = controller_metrics_create();
    controller_metrics_follow(controller.metrics, controller.loop);
    controller.manager = manager_create(&(struct manager_options){
        .loop = controller.loop,
        .log = log,
        .metrics = controller.metrics,
        .leader_gauge = CONTROLLER_LEADER,
        .parts = controller_parts,
        .part_count = controller_part_count,
        .context = &controller,
        .seed = seed,
        .identity = options->identity,
    });
    if (open_all(&controller, seed, &err) < 0 ||
        open_suse_server(&controller, observability, seed ^ 2, &suse_server, &err) < 0) {
        code = program_reject(&controller_program, &err);
    } else if (manager_listen(controller.manager, options->listen_host, options->listen_port,
                              &err) < 0 ||
               controller_open_console(&controller, seed ^ 3, &err) < 0) {
        program_reject(&controller_program, &err);
        code = PROGRAM_FAILED;
    } else {
        code = serve(&controller, seed);
    }
    manager_free(controller.manager);
    suse_server_free(suse_server);
    connections_close(&controller.connections);
    span_exporter_drain(controller.spans);
    span_exporter_free(controller.spans);
    configured_free(controller.configured);
    metrics_free(controller.metrics);
    loop_free(controller.loop);
    return code;
}

/* A large Stack's reconcile takes a megabyte for some milliseconds. Left alone, malloc takes such
 * blocks for usual after the first, and keeps them between the objects that stay. */
static void give_memory_back(void)
{
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES);
    mallopt(M_TRIM_THRESHOLD, LARGE_BLOCK_BYTES);
    mallopt(M_ARENA_MAX, 2); /* the loop's, and one for the probes' threads */
}

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct flag_values flags;
    struct options options;
    struct error err = { .code = ERROR_NONE };
    uint64_t seed = 0;

    if (argc > 1 && strcmp(argv[1], "report") == 0)
        return report_run(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "replay") == 0)
        return replay_run(argc - 1, argv + 1);
    give_memory_back();
    process_raise_open_files();
    signal_setup();

    int code = program_parse(&controller_program, argc, argv, arena, &flags);

    if (code != PROGRAM_GO_ON)
        return code;
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        seed = (uint64_t)clock_wall_ms(system_clock()) ^ (uint64_t)getpid();
    if (options_read(arena, &flags, seed, &options, &err) < 0)
        return program_reject(&controller_program, &err);
    if (options.version) {
        printf("herd-controller %s\n", HERD_VERSION);
        return PROGRAM_OK;
    }

    AUTO(log_free) struct log *log = program_log(&controller_program, &flags);

    program_log_flags(log, &flags);
    return run(&options, log, seed);
}
