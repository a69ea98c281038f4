/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: what is asked next follows from what was answered so far. */
#include "controller/backends/neuvector/look.h"

#include "base/memory.h"
#include "controller/limits.h"
#include "stack/model/reasons.h"

enum {
    REPORTS_MAX = 10,       /* of one look: a report may take long */
    SCANS_MAX = 20,         /* requests of one look */
    CHECKS_MAX = 20,        /* containers of one look whose compliance checks are asked for */
    SCAN_AGAIN_MS = 600000, /* after a request that led to nothing */
};

struct look {
    struct look_options options;
    struct arena *arena;
    bool summary_read;
    int64_t scanners;
    struct str_list namespaces;
    uint32_t namespace_; /* the one that is being read, */
    bool pods_read;      /* and whether its pods were */
    struct str continue_;
    uint32_t pages; /* that others follow, of all namespaces */
    struct release_containers containers;
    struct wire_workloads workloads;
    bool is_joined;
    struct joined joined;
    struct str_list reports, scans;
    uint32_t reported, requested;
    enum policy_mode mode; /* that is set next, in these parts; what is to be Discover is left
                              alone */
    unsigned parts;
    struct str_list checks; /* ids of containers, */
    uint32_t checked;       /* and how many of them were asked for */
    struct str reason, message;
    struct str checks_reason, checks_message;
    struct rules_wishes wishes; /* with their groups */
    struct rules_look *rules;   /* NULL: it has not begun */
    bool rules_done;
};

static void go_on(struct look *look);

/* --- the end --- */

static void give(struct look *look, const struct look_result *result)
{
    look->options.done(look->options.context, result);
}

static void give_up(struct look *look, struct str reason, struct str message)
{
    give(look, &(struct look_result){ .reason = reason, .message = message });
}

/* What was read counts all the same; the first trouble is the one that is told. */
static void note_trouble(struct look *look, struct str reason, struct str message)
{
    if (look->reason.len)
        return;
    look->reason = reason;
    look->message = str_dup(look->arena, message);
}

static bool is_waiting(const struct observed_scans *scans)
{
    for (uint32_t i = 0; i < scans->images.count; i++)
        if (scans->images.items[i].scan != IMAGE_SCANNED)
            return true;
    return false;
}

static bool has_unread_reports(const struct observed_scans *scans)
{
    for (uint32_t i = 0; i < scans->images.count; i++)
        if (scans->images.items[i].findings.report == REPORT_PENDING)
            return true;
    return false;
}

static bool has_unread_checks(const struct observed_scans *scans)
{
    for (uint32_t i = 0; i < scans->images.count; i++)
        if (scans->images.items[i].checks_pending)
            return true;
    return false;
}

static void keep_images(struct look *look)
{
    struct set digests = set_new(look->arena, map_count(look->joined.images));

    for (uint32_t i = 0; i < map_count(look->joined.images); i++)
        set_add(digests, map_key(look->joined.images, i));
    images_keep(look->options.images, digests);
}

static void conclude(struct look *look)
{
    const struct wanted_scan_list *wanted = look->options.wanted;
    struct observed_scans *scans = arena_array(look->arena, struct observed_scans, wanted->count);
    struct look_result result = { .complete = true, .scans = scans };
    bool unread = false;

    join_checks(&look->joined, &look->containers, wanted, look->options.compliance,
                look->checks.count ? look->checks_reason.len > 0 : look->options.checks_troubled,
                look->options.images);
    for (uint32_t i = 0; i < wanted->count; i++) {
        scans[i] =
            join_scans(&look->joined, &look->containers, &wanted->items[i], look->options.images);
        result.waiting = result.waiting || is_waiting(&scans[i]);
        unread = unread || has_unread_reports(&scans[i]) || has_unread_checks(&scans[i]);
    }
    keep_images(look);
    if (result.waiting && !look->scanners)
        note_trouble(look, REASON(NEUVECTOR_NO_SCANNER),
                     str_fmt(look->arena,
                             "NeuVector on cluster %.*s has no scanner, so images stay unscanned; "
                             "look at the Deployment neuvector-scanner-pod there",
                             STR_ARG(look->options.cluster_id)));
    result.waiting = result.waiting || unread;
    result.reason = look->reason;
    result.message = look->message;
    result.checks_asked = look->checks.count > 0;
    result.checks_reason = look->checks_reason;
    result.checks_message = look->checks_message;
    if (look->rules)
        result.rules = rules_look_result(look->rules);
    give(look, &result);
}

