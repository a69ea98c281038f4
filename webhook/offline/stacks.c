/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.c: the Stacks and workloads of one input, as they would be sent and as they know of
 * one another. */
#include "webhook/offline/stacks.h"

#include "base/map.h"
#include "text/value.h"
#include "stack/model/decode.h"
#include "stack/model/default.h"
#include "stack/gpu/gpu_demand.h"
#include "webhook/offline/claimants.h"

struct known_stack {
    struct str file;  /* its name */
    struct json json; /* as it would be sent */
    struct str namespace_;
    uint32_t provides; /* GPUs */
};

struct offline_stacks {
    struct known_stack *all;
    struct map *by_name; /* key_of each scope -> the Stack of that name */
    struct claimants *claimants;
    const struct known_stack *asking;
};

/* A repository may describe one Stack for several environments, with a file or a folder for each:
 * the one of the same file is meant, else one of the same folder, else any. */
enum scope { SCOPE_FILE, SCOPE_FOLDER, SCOPE_ALL, SCOPE_COUNT };

static struct str scope_text(const struct known_stack *stack, enum scope scope)
{
    struct str file = stack->file;
    size_t end = file.len;

    if (scope == SCOPE_FILE)
        return file;
    while (end > 0 && file.at[end - 1] != '/')
        end--;
    return scope == SCOPE_FOLDER ? str_slice(file, 0, end) : STR("");
}

static struct str key_of(struct arena *arena, const struct known_stack *stack, enum scope scope,
                         struct str namespace_, struct str name)
{
    return str_fmt(arena, "%d %.*s/%.*s %.*s", scope, STR_ARG(namespace_), STR_ARG(name),
                   STR_ARG(scope_text(stack, scope)));
}

/* --- as kubectl would send them --- */

static struct json with_namespace(struct arena *arena, struct arena *scratch, struct json object,
                                  struct str namespace_)
{
    struct value *root = value_of(scratch, object);
    struct value *metadata = value_get(root, STR("metadata"));
    struct strbuf text = strbuf_new(arena, json_raw(object).len + namespace_.len + 32);
    struct json sent;
    struct error err;

    value_set(scratch, metadata, STR("namespace"), value_str(scratch, namespace_));
    value_write(root, false, &text);
    return json_read(arena, strbuf_str(&text), &objects_json_limits, &sent, &err) < 0 ? object
                                                                                      : sent;
}

static void file_claims(struct offline_stacks *stacks, struct arena *scratch,
                        struct known_stack *known)
{
    struct problems ignored = problems_new(scratch);
    const struct stack *stack =
        stack_default(scratch, stack_decode(scratch, known->json, &ignored), NULL);
    struct claims claims = claims_of(scratch, stack);

    known->provides = gpu_provided_by(scratch, stack, &claims);
    claimants_add(stacks->claimants, stack, &claims);
}

static void put_namespace(struct arena *arena, struct arena *scratch, struct known_stack *known,
                          struct str namespace_)
{
    struct json metadata = json_get(known->json, STR("metadata"));

    known->namespace_ = json_str(json_get(metadata, STR("namespace")));
    if (!json_is(metadata, JSON_OBJECT) || known->namespace_.len)
        return;
    known->json = with_namespace(arena, scratch, known->json, namespace_);
    known->namespace_ = namespace_;
    arena_reset(scratch);
}

static void know(struct offline_stacks *stacks, struct arena *arena, struct arena *scratch,
                 struct known_stack *known)
{
    struct str name = json_str(json_walk(known->json, "metadata", "name", NULL));

    file_claims(stacks, scratch, known);
    arena_reset(scratch);
    for (enum scope scope = 0; scope < SCOPE_COUNT; scope++)
        map_put(stacks->by_name, key_of(arena, known, scope, known->namespace_, name), known);
}

struct offline_stacks *offline_stacks_new(struct arena *arena, const struct object_list *objects,
                                          const struct input_files *files, struct str namespace_)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    struct offline_stacks *stacks = arena_new(arena, struct offline_stacks);

    stacks->all = arena_array(arena, struct known_stack, objects->count);
    stacks->claimants = claimants_new(arena);
    stacks->by_name = map_new(arena, SCOPE_COUNT * objects->count);
    for (uint32_t i = 0; i < objects->count; i++) {
        const struct object *object = &objects->items[i];

        if (object->kind != OBJECT_STACK && !object_workload_kind(object->kind))
            continue;
        stacks->all[i].file = files->items[object->file].name;
        stacks->all[i].json = object->json;
        put_namespace(arena, scratch, &stacks->all[i], namespace_);
        if (object->kind == OBJECT_STACK)
            know(stacks, arena, scratch, &stacks->all[i]);
    }
    return stacks;
}

struct json offline_stack_json(const struct offline_stacks *stacks, uint32_t number)
{
    return stacks->all[number].json;
}

struct str offline_stack_namespace(const struct offline_stacks *stacks, uint32_t number)
{
    return stacks->all[number].namespace_;
}

/* --- as they know of one another --- */

static const struct known_stack *find(const struct offline_stacks *stacks, struct arena *arena,
                                      struct str namespace_, struct str name)
{
    const struct known_stack *found = NULL;

    for (enum scope scope = 0; scope < SCOPE_COUNT && !found; scope++)
        found = map_get(stacks->by_name, key_of(arena, stacks->asking, scope, namespace_, name));
    return found;
}

/* As facts.h says. What is not in the input is taken to exist, and to wait for nobody. */
static bool get(void *context, struct arena *arena, struct str namespace_, struct str name,
                struct fact_stack *ret_stack)
{
    const struct known_stack *known = find(context, arena, namespace_, name);
    struct json_iter it = json_iter(known ? json_walk(known->json, "spec", "dependsOn", NULL)
                                          : (struct json){ NULL, 0 });

    *ret_stack =
        (struct fact_stack){ known != NULL, str_list_new(arena, 0), known ? known->provides : 0 };
    while (json_next(&it)) {
        struct str other = json_str(json_get(it.value, STR("name")));

        if (other.len)
            str_list_push(&ret_stack->depends_on, other);
    }
    return true;
}

static bool claimants(void *context, struct arena *arena, struct str release,
                      const struct str_list *cluster_ids, struct fact_claimants *ret_claimants)
{
    const struct offline_stacks *stacks = context;

    return claimants_find(stacks->claimants, arena, release, cluster_ids, ret_claimants);
}

struct fact_stacks offline_stacks_facts(struct offline_stacks *stacks, uint32_t number)
{
    stacks->asking = &stacks->all[number];
    return (struct fact_stacks){ get, claimants, stacks };
}
