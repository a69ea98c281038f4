/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c: who wakes whom, one Stack after the other, and the writes.
 *
 *     a Stack changed                    that Stack, once it has been quiet for a moment
 *     a policy changed                   all Stacks, with the set made anew
 *     (policies.h: also clusters)
 *     a report changed, not by us        its Stack
 *     the API server has PolicyReports   all Stacks
 *
 * The status of each policy (statuses.h) says whether it is valid, and, once all Stacks were
 * validated by the policies that there are, how many it applies to.
 *
 * Whether there are PolicyReports the API server's discovery says, asked now and then. One write
 * at a time, and a pause after each. What was written is remembered until the watch shows it, so
 * that a Stack that changes at once is compared with that. */
#include "controller/reconcilers/policy_report/audit.h"

#include "base/memory.h"
#include "controller/limits.h"
#include "controller/reconcilers/policy_report/report.h"
#include "controller/reconcilers/policy_report/statuses.h"
#include "controller/reconcilers/policy_report/tally.h"
#include "controller/metrics.h"
#include "controller/reconcilers/stack/kept_stack.h"
#include "kube/meta.h"
#include "runtime/controller.h"
#include "runtime/expectations.h"
#include "runtime/informer.h"

enum {
    GATHER_MS = 500,
    LOOK_TIME_MS = 10000,
};

struct audit {
    struct audit_options options;
    struct kube_controller *queue;
    struct statuses *statuses; /* of policies */

    struct informer *reports; /* NULL: the API server has no such kind */
    bool reports_gone;
    struct loop_timer *look;
    struct kube_call *looking;

    struct tally *tally;
    struct expectations *written; /* of Stacks, as report_keep keeps them */
    struct kube_call *writing;
    struct loop_timer *gap; /* after a write */
    struct str key;         /* being worked on; the queue's */
};

static void wake_all(struct audit *audit)
{
    struct kube_object *object;
    size_t cursor = 0;

    while (kube_cache_next(audit->options.stacks, &cursor, &object))
        kube_controller_add(audit->queue, kube_object_key(object));
}

void audit_stack_changed(struct audit *audit, struct str key)
{
    kube_controller_add_after(audit->queue, key, GATHER_MS);
}

/* --- what was written --- */

static const struct kube_object *stored_report(const struct audit *audit, struct arena *arena,
                                               struct str stack)
{
    struct str namespace_, name;

    kube_key_split(stack, &namespace_, &name);
    return kube_cache_get(informer_cache(audit->reports),
                          kube_key(arena, namespace_, report_name(arena, name)));
}

static void remember_written(struct audit *audit, struct str answer)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf kept = strbuf_new(arena, 1024);
    struct error ignored;
    struct json report;

    /* What was deleted has no version; without the kind there is nothing to wait for. */
    if (!audit->reports || json_read(arena, answer, &json_limits_default, &report, &ignored) < 0 ||
        !report_keep(NULL, report, &kept))
        return;
    expectations_set(audit->written, audit->key,
                     json_str(json_walk(report, "metadata", "resourceVersion", NULL)),
                     stored_report(audit, arena, audit->key), strbuf_str(&kept),
                     loop_now_ms(audit->options.loop));
}

/* What stands there, as far as it is known; "" = nothing. */
static struct str known_report(const struct audit *audit, const struct kube_object *stored)
{
    struct str kept =
        expectations_kept(audit->written, audit->key, loop_now_ms(audit->options.loop));

    return kept.len || !stored ? kept : kube_object_kept(stored);
}

/* --- one Stack --- */

static void done(struct audit *audit, enum reconcile_result result, int64_t after_ms)
{
    struct str key = audit->key;

    audit->key = STR("");
    kube_controller_done(audit->queue, key, result, after_ms);
}

static void on_gap(void *context)
{
    done(context, RECONCILE_DONE, -1);
}

static void on_written(void *context, const struct kube_answer *answer)
{
    struct audit *audit = context;

    audit->writing = NULL;
    metrics_add(audit->options.metrics, CONTROLLER_POLICY_REPORT_WRITES,
                (struct str[]){ answer->error.code == ERROR_NONE ? STR("written") : STR("failed") },
                1);
    if (answer->error.code == ERROR_NONE) {
        remember_written(audit, answer->body);
        loop_timer_set(audit->gap, LIMIT_REPORT_GAP);
        return;
    }
    log_warn(audit->options.log, "policy report not written; Herd retries",
             LOG_STR("stack", audit->key), LOG_Z("error", answer->error.text));
    expectations_forget(audit->written, audit->key);
    done(audit, RECONCILE_RETRY, answer->retry_after_ms);
}

