/* main.c: herd-controller: reads its flags, starts its parts on one loop, ends in good order.
 *
 * The client of the lease is fenced by nothing; those of the management cluster's API and of
 * Rancher send no change unless the lease is held. Followers read, and do not act. */
#include "base/limits.h"
#include "controller/audit/audit.h"
#include "controller/certificates/certificates.h"
#include "controller/estate/rancher/reach.h"
#include "controller/inventory/inventories.h"
#include "controller/metrics.h"
#include "controller/options.h"
#include "controller/reconcile/receipt_secret.h"
#include "controller/reconcile/stack.h"
#include "io/signal.h"
#include "runtime/health.h"
#include "runtime/leader.h"
#include "settings/configured.h"
#include "stack/status.h"

#include <malloc.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

enum health_check {
    CHECK_STACKS,
    CHECK_CLUSTERS,
    CHECK_RANCHER,
    CHECK_CONFIGURATION,
    CHECK_COUNT
};
static const char *const check_names[CHECK_COUNT] = { "stacks", "clusters", "rancher",
                                                      "configuration" };

enum {
    TICK_MS = 1000,
    LOOP_STUCK_MS = 30000, /* /healthz fails when the loop did not turn for so long */
    STOP_POLL_MS = 50,
    STOP_WAIT_MS = 1500,   /* for answers under way: a successor is to act within two seconds */
    STOP_DEADLINE_S = 10,  /* then the process ends, whatever hangs */
    LARGE_BLOCK_BYTES = 256 * 1024,
};

struct running {
    const struct options *options;
    struct loop *loop;
    struct log *log;
    struct metrics *metrics;
    struct health *health;
    struct configured *configured;
    struct configured_teller configured_teller;
    struct kube_client *lease_client;
    struct kube_client *api;
    struct kube_client *rancher_requests;
    struct kube_client *rancher_watches;
    struct rancher_client *rancher;
    struct recorder *recorder;
    struct reach *reach;
    struct stack_reconciler *stacks;
    struct audit *audit;               /* NULL: not asked for */
    struct inventories *inventories;   /* the same */
    struct certificates *certificates; /* NULL: others see to them */
    struct receipt_secret *receipt_secret; /* NULL: others see to it */
    struct leader *leader;
    struct signal_watch *signals;
    struct loop_timer *tick;
    struct loop_timer *stopping;
    int64_t stop_at_ms;
    int code;
};

static bool may_write(void *context)
{
    const struct running *running = context;

    if (!running->options->leader_elect)
        return true;
    return running->leader && leader_may_write(running->leader);
}

static void count_request(struct running *running, enum controller_metric counter,
                          const char *peer, const char *verb, int status, int64_t duration_ms)
{
    char code[16];

    snprintf(code, sizeof(code), "%d", status);
    metrics_add(running->metrics, counter, (struct str[]){ str_of(verb), str_of(code) }, 1);
    if (strcmp(verb, "watch") != 0)
        metrics_observe(running->metrics, CONTROLLER_REQUEST_SECONDS,
                        (struct str[]){ str_of(peer) }, (double)duration_ms / 1000);
}

static void on_api_request(void *context, const char *verb, struct str plural, int status,
                           int64_t duration_ms)
{
    (void)plural;
    count_request(context, CONTROLLER_API_REQUESTS, "api", verb, status, duration_ms);
}

static void on_rancher_request(void *context, const char *verb, struct str plural, int status,
                               int64_t duration_ms)
{
    (void)plural;
    count_request(context, CONTROLLER_RANCHER_REQUESTS, "rancher", verb, status, duration_ms);
}

/* Leadership. */

static void began(void *context)
{
    struct running *running = context;

    log_info(running->log, "leading", LOG_STR("identity", running->options->identity));
    metrics_set(running->metrics, CONTROLLER_LEADER, NULL, 1);
    stack_reconciler_pause(running->stacks, false);
    audit_pause(running->audit, false);
    inventories_pause(running->inventories, false);
    certificates_pause(running->certificates, false);
    receipt_secret_pause(running->receipt_secret, false);
    reach_tell(running->reach);
}

static void lost(void *context)
{
    struct running *running = context;

    log_error(running->log, "lease lost; this process ends, so that only one acts",
              LOG_STR("identity", running->options->identity));
    metrics_set(running->metrics, CONTROLLER_LEADER, NULL, 0);
    stack_reconciler_pause(running->stacks, true);
    audit_pause(running->audit, true);
    inventories_pause(running->inventories, true);
    certificates_pause(running->certificates, true);
    receipt_secret_pause(running->receipt_secret, true);
    running->code = PROGRAM_FAILED;
    loop_stop(running->loop);
}

