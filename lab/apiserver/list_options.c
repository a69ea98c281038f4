/* SPDX-License-Identifier: Apache-2.0 */
/* list_options.c: which options of lists and watches go together. Source:
 * k8s.io/apimachinery/pkg/apis/meta/internalversion/validation/validation.go. */
#include "lab/apiserver/http.h"

struct options {
    struct str version, match, token;
    bool initial; /* sendInitialEvents is given, whatever it says */
};

static void forbid(struct findings *found, const char *field, const char *why)
{
    struct path at = path_field(NULL, str_of(field));

    finding_forbidden(found, &at, str_of(why));
}

static void not_supported(struct arena *arena, struct findings *found, struct str match,
                          const char *const *supported, uint32_t count)
{
    struct path at = path_field(NULL, STR("resourceVersionMatch"));
    struct str_list list = str_list_new(arena, count);

    for (uint32_t i = 0; i < count; i++)
        str_list_push(&list, str_of(supported[i]));
    if (!str_list_has(&list, match))
        finding_not_supported(found, &at, value_str(arena, match), &list);
}

static void check_list(struct arena *arena, const struct options *o, struct findings *found)
{
    static const char *const supported[] = { "Exact", "NotOlderThan", "" };

    if (o->match.len && o->version.len == 0)
        forbid(found, "resourceVersionMatch",
               "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (o->match.len && o->token.len)
        forbid(found, "resourceVersionMatch",
               "resourceVersionMatch is forbidden when continue is provided");
    not_supported(arena, found, o->match, supported, 3);
    if (str_eq(o->match, STR("Exact")) && str_eq(o->version, STR("0")))
        forbid(found, "resourceVersionMatch",
               "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
    if (o->initial)
        forbid(found, "sendInitialEvents", "sendInitialEvents is forbidden for list");
}

static void check_watch(struct arena *arena, const struct options *o, struct findings *found)
{
    static const char *const supported[] = { "NotOlderThan" };

    if (o->initial && !str_eq(o->match, STR("NotOlderThan")))
        forbid(found, "resourceVersionMatch",
               "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
    if (o->match.len == 0)
        return;
    if (!o->initial)
        forbid(found, "resourceVersionMatch",
               "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
    not_supported(arena, found, o->match, supported, 1);
    if (o->token.len)
        forbid(found, "resourceVersionMatch",
               "resourceVersionMatch is forbidden when continue is provided");
}

/* A number that Go's ParseInt takes. */
static int check_number(struct http_request_of_api *h, const char *name)
{
    struct str text = query_of(h, name);
    struct strbuf said = strbuf_new(h->rq->arena, 64);
    uint64_t number;

    if (text.len == 0 ||
        str_to_u64(str_starts(text, STR("-")) ? str_slice(text, 1, text.len) : text, &number))
        return 0;
    strbuf_lit(&said, "strconv.ParseInt: parsing ");
    finding_quote(&said, text);
    strbuf_lit(&said, ": invalid syntax");
    return fail_bad_request(&h->rq->failure, strbuf_str(&said));
}

struct str list_version_invalid(struct arena *arena, struct str version)
{
    struct strbuf shown = strbuf_new(arena, 64);

    finding_quote(&shown, version);
    return str_fmt(arena,
                   "resourceVersion: Invalid value: %.*s: strconv.ParseUint: parsing %.*s: invalid "
                   "syntax",
                   STR_ARG(strbuf_str(&shown)), STR_ARG(strbuf_str(&shown)));
}

int list_options_check(struct http_request_of_api *h, bool watches)
{
    struct request *rq = h->rq;
    struct failure_subject subject = { STR("meta.k8s.io"), STR("ListOptions"), STR("ListOptions"),
                                       STR("") };
    struct options o = { .version = query_of(h, "resourceVersion"),
                         .match = query_of(h, "resourceVersionMatch"),
                         .token = query_of(h, "continue"),
                         .initial = query_of(h, "sendInitialEvents").len > 0 };
    struct findings found = findings_new(rq->arena, 0);

    if (check_number(h, "limit") != 0 || check_number(h, "timeoutSeconds") != 0)
        return -1;
    if (watches)
        check_watch(rq->arena, &o, &found);
    else
        check_list(rq->arena, &o, &found);
    if (found.count)
        return fail_invalid(&rq->failure, &subject, &found);
    if (!watches && o.token.len && o.version.len && !str_eq(o.version, STR("0")))
        return fail_bad_request(&rq->failure,
                                STR("specifying resource version is not allowed when using "
                                    "continue"));
    return 0;
}
