/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h: the objects of a text in YAML or JSON, by kind. Pure.
 *
 * Documents are read one by one, so one that is no YAML hides no other; Lists are taken apart, and
 * so are sequences. What is of one of Herd's kinds but for a slip of the pen counts as one: the
 * validation then says what is wrong with its apiVersion and kind. */
#ifndef HERD_WEBHOOK_OFFLINE_OBJECTS_H
#define HERD_WEBHOOK_OFFLINE_OBJECTS_H

#include "base/list.h"
#include "base/problem.h"
#include "text/yaml.h"
#include "workload/workload_kind.h"

/* From 1; {0, 0} is no place. */
struct place {
    uint32_t line;
    uint32_t column;
};

/* The kinds that a review knows. */
enum object_kind {
    OBJECT_STACK,
    OBJECT_POLICY,
    OBJECT_TEST,
    OBJECT_INVENTORY,
    OBJECT_WORKLOADS, /* and behind it the kinds of workload_kinds.def */
    OBJECT_KIND_COUNT = OBJECT_WORKLOADS + WORKLOAD_KIND_COUNT
};

struct object {
    enum object_kind kind;
    uint32_t file;       /* number of it, as objects_read was told */
    uint32_t first_line; /* of the document's text in its file, less 1 */
    const struct yaml_document *document;
    struct json json;
};
LIST_DEFINE(object_list, struct object)

/* An object of another kind: its texts are foreign. */
struct other_object {
    uint32_t file;
    struct place at;
    struct str api_version;
    struct str kind;
    struct str name;
};
LIST_DEFINE(other_objects, struct other_object)

/* A document that could not be read, or a part of one that is no object of any kind. */
struct bad_document {
    uint32_t file;
    struct place at;
    struct str what;
    struct str remedy;
};
LIST_DEFINE(bad_documents, struct bad_document)

struct objects {
    struct arena *arena;
    unsigned wanted;         /* kinds, as bits; what is of another is passed over */
    struct object_list list; /* in the order of files and documents */
    struct other_objects others;
    struct bad_documents bad;
    uint32_t documents;
};

/* Bounds of one document in JSON: of what programs write, `kubectl get stacks -A -o json` above
 * all. */
extern const struct json_limits objects_json_limits;

const char *object_kind_name(enum object_kind kind);
/* NULL: objects of the kind are no workloads. */
const struct workload_kind *object_workload_kind(enum object_kind kind);

/* `wanted`: 1 << OBJECT_STACK and so on. */
struct objects objects_new(struct arena *arena, unsigned wanted);
/* Add those of one file. `found`: nobody named it, so it may hold other things than manifests, such
 * as values of a chart; what has neither apiVersion nor kind is then one of the others. A document
 * that is but a scalar is bad anywhere. Nothing is borrowed. */
void objects_read(struct objects *objects, uint32_t file, struct str bytes, bool found);

/* What is wrong, and the remedy. */
struct str bad_document_sentence(struct arena *arena, const struct bad_document *bad);

/* Where the object begins. */
struct place object_place(const struct object *object);
/* Where a field stands that a finding names: its key, or the element of a list; if it is missing,
 * the nearest field around it. */
struct place object_field_place(const struct object *object, struct str field);

#endif
