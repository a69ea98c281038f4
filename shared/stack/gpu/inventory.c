/* SPDX-License-Identifier: Apache-2.0 */
/* inventory.c: nodes counted, a status written and read. */
#include "stack/gpu/inventory.h"

#include "kube/condition.h"
#include "stack/gpu/gpu.h"
#include "stack/model/limits.h"
#include "stack/model/fields_canonical.h"
#include "stack/model/fields_decode.h"
#include "stack/model/status_rows.h"
#include "text/quantity.h"
#include "text/time.h"

#include <stdlib.h>

#define CONDITION_OBSERVED "Observed"

/* The status as it stands in JSON; figures below 0 are not known. */
struct stored {
    struct inventory inventory;
    int64_t gpus, reserved_gpus;
    int64_t observed_ms;
    struct kube_conditions conditions;
};
#include "stack/model/inventory_fields.def"

const struct kube_resource inventory_resource =
    KUBE_RESOURCE_INIT(STACK_GROUP, STACK_VERSION, "clusterinventories", "ClusterInventory", false);

struct inventory inventory_new(struct arena *arena)
{
    return (struct inventory){
        .display_name = STR(""),
        .reason = STR(""),
        .message = STR(""),
        .figures = inventory_figures_list_new(arena, 0),
        .reservations = inventory_reservations_new(arena, 0),
    };
}

static int64_t sum(int64_t a, int64_t b)
{
    int64_t total;

    return __builtin_add_overflow(a, b, &total) ? INT64_MAX : total;
}

/* --- figures --- */