/* Stopping: no new keys; answers under way are awaited for a moment; the lease is given up. */

static void released(void *context)
{
    struct running *running = context;

    loop_stop(running->loop);
}

static void on_stopping(void *context)
{
    struct running *running = context;

    if (stack_reconciler_busy(running->stacks) && loop_now_ms(running->loop) < running->stop_at_ms)
        loop_timer_set(running->stopping, STOP_POLL_MS);
    else if (running->leader)
        leader_release(running->leader, released, running);
    else
        loop_stop(running->loop);
}

static void on_signal(void *context, int number)
{
    struct running *running = context;

    if (running->stop_at_ms) {
        loop_stop(running->loop);
        return;
    }
    log_info(running->log, "stopping", LOG_INT("signal", number));
    /* Ends the process if something below hangs: SIGALRM's default action. */
    alarm(STOP_DEADLINE_S);
    running->stop_at_ms = loop_now_ms(running->loop) + STOP_WAIT_MS;
    health_shutting_down(running->health);
    stack_reconciler_pause(running->stacks, true);
    audit_pause(running->audit, true);
    inventories_pause(running->inventories, true);
    certificates_pause(running->certificates, true);
    receipt_secret_pause(running->receipt_secret, true);
    loop_timer_set(running->stopping, 0);
}

/* Rancher's trouble is told, and keeps nobody from being ready: another replica would have it, too.
 * But who waits for this one to be ready learns of it in time. */
static void tell_rancher(struct running *running)
{
    health_set(running->health, CHECK_RANCHER,
               reach_is_known(running->reach) ? STR("") : STR("Rancher is being asked"));
    health_note(running->health, CHECK_RANCHER, reach_trouble(running->reach));
}

static void look_for_configuration(struct running *running)
{
    struct configuration now;

    if (!configured_look(running->configured, &running->configured_teller))
        return;
    now = configured_take(running->configured);
    stack_reconciler_configure(running->stacks, &now);
}

static void on_tick(void *context)
{
    struct running *running = context;

    health_beat(running->health, clock_monotonic_ms(loop_clock(running->loop)), LOOP_STUCK_MS);
    health_set(running->health, CHECK_STACKS, stack_reconciler_stacks_trouble(running->stacks));
    health_set(running->health, CHECK_CLUSTERS,
               stack_reconciler_clusters_trouble(running->stacks));
    tell_rancher(running);
    look_for_configuration(running);
    stack_reconciler_measure(running->stacks);
    inventories_measure(running->inventories);
    loop_timer_set(running->tick, TICK_MS);
}

static void on_stack_changed(void *context, struct str key)
{
    const struct running *running = context;

    audit_stack_changed(running->audit, key);
    inventories_stack_changed(running->inventories, key);
}

static void on_cluster_changed(void *context, struct str id)
{
    const struct running *running = context;

    inventories_cluster_changed(running->inventories, id);
}

static void on_clusters_listed(void *context)
{
    const struct running *running = context;

    inventories_clusters_listed(running->inventories);
}

/* Every series whose labels are known is there from the start. */
static void prepare_metrics(struct metrics *metrics)
{
    metrics_set(metrics, CONTROLLER_BUILD_INFO, (struct str[]){ STR(HERD_VERSION) }, 1);
    for (int phase = PHASE_PENDING; phase <= PHASE_DELETING; phase++)
        metrics_set(metrics, CONTROLLER_STACKS,
                    (struct str[]){ str_of(stack_phase_name((enum stack_phase)phase)) }, 0);
    for (int state = DEPLOYMENT_UNKNOWN; state < DEPLOYMENT_REMOVED; state++)
        metrics_set(
            metrics, CONTROLLER_RELEASES,
            (struct str[]){ str_of(deployment_state_name((enum deployment_state)state)) }, 0);
}

static int create_configured(struct running *running, struct error *err)
{
    running->configured_teller = (struct configured_teller){
        .log = running->log,
        .metrics = running->metrics,
        .reloads = CONTROLLER_CONFIGURATION_RELOADS,
        .refused = CONTROLLER_CONFIGURATION_REFUSED,
        .check = CHECK_CONFIGURATION,
    };
    running->configured = configured_create(running->options->config_file,
                                            &running->options->configuration, err);
    return running->configured ? 0 : error_wrap(err, "--config-file");
}

