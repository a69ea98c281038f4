/* SPDX-License-Identifier: Apache-2.0 */
/* policy_walk.c: along a path through one object. */
#include "stack/policy/policy_path_steps.h"

#include "base/map.h"
#include "stack/gpu/gpu_workload.h"
#include "stack/model/limits.h"

struct walk {
    const struct policy_path *path;
    const struct policy_object *object;
    struct arena *arena;
    policy_visit *visit;
    void *context;
    const struct chart *chart; /* that we are in, or NULL */
    struct map *charts;        /* by name; NULL: nobody asked yet */
};

static void walk_json(struct walk *w, uint32_t at_step, struct json json, const struct path *at);
static void walk_struct(struct walk *w, uint32_t at_step, const void *of, const struct path *at);

static const struct policy_step *step_of(const struct walk *w, uint32_t at_step)
{
    return at_step < w->path->steps.count ? &w->path->steps.items[at_step] : NULL;
}

static void tell(struct walk *w, enum policy_value_kind kind, struct str text,
                 const struct path *at)
{
    static const char *const measures[] = {
        [COMPUTED_NOT] = NULL,
        [COMPUTED_GPUS] = "the number of GPUs on one cluster",
        [COMPUTED_IMAGE] = NULL,
        [COMPUTED_REPLICAS] = "the number of pods",
    };
    struct policy_value value = {
        .kind = kind,
        .text = text,
        .chart = w->chart,
        .summed = kind == POLICY_VALUE_COUNT || w->path->computed,
        .measure = measures[w->path->computed],
    };

    w->visit(w->context, &value, at);
}

static void tell_count(struct walk *w, uint32_t count, const struct path *at)
{
    tell(w, count ? POLICY_VALUE_COUNT : POLICY_VALUE_ABSENT, str_fmt(w->arena, "%u", count), at);
}

/* --- free values --- */

static void tell_json(struct walk *w, struct json json, const struct path *at)
{
    switch (json_kind(json)) {
    case JSON_ABSENT:
    case JSON_NULL:
        tell(w, POLICY_VALUE_ABSENT, STR(""), at);
        return;
    case JSON_BOOL:
        tell(w, POLICY_VALUE_TEXT, json_bool(json) ? STR("true") : STR("false"), at);
        return;
    case JSON_NUMBER:
        tell(w, POLICY_VALUE_NUMBER, json_raw(json), at);
        return;
    case JSON_STRING:
        tell(w, POLICY_VALUE_TEXT, json_str(json), at);
        return;
    case JSON_ARRAY:
    case JSON_OBJECT:
        tell_count(w, json_count(json), at);
        return;
    }
}

/* Members or elements, all on to `at_step`. */
static void walk_inside(struct walk *w, uint32_t at_step, struct json json, const struct path *up)
{
    struct json_iter it = json_iter(json);
    bool list = json_is(json, JSON_ARRAY);

    while (json_next(&it)) {
        struct path at = list ? path_index(up, it.position) : path_member(up, it.key);

        walk_json(w, at_step, it.value, &at);
    }
}

/* Whether the step may find something at any depth: most values hold nothing a rule looks for. */
static bool may_lead_on(const struct walk *w, uint32_t at_step, struct json json)
{
    const struct policy_step *step = step_of(w, at_step);

    return step->kind != STEP_MEMBER || json_may_hold(json, step->name);
}

static void walk_deep(struct walk *w, uint32_t at_step, struct json json, const struct path *up)
{
    struct json_iter it = json_iter(json);
    bool list = json_is(json, JSON_ARRAY);

    walk_json(w, at_step, json, up);
    while (json_next(&it)) {
        struct path at = list ? path_index(up, it.position) : path_member(up, it.key);

        walk_deep(w, at_step, it.value, &at);
    }
}

static void walk_json(struct walk *w, uint32_t at_step, struct json json, const struct path *at)
{
    const struct policy_step *step = step_of(w, at_step);

    if (!step) {
        tell_json(w, json, at);
        return;
    }
    switch (step->kind) {
    case STEP_MEMBER: {
        struct json member = json_get(json, step->name);
        struct path member_at = path_member(at, step->name);

        if (!json_is(member, JSON_ABSENT))
            walk_json(w, at_step + 1, member, &member_at);
        else if (!w->path->deep)
            tell(w, POLICY_VALUE_ABSENT, STR(""), &member_at);
        return;
    }
    case STEP_ANY:
        if (json_is(json, JSON_OBJECT))
            walk_inside(w, at_step + 1, json, at);
        return;
    case STEP_EACH:
        if (json_is(json, JSON_ARRAY))
            walk_inside(w, at_step + 1, json, at);
        return;
    case STEP_DEEP:
        if (may_lead_on(w, at_step + 1, json))
            walk_deep(w, at_step + 1, json, at);
        return;
    case STEP_FIELD:
        return; /* none within free values */
    }
}

