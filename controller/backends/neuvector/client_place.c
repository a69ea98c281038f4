/* SPDX-License-Identifier: Apache-2.0 */
/* client_place.c: where on the cluster NeuVector is, and the way there. */
#include "controller/backends/neuvector/client_parts.h"

#include "kube/names.h"
#include "kube/request.h"
#include "stack/model/reasons.h"

enum { PORT = 10443, SHOWN_NAME_MAX = 100 };

#define SERVICE "neuvector-svc-controller-api"

struct str client_place(const struct neuvector_client *client, struct arena *arena, struct str path)
{
    const struct connection_service service = {
        .scheme = "https", .namespace_ = client->namespace_, .name = STR(SERVICE), .port = PORT
    };

    if (!client->through_pod)
        return connection_service_path(arena, &service, path);

    struct strbuf out = strbuf_new(arena, 256);

    strbuf_fmt(&out, "/api/v1/namespaces/%.*s/pods/https:", STR_ARG(client->namespace_));
    kube_percent_encode(&out, client->pod);
    strbuf_fmt(&out, ":%u/proxy%.*s", PORT, STR_ARG(path));
    return strbuf_str(&out);
}

static void forget_place(struct neuvector_client *client)
{
    arena_reset(client->place);
    client->namespace_ = client->pod = STR("");
    client->through_pod = false;
    client->namespaces_read = 0;
}

static void look_in_next_namespace(struct neuvector_client *client, struct arena *arena)
{
    if (++client->namespaces_read < WIRE_NAMESPACES) {
        client_step(client);
        return;
    }
    forget_place(client);
    client_fail(
        client, REASON(NEUVECTOR_NOT_FOUND),
        str_fmt(arena,
                "cluster %.*s has no NeuVector: no pod in the namespaces %.*s and %.*s there has "
                "the label app=neuvector-controller-pod; install it in one of them, or disable "
                "spec.security",
                STR_ARG(client_cluster(client)), STR_ARG(wire_namespaces[0]),
                STR_ARG(wire_namespaces[1])));
}

static void on_located(struct neuvector_client *client, struct arena *arena, enum wire_answer kind,
                       const struct neuvector_answer *answer)
{
    struct str namespace_ = wire_namespaces[client->namespaces_read];
    struct str pod;

    if (kind != WIRE_OK) {
        client_fail_as(client, arena, kind, answer->message);
    } else if (!wire_controllers_read(answer->json, &pod)) {
        look_in_next_namespace(client, arena);
    } else if (!pod.len) {
        client_fail_as(client, arena, WIRE_NOT_READY,
                       STR("none of its controller's pods is ready"));
    } else if (kube_not_dns1123_subdomain(pod)) {
        client_fail(
            client, REASON(NEUVECTOR_UNEXPECTED_RESPONSE),
            str_fmt(arena,
                    "cluster %.*s lists a pod in namespace %.*s whose name is none, \"%.*s\", so "
                    "Herd does not use it; check what answers for that cluster's API server",
                    STR_ARG(client_cluster(client)), STR_ARG(namespace_),
                    STR_ARG(str_shown(arena, pod, SHOWN_NAME_MAX))));
    } else {
        forget_place(client);
        client->namespace_ = namespace_;
        client->pod = str_dup(client->place, pod);
        client_step(client);
    }
}

void client_go_another_way(struct neuvector_client *client, struct arena *arena,
                           const struct neuvector_answer *answer)
{
    if (!client->through_pod) {
        client->through_pod = true;
    } else if (!client->looked_again) {
        client->looked_again = true;
        forget_place(client);
    } else {
        client_fail_as(client, arena, WIRE_NO_SERVICE, answer->message);
        return;
    }
    client_step(client);
}

void client_locate(struct neuvector_client *client)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str namespace_ = wire_namespaces[client->namespaces_read];

    client_send_direct(client, wire_controllers_path(arena, namespace_), on_located);
}
