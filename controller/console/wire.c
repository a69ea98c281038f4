/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: https://kubernetes.io/docs/reference/using-api/api-concepts/. */
#include "controller/console/wire.h"

#include "base/limits.h"
#include "controller/limits.h"
#include "io/http_server.h"
#include "kube/meta.h"
#include "kube/sanitize.h"
#include "text/json_write.h"

#include <strings.h>

enum { SHOWN_BYTES = 100 };

int wire_read_parameters(struct arena *arena, struct str query, bool is_list,
                         struct str *ret_label_selector, struct error *err)
{
    struct str label_selector = STR("");
    struct str name, value;

    while (http_query_next(arena, &query, &name, &value)) {
        if (is_list && str_eq(name, STR("labelSelector")))
            label_selector = value;
        else if (!str_eq(name, STR("pretty")))
            return error_set(err, ERROR_BAD_REQUEST, "%.*s: unsupported parameter; %s",
                             STR_ARG(str_shown(arena, name, SHOWN_BYTES)),
                             is_list ? "a list takes labelSelector, and /watch tells what changes"
                                     : "an object takes none");
    }
    *ret_label_selector = label_selector;
    return 0;
}

bool wire_is_json(struct str content_type)
{
    struct str rest = content_type;
    struct str media_type = STR("");

    if (rest.len)
        str_split(&rest, ';', &media_type);
    media_type = str_trim(media_type);
    return media_type.len == 16 && strncasecmp(media_type.at, "application/json", 16) == 0;
}

bool wire_is_dry_run(struct arena *arena, struct str query)
{
    struct str name, value;

    while (http_query_next(arena, &query, &name, &value))
        if (str_eq(name, STR("dryRun")))
            return true;
    return false;
}

static int read_object(struct arena *arena, struct str body, struct json *ret_root,
                       struct error *err)
{
    struct json_limits limits = json_limits_default;
    struct json root;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    if (kube_json_read(arena, body, &limits, &root, err) < 0)
        return error_wrap(err, "the body is not JSON");
    if (!json_is(root, JSON_OBJECT))
        return error_set(err, ERROR_BAD_REQUEST, "the body is not a JSON object but %s",
                         json_kind_name(json_kind(root)));
    *ret_root = root;
    return 0;
}

int wire_check(struct arena *arena, struct str body, struct error *err)
{
    struct json root;

    if (read_object(arena, body, &root, err) == 0)
        return 0;
    err->code = ERROR_BAD_REQUEST;
    return -1;
}

bool wire_lacks_version(struct arena *arena, struct str body)
{
    struct error ignored;
    struct json root;

    return read_object(arena, body, &root, &ignored) == 0 &&
           json_str(json_walk(root, "metadata", "resourceVersion", NULL)).len == 0;
}

int wire_fill_version(struct arena *arena, struct str body, struct str live, struct str *ret_body,
                      struct error *err)
{
    struct strbuf out = strbuf_new(arena, body.len + 64);
    struct json_writer w = json_writer(&out);
    struct json root, live_root, metadata;
    struct str version;

    if (read_object(arena, body, &root, err) < 0 || read_object(arena, live, &live_root, err) < 0)
        return -1;
    version = json_str(json_walk(live_root, "metadata", "resourceVersion", NULL));
    metadata = json_get(root, STR("metadata"));
    if (!version.len || !json_is(metadata, JSON_OBJECT))
        return error_set(err, ERROR_BAD_REQUEST, "metadata: Required value: an object with a name");
    json_open_object(&w);
    for (struct json_iter it = json_iter(root); json_next(&it);) {
        json_put_key(&w, it.key);
        if (!str_eq(it.key, STR("metadata"))) {
            json_put_raw(&w, json_raw(it.value));
            continue;
        }
        json_open_object(&w);
        for (struct json_iter of = json_iter(metadata); json_next(&of);)
            if (!str_eq(of.key, STR("resourceVersion"))) {
                json_put_key(&w, of.key);
                json_put_raw(&w, json_raw(of.value));
            }
        json_field_str(&w, "resourceVersion", version);
        json_close_object(&w);
    }
    json_close_object(&w);
    *ret_body = strbuf_str(&out);
    return 0;
}

bool wire_read_written(struct arena *arena, struct str answer, struct wire_written *ret_written)
{
    struct error ignored;
    struct kube_meta meta;
    struct json root, details;

    if (read_object(arena, answer, &root, &ignored) < 0)
        return false;
    if (str_eq(json_str(json_get(root, STR("kind"))), STR("Status"))) {
        details = json_get(root, STR("details"));
        *ret_written = (struct wire_written){ .name = json_str(json_get(details, STR("name"))),
                                              .uid = json_str(json_get(details, STR("uid"))),
                                              .resource_version = STR("") };
        return ret_written->uid.len > 0;
    }
    kube_meta_read(root, &meta);
    *ret_written = (struct wire_written){ .name = meta.name,
                                          .uid = meta.uid,
                                          .resource_version = meta.resource_version,
                                          .is_being_deleted = meta.deletion_timestamp.len > 0 };
    return meta.uid.len && meta.resource_version.len;
}