/* `options` as far as clients differ. */
static struct kube_client *create_client(struct running *running,
                                         struct kube_client_options options, struct error *err)
{
    options.loop = running->loop;
    options.user_agent = "herd-controller/" HERD_VERSION;
    options.may_write_context = running;
    options.on_request_context = running;
    return kube_client_create(&options, err);
}

static int create_api_clients(struct running *running, struct error *err)
{
    const struct kube_config *config = &running->options->api;

    running->lease_client = create_client(
        running, (struct kube_client_options){ .config = config, .on_request = on_api_request },
        err);
    running->api = create_client(running,
                                 (struct kube_client_options){
                                     .config = config,
                                     .connections_max = LIMIT_WATCH_CONNECTIONS,
                                     .may_write = may_write,
                                     .on_request = on_api_request,
                                 },
                                 err);
    if (!running->lease_client || !running->api)
        return error_wrap(err, "API server %.*s", STR_ARG(config->server));
    return 0;
}

static int create_rancher_clients(struct running *running, struct error *err)
{
    struct kube_client_options options = {
        .config = &running->options->rancher,
        .may_write = may_write,
        .on_request = on_rancher_request,
    };

    running->rancher_requests = create_client(running, options, err);
    options.connections_max = LIMIT_WATCH_CONNECTIONS;
    options.read_error = rancher_read_error;
    running->rancher_watches = create_client(running, options, err);
    if (!running->rancher_requests || !running->rancher_watches)
        return error_wrap(err, "Rancher %.*s", STR_ARG(options.config->server));
    running->rancher =
        rancher_client_create(running->rancher_requests, running->rancher_watches);
    return 0;
}

static void start_reach(struct running *running, uint64_t seed)
{
    const struct options *options = running->options;

    running->recorder = recorder_create(running->api, STR("herd-controller"), options->identity);
    running->reach = reach_create(&(struct reach_options){
        .loop = running->loop,
        .rancher = running->rancher,
        .recorder = running->recorder,
        .log = running->log,
        .metrics = running->metrics,
        .server = options->rancher.server,
        .pod_namespace = options->lease_namespace,
        .pod_name = options->pod_name,
        .pod_uid = options->pod_uid,
        .seed = seed,
    });
}

static void start_stacks(struct running *running, uint64_t seed)
{
    const struct options *options = running->options;

    running->stacks = stack_reconciler_create(&(struct stack_reconciler_options){
        .loop = running->loop,
        .api = running->api,
        .rancher = running->rancher,
        .recorder = running->recorder,
        .log = running->log,
        .metrics = running->metrics,
        .namespace_ = options->namespace_,
        .workers = options->workers,
        .settle_ms = options->settle_ms,
        .resync_ms = options->resync_ms,
        .cluster_operations_max = options->cluster_operations,
        .configuration = configured_take(running->configured),
        .receipt_key_file = options->receipt_key_file,
        .receipts_mode = options->receipts_mode,
        .receipts_settle_ms = LIMIT_RECEIPT_SETTLE,
        .check_access = options->check_access,
        .seed = seed,
        .stack_changed = on_stack_changed,
        .cluster_changed = on_cluster_changed,
        .clusters_listed = on_clusters_listed,
        .context = running,
    });
}

static void start_audit(struct running *running, uint64_t seed)
{
    const struct options *options = running->options;

    if (!options->policy_audit)
        return;
    running->audit = audit_create(&(struct audit_options){
        .loop = running->loop,
        .api = running->api,
        .log = running->log,
        .metrics = running->metrics,
        .stacks = stack_reconciler_stacks(running->stacks),
        .namespace_ = options->namespace_,
        .seed = seed,
    });
}

static void start_inventories(struct running *running, uint64_t seed)
{
    if (!running->options->cluster_inventories)
        return;
    running->inventories = inventories_create(&(struct inventories_options){
        .loop = running->loop,
        .api = running->api,
        .rancher = running->rancher,
        .log = running->log,
        .metrics = running->metrics,
        .stacks = stack_reconciler_stacks(running->stacks),
        .estate = stack_reconciler_estate(running->stacks),
        .seed = seed,
    });
}

static void start_certificates(struct running *running, uint64_t seed)
{
    const struct options *options = running->options;

    if (!options->own_certificates)
        return;
    running->certificates = certificates_create(&(struct certificates_options){
        .loop = running->loop,
        .clock = system_clock(),
        .api = running->api,
        .recorder = running->recorder,
        .log = running->log,
        .metrics = running->metrics,
        .names = options->certificate_names,
        .policy = options->certificate_policy,
        .seed = seed,
    });
}

