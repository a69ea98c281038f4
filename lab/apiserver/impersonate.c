/* SPDX-License-Identifier: Apache-2.0 */
/* impersonate.c: `kubectl --as`: a caller who may impersonate each part of another identity has
 * that identity for the rest of the request. Source:
 * k8s.io/apiserver/pkg/endpoints/filters/impersonation. */
#include "lab/apiserver/http.h"

#include <strings.h>

#define EXTRA "Impersonate-Extra-"

struct wish {
    struct arena *arena;
    struct str user, uid;
    struct str_list groups;
    struct value *extra;
};

static bool is(struct str name, const char *header)
{
    return name.len == strlen(header) && strncasecmp(name.at, header, name.len) == 0;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Header names have no case and few characters: keys come in lower case, percent-encoded. */
static struct str key_of(struct arena *arena, struct str name)
{
    struct strbuf lower = strbuf_new(arena, name.len), out = strbuf_new(arena, name.len);
    struct str text;

    for (size_t i = 0; i < name.len; i++)
        strbuf_char(&lower,
                    name.at[i] >= 'A' && name.at[i] <= 'Z' ? (char)(name.at[i] + 32) : name.at[i]);
    text = strbuf_str(&lower);
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] == '%' && i + 2 < text.len && hex(text.at[i + 1]) >= 0 &&
            hex(text.at[i + 2]) >= 0) {
            strbuf_char(&out, (char)(hex(text.at[i + 1]) * 16 + hex(text.at[i + 2])));
            i += 2;
        } else {
            strbuf_char(&out, text.at[i]);
        }
    return strbuf_str(&out);
}

static void add_extra(struct wish *wish, struct str key, struct str text)
{
    struct value *list;

    if (!wish->extra)
        wish->extra = value_object(wish->arena);
    list = value_get(wish->extra, key);
    if (!list) {
        list = value_array(wish->arena);
        value_set(wish->arena, wish->extra, key, list);
    }
    value_append(list, value_str(wish->arena, text));
}

static void read_header(void *context, struct str name, struct str text)
{
    struct wish *wish = context;
    size_t prefix = strlen(EXTRA);

    text = str_dup(wish->arena, text);
    if (is(name, "Impersonate-User"))
        wish->user = text;
    else if (is(name, "Impersonate-Uid"))
        wish->uid = text;
    else if (is(name, "Impersonate-Group"))
        str_list_push(&wish->groups, text);
    else if (name.len > prefix && is(str_slice(name, 0, prefix), EXTRA))
        add_extra(wish, key_of(wish->arena, str_slice(name, prefix, name.len)), text);
}

/* As Go shows the identity that was asked for. */
static int fail_nameless(struct request *rq, const struct wish *wish)
{
    struct strbuf text = strbuf_new(rq->arena, 128);

    strbuf_lit(&text, "requested &user.DefaultInfo{Name:\"\", UID:");
    finding_quote(&text, wish->uid);
    strbuf_lit(&text, ", Groups:[]string");
    strbuf_put(&text, wish->groups.count ? STR("{") : STR("(nil)"));
    for (uint32_t i = 0; i < wish->groups.count; i++) {
        if (i)
            strbuf_lit(&text, ", ");
        finding_quote(&text, wish->groups.items[i]);
    }
    strbuf_put(&text, wish->groups.count ? STR("}") : STR(""));
    strbuf_lit(&text, ", Extra:map[string][]string");
    strbuf_put(&text, wish->extra ? STR("{") : STR("(nil)"));
    for (struct value *m = value_first(wish->extra); m; m = value_next(m)) {
        finding_quote(&text, value_key(m));
        strbuf_lit(&text, ":[]string{");
        for (struct value *one = value_first(m); one; one = value_next(one)) {
            finding_quote(&text, value_text(one));
            strbuf_put(&text, value_next(one) ? STR(", ") : STR("}"));
        }
        strbuf_put(&text, value_next(m) ? STR(", ") : STR("}"));
    }
    strbuf_lit(&text, "} without impersonating a user name");
    return fail_bad_request(&rq->failure, strbuf_str(&text));
}

