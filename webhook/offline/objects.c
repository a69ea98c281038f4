/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c: streams to documents, documents to objects. */
#include "webhook/offline/objects.h"

#include "stack/model/stack.h"
#include "text/json_place.h"
#include "text/limits.h"
#include "webhook/limits.h"

const struct json_limits objects_json_limits = { LIMIT_OFFLINE_FILE, LIMIT_JSON_DEPTH,
                                                 LIMIT_OFFLINE_NODES, LIMIT_JSON_STRING };

/* Of texts of others, for a line of a report. */
enum { OTHER_TEXT_MAX = 128 };

static const char *const kind_names[OBJECT_WORKLOADS] = {
    [OBJECT_STACK] = "Stack",
    [OBJECT_POLICY] = "StackPolicy",
    [OBJECT_TEST] = "StackTest",
    [OBJECT_INVENTORY] = "ClusterInventory",
};

const struct workload_kind *object_workload_kind(enum object_kind kind)
{
    return kind < OBJECT_WORKLOADS || kind == OBJECT_KIND_COUNT
               ? NULL
               : workload_kinds[kind - OBJECT_WORKLOADS];
}

const char *object_kind_name(enum object_kind kind)
{
    const struct workload_kind *workload = object_workload_kind(kind);

    return workload ? workload->kind.resource.kind.at : kind_names[kind];
}

static struct str kind_group(enum object_kind kind)
{
    const struct workload_kind *workload = object_workload_kind(kind);

    return workload ? workload->kind.resource.group : STR(STACK_GROUP);
}

struct objects objects_new(struct arena *arena, unsigned wanted)
{
    return (struct objects){ .arena = arena,
                             .wanted = wanted,
                             .list = object_list_new(arena, 0),
                             .others = other_objects_new(arena, 0),
                             .bad = bad_documents_new(arena, 0) };
}

/* --- of which kind is it? --- */

/* The kind of the group that has that name, or the nearest; OBJECT_KIND_COUNT if none is near. */
static enum object_kind kind_like(struct str group, struct str name)
{
    struct str_nearest nearest = { .name = name };
    enum object_kind found = OBJECT_KIND_COUNT;

    for (enum object_kind kind = 0; kind < OBJECT_KIND_COUNT; kind++) {
        if (!str_eq(group, kind_group(kind)))
            continue;
        if (str_eq(name, str_of(object_kind_name(kind))))
            return kind;
        if (str_nearest_try(&nearest, str_of(object_kind_name(kind))))
            found = kind;
    }
    return found;
}

static struct str group_of(struct str api_version)
{
    ptrdiff_t slash = str_find_char(api_version, '/', 0);

    return slash < 0 ? api_version : str_slice(api_version, 0, (size_t)slash);
}

static bool is_our_group(struct str group)
{
    struct str_nearest nearest = { .name = group };

    str_nearest_try(&nearest, STR(STACK_GROUP));
    return nearest.found.len > 0 || str_eq(nearest.name, STR(STACK_GROUP));
}

static bool has_charts(struct json object)
{
    return json_is(json_walk(object, "spec", "charts", NULL), JSON_ARRAY);
}

/* Does it say of which kind it is? */
static bool has_kind(struct json object)
{
    return json_str(json_get(object, STR("kind"))).len ||
           json_str(json_get(object, STR("apiVersion"))).len;
}

/* In our group, and in those of workloads, the kind decides. A kind or a group alone may be
 * somebody else's; with charts it is a Stack, and so are charts of no kind at all. */
static enum object_kind kind_of(struct json object)
{
    struct str name = json_str(json_get(object, STR("kind")));
    struct str group = group_of(json_str(json_get(object, STR("apiVersion"))));
    bool ours = is_our_group(group);
    enum object_kind kind = kind_like(ours ? STR(STACK_GROUP) : group, name);

    if (name.len && (ours || kind != OBJECT_KIND_COUNT))
        return kind;
    kind = kind_like(STR(STACK_GROUP), name);
    return has_charts(object) && (ours || kind == OBJECT_STACK || !has_kind(object))
               ? OBJECT_STACK
               : OBJECT_KIND_COUNT;
}

/* --- what cannot be read --- */

/* A text that is read by itself. */
struct part {
    uint32_t file;
    bool found;          /* its file, in a folder */
    uint32_t first_line; /* less 1 */
    struct str text;
};

/* The line of that number and those beside it: faults are told of where the reader stumbles. */
static struct str lines_around(struct str text, uint32_t line)
{
    struct str rest = text;
    struct str from = text;
    struct str one;