static void send(struct audit *audit, enum kube_verb verb, const struct report_stack *stack,
                 struct str name, struct str body)
{
    const struct kube_request request = {
        .verb = verb,
        .resource = report_resource,
        .namespace_ = stack->namespace_,
        .name = verb == KUBE_CREATE ? STR("") : name,
        .patch_type = KUBE_PATCH_MERGE,
        .field_manager = STR("herd-controller"),
        .body = body,
    };

    audit->writing = kube_client_call(audit->options.api, &request, on_written, audit);
}

/* True: it is being written, and the key is done later. */
static bool write_report(struct audit *audit, struct arena *arena, const struct report_stack *stack,
                         const struct policy_results *results)
{
    struct str name = report_name(arena, stack->name);
    const struct kube_object *stored = stored_report(audit, arena, audit->key);
    struct str known = known_report(audit, stored);
    struct str body;

    if (results->count == 0) {
        if (stored)
            send(audit, KUBE_DELETE, stack, name, STR(""));
        return stored != NULL;
    }
    body = report_write(arena, stack, policies_set(audit->options.policies), results, known,
                        clock_wall_ms(loop_clock(audit->options.loop)) / 1000);
    if (body.len == 0)
        return false;
    send(audit, known.len ? KUBE_PATCH : KUBE_CREATE, stack, name, body);
    return true;
}

static bool reports_are_known(const struct audit *audit)
{
    return audit->reports && !audit->reports_gone && informer_synced(audit->reports);
}

static bool validate(struct audit *audit, struct arena *arena, const struct kube_object *object)
{
    struct problems problems = problems_new(arena);
    struct error ignored = { .code = ERROR_NONE };
    struct json json = { NULL, 0 };
    struct policy_set *set = policies_set(audit->options.policies);

    /* Our own bytes, packed by keep_stack: they read back. */
    if (kept_stack_read(arena, kube_object_kept(object), &json, &ignored) < 0)
        return false;

    const struct resolved_targets *chosen;
    const struct stack *stack = policy_set_look(arena, set, policies_facts(audit->options.policies),
                                                json, &problems, &chosen);
    struct policy_results results = policy_results_of(arena, set, stack, chosen, &problems);
    const struct report_stack about = { stack->meta.namespace_, stack->meta.name, stack->meta.uid };

    tally_put(audit->tally, audit->key, set, &results);
    /* With one that is going the garbage collector takes its report. */
    if (!reports_are_known(audit) || stack->meta.deletion_timestamp.len)
        return false;
    return write_report(audit, arena, &about, &results);
}

static void audit_one(void *context, struct str key)
{
    struct audit *audit = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct kube_object *object = kube_cache_get(audit->options.stacks, key);

    audit->key = key;
    if (!object) {
        tally_forget(audit->tally, key);
        expectations_forget(audit->written, key);
    }
    if (!object || !policies_set(audit->options.policies) || !validate(audit, arena, object))
        done(audit, RECONCILE_DONE, -1);
}

/* --- policies --- */

static bool all_are_validated(const struct audit *audit)
{
    return audit->options.stacks_known(audit->options.context) &&
           tally_validated(audit->tally) >= kube_cache_count(audit->options.stacks);
}

static enum statuses_answer get_status(void *context, struct arena *arena, struct str policy,
                                       struct policy_status *ret_status, struct json *ret_stored)
{
    const struct audit *audit = context;
    struct tally_stacks stacks = tally_stacks_of(audit->tally, policy);

    *ret_status = (struct policy_status){ .violating = stacks.violating };
    if (!policies_status(audit->options.policies, arena, policy, ret_status, ret_stored))
        return STATUSES_NONE;

    bool applied = policy_is_applied(ret_status->state);

    if (applied && !all_are_validated(audit))
        return STATUSES_LATER;
    ret_status->matching = applied ? stacks.matching : -1;
    return STATUSES_KNOWN;
}

static void on_counted(void *context, struct str policy)
{
    const struct audit *audit = context;

    statuses_changed(audit->statuses, policy);
}

void audit_policies_changed(struct audit *audit)
{
    struct policy_set *set = policies_set(audit->options.policies);

    if (!set)
        return;
    tally_use(audit->tally, set);
    wake_all(audit);
}

void audit_policy_changed(struct audit *audit, struct str policy)
{
    statuses_changed(audit->statuses, policy);
}

/* --- reports --- */