/* --- answers --- */

static struct str words_of_neuvector(struct look *look, struct str words)
{
    return str_fmt(look->arena, "NeuVector on cluster %.*s: %.*s",
                   STR_ARG(look->options.cluster_id), STR_ARG(words));
}

static void unexpected(struct look *look, const char *words)
{
    give_up(look, REASON(NEUVECTOR_UNEXPECTED_RESPONSE), words_of_neuvector(look, str_of(words)));
}

static struct str denied_message(struct look *look, const char *what, const char *right)
{
    return wire_denied_message(look->arena, look->options.cluster_id, what, right);
}

/* Of what nothing works without. False: the look ended. */
static bool is_answered(struct look *look, const struct neuvector_answer *answer)
{
    if (answer->reason.len)
        give_up(look, answer->reason, answer->message);
    else if (answer->kind == WIRE_DENIED)
        give_up(look, REASON(NEUVECTOR_PERMISSION_DENIED),
                denied_message(look, "read scans", "rt_scan (read)"));
    else if (answer->kind != WIRE_OK)
        unexpected(look, "it does not know a request that every release of it knows");
    else
        return true;
    return false;
}

static void on_summary(void *context, const struct neuvector_answer *answer)
{
    struct look *look = context;
    struct error err = { .code = ERROR_NONE };

    if (!is_answered(look, answer))
        return;
    if (wire_scanners_read(answer->json, &look->scanners, &err) < 0) {
        unexpected(look, err.text);
        return;
    }
    look->summary_read = true;
    go_on(look);
}

/* Views of an answer end with it: what is needed of it is copied. */
static void keep_containers(struct look *look, struct json pods)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct release_containers page = release_containers_new(arena, 16);

    release_containers_read(pods, &page);
    for (uint32_t i = 0; i < page.count; i++) {
        const struct release_container *c = &page.items[i];

        if (join_is_wanted(look->options.wanted, c->workload))
            release_containers_push(&look->containers,
                                    (struct release_container){
                                        .workload = str_dup(look->arena, c->workload),
                                        .id = str_dup(look->arena, c->id),
                                        .image = str_dup(look->arena, c->image),
                                        .image_id = str_dup(look->arena, c->image_id),
                                    });
    }
}

static int keep_workloads(struct look *look, struct json answer, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct wire_workloads list = wire_workloads_new(arena, 16);

    if (wire_workloads_read(answer, look->namespaces.items[look->namespace_], &list, err) < 0)
        return -1;
    for (uint32_t i = 0; i < list.count; i++) {
        struct wire_workload w = list.items[i];

        w.id = str_dup(look->arena, w.id);
        w.image_id = str_dup(look->arena, w.image_id);
        w.image = str_dup(look->arena, w.image);
        w.service = str_dup(look->arena, w.service);
        w.policy_mode = str_dup(look->arena, w.policy_mode);
        w.profile_mode = str_dup(look->arena, w.profile_mode);
        w.result = str_dup(look->arena, w.result);
        wire_workloads_push(&look->workloads, w);
    }
    return 0;
}

/* False: the look ended. */
static bool is_within_bounds(struct look *look)
{
    if (look->pages > LIMIT_SCAN_PAGES)
        unexpected(look, "the pods of the releases' namespaces take more pages than Herd reads");
    else if (look->containers.count > LIMIT_SCAN_CONTAINERS ||
             look->workloads.count > LIMIT_SCAN_CONTAINERS)
        unexpected(look, "the releases' namespaces have more containers than Herd reads");
    else
        return true;
    return false;
}

static void on_pods(void *context, const struct neuvector_answer *answer)
{
    struct look *look = context;

    if (!is_answered(look, answer))
        return;
    keep_containers(look, answer->json);
    look->continue_ =
        str_dup(look->arena, json_str(json_walk(answer->json, "metadata", "continue", NULL)));
    look->pods_read = !look->continue_.len;
    look->pages += !look->pods_read;
    if (is_within_bounds(look))
        go_on(look);
}

