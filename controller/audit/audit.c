/* audit.c: who wakes whom, one Stack after the other, and the writes.
 *
 *     a Stack changed                    that Stack, once it has been quiet for a moment
 *     a policy changed                   all Stacks, with the set made anew
 *     a report changed, not by us        its Stack
 *     the API server has PolicyReports   all Stacks
 *
 * Whether there are PolicyReports the API server's discovery says, asked now and then. One write
 * at a time, and a pause after each. What was written is remembered until the watch shows it, so
 * that a Stack that changes at once is compared with that. */
#include "controller/audit/audit.h"

#include "base/limits.h"
#include "base/map.h"
#include "base/memory.h"
#include "controller/audit/report.h"
#include "controller/audit/tally.h"
#include "controller/metrics.h"
#include "controller/reconcile/kept_stack.h"
#include "kube/meta.h"
#include "runtime/controller.h"
#include "runtime/informer.h"

enum {
    GATHER_MS = 500,
    LOOK_TIME_MS = 10000,
    AWAIT_MS = 10000, /* a watch that is later than that is not waited for */
};

/* What was written for a Stack, as report_keep keeps it. */
struct written {
    char *kept;
    size_t len;
    int64_t until_ms;
};

struct audit {
    struct audit_options options;
    struct kube_controller *queue;
    struct informer *policies;
    struct policy_set *set; /* NULL: not read yet */
    struct loop_timer *settle;

    struct informer *reports; /* NULL: the API server has no such kind */
    bool reports_gone;
    struct loop_timer *look;
    struct kube_call *looking;

    struct tally *tally;
    struct dict *written; /* Stack -> struct written */
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
    if (audit)
        kube_controller_add_after(audit->queue, key, GATHER_MS);
}

/* --- what was written --- */

static void forget_written(struct audit *audit, struct str key)
{
    struct written *written = dict_remove(audit->written, key);

    if (!written)
        return;
    mem_free(written->kept);
    mem_free(written);
}

static void remember_written(struct audit *audit, struct arena *arena, struct str key,
                             struct str body)
{
    struct strbuf kept = strbuf_new(arena, 1024);
    struct written *written = mem_new(struct written);
    struct error ignored = { .code = ERROR_NONE };
    struct json json = { NULL, 0 };

    (void)json_read(arena, body, &json_limits_default, &json, &ignored);
    report_keep(NULL, json, &kept);
    forget_written(audit, key);
    written->kept = mem_copy(kept.at, kept.len);
    written->len = kept.len;
    written->until_ms = loop_now_ms(audit->options.loop) + AWAIT_MS;
    dict_set(audit->written, key, written);
}

/* What stands there, as far as it is known; "" = nothing. */
static struct str known_report(struct audit *audit, struct str key,
                               const struct kube_object *stored)
{
    const struct written *written = dict_get(audit->written, key);

    if (written && written->until_ms > loop_now_ms(audit->options.loop))
        return str_make(written->kept, written->len);
    return stored ? kube_object_kept(stored) : STR("");
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
        loop_timer_set(audit->gap, LIMIT_REPORT_GAP);
        return;
    }
    log_warn(audit->options.log, "policy report not written; it is tried again",
             LOG_STR("stack", audit->key), LOG_Z("error", answer->error.text));
    forget_written(audit, audit->key);
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
    struct str report_key = str_fmt(arena, "%.*s/%.*s", STR_ARG(stack->namespace_), STR_ARG(name));
    const struct kube_object *stored = kube_cache_get(informer_cache(audit->reports), report_key);
    struct str known = known_report(audit, audit->key, stored);
    struct str body;

    if (results->count == 0) {
        if (stored)
            send(audit, KUBE_DELETE, stack, name, STR(""));
        return stored != NULL;
    }
    body = report_write(arena, stack, audit->set, results, known,
                        clock_wall_ms(loop_clock(audit->options.loop)) / 1000);
    if (body.len == 0)
        return false;
    remember_written(audit, arena, audit->key, body);
    send(audit, known.len ? KUBE_PATCH : KUBE_CREATE, stack, name, body);
    return true;
}

static bool reports_are_known(const struct audit *audit)
{
    return audit->reports && !audit->reports_gone && informer_synced(audit->reports);
}

static bool judge(struct audit *audit, struct arena *arena, const struct kube_object *object)
{
    struct problems problems = problems_new(arena);
    struct error ignored = { .code = ERROR_NONE };
    struct json json = { NULL, 0 };

    /* Our own bytes, packed by keep_stack: they read back. */
    if (json_read(arena, kept_stack_object(arena, kube_object_kept(object)), &json_limits_default,
                  &json, &ignored) < 0)
        return false;

    const struct stack *stack = policy_set_look(arena, audit->set, json, &problems);
    struct policy_results results = policy_results_of(arena, audit->set, stack, &problems);
    const struct report_stack about = { stack->meta.namespace_, stack->meta.name, stack->meta.uid };

    tally_put(audit->tally, audit->key, audit->set, &results);
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
        forget_written(audit, key);
    }
    if (!object || !audit->set || !judge(audit, arena, object))
        done(audit, RECONCILE_DONE, -1);
}

