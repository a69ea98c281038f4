/* SPDX-License-Identifier: Apache-2.0 */
/* admission_read.c: the review's envelope, by tables. What the objects hold is left as views. */
#include "kube/admission.h"

#include "text/json_skim.h"

#include <stddef.h>

enum { UID_BYTES = 256 };

static const struct str operation_names[] = {
    [ADMISSION_CREATE] = STR_INIT("CREATE"),
    [ADMISSION_UPDATE] = STR_INIT("UPDATE"),
    [ADMISSION_DELETE] = STR_INIT("DELETE"),
    [ADMISSION_CONNECT] = STR_INIT("CONNECT"),
};

static bool operation_from(struct str name, enum admission_operation *ret_operation)
{
    for (enum admission_operation op = ADMISSION_CREATE; op <= ADMISSION_CONNECT; op++)
        if (str_eq(name, operation_names[op])) {
            *ret_operation = op;
            return true;
        }
    return false;
}

/* --- the request, member by member --- */

/* What a member must be, as Go's decoder of k8s.io/api/admission/v1 has it; null is as good as
 * absent. */
enum member_kind {
    MEMBER_ANY,     /* struct json */
    MEMBER_STRING,  /* struct str */
    MEMBER_BOOL,    /* bool */
    MEMBER_STRINGS, /* a list of strings; struct json */
    MEMBER_LISTS,   /* a map of such lists; struct json */
    MEMBER_OBJECT,  /* by its own table */
};

enum { UNKEPT = -1 };

struct member {
    struct str name;
    enum member_kind kind;
    int offset; /* in struct admission_request, or UNKEPT */
    const struct member *of;
};

#define KEPT(member) (int)offsetof(struct admission_request, member)
#define MEMBERS_END                                                                                \
    {                                                                                              \
        { NULL, 0 }, MEMBER_ANY, UNKEPT, NULL                                                      \
    }

static const struct member kind_members[] = {
    { STR_INIT("group"), MEMBER_STRING, UNKEPT, NULL },
    { STR_INIT("version"), MEMBER_STRING, UNKEPT, NULL },
    { STR_INIT("kind"), MEMBER_STRING, KEPT(resource.kind), NULL },
    MEMBERS_END,
};

static const struct member resource_members[] = {
    { STR_INIT("group"), MEMBER_STRING, KEPT(resource.group), NULL },
    { STR_INIT("version"), MEMBER_STRING, KEPT(resource.version), NULL },
    { STR_INIT("resource"), MEMBER_STRING, KEPT(resource.plural), NULL },
    MEMBERS_END,
};

/* What the author asked for, before the API server made it the version that is asked about. */
static const struct member asked_members[] = {
    { STR_INIT("group"), MEMBER_STRING, UNKEPT, NULL },
    { STR_INIT("version"), MEMBER_STRING, UNKEPT, NULL },
    { STR_INIT("kind"), MEMBER_STRING, UNKEPT, NULL },
    { STR_INIT("resource"), MEMBER_STRING, UNKEPT, NULL },
    MEMBERS_END,
};

static const struct member user_members[] = {
    { STR_INIT("username"), MEMBER_STRING, KEPT(username), NULL },
    { STR_INIT("uid"), MEMBER_STRING, KEPT(user_uid), NULL },
    { STR_INIT("groups"), MEMBER_STRINGS, KEPT(groups), NULL },
    { STR_INIT("extra"), MEMBER_LISTS, KEPT(user_extra), NULL },
    MEMBERS_END,
};

