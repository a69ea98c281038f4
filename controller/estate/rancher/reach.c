/* reach.c: one question again and again: soon where it went wrong, seldom where it went well. */
#include "controller/estate/rancher/reach.h"

#include "base/memory.h"
#include "controller/metrics.h"
#include "kube/backoff.h"

enum {
    AGAIN_FIRST_MS = 2000,
    AGAIN_MAX_MS = 60000,
    LOOK_MS = 5 * 60 * 1000, /* a token that expires is told of, though no Stack needs it */
    REPEAT_MS = 10 * 60 * 1000, /* a server forgets Events; that trouble lasts is told again */
};

/* What a failure means to one who set Rancher's address, CA and token. */
struct meaning {
    enum error_code code;
    const char *reason; /* of the Event */
    const char *way_out;
};

static const struct meaning meanings[] = {
    { ERROR_UNAUTHORIZED, "RancherTokenRefused",
      "put a valid Rancher API token (Rancher: Account & API Keys) where --rancher-token-file "
      "looks; it is read again when it changes" },
    { ERROR_FORBIDDEN, "RancherTokenRefused",
      "give the token's user rights on the clusters that Stacks go to" },
    { ERROR_TLS, "RancherNotTrusted",
      "name the CA that signed Rancher's certificate with --rancher-ca-file; Rancher gives it at "
      "/cacerts" },
    { ERROR_CONNECT, "RancherUnreachable",
      "check --rancher-url, and that names resolve and network policies let this pod reach it" },
    { ERROR_TIMEOUT, "RancherUnreachable",
      "check --rancher-url, and that network policies and firewalls let this pod reach it" },
    { ERROR_LOST, "RancherUnreachable",
      "check --rancher-url, and what stands between this pod and Rancher" },
    { ERROR_SYNTAX, "RancherNotThere", "check --rancher-url: what answers there is not Rancher" },
    { ERROR_NOT_FOUND, "RancherNotThere",
      "check --rancher-url: what answers there is not Rancher" },
};
static const struct meaning any_other = {
    ERROR_NONE, "RancherFailing", "look at Rancher's own log; it is asked again"
};
static const struct meaning reached = { ERROR_NONE, "RancherReached", "" };

struct reach {
    struct reach_options options;
    struct loop_timer *timer;
    struct backoff backoff;
    struct rng rng;
    const struct meaning *meaning; /* NULL: not known yet */
    struct arena *arena;           /* of the words of now */
    struct str words;              /* "" = it is reached */
    int64_t told_ms;               /* when the newest Event was made */
    bool may_tell;
};

static const struct meaning *meaning_of(enum error_code code)
{
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (meanings[i].code == code)
            return &meanings[i];
    return &any_other;
}

struct str reach_way_out(enum error_code code)
{
    return code == ERROR_UNAUTHORIZED ? str_of(meaning_of(code)->way_out) : STR("");
}

static void make_event(struct reach *reach)
{
    const struct reach_options *options = &reach->options;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    bool well = reach->words.len == 0;

    if (!reach->may_tell || !reach->meaning || options->pod_uid.len == 0)
        return;
    reach->told_ms = loop_now_ms(options->loop);
    recorder_emit(options->recorder,
                  &(struct kube_event){
                      .resource = KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true),
                      .namespace_ = options->pod_namespace,
                      .name = options->pod_name,
                      .uid = options->pod_uid,
                      .warning = !well,
                      .reason = str_of(reach->meaning->reason),
                      .message = well ? str_fmt(arena, "Rancher %.*s answers and takes the token",
                                                STR_ARG(options->server))
                                      : reach->words,
                      .milestone = true,
                  });
}

static void log_change(const struct reach *reach, const struct error *error)
{
    if (error->code == ERROR_NONE)
        log_info(reach->options.log, "Rancher answers and takes the token",
                 LOG_STR("rancher", reach->options.server));
    else
        log_error(reach->options.log, "Rancher cannot be used; no Stack goes on until it can",
                  LOG_STR("rancher", reach->options.server),
                  LOG_Z("reason", reach->meaning->reason), LOG_Z("error", error->text),
                  LOG_Z("way_out", reach->meaning->way_out));
}

static void take(struct reach *reach, const struct error *error)
{
    bool well = error->code == ERROR_NONE;
    const struct meaning *meaning = well ? &reached : meaning_of(error->code);
    bool changed = meaning != reach->meaning;

    reach->meaning = meaning;
    arena_reset(reach->arena);
    reach->words = well ? STR("")
                        : str_fmt(reach->arena, "Rancher %.*s cannot be used: %s; %s",
                                  STR_ARG(reach->options.server), error->text, meaning->way_out);
    metrics_set(reach->options.metrics, CONTROLLER_RANCHER_REACHED, NULL, well);
    if (changed)
        log_change(reach, error);
    if (changed || (!well && loop_now_ms(reach->options.loop) - reach->told_ms >= REPEAT_MS))
        make_event(reach);
}

static void on_answer(void *context, const struct rancher_outcome *outcome)
{
    struct reach *reach = context;
    const struct error none = { .code = ERROR_NONE };
    bool well = outcome->result == RANCHER_DONE;

    take(reach, well ? &none : &outcome->error);
    if (well)
        backoff_reset(&reach->backoff);
    loop_timer_set(reach->timer,
                   well ? LOOK_MS
                        : backoff_next(&reach->backoff, outcome->retry_after_ms, &reach->rng));
}

static void ask(void *context)
{
    struct reach *reach = context;

    rancher_ask(reach->options.rancher, on_answer, reach);
}

struct reach *reach_create(const struct reach_options *options)
{
    struct reach *reach = mem_new(struct reach);

    reach->options = *options;
    reach->backoff = backoff_new(AGAIN_FIRST_MS, AGAIN_MAX_MS);
    reach->rng = rng_from_seed(options->seed);
    reach->arena = arena_create(0);
    reach->words = STR("");
    reach->timer = loop_timer_create(options->loop, ask, reach);
    loop_timer_set(reach->timer, 0);
    return reach;
}

void reach_free(struct reach *reach)
{
    if (!reach)
        return;
    loop_timer_free(reach->timer);
    arena_free(reach->arena);
    mem_free(reach);
}

void reach_tell(struct reach *reach)
{
    reach->may_tell = true;
    make_event(reach);
}

bool reach_is_known(const struct reach *reach)
{
    return reach->meaning != NULL;
}

struct str reach_trouble(const struct reach *reach)
{
    return reach->words;
}
