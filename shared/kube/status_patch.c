/* SPDX-License-Identifier: Apache-2.0 */
/* status_patch.c: "add" replaces what is there (RFC 6902, 4.1), and needs nothing to be there. */
#include "kube/status_patch.h"

#include "text/json_write.h"

struct kube_request kube_status_replace(struct arena *arena, const struct kube_resource *resource,
                                        struct str namespace_, struct str name,
                                        struct str field_manager, struct str status)
{
    struct strbuf body = strbuf_new(arena, status.len + 64);
    struct json_writer w = json_writer(&body);

    json_open_array(&w);
    json_open_object(&w);
    json_field_str(&w, "op", STR("add"));
    json_field_str(&w, "path", STR("/status"));
    json_field_raw(&w, "value", status);
    json_close_object(&w);
    json_close_array(&w);
    return (struct kube_request){
        .verb = KUBE_PATCH,
        .resource = *resource,
        .namespace_ = namespace_,
        .name = name,
        .sub_resource = STR("status"),
        .patch_type = KUBE_PATCH_JSON,
        .field_manager = field_manager,
        .body = strbuf_str(&body),
    };
}
