/* clusters.c: from an inventory to what is known of its cluster. */
#include "webhook/offline/clusters.h"

#include "stack/inventory.h"
#include "stack/status_check.h"
#include "webhook/offline/load.h"

struct checking {
    struct loading *loading;
    const struct object *object;
};

static void tell_wrong(void *context, const struct path *at, struct str what)
{
    const struct checking *c = context;
    struct arena *arena = c->loading->arena;
    struct str field = path_render(at, arena);

    load_wrong(c->loading, c->object->file, object_field_place(c->object, field),
               str_fmt(arena, "%.*s %.*s", STR_ARG(field), STR_ARG(what)));
}

/* A figure that cannot be read is not to be taken for none. One without a status was just made:
 * nothing is known of its cluster. */
static void check(struct loading *loading, const struct object *object)
{
    struct checking c = { .loading = loading, .object = object };
    struct json status = json_get(object->json, STR("status"));
    const struct crd *crd = crds;

    if (json_is(status, JSON_ABSENT))
        return;
    while (!str_eq(str_of(crd->kind), str_of(object_kind_name(OBJECT_INVENTORY))))
        crd++;
    status_check(loading->arena, crd->status, status, tell_wrong, &c);
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