static const struct member request_members[] = {
    { STR_INIT("uid"), MEMBER_STRING, KEPT(uid), NULL },
    { STR_INIT("kind"), MEMBER_OBJECT, UNKEPT, kind_members },
    { STR_INIT("resource"), MEMBER_OBJECT, UNKEPT, resource_members },
    { STR_INIT("subResource"), MEMBER_STRING, KEPT(sub_resource), NULL },
    { STR_INIT("requestKind"), MEMBER_OBJECT, UNKEPT, asked_members },
    { STR_INIT("requestResource"), MEMBER_OBJECT, UNKEPT, asked_members },
    { STR_INIT("requestSubResource"), MEMBER_STRING, UNKEPT, NULL },
    { STR_INIT("name"), MEMBER_STRING, KEPT(name), NULL },
    { STR_INIT("namespace"), MEMBER_STRING, KEPT(namespace_), NULL },
    { STR_INIT("operation"), MEMBER_STRING, KEPT(operation_name), NULL },
    { STR_INIT("userInfo"), MEMBER_OBJECT, UNKEPT, user_members },
    { STR_INIT("object"), MEMBER_ANY, KEPT(object), NULL },
    { STR_INIT("oldObject"), MEMBER_ANY, KEPT(old_object), NULL },
    { STR_INIT("dryRun"), MEMBER_BOOL, KEPT(dry_run), NULL },
    MEMBERS_END,
};

static bool all_strings(struct json list)
{
    struct json_iter it = json_iter(list);
    bool fits = json_is(list, JSON_ARRAY) || json_is(list, JSON_NULL);

    while (fits && json_next(&it))
        fits = json_is(it.value, JSON_STRING) || json_is(it.value, JSON_NULL);
    return fits;
}

static bool all_lists(struct json map)
{
    struct json_iter it = json_iter(map);
    bool fits = json_is(map, JSON_OBJECT);

    while (fits && json_next(&it))
        fits = all_strings(it.value);
    return fits;
}

static bool member_fits(const struct member *member, struct json value)
{
    switch (member->kind) {
    case MEMBER_ANY:
        return true;
    case MEMBER_STRING:
        return json_is(value, JSON_STRING);
    case MEMBER_BOOL:
        return json_is(value, JSON_BOOL);
    case MEMBER_STRINGS:
        return all_strings(value);
    case MEMBER_LISTS:
        return all_lists(value);
    case MEMBER_OBJECT:
        return json_is(value, JSON_OBJECT);
    }
    return false;
}

static void keep(const struct member *member, struct json value, struct admission_request *request)
{
    void *at = (char *)request + member->offset;

    if (member->offset == UNKEPT)
        return;
    if (member->kind == MEMBER_STRING)
        *(struct str *)at = json_str(value);
    else if (member->kind == MEMBER_BOOL)
        *(bool *)at = json_bool(value);
    else
        *(struct json *)at = value;
}

static const struct member *member_named(const struct member *members, struct str name)
{
    while (members->name.at && !str_eq(members->name, name))
        members++;
    return members->name.at ? members : NULL;
}

/* Members that are not in the table may come with an API server of tomorrow. */
static int read_members(struct json object, const struct member *members, const struct path *above,
                        struct admission_request *request, struct error *err)
{
    static const char *const wants[] = {
        [MEMBER_ANY] = "anything",
        [MEMBER_STRING] = "a string",
        [MEMBER_BOOL] = "true or false",
        [MEMBER_STRINGS] = "a list of strings",
        [MEMBER_LISTS] = "a map of lists of strings",
        [MEMBER_OBJECT] = "an object",
    };
    struct json_iter it = json_iter(object);

    while (json_next(&it)) {
        const struct member *member = member_named(members, it.key);
        struct path at = path_field(above, it.key);

        if (!member || (json_is(it.value, JSON_NULL) && member->kind != MEMBER_ANY))
            continue;
        if (!member_fits(member, it.value))
            return error_at(err, ERROR_BAD_REQUEST, &at, "must be %s", wants[member->kind]);
        keep(member, it.value, request);
        if (member->of && read_members(it.value, member->of, &at, request, err) < 0)
            return -1;
    }
    return 0;
}