static void on_workloads(void *context, const struct neuvector_answer *answer)
{
    struct look *look = context;
    struct error err = { .code = ERROR_NONE };

    if (!is_answered(look, answer))
        return;
    if (keep_workloads(look, answer->json, &err) < 0) {
        unexpected(look, err.text);
        return;
    }
    look->namespace_++;
    look->pods_read = false;
    if (is_within_bounds(look))
        go_on(look);
}

static void on_report(void *context, const struct neuvector_answer *answer)
{
    struct look *look = context;
    struct str id = look->reports.items[look->reported++];

    if (answer->reason.len) {
        note_trouble(look, answer->reason, answer->message);
        look->reported = look->reports.count;
    } else if (answer->kind == WIRE_OK && answer->report) {
        join_report(&look->joined, id, answer->report, look->options.images);
    } else {
        join_unreadable(&look->joined, id, look->options.images);
        if (answer->kind == WIRE_OK)
            note_trouble(look, REASON(NEUVECTOR_UNEXPECTED_RESPONSE),
                         words_of_neuvector(look, answer->message));
    }
    go_on(look);
}

static void on_change(struct look *look, const struct neuvector_answer *answer, const char *what,
                      const char *right)
{
    if (answer->reason.len)
        note_trouble(look, answer->reason, answer->message);
    else if (answer->kind == WIRE_DENIED)
        note_trouble(look, REASON(NEUVECTOR_PERMISSION_DENIED), denied_message(look, what, right));
}

static void on_scan(void *context, const struct neuvector_answer *answer)
{
    struct look *look = context;
    struct str id = look->scans.items[look->requested++];

    on_change(look, answer, "request scans", "rt_scan (write)");
    if (look->reason.len)
        look->requested = look->scans.count;
    else
        join_requested(&look->joined, id, look->options.images, look->options.now_ms);
    go_on(look);
}

static void on_mode(void *context, const struct neuvector_answer *answer)
{
    struct look *look = context;

    on_change(look, answer, "change policy modes", "rt_policy (write)");
    go_on(look);
}

/* No verdict depends on these checks: their trouble is told apart. The first one is; after it none
 * is asked for in this look. */
static void note_checks_trouble(struct look *look, struct str reason, struct str message)
{
    look->checks_reason = reason;
    look->checks_message = str_dup(look->arena, message);
    look->checked = look->checks.count;
}

static void take_checks(struct look *look, struct str id, struct json answer)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct error err = { .code = ERROR_NONE };
    struct check_list failed;
    int64_t run_s;

    if (compliance_read(arena, answer, &run_s, &failed, &err) < 0)
        note_checks_trouble(look, REASON(NEUVECTOR_UNEXPECTED_RESPONSE),
                            words_of_neuvector(look, str_of(err.text)));
    else
        compliance_put(look->options.compliance, id, run_s, &failed);
}

/* A container that NeuVector does not know any more is gone. */
static void on_checks(void *context, const struct neuvector_answer *answer)
{
    struct look *look = context;
    struct str id = look->checks.items[look->checked++];

    compliance_note_asked(look->options.compliance, id, look->options.now_ms);
    if (answer->reason.len)
        note_checks_trouble(look, answer->reason, answer->message);
    else if (answer->kind == WIRE_DENIED)
        note_checks_trouble(look, REASON(NEUVECTOR_PERMISSION_DENIED),
                            denied_message(look, "read compliance checks",
                                           "compliance (read), or disable "
                                           "spec.securityProfile.compliance"));
    else if (answer->kind == WIRE_OK)
        take_checks(look, id, answer->json);
    go_on(look);
}

static void on_rules(void *context)
{
    struct look *look = context;

    look->rules_done = true;
    go_on(look);
}

/* --- questions --- */

static void ask(struct look *look, const char *method, struct str path, struct str body,
                neuvector_done *done)
{
    neuvector_client_ask(look->options.client, method, path, body, done, look);
}

static void read_namespace(struct look *look)
{
    struct str namespace_ = look->namespaces.items[look->namespace_];

    if (look->pods_read)
        ask(look, "GET", wire_workloads_path(look->arena, namespace_), STR(""), on_workloads);
    else
        neuvector_client_get_pods(look->options.client,
                                  release_pods_path(look->arena, namespace_, look->continue_),
                                  on_pods, look);
}

static void bound(struct str_list *list, uint32_t most)
{
    if (list->count > most)
        list->count = most;
}