    for (uint32_t i = 1; i <= line + 1 && str_split(&rest, '\n', &one); i++)
        if (i + 1 < line)
            from = rest;
    return str_slice(from, 0, from.len - rest.len);
}

/* The first row whose words stand in what is said and beside the place. */
static const struct hint {
    struct str what;
    struct str beside;
    struct str remedy;
} hints[] = {
    { STR_INIT(""), STR_INIT("{{"),
      STR_INIT("this is a Helm template, so review what comes of it: helm template . | "
               "herd-webhook review -") },
    { STR_INIT("mapping values are not allowed"), STR_INIT("// "),
      STR_INIT("write comments with #, not with //") },
    { STR_INIT("unknown escape character"), STR_INIT(""),
      STR_INIT("write the text in single quotes, in which \\ stands for itself") },
    { STR_INIT("NUL byte"), STR_INIT(""), STR_INIT("save it as UTF-8") },
    { STR_INIT("UTF-8"), STR_INIT(""), STR_INIT("save it as UTF-8") },
    { STR_INIT(""), STR_INIT(""), STR_INIT("correct the document") },
};

static struct str remedy_of(const struct part *part, const struct bad_document *bad)
{
    struct str beside = lines_around(part->text, bad->at.line - part->first_line);
    const struct hint *hint = hints;

    while (str_find(bad->what, hint->what, 0) < 0 || str_find(beside, hint->beside, 0) < 0)
        hint++;
    return hint->remedy;
}

static void add_bad(struct objects *objects, const struct part *part, const struct error *err)
{
    struct bad_document bad = { .file = part->file,
                                .at = { part->first_line + 1, 1 },
                                .what = str_of(err->text) };
    struct yaml_position at;

    if (yaml_error_place(err, &at, &bad.what))
        bad.at = (struct place){ part->first_line + at.line, at.column };
    bad.what = str_dup(objects->arena, bad.what);
    bad.remedy = remedy_of(part, &bad);
    bad_documents_push(&objects->bad, bad);
}

static bool is_scalar(struct json value)
{
    return !json_is(value, JSON_OBJECT) && !json_is(value, JSON_ARRAY) &&
           !json_is(value, JSON_NULL);
}

/* What is no object of any kind. */
static void add_stray(struct objects *objects, const struct object *object)
{
    bool scalar = is_scalar(object->json);

    bad_documents_push(
        &objects->bad,
        (struct bad_document){
            .file = object->file,
            .at = object_place(object),
            .what = scalar ? STR("a scalar stands where an object belongs")
                           : STR("there is neither apiVersion nor kind, so this is no Kubernetes "
                                 "object"),
            .remedy = scalar
                          ? STR("write an object, and comments with #; see whether what wrote it "
                                "failed")
                          : STR("write both, or see whether what wrote it failed; a review of its "
                                "folder passes over files without them"),
        });
}

/* --- documents --- */

static bool is_list(struct json object)
{
    return json_is(json_get(object, STR("items")), JSON_ARRAY) &&
           str_ends(json_str(json_get(object, STR("kind"))), STR("List"));
}

/* Where the objects stand that this one holds: those of a List, and of a sequence as jq writes it.
 * No array: it is one itself. */
static struct json items_of(struct json object)
{
    return is_list(object) ? json_get(object, STR("items")) : object;
}

static bool is_wanted(const struct objects *objects, struct json object)
{
    enum object_kind kind = kind_of(object);

    return kind != OBJECT_KIND_COUNT && (objects->wanted >> kind & 1);
}

static bool holds_wanted(const struct objects *objects, struct json object)
{
    struct json items = items_of(object);
    struct json_iter it = json_iter(items);

    if (!json_is(items, JSON_ARRAY))
        return is_wanted(objects, object);
    while (json_next(&it))
        if (holds_wanted(objects, it.value))
            return true;
    return false;
}

static struct place in_file(const struct object *object, struct yaml_position at)
{
    return (struct place){ object->first_line + at.line, at.column };
}

struct place object_place(const struct object *object)
{
    return in_file(object, yaml_position_of(object->document, json_offset(object->json)));
}

static struct str kept_text(struct objects *objects, struct json value)
{
    return str_shown(objects->arena, json_str(value), OTHER_TEXT_MAX);
}

static void add_other(struct objects *objects, const struct object *object)
{
    struct json json = object->json;

    other_objects_push(&objects->others,
                       (struct other_object){
                           .file = object->file,
                           .at = object_place(object),
                           .api_version = kept_text(objects, json_get(json, STR("apiVersion"))),
                           .kind = kept_text(objects, json_get(json, STR("kind"))),
                           .name = kept_text(objects, json_walk(json, "metadata", "name", NULL)),
                       });
}

