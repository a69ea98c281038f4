/* SPDX-License-Identifier: Apache-2.0 */
/* rancher_probe.c: one question again and again: soon where it went wrong, seldom where it went
 * well. */
#include "controller/clusters/rancher_probe.h"

#include "base/memory.h"
#include "controller/clusters/rancher_error.h"
#include "controller/clusters/request_outcome.h"
#include "controller/clusters/token_gate.h"
#include "controller/metrics.h"
#include "controller/reasons.h"
#include "kube/backoff.h"
#include "stack/model/reasons.h"

enum {
    ANSWER_MS = 15000, /* of what Rancher answers from its own memory */
    AGAIN_FIRST_MS = 2000,
    AGAIN_MAX_MS = 60000,
    LOOK_MS = 5 * 60 * 1000,    /* a token that expires is told of, though no Stack needs it */
    SUSPECT_MS = 5000,          /* a 401 has the token asked for, at most so often */
    FILE_LOOK_MS = 1000,        /* how soon a new token is seen */
    REPEAT_MS = 10 * 60 * 1000, /* a server forgets Events; lasting trouble is reported again */
};

/* What a failure means to one who set Rancher's address, CA and token. */
struct meaning {
    enum error_code code;
    enum controller_reason reason; /* of the Event */
    const char *remedy;
};

static const struct meaning meanings[] = {
    { ERROR_UNAUTHORIZED, CONTROLLER_REASON_RANCHER_TOKEN_REJECTED,
      "put a valid Rancher API token (Rancher: Account & API Keys) where --rancher-token-file "
      "looks; it is read again when it changes" },
    { ERROR_FORBIDDEN, CONTROLLER_REASON_RANCHER_TOKEN_REJECTED,
      "give the token's user rights on the clusters that Stacks go to" },
    { ERROR_TLS, CONTROLLER_REASON_RANCHER_NOT_TRUSTED,
      "name the CA that signed Rancher's certificate with --rancher-ca-file; Rancher gives it at "
      "/cacerts" },
    { ERROR_CONNECT, CONTROLLER_REASON_RANCHER_UNREACHABLE,
      "check --rancher-url, and that names resolve and network policies let this pod reach it" },
    { ERROR_TIMEOUT, CONTROLLER_REASON_RANCHER_UNREACHABLE,
      "check --rancher-url, and that network policies and firewalls let this pod reach it" },
    { ERROR_LOST, CONTROLLER_REASON_RANCHER_UNREACHABLE,
      "check --rancher-url, and what stands between this pod and Rancher" },
    { ERROR_SYNTAX, CONTROLLER_REASON_RANCHER_NOT_THERE,
      "check --rancher-url: what answers there is not Rancher" },
    { ERROR_NOT_FOUND, CONTROLLER_REASON_RANCHER_NOT_THERE,
      "check --rancher-url: what answers there is not Rancher" },
};
static const struct meaning any_other = { ERROR_NONE, CONTROLLER_REASON_RANCHER_FAILING,
                                          "look at Rancher's own log; it is asked again" };
static const struct meaning reached = { ERROR_NONE, CONTROLLER_REASON_RANCHER_REACHED, "" };

