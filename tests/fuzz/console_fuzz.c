/* SPDX-License-Identifier: Apache-2.0 */
/* console_fuzz.c: a path, a query, the headers of a caller and a body, each on a line, as a client of the console sends them:
 * who is served without a token is here and calls it so, what is rejected says why, and whatever is in an object,
 * it is one event. */
#include "fuzz.h"

#include "controller/console/filter.h"
#include "controller/console/identity.h"
#include "controller/console/wire.h"
#include "kube/request.h"
#include "text/json.h"

static struct str next_line(struct str *rest)
{
    struct str line = STR("");

    if (rest->len)
        str_split(rest, '\n', &line);
    return line;
}

static void check_path(struct arena *arena, const struct console_kinds *kinds, struct str path)
{
    struct console_target target;
    struct error err = { .code = ERROR_NONE };

    if (path.len == 0 || path.at[0] != '/')
        return;
    if (console_target_read(kinds, path, &target, &err) < 0) {
        MUST(err.code == ERROR_NOT_FOUND && err.text[0]);
        return;
    }

    const struct kube_request request = { .resource = target.kind->resource, .namespace_ = target.namespace_, .name = target.name };

    /* What is asked of the API server is below that kind, and no step up. */
    MUST(str_starts(kube_request_path(arena, &request), console_group_path(arena, target.kind)));
    MUST(str_find(kube_request_path(arena, &request), STR("/../"), 0) < 0);
}

static void check_query(struct arena *arena, const struct console_kinds *kinds, struct str query)
{
    struct console_filter filter;
    struct error err = { .code = ERROR_NONE };
    struct str selector;

    if (console_filter_read(arena, kinds, query, 10, &filter, &err) < 0)
        MUST(err.code == ERROR_BAD_REQUEST && err.text[0]);
    else
        MUST(filter.limit >= 1);
    err.code = ERROR_NONE;
    if (wire_read_parameters(arena, query, true, &selector, &err) < 0)
        MUST(err.code == ERROR_BAD_REQUEST && err.text[0]);
    (void)wire_is_dry_run(arena, query);
}

static void check_caller(const struct identity_facts *facts)
{
    struct error err = { .code = ERROR_NONE };
    struct str token;

    if (console_identify(facts, true, &token, &err) < 0)
        MUST(err.text[0]);
    else if (token.len == 0)
        MUST(address_is_loopback(facts->peer) && facts->host.len && !facts->authorization.len &&
             !str_eq(facts->sec_fetch_site, STR("cross-site")));
    if (console_identify(facts, false, &token, &err) == 0)
        MUST(token.len);
}

static void check_body(struct arena *arena, const struct kube_resource *resource, struct str body)
{
    AUTO(history_free) struct history *history = history_create(STR("e"), 2, 1 << 20);
    const struct change facts = { .resource = resource, .name = body, .namespace_ = STR(""), .uid = body, .resource_version = body };
    struct wire_written written;
    struct error err = { .code = ERROR_NONE };
    struct str frame, filled;

    (void)wire_read_written(arena, body, &written);
    if (wire_check(arena, body, &err) < 0) {
        MUST(err.code == ERROR_BAD_REQUEST && err.text[0]);
        return;
    }
    if (wire_lacks_version(arena, body) &&
        wire_fill_version(arena, body, STR("{\"metadata\":{\"resourceVersion\":\"7\"}}"), &filled, &err) == 0)
        MUST(!wire_lacks_version(arena, filled));
    for (int is_large = 0; is_large < 2; is_large++) {
        history_add(history, &facts, body, is_large ? 0 : body.len);
        frame = history_next(history, (uint64_t)is_large)->frame;
        /* id, data, and the line that ends it. */
        MUST(str_ends(frame, STR("\n\n")) && str_find_char(frame, '\r', 0) < 0);
        MUST(str_find_char(frame, '\n', (size_t)str_find_char(frame, '\n', 0) + 1) == (ptrdiff_t)frame.len - 2);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str rest = str_make((const char *)data, size);
    struct console_kinds kinds = { .count = 0 };
    struct identity_facts facts;

    for (const struct crd *crd = crds; crd->kind; crd++)
        if (!crd->workload)
            console_kinds_add(&kinds, crd);
    check_path(arena, &kinds, next_line(&rest));
    check_query(arena, &kinds, next_line(&rest));
    facts.peer = next_line(&rest);
    facts.authorization = next_line(&rest);
    facts.host = next_line(&rest);
    facts.origin = next_line(&rest);
    facts.sec_fetch_site = next_line(&rest);
    facts.forwarded = next_line(&rest);
    facts.x_forwarded_for = next_line(&rest);
    facts.impersonate_user = next_line(&rest);
    check_caller(&facts);
    check_body(arena, &kinds.items[0].resource, rest);
    return 0;
}
