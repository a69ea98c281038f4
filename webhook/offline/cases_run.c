/* SPDX-License-Identifier: Apache-2.0 */
/* cases_run.c: read what a case names, review it, compare. */
#include "webhook/offline/cases_run.h"

#include "webhook/offline/clusters.h"
#include "webhook/offline/policies.h"

struct running {
    struct arena *arena;
    const struct input_files *files;
    const struct offline_config *config;
    struct case_report report;
};

static void add_result(struct running *r, struct case_result result)
{
    r->report.failed += result.wrong.count > 0;
    case_results_push(&r->report.results, result);
}

/* Names are from the folder of the file that says them. */
static struct str_list from_folder(struct arena *arena, struct str file,
                                   const struct str_list *names)
{
    struct str_list paths = str_list_new(arena, names->count);
    size_t end = file.len;

    while (end > 0 && file.at[end - 1] != '/')
        end--;
    for (uint32_t i = 0; i < names->count; i++) {
        struct str name = names->items[i];

        str_list_push(&paths, str_starts(name, STR("/"))
                                  ? name
                                  : str_fmt(arena, "%.*s%.*s", STR_ARG(str_slice(file, 0, end)),
                                            STR_ARG(name)));
    }
    return paths;
}

static void run_case(struct running *r, const struct object *object, struct str suite,
                     const struct offline_config *config, const struct test_case *test,
                     uint32_t number)
{
    struct arena *arena = r->arena;
    struct str file = r->files->items[object->file].name;
    struct str_list paths = from_folder(arena, file, &test->files);
    struct input_files inputs = input_read(arena, &paths);

    if (json_is(test->stack, JSON_OBJECT))
        input_files_push(&inputs,
                         (struct input_file){ .name = file, .bytes = json_raw(test->stack) });

    struct report report = offline_review(arena, &inputs, config);
    struct str field = str_fmt(arena, "tests[%u].name", number);

    add_result(r, (struct case_result){ .file = object->file,
                                        .at = object_field_place(object, field),
                                        .suite = suite,
                                        .name = test->name,
                                        .wrong = cases_compare(arena, test, &report) });
}

/* The policies that a StackTest names; NULL, and a failed result, if they are not in order. */
static struct policy_set *load_policies(struct running *r, const struct object *object,
                                        struct str suite, const struct str_list *names)
{
    struct str file = r->files->items[object->file].name;
    struct str_list paths = from_folder(r->arena, file, names);
    struct input_files files = input_read(r->arena, &paths);
    struct case_result result = { .file = object->file,
                                  .at = object_field_place(object, STR("policies")),
                                  .suite = suite,
                                  .name = STR("its policies") };
    struct policy_set *policies = policies_load(r->arena, &files, &result.wrong);

    if (!policies)
        add_result(r, result);
    return policies;
}

/* The clusters that a StackTest names; -1, and a failed result, if they are not in order. */
static int load_inventory(struct running *r, const struct object *object, struct str suite,
                          const struct str_list *names, struct offline_config *config)
{
    struct str file = r->files->items[object->file].name;
    struct str_list paths = from_folder(r->arena, file, names);
    struct input_files files = input_read(r->arena, &paths);
    struct case_result result = { .file = object->file,
                                  .at = object_field_place(object, STR("inventory")),
                                  .suite = suite,
                                  .name = STR("its inventory") };

    if (clusters_load(r->arena, &files, &config->clusters, &result.wrong) < 0) {
        add_result(r, result);
        return -1;
    }
    config->clusters_known = true;
    return 0;
}

static void run_suite(struct running *r, const struct object *object)
{
    AUTO(policy_set_unref) struct policy_set *policies = NULL;
    struct offline_config config = *r->config;
    struct problems problems = problems_new(r->arena);
    struct test_suite suite = cases_decode(r->arena, object->json, &problems);
    struct str name = json_str(json_get(suite.metadata, STR("name")));

    if (!name.len)
        name = r->files->items[object->file].name;
    if (problems.list.count) {
        struct case_result broken = cases_broken(r->arena, object, &problems);

        broken.suite = name;
        add_result(r, broken);
        return;
    }
    if (suite.policies.count) {
        policies = load_policies(r, object, name, &suite.policies);
        if (!policies)
            return;
        config.policies = policies;
    }
    if (suite.inventory.count && load_inventory(r, object, name, &suite.inventory, &config) < 0)
        return;
    for (uint32_t i = 0; i < suite.tests.count; i++)
        run_case(r, object, name, &config, &suite.tests.items[i], i);
}

static void add_bad(struct running *r, const struct bad_document *bad)
{
    struct case_result result = { .file = bad->file,
                                  .at = bad->at,
                                  .suite = r->files->items[bad->file].name,
                                  .name = STR("the document"),
                                  .wrong = str_list_new(r->arena, 1) };

    str_list_push(&result.wrong, bad_document_sentence(r->arena, bad));
    add_result(r, result);
}

struct case_report cases_run(struct arena *arena, const struct input_files *files,
                             const struct offline_config *config)
{
    struct running r = { .arena = arena,
                         .files = files,
                         .config = config,
                         .report = { .files = report_files_new(arena, files->count),
                                     .results = case_results_new(arena, 16) } };
    struct objects objects = objects_new(arena, 1 << OBJECT_TEST);

    for (uint32_t i = 0; i < files->count; i++) {
        const struct input_file *file = &files->items[i];

        report_files_push(&r.report.files, (struct report_file){ file->name, file->failure });
        if (!file->failure.len)
            objects_read(&objects, i, file->bytes, file->found);
    }
    for (uint32_t i = 0; i < objects.bad.count; i++)
        add_bad(&r, &objects.bad.items[i]);
    for (uint32_t i = 0; i < objects.list.count; i++)
        run_suite(&r, &objects.list.items[i]);
    return r.report;
}
