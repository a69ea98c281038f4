/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: read, and see that names are told apart. */
#include "webhook/offline/load.h"

#include "base/map.h"

enum { SHOWN_MAX = 1024 };

void load_wrong(struct loading *l, uint32_t file, struct place at, struct str what)
{
    struct str name = str_shown(l->arena, l->files->items[file].name, SHOWN_MAX);

    str_list_push(&l->wrong, str_fmt(l->arena, "%.*s:%u:%u: %.*s", STR_ARG(name), at.line,
                                     at.column, STR_ARG(what)));
}

/* Two of one name are one in a cluster: which of them is not for us to choose. */
static void take_up(struct loading *l, const struct object *object)
{
    struct str name = json_str(json_walk(object->json, "metadata", "name", NULL));
    const char *kind = object_kind_name(l->kind);

    if (!name.len) {
        load_wrong(l, object->file, object_place(object),
                   str_fmt(l->arena, "a %s needs a name", kind));
        return;
    }
    if (!map_put(l->names, name, l))
        load_wrong(l, object->file, object_field_place(object, STR("metadata.name")),
                   str_fmt(l->arena, "there is another %s %.*s; rename one of them", kind,
                           STR_ARG(str_shown(l->arena, name, SHOWN_MAX))));
    object_list_push(&l->objects, *object);
}

struct loading load_files(struct arena *arena, const struct input_files *files,
                          enum object_kind kind)
{
    struct objects objects = objects_new(arena, 1U << kind);
    struct loading l = { .arena = arena,
                         .files = files,
                         .kind = kind,
                         .objects = object_list_new(arena, 0),
                         .names = map_new(arena, 16),
                         .wrong = str_list_new(arena, 0) };

    for (uint32_t i = 0; i < files->count; i++) {
        const struct input_file *file = &files->items[i];

        if (file->failure.len)
            str_list_push(&l.wrong, file->failure);
        else
            objects_read(&objects, i, file->bytes, file->found);
    }
    for (uint32_t i = 0; i < objects.bad.count; i++) {
        const struct bad_document *bad = &objects.bad.items[i];

        load_wrong(&l, bad->file, bad->at, bad_document_sentence(arena, bad));
    }
    for (uint32_t i = 0; i < objects.list.count; i++)
        take_up(&l, &objects.list.items[i]);
    if (!objects.list.count && !l.wrong.count && files->count)
        str_list_push(&l.wrong,
                      str_fmt(arena, "there is no %s in %.*s", object_kind_name(kind),
                              STR_ARG(str_shown(arena, files->items[0].name, SHOWN_MAX))));
    return l;
}
