/* SPDX-License-Identifier: Apache-2.0 */
/* jaeger.c: any Service with the annotation lab.herd.suse.com/traced-services is a Jaeger,
 * simulated, which knows the services that it names: "web db". An empty search is a 404, and
 * version 1 of the API is gone, as in Jaeger after 2.20. */
#include "lab/rancher/inside.h"

#include "lab/rancher/jsonf.h"
#include "lab/rancher/world.h"

#define TRACED_ANNOTATION STR("lab.herd.suse.com/traced-services")

static bool find(struct simulation *simulation, struct arena *arena, struct str cluster,
                 struct str path, struct str *ret_services, struct str *ret_rest)
{
    static const struct str scheme = STR_INIT("http:"), port = STR_INIT(":16686");
    struct str namespace_, name, object;
    struct error ignored = { 0 };
    struct json json;

    if (!monitoring_proxied(path, &namespace_, &name, ret_rest) || !str_starts(name, scheme) ||
        !str_ends(name, port))
        return false;
    name = str_slice(name, scheme.len, name.len - port.len);
    if (world_get(simulation, arena, cluster, &res_services, namespace_, name, &object, &ignored) !=
            0 ||
        json_read(arena, str_dup(arena, object), &json_limits_default, &json, &ignored) != 0)
        return false;
    json = json_get(json_walk(json, "metadata", "annotations", NULL), TRACED_ANNOTATION);
    *ret_services = json_str(json);
    return json_is(json, JSON_STRING);
}

static void services(struct http_exchange *exchange, struct arena *arena, struct str names)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct str name;

    while (str_split(&names, ' ', &name))
        if (name.len)
            jsonf_put(&out, out.len ? ",%s" : "%s", name);
    if (out.len)
        reply_json(exchange, 200, jsonf(arena, "{'services':[%r]}", strbuf_str(&out)));
    else
        reply_json(exchange, 404,
                   STR("{\"error\":{\"httpCode\":404,\"message\":\"No services found\"}}"));
}

bool jaeger_handle(struct simulation *simulation, struct http_exchange *exchange,
                   struct str cluster, struct str path)
{
    struct arena *arena = http_view(exchange)->arena;
    struct str names, rest;

    if (!find(simulation, arena, cluster, path, &names, &rest))
        return false;
    if (str_eq(rest, STR("/api/v3/services")))
        services(exchange, arena, names);
    else
        reply_text(exchange, 404, STR("404 page not found\n"));
    return true;
}
