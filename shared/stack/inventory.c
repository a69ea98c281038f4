/* inventory.c: nodes counted, a status written and read. */
#include "stack/inventory.h"

#include "base/limits.h"
#include "kube/condition.h"
#include "stack/gpu.h"
#include "text/quantity.h"
#include "text/time.h"

#include <stdlib.h>

#define CONDITION_OBSERVED "Observed"

const struct kube_resource inventory_resource =
    KUBE_RESOURCE_INIT(STACK_GROUP, STACK_VERSION, "clusterinventories", "ClusterInventory", false);

struct inventory inventory_new(struct arena *arena)
{
    return (struct inventory){
        .display_name = STR(""),
        .reason = STR(""),
        .message = STR(""),
        .figures = inventory_figures_list_new(arena, 0),
        .promises = inventory_promises_new(arena, 0),
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

/* --- promises --- */

void inventory_add_promise(struct inventory *inventory, const struct inventory_promise *promise)
{
    struct arena *arena = inventory->promises.arena;
    struct inventory_promise listed = { promise->stack, inventory_amounts_new(arena, 0) };

    for (uint32_t i = 0; i < promise->amounts.count; i++) {
        const struct inventory_amount *amount = &promise->amounts.items[i];
        struct inventory_figures *figures = figures_at(inventory, amount->resource);

        if (!figures)
            continue;
        figures->promised = sum(figures->promised, amount->count);
        inventory_amounts_push(&listed.amounts, *amount);
    }
    if (inventory->promises.count < LIMIT_INVENTORY_PROMISES)
        inventory_promises_push(&inventory->promises, listed);
    else
        inventory->promises_omitted++;
}

static int compare_promise(const void *key, const void *promise)
{
    return str_cmp(*(const struct str *)key, ((const struct inventory_promise *)promise)->stack);
}

int64_t inventory_promised_to(const struct inventory *inventory, struct str stack,
                              struct str resource)
{
    const struct inventory_promises *all = &inventory->promises;
    const struct inventory_promise *promise =
        all->count ? bsearch(&stack, all->items, all->count, sizeof(*all->items), compare_promise)
                   : NULL;

    for (uint32_t i = 0; promise && i < promise->amounts.count; i++)
        if (str_eq(promise->amounts.items[i].resource, resource))
            return promise->amounts.items[i].count;
    return 0;
}

/* --- written --- */

static void put_figures(struct json_writer *w, const struct inventory *inventory)
{
    json_put_key(w, STR("resources"));
    json_open_array(w);
    for (uint32_t i = 0; i < inventory->figures.count; i++) {
        const struct inventory_figures *figures = &inventory->figures.items[i];

        json_open_object(w);
        json_field_str(w, "name", figures->resource);
        if (inventory->known) {
            json_field_int(w, "allocatable", figures->allocatable);
            json_field_int(w, "schedulable", figures->schedulable);
            json_field_int(w, "largestNode", figures->largest_node);
        }
        json_field_int(w, "promised", figures->promised);
        json_close_object(w);
    }
    json_close_array(w);
}

static void put_promises(struct json_writer *w, const struct inventory *inventory)
{
    json_put_key(w, STR("promises"));
    json_open_array(w);
    for (uint32_t i = 0; i < inventory->promises.count; i++) {
        const struct inventory_promise *promise = &inventory->promises.items[i];

        json_open_object(w);
        json_field_str(w, "stack", promise->stack);
        json_put_key(w, STR("resources"));
        json_open_object(w);
        for (uint32_t k = 0; k < promise->amounts.count; k++) {
            json_put_key(w, promise->amounts.items[k].resource);
            json_put_int(w, promise->amounts.items[k].count);
        }
        json_close_object(w);
        json_close_object(w);
    }
    json_close_array(w);
}

/* In the order of keys, whatever the order of the document. */
static void put_labels(struct json_writer *w, struct arena *arena, struct json labels)
{
    struct json_iter it = json_iter(labels);
    struct str_list keys = str_list_new(arena, json_count(labels));

    while (json_next(&it)) {
        uint32_t place = keys.count;

        str_list_push(&keys, it.key);
        for (; place > 0 && str_cmp(keys.items[place - 1], it.key) > 0; place--)
            keys.items[place] = keys.items[place - 1];
        keys.items[place] = it.key;
    }
    json_put_key(w, STR("labels"));
    json_open_object(w);
    for (uint32_t i = 0; i < keys.count; i++) {
        json_put_key(w, keys.items[i]);
        json_put_str(w, json_str(json_get(labels, keys.items[i])));
    }
    json_close_object(w);
}

/* What kubectl's columns show: GPUs and parts of them, and not what only measures them. */
static void put_totals(struct json_writer *w, const struct inventory *inventory)
{
    int64_t gpus = 0;
    int64_t promised = 0;

    for (uint32_t i = 0; i < inventory->figures.count; i++) {
        const struct inventory_figures *figures = &inventory->figures.items[i];

        if (!gpu_is_counted(figures->resource))
            continue;
        gpus = sum(gpus, figures->allocatable);
        promised = sum(promised, figures->promised);
    }
    if (inventory->known)
        json_field_int(w, "gpus", gpus);
    json_field_int(w, "promisedGpus", promised);
}

/* Everything but when it was so. */
static void put_members(struct json_writer *w, struct arena *arena,
                        const struct inventory *inventory)
{
    if (inventory->display_name.len)
        json_field_str(w, "displayName", inventory->display_name);
    json_field_bool(w, "ready", inventory->ready);
    put_labels(w, arena, inventory->labels);
    if (inventory->known) {
        json_field_int(w, "nodes", inventory->nodes);
        json_field_int(w, "readyNodes", inventory->ready_nodes);
    }
    put_totals(w, inventory);
    put_figures(w, inventory);
    put_promises(w, inventory);
    if (inventory->promises_omitted)
        json_field_int(w, "promisesOmitted", inventory->promises_omitted);
}

static struct str written(struct arena *arena, const struct inventory *inventory,
                          const struct kube_conditions *conditions, int64_t observed_ms)
{
    struct strbuf out = strbuf_new(arena, 1024);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    put_members(&w, arena, inventory);
    json_field_str(&w, "observedAt", time_rfc3339(arena, observed_ms));
    json_put_key(&w, STR("conditions"));
    kube_conditions_write(conditions, &w);
    json_close_object(&w);
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

    if (time_parse_rfc3339(json_str(json_get(before, STR("observedAt"))), &observed_ms,
                           &ignored) < 0 ||
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

static int64_t read_count(struct json value)
{
    int64_t count = 0;

    return json_int64(value, &count) && count > 0 ? count : 0;
}

static void read_figures(struct inventory *inventory, struct json list)
{
    struct json_iter it = json_iter(list);

    while (json_next(&it)) {
        struct str name = json_str(json_get(it.value, STR("name")));
        struct inventory_figures *figures;

        if (name.len == 0)
            continue;
        figures = figures_at(inventory, name);
        if (!figures)
            return;
        figures->allocatable = read_count(json_get(it.value, STR("allocatable")));
        figures->schedulable = read_count(json_get(it.value, STR("schedulable")));
        figures->largest_node = read_count(json_get(it.value, STR("largestNode")));
        figures->promised = read_count(json_get(it.value, STR("promised")));
    }
}

static int compare_promises(const void *a, const void *b)
{
    return compare_promise(&((const struct inventory_promise *)a)->stack, b);
}

static void read_promises(struct inventory *inventory, struct json list)
{
    struct arena *arena = inventory->promises.arena;
    struct json_iter it = json_iter(list);

    while (json_next(&it)) {
        struct json_iter amounts = json_iter(json_get(it.value, STR("resources")));
        struct inventory_promise promise = { .stack = json_str(json_get(it.value, STR("stack"))),
                                             .amounts = inventory_amounts_new(arena, 0) };

        while (json_next(&amounts))
            inventory_amounts_push(&promise.amounts, (struct inventory_amount){
                                                         amounts.key, read_count(amounts.value) });
        if (promise.stack.len)
            inventory_promises_push(&inventory->promises, promise);
    }
    if (inventory->promises.count)
        qsort(inventory->promises.items, inventory->promises.count,
              sizeof(struct inventory_promise), compare_promises);
}

static struct inventory status_read(struct arena *arena, struct json status)
{
    struct kube_conditions conditions =
        kube_conditions_read(arena, json_get(status, STR("conditions")));
    const struct kube_condition *observed =
        kube_condition_find(&conditions, STR(CONDITION_OBSERVED));
    struct inventory inventory = inventory_new(arena);

    inventory.display_name = json_str(json_get(status, STR("displayName")));
    inventory.ready = json_bool(json_get(status, STR("ready")));
    inventory.labels = json_get(status, STR("labels"));
    if (observed) {
        inventory.known = observed->status == CONDITION_TRUE;
        inventory.reason = observed->reason;
        inventory.message = observed->message;
    }
    inventory.nodes = read_count(json_get(status, STR("nodes")));
    inventory.ready_nodes = read_count(json_get(status, STR("readyNodes")));
    inventory.promises_omitted = (uint32_t)read_count(json_get(status, STR("promisesOmitted")));
    read_figures(&inventory, json_get(status, STR("resources")));
    read_promises(&inventory, json_get(status, STR("promises")));
    return inventory;
}

struct inventory inventory_read(struct arena *arena, struct json object)
{
    return status_read(arena, json_get(object, STR("status")));
}
