/* SPDX-License-Identifier: Apache-2.0 */
/* service.c: pure: which address a Service may have, and which it keeps. */
#include "lab/apiserver/service.h"

#define RANGE "10.43."

static struct str member(const struct value *service, const char *key)
{
    return value_text(value_get(value_get(service, STR("spec")), str_of(key)));
}

bool service_is_given(struct str address)
{
    return str_starts(address, STR(RANGE));
}

struct str service_address_at(struct arena *arena, uint32_t index)
{
    uint32_t number = 256 + index % SERVICE_ADDRESSES;

    return str_fmt(arena, RANGE "%u.%u", (unsigned)(number / 256), (unsigned)(number % 256));
}

static bool has_type_with_address(const struct value *service)
{
    return !str_eq(member(service, "type"), STR("ExternalName"));
}

bool service_wants_address(const struct value *service)
{
    return has_type_with_address(service) && member(service, "clusterIP").len == 0;
}

static void put_default(struct arena *arena, struct value *spec, const char *key,
                        struct value *value)
{
    if (!value_get(spec, str_of(key)))
        value_set(arena, spec, str_of(key), value);
}

static struct value *list_of(struct arena *arena, struct str text)
{
    struct value *list = value_array(arena);

    value_append(list, value_str(arena, text));
    return list;
}

void service_put_address(struct arena *arena, struct value *service, struct str address)
{
    struct value *spec = value_object_at(arena, service, STR("spec"));

    if (!spec || !has_type_with_address(service))
        return;
    if (service_wants_address(service))
        value_set(arena, spec, STR("clusterIP"), value_str(arena, address));
    address = member(service, "clusterIP");
    put_default(arena, spec, "clusterIPs", list_of(arena, address));
    put_default(arena, spec, "internalTrafficPolicy", value_str(arena, STR("Cluster")));
    put_default(arena, spec, "ipFamilies", list_of(arena, STR("IPv4")));
    put_default(arena, spec, "ipFamilyPolicy", value_str(arena, STR("SingleStack")));
}

void service_keep_address(struct arena *arena, const struct value *old, struct value *service)
{
    static const char *const kept[] = { "clusterIPs", "ipFamilies", "ipFamilyPolicy",
                                        "internalTrafficPolicy" };
    const struct value *was = value_get(old, STR("spec"));
    struct value *spec = value_object_at(arena, service, STR("spec"));

    if (!spec || !has_type_with_address(old) || !service_wants_address(service))
        return;
    value_set(arena, spec, STR("clusterIP"), value_str(arena, member(old, "clusterIP")));
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        if (value_get(was, str_of(kept[i])))
            put_default(arena, spec, kept[i], value_clone(arena, value_get(was, str_of(kept[i]))));
}

void service_validate(struct arena *arena, const struct value *old, const struct value *service,
                      struct findings *found)
{
    struct str was = member(old, "clusterIP"), is = member(service, "clusterIP");
    struct path spec = path_field(NULL, STR("spec"));
    struct path list = path_field(&spec, STR("clusterIPs"));
    struct path at = path_index(&list, 0);

    if (was.len && has_type_with_address(old) && has_type_with_address(service) && !str_eq(was, is))
        finding_invalid(found, &at, list_of(arena, is), STR("may not change once set"));
}
