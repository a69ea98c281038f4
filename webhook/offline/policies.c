/* policies.c: read, check, take up. */
#include "webhook/offline/policies.h"

#include "base/map.h"
#include "webhook/offline/objects.h"
#include "webhook/offline/output.h"

enum { SHOWN_MAX = 1024 };

struct loading {
    struct arena *arena;
    const struct input_files *files;
    struct policy_set_builder *builder;
    struct map *names;
    struct str_list wrong;
};

static void add_wrong(struct loading *l, uint32_t file, struct place at, struct str what)
{
    struct str name = str_shown(l->arena, l->files->items[file].name, SHOWN_MAX);

    str_list_push(&l->wrong, str_fmt(l->arena, "%.*s:%u:%u: %.*s", STR_ARG(name), at.line,
                                     at.column, STR_ARG(what)));
}

/* Two of one name are one in a cluster: which of them is not for us to choose. */
static void check_name(struct loading *l, const struct object *policy)
{
    struct str name = json_str(json_walk(policy->json, "metadata", "name", NULL));

    if (!name.len)
        add_wrong(l, policy->file, object_place(policy), STR("a StackPolicy needs a name"));
    else if (!map_put(l->names, name, l))
        add_wrong(l, policy->file, object_field_place(policy, STR("metadata.name")),
                  str_fmt(l->arena, "there is another StackPolicy %.*s; rename one of them",
                          STR_ARG(str_shown(l->arena, name, SHOWN_MAX))));
}

static void take_up(struct loading *l, const struct object *policy)
{
    struct problems problems = problems_new(l->arena);

    check_name(l, policy);
    if (!policy_set_add(l->builder, policy->json, &problems) && !problems.denied)
        add_wrong(l, policy->file, object_place(policy), STR("is one StackPolicy too many"));
    for (uint32_t i = 0; i < problems.list.count; i++) {
        const struct problem *problem = &problems.list.items[i];

        if (problem->severity == SEVERITY_DENY)
            add_wrong(l, policy->file, object_field_place(policy, problem->field),
                      output_sentence(problem, l->arena));
    }
}

static void read_all(struct loading *l, struct objects *objects)
{
    for (uint32_t i = 0; i < l->files->count; i++) {
        const struct input_file *file = &l->files->items[i];

        if (file->failure.len)
            str_list_push(&l->wrong, file->failure);
        else
            objects_read(objects, i, file->bytes);
    }
    for (uint32_t i = 0; i < objects->bad.count; i++)
        add_wrong(l, objects->bad.items[i].file, objects->bad.items[i].at,
                  objects->bad.items[i].what);
    for (uint32_t i = 0; i < objects->list.count; i++)
        take_up(l, &objects->list.items[i]);
    if (!objects->list.count && !l->wrong.count && l->files->count)
        str_list_push(&l->wrong, str_fmt(l->arena, "there is no StackPolicy in %.*s",
                                         STR_ARG(str_shown(l->arena, l->files->items[0].name,
                                                           SHOWN_MAX))));
}

struct policy_set *policies_load(struct arena *arena, const struct input_files *files,
                                 struct str_list *ret_wrong)
{
    struct objects objects = objects_new(arena, 1 << OBJECT_POLICY);
    struct loading l = { .arena = arena,
                         .files = files,
                         .builder = policy_set_begin(),
                         .names = map_new(arena, 16),
                         .wrong = str_list_new(arena, 0) };

    read_all(&l, &objects);

    AUTO(policy_set_unref) struct policy_set *set = policy_set_finish(l.builder);

    if (l.wrong.count) {
        *ret_wrong = l.wrong;
        return NULL;
    }
    return TAKE(set);
}
