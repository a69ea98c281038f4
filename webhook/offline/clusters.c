/* SPDX-License-Identifier: Apache-2.0 */
/* clusters.c: from an inventory to what is known of its cluster. */
#include "webhook/offline/clusters.h"

#include "stack/gpu/inventory.h"
#include "stack/model/fields_decode.h"
#include "webhook/offline/load.h"

/* A figure that cannot be read is not to be taken for none. One without a status was just made:
 * nothing is known of its cluster. */
static void check(struct loading *loading, const struct object *object)
{
    struct arena *arena = loading->arena;
    struct problems problems = problems_new(arena);
    struct findings found = findings_new(&problems);
    struct json status = json_get(object->json, STR("status"));
    struct path at = path_field(NULL, STR("status"));

    if (json_is(status, JSON_ABSENT))
        return;
    fields_decode(&found, &fields_of_inventory, status,
                  arena_alloc(arena, fields_of_inventory.size), &at);
    for (uint32_t i = 0; i < problems.list.count; i++) {
        const struct problem *problem = &problems.list.items[i];

        load_wrong(loading, object->file, object_field_place(object, problem->field),
                   str_fmt(arena, "%.*s: %.*s; %.*s", STR_ARG(problem->field),
                           STR_ARG(problem->message), STR_ARG(problem->remedy)));
    }
}

static struct fact_cluster cluster_of(struct arena *arena, const struct object *object)
{
    struct inventory *inventory = arena_new(arena, struct inventory);
    struct str id = json_str(json_walk(object->json, "metadata", "name", NULL));

    *inventory = inventory_read(arena, object->json);
    return (struct fact_cluster){
        .id = id,
        .display_name = inventory->display_name,
        .labels = inventory->labels,
        .ready = inventory->ready,
        .internal = str_eq(id, LOCAL_CLUSTER),
        .inventory = inventory,
    };
}

/* Of Rancher's own cluster no inventory is written, and every Rancher has it. */
static void add_local(struct fact_clusters *clusters)
{
    for (uint32_t i = 0; i < clusters->count; i++)
        if (clusters->items[i].internal)
            return;
    fact_clusters_push(clusters, (struct fact_cluster){ .id = LOCAL_CLUSTER, .internal = true });
}

int clusters_load(struct arena *arena, const struct input_files *files,
                  struct fact_clusters *ret_clusters, struct str_list *ret_wrong)
{
    struct loading l = load_files(arena, files, OBJECT_INVENTORY);
    struct fact_clusters clusters = fact_clusters_new(arena, l.objects.count);

    for (uint32_t i = 0; i < l.objects.count; i++)
        check(&l, &l.objects.items[i]);
    if (l.wrong.count) {
        *ret_wrong = l.wrong;
        return -1;
    }
    for (uint32_t i = 0; i < l.objects.count; i++)
        fact_clusters_push(&clusters, cluster_of(arena, &l.objects.items[i]));
    add_local(&clusters);
    *ret_clusters = clusters;
    return 0;
}