/* --- the tables --- */

static void walk_strings(struct walk *w, uint32_t at_step, const struct str_list *list,
                         const struct path *at)
{
    if (!step_of(w, at_step)) {
        tell_count(w, list->count, at);
        return;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        struct path element = path_index(at, i);

        tell(w, POLICY_VALUE_TEXT, list->items[i], &element);
    }
}

/* Of two that have one name, which shape rejects, the first. */
static const struct chart *find_chart(struct walk *w, struct str name)
{
    const struct charts *charts = &w->object->stack->spec.charts;

    if (!w->charts) {
        w->charts = map_new(w->arena, charts->count);
        for (uint32_t i = charts->count; i-- > 0;)
            map_put(w->charts, charts->items[i].name, &charts->items[i]);
    }
    return map_get(w->charts, name);
}

/* The chart that an element of such a table is about; NULL for a name that the Stack does not have,
 * which shape tells. */
static const struct chart *chart_of(struct walk *w, const struct field_table *table,
                                    const void *element)
{
    if (table == &fields_of_chart)
        return element;
    if (table != &fields_of_chart_override)
        return w->chart;
    return find_chart(w, ((const struct chart_override *)element)->name);
}

static void walk_structs(struct walk *w, uint32_t at_step, const struct field *field,
                         const struct field_list *list, const struct path *at)
{
    const struct chart *outer = w->chart;

    if (!step_of(w, at_step)) {
        tell_count(w, list->count, at);
        return;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const void *element = (const char *)list->items + (size_t)field->of->size * i;
        struct path element_at = path_index(at, i);

        w->chart = chart_of(w, field->of, element);
        walk_struct(w, at_step + 1, element, &element_at);
    }
    w->chart = outer;
}

static void tell_text(struct walk *w, struct str text, const struct path *at)
{
    tell(w, text.len ? POLICY_VALUE_TEXT : POLICY_VALUE_ABSENT, text, at);
}

/* `is_there`: the document or a default says it. */
static void walk_field(struct walk *w, uint32_t at_step, const struct field *field,
                       const void *place, bool is_there, const struct path *at)
{
    switch (field->kind) {
    case FIELD_STRING:
    case FIELD_DURATION:
    case FIELD_AMOUNT:
        tell_text(w, *(const struct str *)place, at);
        return;
    case FIELD_RATIO: {
        struct str text = *(const struct str *)place;

        tell(w, text.len ? POLICY_VALUE_NUMBER : POLICY_VALUE_ABSENT, text, at);
        return;
    }
    case FIELD_BOOL:
        tell(w, is_there ? POLICY_VALUE_TEXT : POLICY_VALUE_ABSENT,
             *(const bool *)place ? STR("true") : STR("false"), at);
        return;
    case FIELD_INT:
        tell(w, is_there ? POLICY_VALUE_NUMBER : POLICY_VALUE_ABSENT,
             str_fmt(w->arena, "%lld", (long long)*(const int64_t *)place), at);
        return;
    case FIELD_WORD:
        tell_text(w, field_word_name(field->words, *(const unsigned *)place), at);
        return;
    case FIELD_STRINGS:
        walk_strings(w, at_step, place, at);
        return;
    case FIELD_LABELS:
    case FIELD_OBJECT:
        walk_json(w, at_step, *(const struct json *)place, at);
        return;
    case FIELD_STRUCT:
        if (step_of(w, at_step))
            walk_struct(w, at_step, place, at);
        else
            tell(w, is_there ? POLICY_VALUE_COUNT : POLICY_VALUE_ABSENT, STR(""), at);
        return;
    case FIELD_STRUCTS:
        walk_structs(w, at_step, field, place, at);
        return;
    case FIELD_COUNT:
    case FIELD_COUNT64:
    case FIELD_COUNTS:
    case FIELD_TIME:
    case FIELD_MICRO_TIME:
    case FIELD_CONDITIONS:
    case FIELD_TRUTH:
        return; /* of a status, which policies do not read */
    }
}

