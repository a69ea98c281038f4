/* SPDX-License-Identifier: Apache-2.0 */
/* type_meta.c: apiVersion, kind, metadata, spec and status, and no more. */
#include "stack/model/type_meta.h"

#include "stack/model/stack.h"

static const struct str members[] = { STR_INIT("apiVersion"), STR_INIT("kind"),
                                      STR_INIT("metadata"), STR_INIT("spec"), STR_INIT("status") };

static void check_member(struct str name, const struct field_table *spec, struct findings *findings)
{
    struct str_nearest nearest = { .name = name };

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (str_eq(members[i], name))
            return;

    struct path at = path_field(NULL, finding_shown(findings, name));

    if (field_find(spec, name)) {
        finding_add(findings, RULE_SHAPE_UNKNOWN_FIELD, CAUSE_VALUE_NOT_SUPPORTED, &at,
                    STR("put it under spec"), "unknown field");
        return;
    }
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        str_nearest_try(&nearest, members[i]);
    finding_add(findings, RULE_SHAPE_UNKNOWN_FIELD, CAUSE_VALUE_NOT_SUPPORTED, &at,
                nearest.found.len ? FINDING_CORRECT_NAME : STR(""), "unknown field%.*s",
                STR_ARG(finding_did_you_mean(findings, nearest.found)));
}

static void check_word(struct json object, const char *member, struct str wanted, struct str remedy,
                       struct findings *findings)
{
    struct path at = path_field(NULL, str_of(member));
    struct str found = json_str(json_get(object, str_of(member)));

    if (str_eq(found, wanted))
        return;
    finding_add(findings, RULE_SHAPE_KIND, CAUSE_VALUE_NOT_SUPPORTED, &at, remedy,
                "\"%.*s\": supported values: \"%.*s\"", STR_ARG(finding_shown(findings, found)),
                STR_ARG(wanted));
}

static void check_words(struct json object, const struct kube_resource *resource,
                        struct findings *findings)
{
    struct str api_version = kube_api_version(findings->arena, resource);
    struct str remedy = str_fmt(findings->arena, "write apiVersion: %.*s and kind: %.*s",
                                STR_ARG(api_version), STR_ARG(resource->kind));

    check_word(object, "apiVersion", api_version, remedy, findings);
    check_word(object, "kind", resource->kind, remedy, findings);
}

void type_meta_check(struct json object, const struct kube_resource *resource,
                     const struct field_table *spec, struct findings *findings)
{
    struct json_iter it = json_iter(object);

    while (json_next(&it))
        check_member(it.key, spec, findings);
    check_words(object, resource, findings);
}
