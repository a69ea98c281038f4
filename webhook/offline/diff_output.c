/* diff_output.c: what other policies would change, for people and programs. */
#include "text/json_write.h"
#include "webhook/offline/ink.h"
#include "webhook/offline/output.h"

enum { SHOWN_MAX = 4096 };

static const enum ink inks[DIFF_COUNT] = {
    [DIFF_REFUSED] = INK_ERROR,
    [DIFF_PASSES] = INK_GOOD,
    [DIFF_TOLD] = INK_WARNING,
};

static struct str file_of(const struct diff *diff, const struct report_object *object,
                          const struct output_style *style, struct arena *arena)
{
    return output_name(diff->after->files.items[object->file].name, style, arena);
}

/* --- text --- */

/* Without the place: that is the Stack's. */
static void put_lines(struct strbuf *out, const struct report *report,
                      const struct u32_list *findings, char sign)
{
    for (uint32_t i = 0; i < findings->count; i++) {
        const struct problem *problem = &report->findings.items[findings->items[i]].problem;
        struct str sentence = output_sentence(problem, out->arena);

        strbuf_fmt(out, "    %c %s: %.*s [%.*s]\n", sign, output_level(problem->severity),
                   STR_ARG(str_shown(out->arena, sentence, SHOWN_MAX)),
                   STR_ARG(str_shown(out->arena, problem->rule, SHOWN_MAX)));
    }
}

static void put_stack(struct strbuf *out, const struct diff *diff, const struct diff_stack *stack,
                      const struct output_style *style)
{
    const struct report_object *object = &diff->after->objects.items[stack->object];
    struct arena *arena = out->arena;
    struct str name = output_object(object, arena);

    ink_put(out, style->colour, INK_PLACE,
            str_fmt(arena, "%.*s:%u:%u:", STR_ARG(file_of(diff, object, style, arena)),
                    object->at.line, object->at.column));
    strbuf_char(out, ' ');
    ink_put(out, style->colour, inks[stack->change], str_of(diff_change_name(stack->change)));
    strbuf_fmt(out, ": %.*s\n", STR_ARG(str_shown(arena, name, SHOWN_MAX)));
    put_lines(out, diff->after, &stack->added, '+');
    put_lines(out, diff->before, &stack->gone, '-');
}

void diff_text(const struct diff *diff, const struct output_style *style, struct strbuf *out)
{
    uint32_t stacks = diff->after->count_of[OBJECT_STACK];

    for (uint32_t i = 0; i < diff->stacks.count; i++)
        put_stack(out, diff, &diff->stacks.items[i], style);
    if (style->counts)
        strbuf_fmt(out,
                   "%u Stack%s: %u would newly be refused, %u would newly pass, %u would be told "
                   "something else\n",
                   stacks, stacks == 1 ? "" : "s", diff->count_of[DIFF_REFUSED],
                   diff->count_of[DIFF_PASSES], diff->count_of[DIFF_TOLD]);
}

/* --- JSON --- */

static void put_findings(struct json_writer *w, const struct report *report,
                         const struct u32_list *findings)
{
    json_open_array(w);
    for (uint32_t i = 0; i < findings->count; i++) {
        const struct problem *problem = &report->findings.items[findings->items[i]].problem;

        json_open_object(w);
        json_field_str(w, "rule", problem->rule);
        json_field_str(w, "severity", str_of(severity_name(problem->severity)));
        json_field_str(w, "field", problem->field);
        json_field_str(w, "message", problem->message);
        json_field_str(w, "wayOut", problem->way_out);
        json_close_object(w);
    }
    json_close_array(w);
}

void diff_json(const struct diff *diff, const struct output_style *style, struct strbuf *out)
{
    struct json_writer w = json_writer(out);

    json_open_object(&w);
    json_field_int(&w, "stacks", diff->after->count_of[OBJECT_STACK]);
    json_field_int(&w, "newlyRefused", diff->count_of[DIFF_REFUSED]);
    json_field_int(&w, "newlyPass", diff->count_of[DIFF_PASSES]);
    json_field_int(&w, "toldOtherwise", diff->count_of[DIFF_TOLD]);
    json_put_key(&w, STR("changes"));
    json_open_array(&w);
    for (uint32_t i = 0; i < diff->stacks.count; i++) {
        const struct diff_stack *stack = &diff->stacks.items[i];
        const struct report_object *object = &diff->after->objects.items[stack->object];

        json_open_object(&w);
        json_field_str(&w, "file", file_of(diff, object, style, out->arena));
        json_field_int(&w, "line", object->at.line);
        json_field_int(&w, "column", object->at.column);
        json_field_str(&w, "namespace", object->namespace_);
        json_field_str(&w, "name", object->name);
        json_field_str(&w, "change", str_of(diff_change_name(stack->change)));
        json_put_key(&w, STR("added"));
        put_findings(&w, diff->after, &stack->added);
        json_put_key(&w, STR("gone"));
        put_findings(&w, diff->before, &stack->gone);
        json_close_object(&w);
    }
    json_close_array(&w);
    json_close_object(&w);
    strbuf_char(out, '\n');
}