/* `plain_passes`: so does what is of no kind at all. */
static void add_object(struct objects *objects, struct object object, bool plain_passes)
{
    struct json json = object.json;
    struct json items = items_of(json);
    struct json_iter it = json_iter(items);

    if (json_is(json, JSON_NULL))
        return; /* an empty document */
    if (json_is(items, JSON_ARRAY)) {
        while (json_next(&it)) {
            object.json = it.value;
            add_object(objects, object, plain_passes);
        }
    } else if (is_wanted(objects, json)) {
        object.kind = kind_of(json);
        object_list_push(&objects->list, object);
    } else if (plain_passes || has_kind(json)) {
        add_other(objects, &object);
    } else {
        add_stray(objects, &object);
    }
}

static struct yaml_document *keep_document(struct arena *arena,
                                           const struct yaml_document *document)
{
    struct yaml_document *kept = arena_new(arena, struct yaml_document);
    size_t bytes = sizeof(*kept->positions) * document->position_count;

    kept->json = str_dup(arena, document->json);
    kept->positions = arena_bytes(arena, bytes);
    memcpy(kept->positions, document->positions, bytes);
    kept->position_count = document->position_count;
    return kept;
}

/* `document` lives in `scratch`; what holds a wanted one is kept. */
static void add_document(struct objects *objects, struct arena *scratch, const struct part *part,
                         const struct yaml_document *document)
{
    const struct json_limits *limits = &objects_json_limits;
    struct object object = {
        OBJECT_KIND_COUNT, part->file, part->first_line, document, { NULL, 0 }
    };
    struct error err;
    int failed = json_read(scratch, document->json, limits, &object.json, &err);

    if (!failed && holds_wanted(objects, object.json)) {
        object.document = keep_document(objects->arena, document);
        failed = json_read(objects->arena, object.document->json, limits, &object.json, &err);
    }
    if (failed)
        add_bad(objects, part, &err); /* escapes make some strings too long for JSON */
    else
        add_object(objects, object, part->found && !is_scalar(object.json));
}

static void read_document(struct objects *objects, struct arena *scratch, const struct part *part)
{
    struct yaml_documents documents;
    struct error err;

    if (yaml_read(scratch, part->text, &documents, &err) < 0) {
        add_bad(objects, part, &err);
        return;
    }
    for (uint32_t i = 0; i < documents.count; i++)
        add_document(objects, scratch, part, &documents.items[i]);
}

/* False once there are too many. */
static bool count_document(struct objects *objects, const struct part *part)
{
    struct error err;

    if (++objects->documents <= LIMIT_OFFLINE_DOCUMENTS)
        return true;
    error_set(&err, ERROR_TOO_LARGE, "more than %d documents; review less at a time",
              LIMIT_OFFLINE_DOCUMENTS);
    add_bad(objects, part, &err);
    return false;
}

/* One JSON value may be larger than one YAML document: reading it is linear. */
static bool is_large_json(struct str bytes)
{
    struct str text = str_trim(bytes);

    return bytes.len > LIMIT_YAML_TEXT && text.len && (text.at[0] == '{' || text.at[0] == '[');
}

void objects_read(struct objects *objects, uint32_t file, struct str bytes, bool found)
{
    AUTO(arena_free) struct arena *scratch = arena_create(0);
    struct yaml_stream stream = { bytes, 1 };
    struct part part = { .file = file, .found = found, .text = bytes };
    struct yaml_document document;
    uint32_t line;
    struct error err;

    if (is_large_json(bytes) &&
        yaml_read_json(scratch, bytes, &objects_json_limits, &document, &err) == 0) {
        objects->documents++;
        add_document(objects, scratch, &part, &document);
        return;
    }
    while (yaml_split(&stream, &part.text, &line)) {
        part.first_line = line - 1;
        if (!count_document(objects, &part))
            return;
        read_document(objects, scratch, &part);
        arena_reset(scratch);
    }
}

struct str bad_document_sentence(struct arena *arena, const struct bad_document *bad)
{
    return str_fmt(arena, "%.*s; %.*s", STR_ARG(bad->what), STR_ARG(bad->remedy));
}

struct place object_field_place(const struct object *object, struct str field)
{
    struct json_place found = json_place_of(object->json, field);
    size_t offset = json_offset(found.value);

    return in_file(object, found.member ? yaml_key_position_of(object->document, offset)
                                        : yaml_position_of(object->document, offset));
}
