/* top.c: apiVersion, kind, metadata, spec and status, and no more. */
#include "stack/top.h"

#include "stack/stack.h"

static const struct str members[] = { STR_INIT("apiVersion"), STR_INIT("kind"),
                                      STR_INIT("metadata"), STR_INIT("spec"), STR_INIT("status") };

static void check_member(struct str name, const struct field_table *spec,
                         struct findings *findings)
{
    struct str_nearest nearest = { .name = name };
    struct path at = path_field(NULL, finding_shown(findings, name));

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (str_eq(members[i], name))
            return;
        str_nearest_try(&nearest, members[i]);
    }
    finding_add(findings, RULE_SHAPE_UNKNOWN_FIELD, CAUSE_VALUE_NOT_SUPPORTED, &at,
                field_find(spec, name) ? STR("put it under spec")
                                       : finding_did_you_mean(findings, nearest.found),
                "there is no such field");
}

static void check_word(struct json object, const char *member, struct str wanted,
                       struct str way_out, struct findings *findings)
{
    struct path at = path_field(NULL, str_of(member));
    struct str found = json_str(json_get(object, str_of(member)));

    if (!str_eq(found, wanted))
        finding_add(findings, RULE_SHAPE_KIND, CAUSE_VALUE_NOT_SUPPORTED, &at, way_out,
                    "'%.*s' is not %.*s", STR_ARG(finding_shown(findings, found)),
                    STR_ARG(wanted));
}

void top_check(struct json object, const struct kube_resource *resource,
               const struct field_table *spec, struct findings *findings)
{
    struct str way_out = str_fmt(findings->arena,
                                 "write apiVersion: " STACK_GROUP "/" STACK_VERSION
                                 " and kind: %.*s",
                                 STR_ARG(resource->kind));
    struct json_iter it = json_iter(object);

    while (json_next(&it))
        check_member(it.key, spec, findings);
    check_word(object, "apiVersion", STR(STACK_GROUP "/" STACK_VERSION), way_out, findings);
    check_word(object, "kind", resource->kind, way_out, findings);
}