static int check(struct request *rq, struct access access)
{
    struct str why;

    access.verb = STR("impersonate");
    access.version = STR("v1");
    return roles_allow(rq, rq->caller, &access, &why) ? 0 : fail_access(rq, &access, why);
}

/* system:serviceaccount:<namespace>:<name> */
static bool is_account(struct str user, struct str *ret_namespace, struct str *ret_name)
{
    struct str prefix = STR("system:serviceaccount:");
    ptrdiff_t colon;

    if (!str_starts(user, prefix))
        return false;
    user = str_slice(user, prefix.len, user.len);
    colon = str_find_char(user, ':', 0);
    *ret_namespace = str_slice(user, 0, colon < 0 ? 0 : (size_t)colon);
    *ret_name = str_slice(user, (size_t)(colon + 1), user.len);
    return colon > 0 && ret_name->len > 0 && str_find_char(*ret_name, ':', 0) < 0;
}

static int check_user(struct request *rq, const struct wish *wish, struct str_list *groups)
{
    struct str namespace_, name;

    if (!is_account(wish->user, &namespace_, &name))
        return check(rq, (struct access){ .resource = STR("users"), .name = wish->user });
    if (wish->groups.count == 0) {
        str_list_push(groups, STR("system:serviceaccounts"));
        str_list_push(groups,
                      str_fmt(rq->arena, "system:serviceaccounts:%.*s", STR_ARG(namespace_)));
    }
    return check(rq, (struct access){ .resource = STR("serviceaccounts"),
                                      .name = name,
                                      .namespace_ = namespace_ });
}

static int check_rest(struct request *rq, const struct wish *wish)
{
    struct str group = STR("authentication.k8s.io");

    for (uint32_t i = 0; i < wish->groups.count; i++)
        if (check(rq,
                  (struct access){ .resource = STR("groups"), .name = wish->groups.items[i] }) != 0)
            return -1;
    for (struct value *m = value_first(wish->extra); m; m = value_next(m))
        for (struct value *one = value_first(m); one; one = value_next(one))
            if (check(rq, (struct access){ .group = group,
                                           .resource = STR("userextras"),
                                           .sub_resource = value_key(m),
                                           .name = value_text(one) }) != 0)
                return -1;
    if (wish->uid.len == 0)
        return 0;
    return check(rq, (struct access){ .group = group, .resource = STR("uids"), .name = wish->uid });
}

int impersonate(struct http_request_of_api *h)
{
    struct request *rq = h->rq;
    struct wish wish = { .arena = rq->arena, .groups = str_list_new(rq->arena, 0) };
    struct api_caller *other = arena_new(rq->arena, struct api_caller);
    struct str added;

    http_headers(h->exchange, read_header, &wish);
    if (wish.user.len == 0)
        return wish.groups.count || wish.uid.len || wish.extra ? fail_nameless(rq, &wish) : 0;
    *other = (struct api_caller){ .user = wish.user,
                                  .groups = str_list_new(rq->arena, 4),
                                  .uid = wish.uid,
                                  .extra = wish.extra };
    if (check_user(rq, &wish, &other->groups) != 0 || check_rest(rq, &wish) != 0)
        return -1;
    for (uint32_t i = 0; i < wish.groups.count; i++)
        str_list_push(&other->groups, wish.groups.items[i]);
    added = str_eq(wish.user, STR("system:anonymous")) ? STR("system:unauthenticated")
                                                       : STR("system:authenticated");
    if (!str_list_has(&other->groups, added) &&
        !str_list_has(&other->groups, STR("system:unauthenticated")))
        str_list_push(&other->groups, added);
    rq->caller = other;
    return 0;
}
