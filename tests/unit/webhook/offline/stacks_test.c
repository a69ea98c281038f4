/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_test.c: which Stack of an input is meant by a name, and what kubectl would send. */
#include "support/rows.h"

#include "webhook/offline/stacks.h"

#define STACK(meta, depends_on)                                                                    \
    "apiVersion: herd.suse.com/v1\nkind: Stack\nmetadata: {" meta "}\nspec: {dependsOn: [" depends_on "]}\n---\n"

static const struct {
    const char *name;
    const char *text;
} inputs[] = {
    { "dev/a.yaml", STACK("name: a", "{name: b}") },
    { "dev/b.yaml", STACK("name: b", "{name: dev}, {}, 7, {name: ''}") },
    { "prod/all.yaml", STACK("name: a", "") STACK("name: b", "{name: prod}") STACK("name: c", "") },
    { "other/c.yaml", STACK("name: c, namespace: team", "{name: team}") },
    { "other/d.yaml", STACK("name: d, namespace: ''", "") },
};

/* Everything here is one input. */
struct input {
    struct input_files files;
    struct objects objects;
    struct offline_stacks *stacks;
};

static struct input input(struct arena *arena)
{
    struct input in = { input_files_new(arena, 8), objects_new(arena, 1 << OBJECT_STACK), NULL };

    for (uint32_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        input_files_push(&in.files, (struct input_file){ .name = str_of(inputs[i].name) });
        objects_read(&in.objects, i, str_of(inputs[i].text), false);
    }
    in.stacks = offline_stacks_new(arena, &in.objects.list, &in.files, STR("default"));
    return in;
}

static void the_nearest_of_a_name_is_meant(void **state)
{
    static const struct {
        const char *row;
        uint32_t asking; /* number of the Stack */
        const char *namespace_, *name;
        const char *want; /* what that one waits for */
        bool known;
    } rows[] = {
        { "in the same folder", 0, "default", "b", "dev", true },
        { "in the same file", 2, "default", "b", "prod", true },
        { "anywhere", 5, "default", "b", "prod", true },
        { "by namespace", 0, "team", "c", "team", true },
        { "none of that namespace", 0, "else", "c", "", false },
        { "not in the input: it may be in the cluster", 0, "default", "nobody", "", false },
        { "without a name", 0, "default", "", "", false },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct input in = input(arena);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fact_stacks facts = offline_stacks_facts(in.stacks, rows[i].asking);
        struct fact_stack found;
        bool exists = facts.get(facts.context, arena, str_of(rows[i].namespace_), str_of(rows[i].name), &found);

        rows_expect(rows[i].row, exists, "nothing is said to be missing");
        rows_expect_int(rows[i].row, found.depends_on.count, rows[i].want[0] ? 1 : 0);
        if (found.depends_on.count)
            rows_expect_str(rows[i].row, found.depends_on.items[0], str_of(rows[i].want));
        rows_expect_int(rows[i].row, found.known, rows[i].known);
    }
}

static struct str namespace_of(const struct input *in, uint32_t number)
{
    return json_str(json_walk(offline_stack_json(in->stacks, number), "metadata", "namespace", NULL));
}

static void a_namespace_is_given_where_none_is_named(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct input in = input(arena);
    struct objects odd = objects_new(arena, 1 << OBJECT_STACK);

    (void)state;
    rows_expect_str("none", namespace_of(&in, 0), STR("default"));
    rows_expect_str("its own", namespace_of(&in, 5), STR("team"));
    rows_expect_str("an empty one", namespace_of(&in, 6), STR("default"));
    rows_expect_str("all else stays", json_raw(json_get(offline_stack_json(in.stacks, 0), STR("spec"))),
                    STR("{\"dependsOn\":[{\"name\":\"b\"}]}"));

    objects_read(&odd, 0, STR("apiVersion: herd.suse.com/v1\nkind: Stack\nmetadata: 7\n---\n"
                              "apiVersion: herd.suse.com/v1\nkind: Stack\n"), false);
    offline_stacks_new(arena, &odd.list, &in.files, STR("default"));
    rows_expect_int("metadata of another type, or none", odd.list.count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_of_a_name_is_meant),
        cmocka_unit_test(a_namespace_is_given_where_none_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
