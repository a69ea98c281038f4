/* SPDX-License-Identifier: Apache-2.0 */
/* validate_metadata.c: what every API server rejects of an object's metadata, so that an offline
 * review reports it too.
 * Source: k8s.io/apimachinery/pkg/api/validation/objectmeta.go. */
#include "stack/model/checks.h"

#include "kube/names.h"

typedef const char *grammar(struct str text);

static void blame(struct findings *findings, const struct path *at, const char *what,
                  struct str text, const char *wrong)
{
    if (wrong)
        finding_add(findings, RULE_SHAPE_METADATA, CAUSE_VALUE_INVALID, at, STR(""),
                    "\"%.*s\": %s%s", STR_ARG(finding_shown(findings, text)), what, wrong);
}

/* A name that is to be made of generateName: what that begins with, and characters behind it. */
static const char *not_made_name(struct arena *arena, struct str generate_name)
{
    enum { KEPT = 58 }; /* k8s.io/apiserver/pkg/storage/names/generate.go */
    const char *wrong = kube_not_generate_name(generate_name);
    struct str kept = str_slice(generate_name, 0, KEPT);

    return wrong ? wrong : kube_not_dns1123_subdomain(str_fmt(arena, "%.*sa", STR_ARG(kept)));
}

static void check_name(const struct kube_meta *meta, const struct path *metadata,
                       struct findings *findings)
{
    struct path name = path_field(metadata, STR("name"));
    struct path generate_name = path_field(metadata, STR("generateName"));
    struct path namespace_ = path_field(metadata, STR("namespace"));

    if (meta->name.len)
        blame(findings, &name, "", meta->name, kube_not_dns1123_subdomain(meta->name));
    else if (!meta->generate_name.len)
        finding_add(findings, RULE_SHAPE_METADATA, CAUSE_VALUE_REQUIRED, &name,
                    STR("set it, in quotes if it looks like a number"),
                    "name or generateName is required");
    if (meta->generate_name.len)
        blame(findings, &generate_name, "", meta->generate_name,
              meta->name.len ? kube_not_generate_name(meta->generate_name)
                             : not_made_name(findings->arena, meta->generate_name));
    if (meta->namespace_.len)
        blame(findings, &namespace_, "", meta->namespace_,
              kube_not_dns1123_label(meta->namespace_));
}

static bool is_text(struct json value, const struct path *at, struct findings *findings)
{
    if (json_is(value, JSON_STRING))
        return true;
    if (!json_is(value, JSON_NULL)) /* is read as "" */
        finding_add(findings, RULE_SHAPE_METADATA, CAUSE_TYPE_INVALID, at,
                    STR("write it in quotes"), "must be a string, not %s",
                    json_kind_name(json_kind(value)));
    return false;
}

static void check_map(struct json map, const char *field, const char *what, grammar *not_key,
                      grammar *not_value, const struct path *metadata, struct findings *findings)
{
    struct path up = path_field(metadata, str_of(field));
    struct str key_of = str_fmt(findings->arena, "the %s key ", what);
    struct str value_of = str_fmt(findings->arena, "the %s value ", what);
    struct json_iter it = json_iter(map);

    while (json_next(&it)) {
        struct path at = path_key(&up, it.key);
        const char *wrong = not_key(it.key);

        blame(findings, &at, key_of.at, it.key, wrong);
        if (!wrong && is_text(it.value, &at, findings) && not_value)
            blame(findings, &at, value_of.at, json_str(it.value), not_value(json_str(it.value)));
    }
}

void validate_metadata(const struct kube_meta *meta, struct findings *findings)
{
    struct path at = path_field(NULL, STR("metadata"));

    check_name(meta, &at, findings);
    check_map(meta->labels, "labels", "label", kube_not_label_key, kube_not_label_value, &at,
              findings);
    check_map(meta->annotations, "annotations", "annotation", kube_not_annotation_key, NULL, &at,
              findings);
}