static int check_envelope(struct json root, struct json request, struct error *err)
{
    if (!str_eq(json_str(json_get(root, STR("kind"))), STR("AdmissionReview")) ||
        !str_eq(json_str(json_get(root, STR("apiVersion"))), STR("admission.k8s.io/v1")))
        return error_set(err, ERROR_BAD_REQUEST,
                         "the body must be an AdmissionReview of admission.k8s.io/v1: set "
                         "admissionReviewVersions: [v1] in the webhook configuration");
    if (!json_is(request, JSON_OBJECT))
        return error_at(err, ERROR_BAD_REQUEST,
                        &(struct path){ NULL, STR("request"), 0, PATH_FIELD },
                        "the AdmissionReview has no request");
    return 0;
}

static int missing(struct error *err, struct str field, const char *what)
{
    struct path request = path_field(NULL, STR("request"));
    struct path at = path_field(&request, field);

    return error_at(err, ERROR_BAD_REQUEST, &at, "the AdmissionReview's request %s", what);
}

static const struct admission_request nothing = {
    .uid = STR_INIT(""),
    .resource = { .group = STR_INIT(""),
                  .version = STR_INIT(""),
                  .plural = STR_INIT(""),
                  .kind = STR_INIT("") },
    .sub_resource = STR_INIT(""),
    .name = STR_INIT(""),
    .namespace_ = STR_INIT(""),
    .operation_name = STR_INIT(""),
    .username = STR_INIT(""),
    .user_uid = STR_INIT(""),
};

int admission_read(struct arena *arena, struct str body, struct admission_request *ret_request,
                   struct error *err)
{
    struct admission_request request = nothing;
    struct json root;

    if (json_read(arena, body, &json_limits_default, &root, err) < 0)
        return -1;

    struct json of = json_get(root, STR("request"));
    struct path at = path_field(NULL, STR("request"));

    if (check_envelope(root, of, err) < 0 ||
        read_members(of, request_members, &at, &request, err) < 0)
        return -1;
    request.resource.namespaced = request.namespace_.len > 0;
    if (request.uid.len == 0 || request.uid.len > UID_BYTES)
        return missing(err, STR("uid"), "needs a uid of 1 to 256 bytes");
    if (request.resource.plural.len == 0 || request.resource.version.len == 0)
        return missing(err, STR("resource"), "needs a resource with group, version and resource");
    if (!operation_from(request.operation_name, &request.operation))
        return missing(err, STR("operation"),
                       "needs an operation: CREATE, UPDATE, DELETE or CONNECT");
    *ret_request = request;
    return 0;
}

/* --- of a review that cannot be read --- */

/* The strings that `members` keep, where they are plain; the tables bound the recursion. */
static void skim_members(struct str object, const struct member *members,
                         struct admission_request *request)
{
    struct json_skim skim = json_skim(object);

    while (json_skim_next(&skim)) {
        const struct member *member = member_named(members, skim.key);

        if (!member)
            continue;
        if (member->of)
            skim_members(skim.value, member->of, request);
        else if (member->kind == MEMBER_STRING && member->offset != UNKEPT)
            *(struct str *)(void *)((char *)request + member->offset) =
                json_skim_text(skim.value, UID_BYTES);
    }
}

/* As Go's decoder has it, the last of duplicates counts. */
bool admission_identify(struct str body, struct admission_request *ret_request)
{
    struct json_skim skim = json_skim(body);
    struct admission_request request = nothing;
    struct str kind = STR("");
    struct str version = STR("");

    while (json_skim_next(&skim))
        if (str_eq(skim.key, STR("kind")))
            kind = json_skim_text(skim.value, UID_BYTES);
        else if (str_eq(skim.key, STR("apiVersion")))
            version = json_skim_text(skim.value, UID_BYTES);
        else if (str_eq(skim.key, STR("request")))
            skim_members(skim.value, request_members, &request);
    if (!request.uid.len || !str_eq(kind, STR("AdmissionReview")) ||
        !str_eq(version, STR("admission.k8s.io/v1")))
        return false;
    if (!operation_from(request.operation_name, &request.operation))
        request.operation_name = STR("");
    *ret_request = request;
    return true;
}