struct rancher_probe {
    struct rancher_probe_options options;
    struct token_gate gate;
    bool closed;            /* as reported last */
    struct error rejection; /* while the gate is not open */
    uint64_t asked_token;   /* hash of the token of the question under way, */
    int64_t asked_ms;       /* and when it was asked last */
    bool asking;
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

struct str rancher_probe_remedy(enum error_code code)
{
    return code == ERROR_UNAUTHORIZED ? str_of(meaning_of(code)->remedy) : STR("");
}

static void make_event(struct rancher_probe *probe)
{
    const struct rancher_probe_options *options = &probe->options;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    bool well = probe->words.len == 0;

    if (!probe->may_tell || !probe->meaning || options->pod_uid.len == 0)
        return;
    probe->told_ms = loop_now_ms(options->loop);
    recorder_emit(options->recorder,
                  &(struct kube_event){
                      .resource = KUBE_RESOURCE_INIT("", "v1", "pods", "Pod", true),
                      .namespace_ = options->pod_namespace,
                      .name = options->pod_name,
                      .uid = options->pod_uid,
                      .warning = !well,
                      .reason = controller_reason_name(probe->meaning->reason),
                      .message = well ? str_fmt(arena, "Rancher %.*s answers and takes the token",
                                                STR_ARG(options->server))
                                      : probe->words,
                      .kind = EVENT_MILESTONE,
                  });
}

static void log_change(const struct rancher_probe *probe, const struct error *error)
{
    if (error->code == ERROR_NONE)
        log_info(probe->options.log, "Rancher answers and takes the token",
                 LOG_STR("rancher", probe->options.server));
    else
        log_error(probe->options.log, "Rancher cannot be used; no Stack goes on until it can",
                  LOG_STR("rancher", probe->options.server),
                  LOG_STR("reason", controller_reason_name(probe->meaning->reason)),
                  LOG_Z("error", error->text), LOG_Z("remedy", probe->meaning->remedy));
}

static void take(struct rancher_probe *probe, const struct error *error)
{
    bool well = error->code == ERROR_NONE;
    const struct meaning *meaning = well ? &reached : meaning_of(error->code);
    bool changed = meaning != probe->meaning;

    probe->meaning = meaning;
    arena_reset(probe->arena);
    probe->words = well ? STR("")
                        : str_fmt(probe->arena, "Rancher %.*s cannot be used: %s; %s",
                                  STR_ARG(probe->options.server), error->text, meaning->remedy);
    metrics_set(probe->options.metrics, CONTROLLER_RANCHER_REACHED, NULL, well);
    if (changed)
        log_change(probe, error);
    if (changed || (!well && loop_now_ms(probe->options.loop) - probe->told_ms >= REPEAT_MS))
        make_event(probe);
}

static uint64_t token_of(const struct rancher_probe *probe)
{
    return str_hash(kube_client_token(probe->options.login));
}

static void tell_token(struct rancher_probe *probe)
{
    const struct rancher_probe_options *options = &probe->options;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    static const struct str said = STR_INIT("Rancher rejects the token: ");
    struct str why = str_of(probe->rejection.text);

    if (!options->token_changed)
        return;
    if (str_starts(why, said))
        why = str_slice(why, said.len, why.len);
    if (!probe->closed)
        options->token_changed(options->context, STR(""), STR(""));
    else
        options->token_changed(
            options->context, REASON(TOKEN_REJECTED),
            str_fmt(arena,
                    "Rancher %.*s rejects the token%s%.*s: %.*s; renew it there (in a cluster: the "
                    "key token of the Secret that is mounted there, which the manifests call "
                    "herd-rancher); it is read again when it changes",
                    STR_ARG(options->server), options->token_file.len ? " in " : "",
                    STR_ARG(options->token_file), STR_ARG(why)));
}

/* Whether the token is good, as far as the answer says. */
static void validate_token(struct rancher_probe *probe, const struct request_outcome *outcome)
{
    bool was_open = token_gate_is_open(&probe->gate);

    if (outcome->result == REQUEST_DONE) {
        token_gate_accepted(&probe->gate);
    } else if (outcome->error.code == ERROR_UNAUTHORIZED) {
        token_gate_rejected(&probe->gate, probe->asked_token, loop_now_ms(probe->options.loop));
        probe->rejection = outcome->error;
        metrics_add(probe->options.metrics, CONTROLLER_RANCHER_TOKEN_REJECTIONS, NULL, 1);
    }

    bool closed =
        !token_gate_is_open(&probe->gate) && token_gate_is_closed(&probe->gate, probe->asked_token);
    bool opened = !was_open && token_gate_is_open(&probe->gate);

    if (closed == probe->closed && !opened)
        return;
    probe->closed = closed;
    tell_token(probe);
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct rancher_probe *probe = context;
    struct request_outcome outcome = request_outcome_of(answer);
    int64_t wait_ms = LOOK_MS;

    probe->asking = false;
    if (outcome.result == REQUEST_DONE && rancher_collection_read(answer->body, &outcome.error) < 0)
        outcome.result = REQUEST_UNKNOWN;
    validate_token(probe, &outcome);
    take(probe, &outcome.error);
    if (outcome.result == REQUEST_DONE)
        backoff_reset(&probe->backoff);
    else
        wait_ms = backoff_next(&probe->backoff, outcome.retry_after_ms, &probe->rng);
    loop_timer_set(probe->timer, token_gate_is_open(&probe->gate) ? wait_ms : FILE_LOOK_MS);
}

static void ask(void *context)
{
    struct rancher_probe *probe = context;
    uint64_t token = token_of(probe);
    int64_t now_ms = loop_now_ms(probe->options.loop);

    if (probe->asking)
        return;
    if (token_gate_wait_ms(&probe->gate, token, now_ms) != 0) {
        loop_timer_set(probe->timer, FILE_LOOK_MS);
        return;
    }
    probe->asking = true;
    probe->asked_token = token;
    probe->asked_ms = now_ms;
    kube_client_raw(probe->options.login, "GET", STR("/v3/clusters?limit=1"), NULL, STR(""),
                    ANSWER_MS, on_answer, probe);
}

void rancher_probe_check_token(struct rancher_probe *probe)
{
    int64_t after_ms = probe->asked_ms + SUSPECT_MS - loop_now_ms(probe->options.loop);

    if (!probe->asking && token_gate_is_open(&probe->gate))
        loop_timer_set(probe->timer, after_ms > 0 ? after_ms : 0);
}

bool rancher_probe_may_ask(void *context, struct error *ret_error)
{
    const struct rancher_probe *probe = context;

    if (token_gate_is_open(&probe->gate))
        return true;
    error_set(ret_error, ERROR_UNAUTHORIZED, "not sent: %s", probe->rejection.text);
    return false;
}

bool rancher_probe_needs_token(const struct rancher_probe *probe)
{
    return probe->closed;
}

struct rancher_probe *rancher_probe_create(const struct rancher_probe_options *options)
{
    struct rancher_probe *probe = mem_new(struct rancher_probe);

    probe->options = *options;
    probe->asked_ms = -SUSPECT_MS;
    probe->backoff = backoff_new(AGAIN_FIRST_MS, AGAIN_MAX_MS);
    probe->rng = rng_from_seed(options->seed);
    probe->arena = arena_create(0);
    probe->words = STR("");
    probe->timer = loop_timer_create(options->loop, ask, probe);
    loop_timer_set(probe->timer, 0);
    return probe;
}

void rancher_probe_free(struct rancher_probe *probe)
{
    if (!probe)
        return;
    loop_timer_free(probe->timer);
    arena_free(probe->arena);
    mem_free(probe);
}

void rancher_probe_publish(struct rancher_probe *probe)
{
    probe->may_tell = true;
    make_event(probe);
}

bool rancher_probe_is_known(const struct rancher_probe *probe)
{
    return probe->meaning != NULL;
}

struct str rancher_probe_trouble(const struct rancher_probe *probe)
{
    return probe->words;
}
