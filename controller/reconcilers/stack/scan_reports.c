/* SPDX-License-Identifier: Apache-2.0 */
/* scan_reports.c: one write of a Stack's report at a time; who comes meanwhile comes again. */
#include "controller/reconcilers/stack/scan_reports.h"

#include "base/map.h"
#include "base/memory.h"
#include "runtime/children.h"

enum {
    AGAIN_MS = 30000, /* after a write that failed */
    PAGE = 20,        /* reports in one answer: 10 MiB of the largest */
};

struct scan_reports {
    struct scan_reports_options options;
    struct children *children;
    struct dict *writes; /* key of the Stack -> struct write */
};

struct write {
    struct scan_reports *reports;
    bool again; /* there was something newer on the way */
    char key[]; /* of the Stack, with a NUL */
};

static void on_changed(void *context, struct str owner)
{
    const struct scan_reports *reports = context;

    reports->options.again(reports->options.context, owner, 0);
}

static void on_synced(void *context)
{
    const struct scan_reports *reports = context;

    reports->options.listed(reports->options.context);
}

/* False: it failed. */
static bool tell(const struct write *write, const struct child_results *results)
{
    struct log *log = write->reports->options.log;
    bool well = true;

    for (uint32_t i = 0; i < results->count; i++) {
        const struct child_result *result = &results->items[i];

        well = well && result->outcome != CHILD_FAILED;
        if (result->outcome == CHILD_FAILED)
            log_warn(log, "scan report not written; Herd retries", LOG_Z("stack", write->key),
                     LOG_Z("error", result->error.text));
        else if (result->outcome == CHILD_NOT_OURS)
            log_warn(log, "scan report not written: one of that name is not this Stack's",
                     LOG_Z("stack", write->key));
    }
    return well;
}

static void on_done(void *context, const struct child_results *results)
{
    struct write *write = context;
    const struct scan_reports_options *options = &write->reports->options;
    bool well = tell(write, results);

    dict_remove(write->reports->writes, str_of(write->key));
    if (!well || write->again)
        options->again(options->context, str_of(write->key), well ? 0 : AGAIN_MS);
    mem_free(write);
}

static struct write *write_new(struct scan_reports *reports, struct str key)
{
    struct write *write = mem_alloc(sizeof(*write) + key.len + 1);

    write->reports = reports;
    memcpy(write->key, key.at, key.len);
    dict_set(reports->writes, key, write);
    return write;
}

void scan_reports_put(struct scan_reports *reports, const struct stack *stack,
                      enum scan_listing listing, const struct scan_report *report)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str key = kube_key(arena, stack->meta.namespace_, stack->meta.name);
    struct write *under_way = dict_get(reports->writes, key);
    struct kube_children desired = kube_children_new(arena, 1);
    const struct kube_owner owner = { stack_resource, stack->meta.namespace_, stack->meta.name,
                                      stack->meta.uid };

    if (listing == SCAN_LISTING_STANDS || !children_synced(reports->children))
        return;
    if (under_way) {
        under_way->again = true;
        return;
    }
    if (listing == SCAN_LISTING_WRITE)
        kube_children_push(&desired,
                           (struct kube_child){ .resource = &scan_report_resource,
                                                .namespace_ = STR(""),
                                                .name = stack->meta.name,
                                                .object = scan_report_write(arena, report) });
    children_apply(reports->children, &owner, &desired, on_done, write_new(reports, key));
}

struct scan_reports *scan_reports_create(const struct scan_reports_options *options)
{
    static const struct kube_resource *const resources[] = { &scan_report_resource };
    struct scan_reports *reports = mem_new(struct scan_reports);

    reports->options = *options;
    reports->writes = dict_create();
    reports->children = children_create(&(struct children_options){
        .client = options->api,
        .owner = stack_resource,
        .resources = resources,
        .resource_count = 1,
        .namespace_ = options->namespace_,
        .label = STR("herd.suse.com/stack"),
        .field_manager = STR("herd-scan-report"),
        .force = true,
        .seed = options->seed,
        .page_limit = PAGE,
        .changed = on_changed,
        .synced = on_synced,
        .context = reports,
    });
    return reports;
}

void scan_reports_free(struct scan_reports *reports)
{
    struct str key;
    void *write;

    if (!reports)
        return;
    children_free(reports->children);
    for (size_t cursor = 0; dict_next(reports->writes, &cursor, &key, &write);)
        mem_free(write);
    dict_free(reports->writes);
    mem_free(reports);
}
