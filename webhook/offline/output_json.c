/* SPDX-License-Identifier: Apache-2.0 */
/* output_json.c: the report as one JSON object, for programs. docs/review.md describes it. */
#include "text/json_write.h"
#include "webhook/offline/output.h"

struct form {
    const struct report *report;
    const struct output_style *style;
    struct arena *arena;
    struct json_writer w;
};

static struct str name_of(const struct form *f, uint32_t file)
{
    return output_name(f->report->files.items[file].name, f->style, f->arena);
}

static void put_place(struct form *f, uint32_t file, struct place at)
{
    json_field_str(&f->w, "file", name_of(f, file));
    json_field_int(&f->w, "line", at.line);
    json_field_int(&f->w, "column", at.column);
}

static void put_object(struct form *f, const struct report_object *object)
{
    json_open_object(&f->w);
    json_field_str(&f->w, "kind", str_of(object_kind_name(object->kind)));
    put_place(f, object->file, object->at);
    json_field_str(&f->w, "namespace", object->namespace_);
    json_field_str(&f->w, "name", object->name);
    json_field_bool(&f->w, "allowed", object->allowed);
    json_field_str(&f->w, "message", object->message);
    json_field_int(&f->w, "denied", object->denied);
    json_field_int(&f->w, "warned", object->warned);
    json_close_object(&f->w);
}

static void put_finding(struct form *f, const struct report_finding *finding)
{
    const struct problem *problem = &finding->problem;

    json_open_object(&f->w);
    put_place(f, finding->file, finding->at);
    if (finding->object != REPORT_NO_OBJECT) {
        const struct report_object *object = &f->report->objects.items[finding->object];

        json_field_str(&f->w, "kind", str_of(object_kind_name(object->kind)));
        json_field_str(&f->w, "namespace", object->namespace_);
        json_field_str(&f->w, "name", object->name);
    }
    json_field_str(&f->w, "rule", problem->rule);
    json_field_str(&f->w, "severity", str_of(severity_name(problem->severity)));
    json_field_str(&f->w, "cause", str_of(problem_cause_name(problem->cause)));
    json_field_str(&f->w, "field", problem->field);
    json_field_str(&f->w, "message", problem->message);
    json_field_str(&f->w, "remedy", problem->remedy);
    json_close_object(&f->w);
}

static void put_other(struct form *f, const struct other_object *other)
{
    json_open_object(&f->w);
    put_place(f, other->file, other->at);
    json_field_str(&f->w, "apiVersion", other->api_version);
    json_field_str(&f->w, "kind", other->kind);
    json_field_str(&f->w, "name", other->name);
    json_close_object(&f->w);
}

static void put_unreadable(struct form *f)
{
    for (uint32_t i = 0; i < f->report->files.count; i++) {
        if (!f->report->files.items[i].failure.len)
            continue;
        json_open_object(&f->w);
        json_field_str(&f->w, "file", name_of(f, i));
        json_field_str(&f->w, "why", f->report->files.items[i].failure);
        json_close_object(&f->w);
    }
}

static void put_summary(struct form *f)
{
    const struct report *report = f->report;

    json_open_object(&f->w);
    json_field_int(&f->w, "files", report->files.count - report->unreadable);
    json_field_int(&f->w, "stacks", report->count_of[OBJECT_STACK]);
    json_field_int(&f->w, "policies", report->count_of[OBJECT_POLICY]);
    json_field_int(&f->w, "workloads", report->workloads);
    json_field_int(&f->w, "denied", report->denied);
    json_field_int(&f->w, "warned", report->warned);
    json_field_int(&f->w, "audited", report->audited);
    json_field_int(&f->w, "omitted", report->omitted);
    json_field_int(&f->w, "passedOver", report->others.count);
    json_field_int(&f->w, "unreadable", report->unreadable);
    json_close_object(&f->w);
}

void output_json(const struct report *report, const struct output_style *style, struct strbuf *out)
{
    struct form f = { report, style, out->arena, json_writer(out) };

    json_open_object(&f.w);
    json_put_key(&f.w, STR("summary"));
    put_summary(&f);
    json_put_key(&f.w, STR("objects"));
    json_open_array(&f.w);
    for (uint32_t i = 0; i < report->objects.count; i++)
        put_object(&f, &report->objects.items[i]);
    json_close_array(&f.w);
    json_put_key(&f.w, STR("findings"));
    json_open_array(&f.w);
    for (uint32_t i = 0; i < report->findings.count; i++)
        if (output_shows(style, &report->findings.items[i].problem))
            put_finding(&f, &report->findings.items[i]);
    json_close_array(&f.w);
    json_put_key(&f.w, STR("passedOver"));
    json_open_array(&f.w);
    for (uint32_t i = 0; i < report->others.count; i++)
        put_other(&f, &report->others.items[i]);
    json_close_array(&f.w);
    json_put_key(&f.w, STR("unreadable"));
    json_open_array(&f.w);
    put_unreadable(&f);
    json_close_array(&f.w);
    json_close_object(&f.w);
    strbuf_char(out, '\n');
}
