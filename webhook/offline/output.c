/* SPDX-License-Identifier: Apache-2.0 */
/* output.c: the forms, and what they have in common. */
#include "webhook/offline/output.h"

enum { NAME_SHOWN_MAX = 4096 };

static const struct output outputs[] = {
    { "text", output_text, cases_text },
    { "json", output_json, cases_json },
    { "sarif", output_sarif, NULL },
    { "junit", output_junit, cases_junit },
};

const struct output *output_find(struct str name)
{
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++)
        if (str_eq(name, str_of(outputs[i].name)))
            return &outputs[i];
    return NULL;
}

const char *output_level(enum severity severity)
{
    switch (severity) {
    case SEVERITY_DENY:
        return "error";
    case SEVERITY_WARN:
        return "warning";
    case SEVERITY_AUDIT:
    case SEVERITY_OFF:
        break;
    }
    return "note";
}

struct str output_name(struct str file, const struct output_style *style, struct arena *arena)
{
    struct str name = file;
    struct str folder = style->folder;

    if (folder.len && str_starts(name, folder) && name.len > folder.len + 1 &&
        name.at[folder.len] == '/')
        name = str_slice(name, folder.len + 1, name.len);
    while (name.len > 2 && str_starts(name, STR("./")))
        name = str_slice(name, 2, name.len);
    return str_shown(arena, name, NAME_SHOWN_MAX);
}

struct str output_sentence(const struct problem *problem, struct arena *arena)
{
    struct strbuf text = strbuf_new(arena, 128);

    if (problem->field.len)
        strbuf_fmt(&text, "%.*s: ", STR_ARG(problem->field));
    strbuf_put(&text, problem->message);
    if (problem->remedy.len)
        strbuf_fmt(&text, "; %.*s", STR_ARG(problem->remedy));
    return strbuf_str(&text);
}

struct str output_object(const struct report_object *object, struct arena *arena)
{
    if (!object->namespace_.len)
        return object->name;
    return str_fmt(arena, "%.*s/%.*s", STR_ARG(object->namespace_), STR_ARG(object->name));
}
