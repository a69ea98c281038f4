/* clusters.c: from an inventory to what is known of its cluster. */
#include "webhook/offline/clusters.h"

#include "stack/inventory.h"
#include "webhook/offline/load.h"

static struct fact_cluster cluster_of(struct arena *arena, const struct object *object)
{
    struct inventory *inventory = arena_new(arena, struct inventory);

    *inventory = inventory_read(arena, object->json);
    return (struct fact_cluster){
        .id = json_str(json_walk(object->json, "metadata", "name", NULL)),
        .display_name = inventory->display_name,
        .labels = inventory->labels,
        .ready = inventory->ready,
        .inventory = inventory,
    };
}

int clusters_load(struct arena *arena, const struct input_files *files,
                  struct fact_clusters *ret_clusters, struct str_list *ret_wrong)
{
    struct loading l = load_files(arena, files, OBJECT_INVENTORY);
    struct fact_clusters clusters = fact_clusters_new(arena, l.objects.count);

    if (l.wrong.count) {
        *ret_wrong = l.wrong;
        return -1;
    }
    for (uint32_t i = 0; i < l.objects.count; i++)
        fact_clusters_push(&clusters, cluster_of(arena, &l.objects.items[i]));
    *ret_clusters = clusters;
    return 0;
}
