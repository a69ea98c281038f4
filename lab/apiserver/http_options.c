/* SPDX-License-Identifier: Apache-2.0 */
/* http_options.c: options of writes, from the query, and those of a deletion from its body if it
 * has one. Source: k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go. */
#include "lab/apiserver/http.h"

static const char *const option_kinds[] = {
    [VERB_CREATE] = "CreateOptions",
    [VERB_UPDATE] = "UpdateOptions",
    [VERB_PATCH] = "PatchOptions",
    [VERB_DELETE] = "DeleteOptions",
    [VERB_DELETE_COLLECTION] = "DeleteOptions",
};

static int reject(struct request *rq, const struct findings *found)
{
    struct failure_subject subject = { .group = STR_INIT("meta.k8s.io"),
                                       .kind = str_of(option_kinds[rq->verb]) };

    return found->count ? fail_invalid(&rq->failure, &subject, found) : 0;
}

/* `value` is shown: the text itself, or the list that it came in. */
static void check_supported(const char *field, const struct value *value, struct str text,
                            const char *const *supported, size_t count, struct findings *found)
{
    struct path at = path_field(NULL, str_of(field));
    struct str_list list = str_list_new(found->arena, (uint32_t)count);

    for (size_t i = 0; i < count; i++)
        str_list_push(&list, str_of(supported[i]));
    if (!str_list_has(&list, text))
        finding_not_supported(found, &at, value, &list);
}

static void check_dry_run(struct request *rq, const struct value *list, struct findings *found)
{
    static const char *const supported[] = { "All" };

    for (const struct value *m = value_first(list); m; m = value_next(m)) {
        rq->dry_run = true;
        check_supported("dryRun", list, value_text(m), supported, 1, found);
    }
}

/* The query says each of them once; a body may say a list. */
static void read_dry_run(struct http_request_of_api *h, struct findings *found)
{
    struct arena *arena = h->rq->arena;
    struct value *list = value_array(arena);
    struct str text = query_of(h, "dryRun");

    if (text.len)
        value_append(list, value_str(arena, text));
    check_dry_run(h->rq, list, found);
}

static void check_manager(struct request *rq, struct findings *found)
{
    enum { MANAGER_BYTES_MAX = 128 }; /* FieldManagerMaxLength */
    struct path at = path_field(NULL, STR("fieldManager"));

    if (rq->field_manager.len > MANAGER_BYTES_MAX)
        finding_too_long(found, &at, MANAGER_BYTES_MAX);
    if (rq->applies && rq->field_manager.len == 0)
        finding_required(found, &at, STR("is required for apply patch"));
}

static void read_validation(struct http_request_of_api *h, struct findings *found)
{
    static const char *const supported[] = { "", "Ignore", "Strict", "Warn" };
    struct request *rq = h->rq;
    struct str text = query_of(h, "fieldValidation");

    rq->validation = str_eq(text, STR("Strict"))   ? VALIDATION_STRICT
                     : str_eq(text, STR("Ignore")) ? VALIDATION_IGNORE
                                                   : VALIDATION_WARN;
    check_supported("fieldValidation", value_str(rq->arena, text), text, supported, 4, found);
}

/* The user agent's beginning, as the API server names managers that do not name themselves. */
static struct str default_manager(struct http_request_of_api *h)
{
    struct str agent = http_header(h->exchange, "User-Agent");
    ptrdiff_t slash = str_find_char(agent, '/', 0);

    if (slash > 0)
        agent = str_slice(agent, 0, (size_t)slash);
    return agent.len ? agent : STR("unknown");
}

int read_write_options(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct path force = path_field(NULL, STR("force"));
    struct findings found = findings_new(rq->arena, 0);

    rq->applies =
        rq->verb == VERB_PATCH && str_starts(rq->content_type, STR("application/apply-patch+yaml"));
    rq->field_manager = query_of(h, "fieldManager");
    check_manager(rq, &found);
    if (rq->verb == VERB_PATCH && !rq->applies && query_of(h, "force").len)
        finding_forbidden(&found, &force, STR("may not be specified for non-apply patch"));
    if (rq->field_manager.len == 0)
        rq->field_manager = default_manager(h);
    read_dry_run(h, &found);
    read_validation(h, &found);
    return reject(rq, &found);
}

/* What is to become of dependents: the policy, or the older switch. */
static struct str propagation(struct http_request_of_api *h, const struct value *body)
{
    struct str orphan = query_of(h, "orphanDependents");
    const struct value *said = value_get(body, STR("orphanDependents"));

    if (body && value_get(body, STR("propagationPolicy")))
        return value_text(value_get(body, STR("propagationPolicy")));
    if (!body && query_of(h, "propagationPolicy").len)
        return query_of(h, "propagationPolicy");
    if (said ? value_is_true(said) : query_true(h, "orphanDependents"))
        return STR("Orphan");
    return said || (!body && orphan.len) ? STR("Background") : STR("");
}

int read_delete_options(struct http_request_of_api *h, struct delete_options *ret_options)
{
    static const char *const policies[] = { "Foreground", "Background", "Orphan", "nil" };
    struct request *rq = h->rq;
    struct findings found = findings_new(rq->arena, 0);
    struct value *body = NULL;
    struct delete_options options;

    if (rq->body.len && body_read(rq, rq->content_type, rq->body, &body) != 0)
        return -1;
    options = (struct delete_options){
        .uid = value_text(value_walk(body, "preconditions", "uid", NULL)),
        .version = value_text(value_walk(body, "preconditions", "resourceVersion", NULL)),
        .propagation = propagation(h, body),
    };
    if (options.propagation.len)
        check_supported("propagationPolicy", value_str(rq->arena, options.propagation),
                        options.propagation, policies, 4, &found);
    if (body)
        check_dry_run(rq, value_get(body, STR("dryRun")), &found);
    else
        read_dry_run(h, &found);
    if (reject(rq, &found) != 0)
        return -1;
    *ret_options = options;
    return 0;
}