static void join_all(struct look *look)
{
    look->is_joined = true;
    look->joined = join(look->arena, &look->containers, &look->workloads, look->options.wanted);
    look->reports = join_findings(&look->joined, look->options.images);
    look->scans =
        join_unscanned(&look->joined, look->options.images, look->options.now_ms - SCAN_AGAIN_MS);
    look->checks =
        join_unchecked(&look->joined, &look->containers, look->options.wanted,
                       look->options.compliance, look->options.now_ms - look->options.interval_ms);
    bound(&look->checks, CHECKS_MAX);
    bound(&look->reports, REPORTS_MAX);
    bound(&look->scans, SCANS_MAX);
}

static void next_change(struct look *look)
{
    if (look->parts++ < WIRE_BOTH_MODES)
        return;
    look->parts = WIRE_POLICY_MODE;
    look->mode++;
}

/* False: there is none left. */
static bool set_next_mode(struct look *look)
{
    while (!look->reason.len && look->mode <= POLICY_MODE_PROTECT) {
        enum policy_mode mode = look->mode;
        unsigned parts = look->parts;
        struct str_list services =
            join_services(&look->joined, &look->containers, look->options.wanted, mode, parts);

        next_change(look);
        if (!services.count)
            continue;
        ask(look, "PATCH", STR("/v1/service/config"),
            wire_mode_body(look->arena, &services, wire_mode_name(mode), parts), on_mode);
        return true;
    }
    return false;
}

static void ask_for_checks(struct look *look)
{
    neuvector_client_get(look->options.client,
                         compliance_path(look->arena, look->checks.items[look->checked]),
                         LIMIT_COMPLIANCE_ANSWER, on_checks, look);
}

static void look_at_rules(struct look *look)
{
    const struct rules_wishes *wishes = look->options.wishes;

    look->wishes = rules_wishes_new(look->arena, wishes->count);
    for (uint32_t i = 0; i < wishes->count; i++) {
        struct rules_wish wish = wishes->items[i];

        if (rules_are_wanted(RULES_RESPONSE, &wish))
            wish.groups = join_groups(&look->joined, &look->containers, wish.workloads);
        rules_wishes_push(&look->wishes, wish);
    }
    look->rules = rules_look_begin(&(struct rules_look_options){
        .client = look->options.client,
        .cluster_id = look->options.cluster_id,
        .wishes = &look->wishes,
        .done = on_rules,
        .context = look,
    });
}

static void go_on(struct look *look)
{
    if (!look->summary_read) {
        ask(look, "GET", STR("/v1/system/summary"), STR(""), on_summary);
        return;
    }
    if (look->namespace_ < look->namespaces.count) {
        read_namespace(look);
        return;
    }
    if (!look->is_joined)
        join_all(look);
    if (look->reported < look->reports.count)
        neuvector_client_get_report(
            look->options.client, wire_scan_path(look->arena, look->reports.items[look->reported]),
            on_report, look);
    else if (look->requested < look->scans.count)
        ask(look, "POST", wire_scan_path(look->arena, look->scans.items[look->requested]), STR(""),
            on_scan);
    else if (set_next_mode(look))
        return;
    else if (!look->rules_done)
        look_at_rules(look);
    else if (look->checked < look->checks.count)
        ask_for_checks(look);
    else
        conclude(look);
}

/* --- life --- */

struct look *look_begin(const struct look_options *options)
{
    struct look *look = mem_new(struct look);

    look->options = *options;
    look->arena = arena_create(0);
    look->namespaces = str_list_new(look->arena, 4);
    for (uint32_t i = 0; i < options->wanted->count; i++)
        release_namespaces(options->wanted->items[i].workloads, &look->namespaces);
    look->containers = release_containers_new(look->arena, 16);
    look->workloads = wire_workloads_new(look->arena, 16);
    look->mode = POLICY_MODE_MONITOR;
    look->parts = WIRE_POLICY_MODE;
    look->reason = look->message = look->continue_ = STR("");
    look->checks_reason = look->checks_message = STR("");
    look->rules_done = !options->wishes->count;
    go_on(look);
    return look;
}

void look_free(struct look *look)
{
    if (!look)
        return;
    rules_look_free(look->rules);
    arena_free(look->arena);
    mem_free(look);
}