static void walk_struct(struct walk *w, uint32_t at_step, const void *of, const struct path *at)
{
    const struct policy_step *step = step_of(w, at_step);
    const struct field *field;

    if (!step) {
        tell(w, POLICY_VALUE_COUNT, STR(""), at);
        return;
    }
    field = step->field;

    uint64_t given = *(const uint64_t *)of;
    struct path field_path = path_field(at, field->json);

    if (given & FIELD_BROKEN)
        return; /* reported by decode */
    walk_field(w, at_step + 1, field, field_in(of, field),
               field->default_.len > 0 || (given >> step->row & 1), &field_path);
}

static void walk_meta(struct walk *w, const struct path *metadata)
{
    const struct policy_meta_field *field = w->path->meta;
    const char *place = (const char *)w->object->meta + field->offset;
    struct path at = path_field(metadata, field->name);
    const struct policy_step *key = step_of(w, 0);

    if (field->place == PLACE_SCALAR) {
        tell_text(w, *(const struct str *)(const void *)place, &at);
        return;
    }
    if (!key) {
        tell_count(w, json_count(*(const struct json *)(const void *)place), &at);
        return;
    }

    struct path key_at = path_key(&at, key->name);

    tell_json(w, json_get(*(const struct json *)(const void *)place, key->name), &key_at);
}

/* --- what is computed --- */

static void tell_number(struct walk *w, int64_t number, const struct path *at)
{
    tell(w, POLICY_VALUE_NUMBER, str_fmt(w->arena, "%lld", (long long)number), at);
}

static int64_t gpus_with(struct gpu_counter *counter, struct arena *arena, uint32_t from,
                         uint32_t to)
{
    struct u32_list overrides = u32_list_new(arena, to - from);
    struct gpu_asks asks;

    for (uint32_t i = from; i < to; i++)
        u32_list_push(&overrides, i);
    asks = gpu_demand(counter, &overrides);
    return gpu_asks_total(&asks);
}

/* Of an override what it makes another number of, and no number twice. */
static void walk_gpus(struct walk *w, const struct path *spec)
{
    struct gpu_counter *counter = gpu_counter_new(w->arena, w->object->stack, LIMIT_GPU_STEPS);
    struct path charts = path_field(spec, STR("charts"));
    struct path overrides = path_field(spec, STR("overrides"));
    int64_t plain = gpus_with(counter, w->arena, 0, 0);

    tell_number(w, plain, &charts);
    for (uint32_t i = 0; i < w->object->stack->spec.overrides.count; i++) {
        struct path up = path_index(&overrides, i);
        struct path at = path_field(&up, STR("charts"));
        int64_t alone = gpus_with(counter, w->arena, i, i + 1);
        int64_t on_top = gpus_with(counter, w->arena, 0, i + 1);

        if (gpu_counter_gave_up(counter)) {
            tell(w, POLICY_VALUE_TEXT, STR("more than is counted"), &overrides);
            return;
        }
        if (alone != plain)
            tell_number(w, alone, &at);
        if (on_top != plain && on_top != alone)
            tell_number(w, on_top, &at);
    }
}

static void walk_workload(struct walk *w, const struct path *spec)
{
    const struct workload_object *object = w->object->workload;
    int64_t pods = workload_replicas_most(&object->workload);
    struct gpu_asks asks;
    struct path at;

    switch (w->path->computed) {
    case COMPUTED_IMAGE:
        at = workload_field(object->kind, "image", spec);
        tell_text(w, object->workload.image, &at);
        return;
    case COMPUTED_REPLICAS:
        at = workload_field(object->kind, "replicas", spec);
        tell_number(w, pods, &at);
        return;
    case COMPUTED_GPUS:
        asks = gpu_workload_asks(w->arena, &object->workload);
        at = workload_gpu_field(object->kind, spec);
        tell_number(w, gpu_asks_total(&asks), &at);
        return;
    case COMPUTED_NOT:
        return;
    }
}

struct policy_object policy_object_of(const struct stack *stack)
{
    return (struct policy_object){ &stack->meta, &stack->spec, stack, NULL };
}

void policy_path_walk(const struct policy_path *path, const struct policy_object *object,
                      struct arena *arena, policy_visit *visit, void *context)
{
    struct walk w = { path, object, arena, visit, context, NULL, NULL };
    struct path at = path_field(NULL, path->meta ? STR("metadata") : STR("spec"));

    if (path->meta)
        walk_meta(&w, &at);
    else if (path->computed && object->workload)
        walk_workload(&w, &at);
    else if (path->computed)
        walk_gpus(&w, &at);
    else
        walk_struct(&w, 0, object->spec, &at);
    if (path->also)
        policy_path_walk(path->also, object, arena, visit, context);
}