static void start_receipt_secret(struct running *running, uint64_t seed)
{
    const struct options *options = running->options;

    if (!options->receipt_secret.len)
        return;
    running->receipt_secret = receipt_secret_create(&(struct receipt_secret_options){
        .loop = running->loop,
        .api = running->api,
        .log = running->log,
        .namespace_ = options->lease_namespace,
        .name = options->receipt_secret,
        .seed = seed,
    });
}

static void start_leader(struct running *running, uint64_t seed)
{
    const struct options *options = running->options;

    if (!options->leader_elect) {
        began(running);
        return;
    }
    running->leader = leader_create(&(struct leader_options){
        .client = running->lease_client,
        .namespace_ = options->lease_namespace,
        .name = options->lease_name,
        .identity = options->identity,
        .seed = seed,
        .began = began,
        .lost = lost,
        .context = running,
    });
}

static void start_parts(struct running *running, uint64_t seed)
{
    start_reach(running, seed);
    start_stacks(running, seed);
    start_audit(running, seed + 100);
    start_inventories(running, seed + 200);
    start_certificates(running, seed);
    start_receipt_secret(running, seed + 300);
    start_leader(running, seed);
    running->tick = loop_timer_create(running->loop, on_tick, running);
    running->stopping = loop_timer_create(running->loop, on_stopping, running);
    running->signals = signal_watch_create(running->loop, on_signal, running);
    loop_timer_set(running->tick, 0);
}

static void end(struct running *running)
{
    signal_watch_free(running->signals);
    loop_timer_free(running->tick);
    loop_timer_free(running->stopping);
    certificates_free(running->certificates);
    receipt_secret_free(running->receipt_secret);
    audit_free(running->audit);
    inventories_free(running->inventories);
    stack_reconciler_free(running->stacks);
    leader_free(running->leader);
    kube_client_free(running->rancher_requests);
    kube_client_free(running->rancher_watches);
    rancher_client_free(running->rancher);
    reach_free(running->reach);
    recorder_free(running->recorder);
    kube_client_free(running->api);
    kube_client_free(running->lease_client);
    health_free(running->health);
    configured_free(running->configured);
    metrics_free(running->metrics);
    loop_free(running->loop);
}

static int run(const struct options *options, struct log *log, uint64_t seed)
{
    struct running running = { .options = options, .log = log, .code = PROGRAM_OK };
    struct error err = { .code = ERROR_NONE };

    running.loop = loop_create();
    running.metrics = metrics_create(controller_metrics, CONTROLLER_METRIC_COUNT);
    prepare_metrics(running.metrics);
    if (create_configured(&running, &err) < 0 ||
        create_api_clients(&running, &err) < 0 || create_rancher_clients(&running, &err) < 0) {
        program_refuse(&controller_program, &err);
        end(&running);
        return PROGRAM_USAGE;
    }
    running.health = health_create(options->listen_host, options->listen_port, check_names,
                                   CHECK_COUNT, running.metrics, &err);
    if (!running.health) {
        program_refuse(&controller_program, &err);
        end(&running);
        return PROGRAM_FAILED;
    }
    running.configured_teller.health = running.health;
    configured_tell(running.configured, &running.configured_teller);
    start_parts(&running, seed);
    log_info(log, "serving", LOG_INT("metrics_port", health_port(running.health)),
             LOG_STR("api", options->api.server), LOG_STR("rancher", options->rancher.server));
    loop_run(running.loop);
    log_info(log, "stopped", LOG_INT("code", running.code));
    end(&running);
    return running.code;
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

    give_memory_back();
    signal_setup();

    int code = program_parse(&controller_program, argc, argv, arena, &flags);

    if (code != PROGRAM_GO_ON)
        return code;
    if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
        seed = (uint64_t)clock_wall_ms(system_clock()) ^ (uint64_t)getpid();
    if (options_read(arena, &flags, seed, &options, &err) < 0)
        return program_refuse(&controller_program, &err);
    if (options.version) {
        printf("herd-controller %s\n", HERD_VERSION);
        return PROGRAM_OK;
    }

    AUTO(log_free) struct log *log = program_log(&controller_program, &flags);

    program_log_flags(log, &flags);
    return run(&options, log, seed);
}
