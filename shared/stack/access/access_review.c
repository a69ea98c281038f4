/* SPDX-License-Identifier: Apache-2.0 */
/* access_review.c: questions as SubjectAccessReviews.
 * Source: k8s.io/api/authorization/v1/types.go. */
#include "stack/access/access.h"

#include "base/set.h"
#include "stack/model/values.h"
#include "text/digest.h"
#include "text/json_write.h"

const struct kube_resource access_review_resource = KUBE_RESOURCE_INIT(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", false);

/* --- who --- */

/* Members without the braces. */
static struct str members_of(struct strbuf *object)
{
    struct str whole = strbuf_str(object);

    return str_slice(whole, 1, whole.len - 1);
}

struct access_user access_user_of(struct arena *arena, struct str username, struct str uid,
                                  struct json groups, struct json extra)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "user", username);
    if (uid.len)
        json_field_str(&w, "uid", uid);
    if (json_is(groups, JSON_ARRAY))
        json_field_raw(&w, "groups", json_raw(groups));
    if (json_is(extra, JSON_OBJECT))
        json_field_raw(&w, "extra", json_raw(extra));
    json_close_object(&w);
    return (struct access_user){ .name = username, .members = members_of(&out) };
}

struct access_user access_user_recorded(struct arena *arena, const struct author *author)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "user", author->name);
    json_put_key(&w, STR("groups"));
    json_open_array(&w);
    for (uint32_t i = 0; i < author->groups.count; i++)
        json_put_str(&w, author->groups.items[i]);
    json_close_array(&w);
    json_close_object(&w);

    struct str members = members_of(&out);

    return (struct access_user){ author->name, members, digest_sha256_hex(arena, members) };
}

/* --- what --- */

struct str access_question_key(struct arena *arena, const struct access_question *question)
{
    return str_fmt(arena, "%d %.*s %.*s %.*s", question->verb, STR_ARG(question->cluster),
                   STR_ARG(question->namespace_), STR_ARG(question->name));
}

static void add_references(struct access_references *all, struct set seen, bool secret,
                           const struct name_refs *refs, const struct path *values)
{
    struct arena *arena = all->arena;
    struct path *list = arena_new(arena, struct path);

    *list = path_field(values, secret ? STR("secretRefs") : STR("configMapRefs"));
    for (uint32_t i = 0; i < refs->count; i++) {
        struct str key = str_fmt(arena, "%d%.*s", secret, STR_ARG(refs->items[i].name));

        if (refs->items[i].name.len && set_add(seen, key))
            access_references_push(
                all, (struct access_reference){ path_index(list, i), secret, refs->items[i].name });
    }
}

static void add_values(struct access_references *all, struct set seen,
                       const struct chart_values *values, struct path chart)
{
    struct path *up = arena_array(all->arena, struct path, 2);

    up[0] = chart;
    up[1] = path_field(&up[0], STR("values"));
    add_references(all, seen, false, &values->config_map_refs, &up[1]);
    add_references(all, seen, true, &values->secret_refs, &up[1]);
}

struct access_references access_references_of(struct arena *arena, const struct stack *stack,
                                              const struct path *spec)
{
    const struct charts *charts = &stack->spec.charts;
    const struct stack_overrides *overrides = &stack->spec.overrides;
    struct access_references all = access_references_new(arena, 4);
    struct set seen = set_new(arena, 8);
    struct path *lists = arena_array(arena, struct path, 2 + 2 * (size_t)overrides->count);

    lists[0] = path_field(spec, STR("charts"));
    lists[1] = path_field(spec, STR("overrides"));
    for (uint32_t i = 0; i < charts->count; i++)
        add_values(&all, seen, &charts->items[i].values, path_index(&lists[0], i));
    for (uint32_t i = 0; i < overrides->count; i++) {
        struct path *of = &lists[2 + 2 * i];

        of[0] = path_index(&lists[1], i);
        of[1] = path_field(&of[0], STR("charts"));
        for (uint32_t k = 0; k < overrides->items[i].charts.count; k++)
            add_values(&all, seen, &overrides->items[i].charts.items[k].values,
                       path_index(&of[1], k));
    }
    return all;
}

struct access_question access_question_about(struct arena *arena, struct str namespace_,
                                             const struct access_reference *reference,
                                             struct str cluster_id)
{
    bool any = !cluster_id.len && template_is_one(reference->name);

    return (struct access_question){
        .namespace_ = namespace_,
        .name = any ? STR("") : values_object(arena, reference->name, cluster_id),
        .verb = reference->secret ? ACCESS_GET_SECRET : ACCESS_GET_CONFIG_MAP,
    };
}

static void put_deploy(struct json_writer *w, const struct access_question *question)
{
    struct strbuf name = strbuf_new(w->out->arena, 64);
    bool whole = question->namespace_.len == 0;

    strbuf_put(&name, question->cluster);
    if (!whole)
        strbuf_fmt(&name, ":%.*s", STR_ARG(question->namespace_));
    json_field_str(w, "group", whole ? STR("management.cattle.io") : STR(STACK_GROUP));
    json_field_str(w, "resource", whole ? STR("clusters") : STR("releases"));
    json_field_str(w, "verb", STR("deploy"));
    if (name.len)
        json_field_str(w, "name", strbuf_str(&name));
}

static void put_attributes(struct json_writer *w, const struct access_question *question)
{
    json_open_object(w);
    if (question->verb == ACCESS_DEPLOY) {
        put_deploy(w, question);
    } else {
        json_field_str(w, "resource",
                       question->verb == ACCESS_GET_SECRET ? STR("secrets") : STR("configmaps"));
        json_field_str(w, "namespace", question->namespace_);
        json_field_str(w, "verb", STR("get"));
        if (question->name.len)
            json_field_str(w, "name", question->name);
    }
    json_close_object(w);
}

void access_review_write(const struct access_user *user, const struct access_question *question,
                         struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_str(&w, "apiVersion", STR("authorization.k8s.io/v1"));
    json_field_str(&w, "kind", access_review_resource.kind);
    json_put_key(&w, STR("spec"));
    json_open_object(&w);
    json_put_key(&w, STR("resourceAttributes"));
    put_attributes(&w, question);
    strbuf_char(out, ',');
    strbuf_put(out, user->members);
    json_close_object(&w);
    json_close_object(&w);
}

bool access_review_allows(struct json review)
{
    struct json status = json_get(review, STR("status"));

    return json_bool(json_get(status, STR("allowed"))) &&
           !json_bool(json_get(status, STR("denied")));
}
