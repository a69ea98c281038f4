/* status_check.c: a walk along rows and values. */
#include "stack/status_check.h"

#define A_COUNT "must be a whole number, 0 or more"

struct check {
    struct arena *arena;
    status_wrong *wrong;
    void *context;
};

static void tell_type(struct check *c, const struct path *at, const char *wanted, struct json value)
{
    c->wrong(c->context, at,
             str_fmt(c->arena, "must be %s, not %s", wanted, json_kind_name(json_kind(value))));
}

/* The row of `name` among those from `rows` on that are as deep; NULL if there is none. */
static const struct status_row *find_row(const struct status_row *rows, struct str name)
{
    for (const struct status_row *row = rows; row->name && row->depth >= rows->depth; row++)
        if (row->depth == rows->depth && str_eq(str_of(row->name), name))
            return row;
    return NULL;
}

static bool is_count(struct json value)
{
    int64_t number;

    return json_int64(value, &number) && number >= 0;
}

static bool is_text(struct json value)
{
    return json_is(value, JSON_STRING);
}

/* Elements or members, each of which is to be something. */
static void check_each(struct check *c, struct json container, const struct path *up,
                       bool (*is)(struct json), const char *must)
{
    struct json_iter it = json_iter(container);

    while (json_next(&it)) {
        struct path at = json_is(container, JSON_ARRAY) ? path_index(up, it.position)
                                                        : path_key(up, it.key);

        if (!is(it.value))
            c->wrong(c->context, &at, str_of(must));
    }
}

static void check_object(struct check *c, const struct status_row *rows, struct json object,
                         const struct path *up);

static void check_list(struct check *c, const struct status_row *rows, struct json list,
                       const struct path *up)
{
    struct json_iter it = json_iter(list);

    while (json_next(&it)) {
        struct path at = path_index(up, it.position);

        check_object(c, rows, it.value, &at);
    }
}

/* What a value of each kind is, in JSON and in words. */
static const struct {
    enum json_kind json;
    const char *name;
} kinds[] = {
    [STATUS_STRING] = { JSON_STRING, "a string" },
    [STATUS_TIME] = { JSON_STRING, "a string" },
    [STATUS_INTEGER] = { JSON_NUMBER, "a whole number, 0 or more" },
    [STATUS_BOOLEAN] = { JSON_BOOL, "a boolean" },
    [STATUS_STRINGS] = { JSON_ARRAY, "an array" },
    [STATUS_COUNTS] = { JSON_OBJECT, "an object" },
    [STATUS_LABELS] = { JSON_OBJECT, "an object" },
    [STATUS_OBJECT] = { JSON_OBJECT, "an object" },
    [STATUS_LIST] = { JSON_ARRAY, "an array" },
    [STATUS_CONDITIONS] = { JSON_ARRAY, "an array" },
};

static void check_value(struct check *c, const struct status_row *row, struct json value,
                        const struct path *at)
{
    if (!json_is(value, kinds[row->kind].json)) {
        tell_type(c, at, kinds[row->kind].name, value);
        return;
    }
    switch (row->kind) {
    case STATUS_STRING:
    case STATUS_TIME:
    case STATUS_BOOLEAN:
        return;
    case STATUS_INTEGER:
        if (!is_count(value))
            c->wrong(c->context, at, STR(A_COUNT));
        return;
    case STATUS_STRINGS:
        check_each(c, value, at, is_text, "must be a string");
        return;
    case STATUS_COUNTS:
        check_each(c, value, at, is_count, A_COUNT);
        return;
    case STATUS_LABELS:
        check_each(c, value, at, is_text, "must be a string");
        return;
    case STATUS_OBJECT:
        check_object(c, row + 1, value, at);
        return;
    case STATUS_LIST:
    case STATUS_CONDITIONS:
        check_list(c, row + 1, value, at);
        return;
    }
}

static void check_object(struct check *c, const struct status_row *rows, struct json object,
                         const struct path *up)
{
    struct json_iter it = json_iter(object);

    if (!json_is(object, JSON_OBJECT)) {
        tell_type(c, up, "an object", object);
        return;
    }
    while (json_next(&it)) {
        struct path at = path_field(up, it.key);
        const struct status_row *row = find_row(rows, it.key);

        if (row)
            check_value(c, row, it.value, &at);
        else
            c->wrong(c->context, &at, STR("is no field that is known here"));
    }
}

void status_check(struct arena *arena, const struct status_row *rows, struct json status,
                  status_wrong *wrong, void *context)
{
    struct check c = { .arena = arena, .wrong = wrong, .context = context };
    struct path at = path_field(NULL, STR("status"));

    check_object(&c, rows, status, &at);
}