/* Where the resource stands, or would. */
static uint32_t place_of(const struct inventory *inventory, struct str resource)
{
    const struct inventory_figures_list *list = &inventory->figures;
    uint32_t low = 0;

    for (uint32_t high = list->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;

        if (str_cmp(list->items[middle].resource, resource) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct inventory_figures *inventory_find(const struct inventory *inventory,
                                               struct str resource)
{
    uint32_t place = place_of(inventory, resource);
    bool found = place < inventory->figures.count &&
                 str_eq(inventory->figures.items[place].resource, resource);

    return found ? &inventory->figures.items[place] : NULL;
}

/* NULL: there is no room for another resource. */
static struct inventory_figures *figures_at(struct inventory *inventory, struct str resource)
{
    struct inventory_figures_list *list = &inventory->figures;
    uint32_t place = place_of(inventory, resource);
    struct inventory_figures none = { .resource = resource };

    if (place == list->count || !str_eq(list->items[place].resource, resource)) {
        if (list->count >= LIMIT_INVENTORY_RESOURCES)
            return NULL;
        inventory_figures_list_push(list, none);
        for (uint32_t i = list->count - 1; i > place; i--)
            list->items[i] = list->items[i - 1];
        none.resource = str_dup(list->arena, resource);
        list->items[place] = none;
    }
    return &list->items[place];
}

/* --- nodes: "r" ready, "o" open to new pods, then " resource=count" for each --- */

static bool is_ready(struct json node)
{
    struct json_iter it = json_iter(json_walk(node, "status", "conditions", NULL));

    while (json_next(&it))
        if (str_eq(json_str(json_get(it.value, STR("type"))), STR("Ready")))
            return str_eq(json_str(json_get(it.value, STR("status"))), STR("True"));
    return false;
}

/* Whole ones: Kubernetes lets no node offer a part of an extended resource. */
static int64_t count_of(struct json quantity)
{
    struct quantity read;
    struct error err;
    struct str text = json_is(quantity, JSON_NUMBER) ? json_raw(quantity) : json_str(quantity);

    if (quantity_parse(text, &read, &err) < 0 || read.milli < 0)
        return 0;
    return read.milli / 1000;
}

void inventory_keep_node(struct json node, struct strbuf *kept)
{
    struct json_iter it = json_iter(json_walk(node, "status", "allocatable", NULL));
    bool ready = is_ready(node);

    if (ready)
        strbuf_char(kept, 'r');
    if (ready && !json_bool(json_walk(node, "spec", "unschedulable", NULL)))
        strbuf_char(kept, 'o');
    while (json_next(&it)) {
        int64_t count = gpu_of_resource(it.key) ? count_of(it.value) : 0;

        if (count > 0 && str_find_char(it.key, ' ', 0) < 0 && str_find_char(it.key, '=', 0) < 0)
            strbuf_fmt(kept, " %.*s=%lld", STR_ARG(it.key), (long long)count);
    }
}

void inventory_add_node(struct inventory *inventory, struct str kept)
{
    struct str part;
    struct str marks = STR("");
    bool open;

    (void)str_split(&kept, ' ', &marks);
    open = str_find_char(marks, 'o', 0) >= 0;
    inventory->nodes++;
    inventory->ready_nodes += str_find_char(marks, 'r', 0) >= 0;
    while (str_split(&kept, ' ', &part)) {
        ptrdiff_t equals = str_find_char(part, '=', 0);
        uint64_t count = 0;

        if (equals < 0 || !str_to_u64(str_slice(part, (size_t)equals + 1, part.len), &count) ||
            count > INT64_MAX)
            continue;

        struct inventory_figures *figures =
            figures_at(inventory, str_slice(part, 0, (size_t)equals));

        if (!figures)
            continue;
        figures->allocatable = sum(figures->allocatable, (int64_t)count);
        figures->schedulable = sum(figures->schedulable, open ? (int64_t)count : 0);
        if ((int64_t)count > figures->largest_node)
            figures->largest_node = (int64_t)count;
    }
}

/* --- reservations --- */

void inventory_add_reservation(struct inventory *inventory,
                               const struct inventory_reservation *reservation)
{
    struct arena *arena = inventory->reservations.arena;
    struct inventory_reservation listed = { reservation->stack, named_counts_new(arena, 0) };

    for (uint32_t i = 0; i < reservation->amounts.count; i++) {
        const struct named_count *amount = &reservation->amounts.items[i];
        struct inventory_figures *figures = figures_at(inventory, amount->name);

        if (!figures)
            continue;
        figures->reserved = sum(figures->reserved, amount->count);
        named_counts_push(&listed.amounts, *amount);
    }
    if (inventory->reservations.count < LIMIT_INVENTORY_RESERVATIONS)
        inventory_reservations_push(&inventory->reservations, listed);
    else
        inventory->reservations_omitted++;
}

static int compare_reservation(const void *key, const void *reservation)
{
    return str_cmp(*(const struct str *)key,
                   ((const struct inventory_reservation *)reservation)->stack);
}

int64_t inventory_reserved_to(const struct inventory *inventory, struct str stack,
                              struct str resource)
{
    const struct inventory_reservations *all = &inventory->reservations;
    const struct inventory_reservation *reservation =
        all->count
            ? bsearch(&stack, all->items, all->count, sizeof(*all->items), compare_reservation)
            : NULL;

    for (uint32_t i = 0; reservation && i < reservation->amounts.count; i++)
        if (str_eq(reservation->amounts.items[i].name, resource))
            return reservation->amounts.items[i].count;
    return 0;
}

/* --- written --- */

/* What kubectl's columns show: GPUs and parts of them, and not what only measures them. */
static void count_gpus(struct stored *stored)
{
    for (uint32_t i = 0; i < stored->inventory.figures.count; i++) {
        const struct inventory_figures *figures = &stored->inventory.figures.items[i];

        if (!gpu_is_counted(figures->resource))
            continue;
        stored->gpus = sum(stored->gpus, figures->allocatable);
        stored->reserved_gpus = sum(stored->reserved_gpus, figures->reserved);
    }
}

static void hide_nodes(struct arena *arena, struct stored *stored)
{
    struct inventory_figures_list known = stored->inventory.figures;

    stored->inventory.nodes = stored->inventory.ready_nodes = stored->gpus = -1;
    stored->inventory.figures = inventory_figures_list_new(arena, known.count);
    for (uint32_t i = 0; i < known.count; i++)
        inventory_figures_list_push(&stored->inventory.figures,
                                    (struct inventory_figures){ known.items[i].resource, -1, -1, -1,
                                                                known.items[i].reserved });
}

static struct str written(struct arena *arena, const struct inventory *inventory,
                          const struct kube_conditions *conditions, int64_t observed_ms)
{
    struct strbuf out = strbuf_new(arena, 1024);
    struct stored stored = { .inventory = *inventory,
                             .observed_ms = observed_ms,
                             .conditions = *conditions };

    count_gpus(&stored);
    if (!inventory->known)
        hide_nodes(arena, &stored);
    fields_canonical(&fields_of_inventory, &stored, &out);
    return strbuf_str(&out);
}

/* What is in the future was written by nobody who looked. */
static bool has_been(int64_t wall_ms, int64_t now_ms)
{
    return wall_ms > 0 && wall_ms <= now_ms;
}

/* Observed alone, since when it is as it is by what stood there. */
static struct kube_conditions conditions_of(struct arena *arena, const struct inventory *inventory,
                                            struct json before, int64_t now_ms)
{
    struct kube_conditions held = kube_conditions_read(arena, json_get(before, STR("conditions")));
    const struct kube_condition *observed = kube_condition_find(&held, STR(CONDITION_OBSERVED));
    struct kube_conditions conditions = kube_conditions_new(arena, 1);

    if (observed && has_been(observed->last_transition_ms, now_ms))
        kube_conditions_push(&conditions, *observed);
    kube_condition_set(&conditions,
                       (struct kube_condition){
                           .type = STR(CONDITION_OBSERVED),
                           .status = inventory->known ? CONDITION_TRUE : CONDITION_UNKNOWN,
                           .reason = inventory->reason,
                           .message = inventory->message,
                       },
                       now_ms);
    return conditions;
}

/* What would be written with the time that stands there is what stands there: nothing changed,
 * whoever wrote it. */
static bool stands(struct arena *arena, const struct inventory *inventory,
                   const struct kube_conditions *conditions, struct json before, int64_t now_ms)
{
    int64_t observed_ms = 0;
    struct json read;
    struct error ignored;

    if (time_parse_rfc3339(json_str(json_get(before, STR("observedAt"))), &observed_ms, &ignored) <
            0 ||
        !has_been(observed_ms, now_ms))
        return false;
    return json_read(arena, written(arena, inventory, conditions, observed_ms),
                     &json_limits_default, &read, &ignored) == 0 &&
           json_equal(read, before);
}

struct str inventory_status(struct arena *arena, const struct inventory *inventory,
                            struct json before, int64_t now_ms)
{
    struct kube_conditions conditions = conditions_of(arena, inventory, before, now_ms);

    if (stands(arena, inventory, &conditions, before, now_ms))
        return STR("");
    return written(arena, inventory, &conditions, now_ms);
}

void inventory_keep(struct json object, struct strbuf *kept)
{
    struct json_writer w = json_writer(kept);
    struct json status = json_get(object, STR("status"));

    json_open_object(&w);
    if (json_is(status, JSON_OBJECT))
        json_field_raw(&w, "status", json_raw(status));
    json_close_object(&w);
}

/* --- read --- */

static int compare_reservations(const void *a, const void *b)
{
    return compare_reservation(&((const struct inventory_reservation *)a)->stack, b);
}

static void sort_reservations(struct inventory_reservations *all)
{
    uint32_t named = 0;

    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].stack.len)
            all->items[named++] = all->items[i];
    all->count = named;
    if (named)
        qsort(all->items, named, sizeof(*all->items), compare_reservations);
}

/* In the order of names, whatever the order of the list. */
static void sort_figures(struct inventory *inventory)
{
    struct inventory_figures_list list = inventory->figures;

    inventory->figures = inventory_figures_list_new(list.arena, 0);
    for (uint32_t i = 0; i < list.count; i++) {
        struct inventory_figures *figures =
            list.items[i].resource.len ? figures_at(inventory, list.items[i].resource) : NULL;

        if (figures)
            *figures = list.items[i];
    }
}

struct inventory inventory_read(struct arena *arena, struct json object)
{
    struct stored stored = { .inventory = inventory_new(arena) };
    struct inventory *inventory = &stored.inventory;
    const struct kube_condition *observed;

    fields_read(arena, &fields_of_inventory, json_get(object, STR("status")), &stored);
    observed = kube_condition_find(&stored.conditions, STR(CONDITION_OBSERVED));
    if (observed) {
        inventory->known = observed->status == CONDITION_TRUE;
        inventory->reason = observed->reason;
        inventory->message = observed->message;
    }
    sort_figures(inventory);
    sort_reservations(&inventory->reservations);
    return *inventory;
}
