/* SPDX-License-Identifier: Apache-2.0 */
/* table.c: columns and rows. Custom columns follow
 * k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor. */
#include "lab/apiserver/table.h"

#include "lab/apiserver/columns.h"

static void put_column(struct json_writer *w, const struct column *column)
{
    json_open_object(w);
    json_field_str(w, "name", column->name);
    json_field_str(w, "type", column->type);
    json_field_str(w, "format", column->format);
    json_field_str(w, "description", column->description);
    json_field_int(w, "priority", column->priority);
    json_close_object(w);
}

void table_begin(const struct kind *kind, struct str list_meta, bool with_columns,
                 struct json_writer *w)
{
    const struct column name = {
        .name = STR("Name"),
        .type = STR("string"),
        .format = STR("name"),
        .description = STR("Name must be unique within a namespace."),
    };
    bool starts_with_age =
        kind->columns.count && str_eq(kind->plural, STR("events")) && !kind_has(kind, KIND_CUSTOM);

    json_open_object(w);
    json_field_str(w, "kind", STR("Table"));
    json_field_str(w, "apiVersion", STR("meta.k8s.io/v1"));
    json_field_raw(w, "metadata", list_meta);
    json_put_key(w, STR("columnDefinitions"));
    if (with_columns) {
        json_open_array(w);
        if (!starts_with_age)
            put_column(w, &name);
        for (uint32_t i = 0; i < kind->columns.count; i++)
            put_column(w, &kind->columns.items[i]);
        json_close_array(w);
    } else {
        json_put_null(w);
    }
    json_put_key(w, STR("rows"));
    json_open_array(w);
}

void table_end(struct json_writer *w)
{
    json_close_array(w);
    json_close_object(w);
}

void partial_metadata(struct json object, struct json_writer *w)
{
    json_open_object(w);
    json_field_str(w, "kind", STR("PartialObjectMetadata"));
    json_field_str(w, "apiVersion", STR("meta.k8s.io/v1"));
    json_field_raw(w, "metadata", json_raw(json_get(object, STR("metadata"))));
    json_close_object(w);
}

static struct str text_of(struct json value)
{
    return json_is(value, JSON_STRING) ? json_str(value) : json_raw(value);
}

/* A cell of a declared type; what does not fit the type is left empty. */
static void put_found(struct cells *c, const struct column *column, const struct json_list *found)
{
    struct json first = found->items[0];
    int64_t whole;

    if (str_eq(column->type, STR("date"))) {
        json_put_str(c->w, age_since(c, json_str(first)));
    } else if (str_eq(column->type, STR("integer"))) {
        if (json_int64(first, &whole))
            json_put_int(c->w, whole);
        else
            json_put_null(c->w);
    } else if (str_eq(column->type, STR("number")) || str_eq(column->type, STR("boolean"))) {
        if (json_is(first, JSON_NUMBER) || json_is(first, JSON_BOOL))
            json_put_raw(c->w, json_raw(first));
        else
            json_put_null(c->w);
    } else {
        struct strbuf text = strbuf_new(c->arena, 32);

        for (uint32_t i = 0; i < found->count; i++) {
            if (i)
                strbuf_char(&text, ' ');
            strbuf_put(&text, text_of(found->items[i]));
        }
        json_put_str(c->w, strbuf_str(&text));
    }
}

static void put_cell(struct cells *c, const struct column *column, struct json object)
{
    struct json_list found = json_list_new(c->arena, 2);

    if (column->cell) {
        column->cell(c, object);
        return;
    }
    jsonpath_find(column->path, object, &found);
    if (found.count == 0)
        json_put_raw(c->w, column->otherwise.len ? column->otherwise : STR("null"));
    else
        put_found(c, column, &found);
}

void table_row(const struct kind *kind, struct str object, struct json view,
               enum table_object include, int64_t now_ms, struct arena *arena,
               struct json_writer *w)
{
    struct cells c = { w, arena, now_ms };
    bool is_event = str_eq(kind->plural, STR("events")) && !kind_has(kind, KIND_CUSTOM);

    json_open_object(w);
    json_put_key(w, STR("cells"));
    json_open_array(w);
    if (!is_event)
        json_put_str(w, json_str(json_walk(view, "metadata", "name", NULL)));
    for (uint32_t i = 0; i < kind->columns.count; i++)
        put_cell(&c, &kind->columns.items[i], view);
    json_close_array(w);
    if (include != TABLE_NONE) {
        json_put_key(w, STR("object"));
        if (include == TABLE_OBJECT)
            json_put_raw(w, object);
        else
            partial_metadata(view, w);
    }
    json_close_object(w);
}
