/* SPDX-License-Identifier: Apache-2.0 */
/* meta_check.c: what metadata may say. Texts: k8s.io/apimachinery/pkg/util/validation. */
#include "lab/apiserver/object.h"

#include "kube/names.h"

#define LABEL_TEXT                                                                                 \
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "   \
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "     \
    "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_TEXT                                                                             \
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "   \
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "  \
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define VALUE_TEXT                                                                                 \
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "    \
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "             \
    "'my_value',  or '12345', regex used for validation is "                                       \
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define KEY_TEXT                                                                                   \
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "  \
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

enum { ANNOTATIONS_BYTES_MAX = 256 * 1024 }; /* TotalAnnotationSizeLimitB */

static struct str subdomain_fault(struct str name)
{
    if (name.len > 253)
        return STR("must be no more than 253 characters");
    return kube_not_dns1123_subdomain(name) ? STR(SUBDOMAIN_TEXT) : STR("");
}

static struct str name_fault(const struct kind *kind, struct str name)
{
    if (kind_has(kind, KIND_PATH_NAME)) {
        if (str_eq(name, STR(".")) || str_eq(name, STR("..")))
            return STR("may not be '.' or '..'");
        if (str_find_char(name, '/', 0) >= 0 || str_find_char(name, '%', 0) >= 0)
            return STR("may not contain '/' or '%'");
        return STR("");
    }
    if (kind_has(kind, KIND_LABEL_NAME)) {
        if (name.len > 63)
            return STR("must be no more than 63 characters");
        if (!kube_not_dns1123_label(name))
            return STR("");
        return kube_not_dns1123_subdomain(name) ? STR(LABEL_TEXT) : STR("must not contain dots");
    }
    return subdomain_fault(name);
}

void meta_validate_name(const struct value *name, const struct path *at, struct findings *found)
{
    struct str fault = subdomain_fault(value_text(name));

    if (fault.len)
        finding_invalid(found, at, name, fault);
}

static void check_name(const struct kind *kind, const struct value *object, const struct path *meta,
                       struct findings *found)
{
    struct str name = meta_text(object, "name");
    struct path at = path_field(meta, STR("name"));

    if (name.len == 0) {
        finding_required(found, &at, STR("name or generateName is required"));
        return;
    }

    struct str fault = name_fault(kind, name);

    if (fault.len)
        finding_invalid(found, &at, meta_get(object, "name"), fault);
}

void meta_validate_key(struct str key, const struct path *at, struct findings *found)
{
    const struct value *shown = value_str(found->arena, key);

    if (key.len == 0 || str_ends(key, STR("/")))
        finding_invalid(found, at, shown, STR("name part must be non-empty"));
    if (kube_not_label_key(key))
        finding_invalid(found, at, shown, STR(KEY_TEXT));
}

static void check_labels(const struct value *object, const struct path *meta,
                         struct findings *found)
{
    struct path at = path_field(meta, STR("labels"));

    for (struct value *m = value_first(meta_get(object, "labels")); m; m = value_next(m)) {
        meta_validate_key(value_key(m), &at, found);
        if (value_text(m).len > 63)
            finding_invalid(found, &at, m, STR("must be no more than 63 bytes"));
        else if (kube_not_label_value(value_text(m)))
            finding_invalid(found, &at, m, STR(VALUE_TEXT));
    }
}

static struct str lower(struct arena *arena, struct str text)
{
    struct str copy = str_dup(arena, text);
    char *at = (char *)(uintptr_t)copy.at;

    for (size_t i = 0; i < copy.len; i++)
        if (at[i] >= 'A' && at[i] <= 'Z')
            at[i] += 32;
    return copy;
}

static void check_annotations(const struct value *object, const struct path *meta,
                              struct findings *found)
{
    struct path at = path_field(meta, STR("annotations"));
    size_t bytes = 0;

    for (struct value *m = value_first(meta_get(object, "annotations")); m; m = value_next(m)) {
        bytes += value_key(m).len + value_text(m).len;
        if (kube_not_label_key(lower(found->arena, value_key(m))))
            finding_invalid(found, &at, value_str(found->arena, value_key(m)), STR(KEY_TEXT));
    }
    if (bytes > ANNOTATIONS_BYTES_MAX)
        finding_too_long(found, &at, ANNOTATIONS_BYTES_MAX);
}

static void check_owners(const struct value *object, const struct path *meta,
                         struct findings *found)
{
    static const char *const members[] = { "apiVersion", "kind", "name", "uid" };
    struct path list = path_field(meta, STR("ownerReferences"));
    uint32_t index = 0;

    for (struct value *m = value_first(meta_get(object, "ownerReferences")); m; m = value_next(m)) {
        struct path at = path_index(&list, index++);

        for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
            struct path here = path_field(&at, str_of(members[i]));

            if (value_text(value_get(m, str_of(members[i]))).len == 0)
                finding_invalid(found, &here, value_str(found->arena, STR("")),
                                STR("must not be empty"));
        }
    }
}

static void check_finalizers(const struct value *object, const struct path *meta,
                             struct findings *found)
{
    struct path list = path_field(meta, STR("finalizers"));

    for (struct value *m = value_first(meta_get(object, "finalizers")); m; m = value_next(m))
        meta_validate_key(value_text(m), &list, found);
}

void meta_validate(const struct kind *kind, const struct value *object, struct findings *found)
{
    struct path meta = path_field(NULL, STR("metadata"));

    check_name(kind, object, &meta, found);
    check_labels(object, &meta, found);
    check_annotations(object, &meta, found);
    check_owners(object, &meta, found);
    check_finalizers(object, &meta, found);
}

static void immutable(const struct value *old, const struct value *object, const char *key,
                      const struct path *meta, struct findings *found)
{
    struct path at = path_field(meta, str_of(key));

    if (!str_eq(meta_text(old, key), meta_text(object, key)))
        finding_invalid(found, &at, meta_get(object, key), STR("field is immutable"));
}

static bool has_text(const struct value *list, struct str text)
{
    for (struct value *m = value_first(list); m; m = value_next(m))
        if (str_eq(value_text(m), text))
            return true;
    return false;
}

void meta_validate_update(struct arena *arena, const struct value *old, const struct value *object,
                          struct findings *found)
{
    struct path meta = path_field(NULL, STR("metadata"));
    struct path finalizers = path_field(&meta, STR("finalizers"));
    struct strbuf added = strbuf_new(arena, 32);

    immutable(old, object, "name", &meta, found);
    immutable(old, object, "namespace", &meta, found);
    immutable(old, object, "uid", &meta, found);
    if (!meta_is_going(old))
        return;
    for (struct value *m = value_first(meta_get(object, "finalizers")); m; m = value_next(m)) {
        if (has_text(meta_get(old, "finalizers"), value_text(m)))
            continue;
        if (added.len)
            strbuf_lit(&added, ", ");
        finding_quote(&added, value_text(m));
    }
    if (added.len)
        finding_forbidden(found, &finalizers,
                          str_fmt(arena,
                                  "no new finalizers can be added if the object is being deleted, "
                                  "found new finalizers []string{%.*s}",
                                  STR_ARG(strbuf_str(&added))));
}