static void on_report(void *context, struct kube_object *before, struct kube_object *after)
{
    struct audit *audit = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str key = report_stack_key(arena, kube_object_kept(after ? after : before));

    struct str version = after ? kube_object_resource_version(after) : STR("");

    if (expectations_observe(audit->written, key, version) == OBSERVED_OLDER ||
        (before && after && str_eq(kube_object_kept(before), kube_object_kept(after))))
        return;
    if (kube_cache_get(audit->options.stacks, key))
        kube_controller_add_after(audit->queue, key, GATHER_MS);
}

static void on_reports(void *context)
{
    struct audit *audit = context;

    log_info(audit->options.log, "policy reports are written",
             LOG_INT("reports", kube_cache_count(informer_cache(audit->reports))));
    wake_all(audit);
}

/* The kind is gone: the informer goes when it does not stand on the stack any more. */
static void on_report_trouble(void *context, const struct error *error)
{
    struct audit *audit = context;

    if (!error)
        return;
    if (error->code == ERROR_NOT_FOUND) {
        audit->reports_gone = true;
        loop_timer_set(audit->look, 0);
    } else {
        log_warn(audit->options.log, "policy reports cannot be followed",
                 LOG_Z("error", error->text));
    }
}

static void follow_reports(struct audit *audit)
{
    audit->reports_gone = false;
    audit->reports = informer_create(&(struct informer_options){
        .client = audit->options.api,
        .resource = report_resource,
        .namespace_ = audit->options.namespace_,
        .label_selector = STR(REPORT_SELECTOR),
        .seed = audit->options.seed + 1,
        .keep = report_keep,
        .on_change = on_report,
        .on_synced = on_reports,
        .on_trouble = on_report_trouble,
        .context = audit,
    });
}

/* Whether an APIResourceList has the kind. */
static bool has_reports(struct str body)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error ignored = { .code = ERROR_NONE };
    struct json root;

    if (json_read(arena, body, &json_limits_default, &root, &ignored) < 0)
        return false;

    struct json_iter it = json_iter(json_get(root, STR("resources")));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("name"))), report_resource.plural))
            return true;
    return false;
}

static void on_looked(void *context, const struct kube_answer *answer)
{
    struct audit *audit = context;

    audit->looking = NULL;
    if (answer->error.code == ERROR_NONE && has_reports(answer->body))
        follow_reports(audit);
    else
        loop_timer_set(audit->look, LIMIT_REPORT_LOOK);
}

static void on_look(void *context)
{
    struct audit *audit = context;

    if (audit->reports_gone) {
        informer_free(TAKE(audit->reports));
        audit->reports_gone = false;
        log_info(audit->options.log, "the API server has no PolicyReports any more",
                 LOG_INT("reports", 0));
    }
    audit->looking =
        kube_client_raw(audit->options.api, "GET", STR("/apis/wgpolicyk8s.io/v1alpha2"), NULL,
                        STR(""), LOOK_TIME_MS, on_looked, audit);
}

/* --- the object --- */

struct audit *audit_create(const struct audit_options *options)
{
    struct audit *audit = mem_new(struct audit);

    audit->options = *options;
    audit->tally = tally_create(options->metrics, on_counted, audit);
    audit->statuses = statuses_create(&(struct statuses_options){ .loop = options->loop,
                                                                  .api = options->api,
                                                                  .log = options->log,
                                                                  .seed = options->seed + 3,
                                                                  .get = get_status,
                                                                  .context = audit });
    audit->written = expectations_create();
    audit->look = loop_timer_create(options->loop, on_look, audit);
    audit->gap = loop_timer_create(options->loop, on_gap, audit);
    audit->queue = kube_controller_create(&(struct kube_controller_options){
        .loop = options->loop,
        .workers = 1,
        .seed = options->seed,
        .reconcile = audit_one,
        .context = audit,
    });
    loop_timer_set(audit->look, 0);
    return audit;
}

void audit_free(struct audit *audit)
{
    if (!audit)
        return;
    if (audit->writing)
        kube_call_cancel(audit->writing);
    if (audit->looking)
        kube_call_cancel(audit->looking);
    informer_free(audit->reports);
    kube_controller_free(audit->queue);
    loop_timer_free(audit->look);
    loop_timer_free(audit->gap);
    statuses_free(audit->statuses);
    tally_free(audit->tally);
    expectations_free(audit->written);
    mem_free(audit);
}

void audit_pause(struct audit *audit, bool paused)
{
    kube_controller_pause(audit->queue, paused);
    statuses_pause(audit->statuses, paused);
}
