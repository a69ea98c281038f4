/* SPDX-License-Identifier: Apache-2.0 */
/* command.c: see command.h. */
#include "controller/replay/command.h"

#include "io/file.h"
#include "text/limits.h"
#include "text/yaml.h"
#include "workload/scaling.h"

#include <stdio.h>

const struct program replay_program = {
    .name = "herd-controller replay",
    .summary =
        "Computes the replicas of the ModelDeployments and LLMModels in FILE again, from the "
        "inputs in their status.scaling: as kubectl get -o yaml prints them, one object or a "
        "List; - is standard input.",
    .words = "FILE",
    .exits = "0 each decision is the one that is stored, 1 some are not, or there are none, 2 the "
             "file cannot be read, 70 out of memory.",
};

struct tally {
    uint32_t objects, different;
};

static struct str name_of(struct arena *arena, struct json object)
{
    return str_fmt(arena, "%.*s %.*s/%.*s", STR_ARG(json_str(json_get(object, STR("kind")))),
                   STR_ARG(json_str(json_walk(object, "metadata", "namespace", NULL))),
                   STR_ARG(json_str(json_walk(object, "metadata", "name", NULL))));
}

static void replay_object(struct arena *arena, struct json object, struct tally *tally)
{
    struct scaling stored = scaling_read(arena, object);
    struct sla_inputs inputs = scaling_inputs_of(&stored);
    struct scaling again;

    if (stored.replicas < 0)
        return;
    again = scaling_decide(arena, &inputs, stored.generation);
    tally->objects++;
    tally->different += !scaling_equal(&stored, &again);
    printf("%.*s: %lld replicas, %.*s", STR_ARG(str_shown(arena, name_of(arena, object), 512)),
           (long long)again.replicas, STR_ARG(again.reason));
    if (scaling_equal(&stored, &again))
        printf(": as stored\n");
    else
        printf("; stored are %lld, %.*s\n", (long long)stored.replicas,
               STR_ARG(str_shown(arena, stored.reason, 64)));
}

static void replay_document(struct arena *arena, struct json document, struct tally *tally)
{
    struct json items = json_get(document, STR("items"));
    struct json_iter it = json_iter(items);

    if (!json_is(items, JSON_ARRAY)) {
        replay_object(arena, document, tally);
        return;
    }
    while (json_next(&it))
        replay_object(arena, it.value, tally);
}

static int read_documents(struct arena *arena, const struct flag_values *flags,
                          struct yaml_documents *ret_documents, struct error *err)
{
    const char *name;
    struct str text;

    if (flags->rest.count != 1)
        return error_set(err, ERROR_BAD_REQUEST,
                         "one file is expected: herd-controller replay FILE, or - for standard "
                         "input");
    name = str_z(arena, flags->rest.items[0]);
    if (str_eq(flags->rest.items[0], STR("-")))
        name = "/dev/stdin";
    if (file_read(arena, name, LIMIT_YAML_TEXT, &text, err) < 0)
        return -1;
    return yaml_read(arena, text, ret_documents, err) < 0 ? error_wrap(err, "%s", name) : 0;
}

int replay_run(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct yaml_documents documents;
    struct flag_values flags;
    struct tally tally = { 0 };
    struct error err = { .code = ERROR_NONE };
    struct json json;
    int code = program_parse(&replay_program, argc, argv, arena, &flags);

    if (code != PROGRAM_GO_ON)
        return code;
    if (read_documents(arena, &flags, &documents, &err) < 0)
        return program_reject(&replay_program, &err);
    for (uint32_t i = 0; i < documents.count; i++)
        if (json_read(arena, documents.items[i].json, &json_limits_default, &json, &err) == 0)
            replay_document(arena, json, &tally);
    if (!tally.objects)
        fprintf(stderr, "%s: no object there has a status.scaling\n", replay_program.name);
    return tally.objects && !tally.different ? PROGRAM_OK : PROGRAM_FAILED;
}
