/* SPDX-License-Identifier: Apache-2.0 */
/* redaction.c: each text of Helm's goes through the mask. */
#include "stack/model/redaction.h"

#include "base/limits.h"
#include "text/yaml.h"

bool redaction_is_needed(const struct observed_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->releases.count; i++)
        if (cluster->releases.items[i].description.len)
            return true;
    for (uint32_t i = 0; i < cluster->operations.count; i++)
        if (cluster->operations.items[i].message.len || cluster->operations.items[i].pods.len)
            return true;
    return false;
}

void redaction_hide_text(struct mask *mask, struct arena *arena, struct str text)
{
    struct json_limits limits = json_limits_default;
    struct error ignored = { .code = ERROR_NONE };
    struct yaml_documents documents;
    struct json root;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    if (yaml_read(arena, text, &documents, &ignored) < 0) {
        mask_withhold(mask, STR(WORDS_WITHHELD));
        return;
    }
    for (uint32_t i = 0; i < documents.count; i++)
        if (json_read(arena, documents.items[i].json, &limits, &root, &ignored) < 0)
            mask_withhold(mask, STR(WORDS_WITHHELD));
        else
            mask_add_json(mask, root);
}

static const struct observed_release *release_of(const struct observed_cluster *cluster,
                                                 const struct observed_operation *operation)
{
    for (uint32_t i = 0; i < cluster->releases.count; i++)
        if (str_eq(cluster->releases.items[i].name, operation->release_name) &&
            str_eq(cluster->releases.items[i].namespace_, operation->namespace_))
            return &cluster->releases.items[i];
    return NULL;
}

static bool is_others(const struct observed_release *release, struct str stack_uid)
{
    return release && release->stack_uid.len && !str_eq(release->stack_uid, stack_uid);
}

void redaction_hide(struct mask *mask, struct arena *arena, struct str stack_uid,
                    struct observed_cluster *cluster)
{
    for (uint32_t i = 0; i < cluster->operations.count; i++) {
        struct observed_operation *operation = &cluster->operations.items[i];

        if (operation->message.len == 0 && operation->pods.len == 0)
            continue;

        bool others = is_others(release_of(cluster, operation), stack_uid);

        operation->message = others ? STR("") : mask_apply(mask, arena, operation->message);
        operation->pods = others ? STR("") : mask_apply(mask, arena, operation->pods);
    }
    for (uint32_t i = 0; i < cluster->releases.count; i++) {
        struct observed_release *release = &cluster->releases.items[i];

        release->description =
            is_others(release, stack_uid) ? STR("") : mask_apply(mask, arena, release->description);
    }
}