/* --- policies --- */

static bool keep_policy(void *context, struct json object, struct strbuf *kept)
{
    (void)context;
    policy_keep(object, kept);
    return true;
}

static void add_policy(struct audit *audit, struct policy_set_builder *builder,
                       const struct kube_object *object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);
    struct error ignored = { .code = ERROR_NONE };
    struct json json;

    if (json_read(arena, kube_object_kept(object), &json_limits_default, &json, &ignored) == 0 &&
        policy_set_add(builder, json, &problems))
        return;
    log_warn(audit->options.log, "a StackPolicy is not in order; Stacks are not audited by it",
             LOG_STR("policy", kube_object_name(object)),
             LOG_STR("error", problems.list.count ? problems.list.items[0].message
                                                  : STR("there are too many StackPolicies")));
}

static void on_settle(void *context)
{
    struct audit *audit = context;
    struct policy_set_builder *builder = policy_set_begin();
    struct kube_object *object;
    size_t cursor = 0;

    while (kube_cache_next(informer_cache(audit->policies), &cursor, &object))
        add_policy(audit, builder, object);
    policy_set_unref(audit->set);
    audit->set = policy_set_finish(builder);
    tally_use(audit->tally, audit->set);
    log_info(audit->options.log, "policies read",
             LOG_INT("policies", policy_set_count(audit->set)));
    wake_all(audit);
}

static void settle_soon(struct audit *audit)
{
    if (!loop_timer_is_set(audit->settle))
        loop_timer_set(audit->settle, GATHER_MS);
}

static void on_policy(void *context, struct kube_object *before, struct kube_object *after)
{
    struct audit *audit = context;

    if (before && after && str_eq(kube_object_kept(before), kube_object_kept(after)))
        return;
    if (audit->policies && informer_synced(audit->policies))
        settle_soon(audit);
}

static void on_policies(void *context)
{
    settle_soon(context);
}

static void on_policy_trouble(void *context, const struct error *error)
{
    struct audit *audit = context;

    if (error)
        log_warn(audit->options.log, "policies cannot be followed", LOG_Z("error", error->text));
    else
        log_info(audit->options.log, "policies can be followed again", LOG_INT("synced", 1));
}

/* --- reports --- */

static void on_report(void *context, struct kube_object *before, struct kube_object *after)
{
    struct audit *audit = context;
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str key = report_stack_key(arena, kube_object_kept(after ? after : before));

    if (before && after && str_eq(kube_object_kept(before), kube_object_kept(after)))
        return;
    forget_written(audit, key);
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
    audit->looking = kube_client_raw(audit->options.api, "GET",
                                     STR("/apis/wgpolicyk8s.io/v1alpha2"), NULL, STR(""),
                                     LOOK_TIME_MS, on_looked, audit);
}

/* --- the object --- */

struct audit *audit_create(const struct audit_options *options)
{
    struct audit *audit = mem_new(struct audit);

    audit->options = *options;
    audit->tally = tally_create(options->metrics);
    audit->written = dict_create();
    audit->settle = loop_timer_create(options->loop, on_settle, audit);
    audit->look = loop_timer_create(options->loop, on_look, audit);
    audit->gap = loop_timer_create(options->loop, on_gap, audit);
    audit->queue = kube_controller_create(&(struct kube_controller_options){
        .loop = options->loop,
        .workers = 1,
        .seed = options->seed,
        .reconcile = audit_one,
        .context = audit,
    });
    audit->policies = informer_create(&(struct informer_options){
        .client = options->api,
        .resource = policy_resource,
        .seed = options->seed + 2,
        .keep = keep_policy,
        .on_change = on_policy,
        .on_synced = on_policies,
        .on_trouble = on_policy_trouble,
        .context = audit,
    });
    loop_timer_set(audit->look, 0);
    return audit;
}

static void free_written(struct dict *all)
{
    size_t cursor = 0;
    struct str key;
    void *one;

    while (dict_next(all, &cursor, &key, &one)) {
        mem_free(((struct written *)one)->kept);
        mem_free(one);
    }
    dict_free(all);
}

void audit_free(struct audit *audit)
{
    if (!audit)
        return;
    if (audit->writing)
        kube_call_cancel(audit->writing);
    if (audit->looking)
        kube_call_cancel(audit->looking);
    informer_free(audit->policies);
    informer_free(audit->reports);
    kube_controller_free(audit->queue);
    loop_timer_free(audit->settle);
    loop_timer_free(audit->look);
    loop_timer_free(audit->gap);
    policy_set_unref(audit->set);
    tally_free(audit->tally);
    free_written(audit->written);
    mem_free(audit);
}

void audit_pause(struct audit *audit, bool paused)
{
    if (audit)
        kube_controller_pause(audit->queue, paused);
}
