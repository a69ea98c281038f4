/* SPDX-License-Identifier: Apache-2.0 */
/* release.c: encode and decode; the shapes are Helm's and Rancher's. */
#include "lab/rancher/release.h"

#include "lab/rancher/jsonf.h"
#include "text/limits.h"
#include "text/zip.h"
#include "text/base64.h"
#include "text/time.h"
#include "text/yaml.h"

static const struct str status_names[RELEASE_STATUS_COUNT] = {
    STR_INIT("unknown"),         STR_INIT("deployed"),        STR_INIT("failed"),
    STR_INIT("pending-install"), STR_INIT("pending-upgrade"), STR_INIT("pending-rollback"),
    STR_INIT("uninstalling"),    STR_INIT("uninstalled"),     STR_INIT("superseded"),
};

#define SECRET_PREFIX "sh.helm.release.v1."

struct str release_status_name(enum release_status status)
{
    return status_names[status];
}

enum release_status release_status_from(struct str name)
{
    for (int i = 0; i < RELEASE_STATUS_COUNT; i++)
        if (str_eq(status_names[i], name))
            return (enum release_status)i;
    return RELEASE_UNKNOWN;
}

struct str release_secret_name(struct arena *arena, struct str release, int64_t revision)
{
    return str_fmt(arena, SECRET_PREFIX "%.*s.v%lld", STR_ARG(release), (long long)revision);
}

bool release_secret_name_read(struct str secret, struct str *ret_release, int64_t *ret_revision)
{
    uint64_t revision;
    size_t dot = secret.len;

    if (!str_starts(secret, STR(SECRET_PREFIX)))
        return false;
    while (dot > 0 && secret.at[dot - 1] != '.')
        dot--;
    if (dot <= sizeof(SECRET_PREFIX) || dot >= secret.len || secret.at[dot] != 'v' ||
        !str_to_u64(str_slice(secret, dot + 1, secret.len), &revision) || revision == 0 ||
        revision > INT32_MAX)
        return false;
    *ret_release = str_slice(secret, sizeof(SECRET_PREFIX) - 1, dot - 1);
    *ret_revision = (int64_t)revision;
    return true;
}

struct str release_json(struct arena *arena, const struct release *r)
{
    struct strbuf out = strbuf_new(arena, 1024 + r->config.len + r->manifest.len);

    jsonf_put(&out,
              "{'name':%s,'info':{'first_deployed':%s,'last_deployed':%s,'deleted':%s,"
              "'description':%s,'status':%s,'notes':%s},",
              r->name, time_rfc3339(arena, r->first_deployed_ms),
              time_rfc3339(arena, r->last_deployed_ms),
              r->deleted_ms ? time_rfc3339(arena, r->deleted_ms) : STR(""), r->description,
              release_status_name(r->status), r->notes);
    jsonf_put(&out,
              "'chart':{'metadata':%r,'lock':null,'templates':[],'values':%r,'schema':null,"
              "'files':[]},'config':%r,'manifest':%s,'version':%d,'namespace':%s}",
              r->metadata, r->chart_values, r->config.len ? r->config : STR("{}"), r->manifest,
              r->revision, r->namespace_);
    return strbuf_str(&out);
}

static struct str release_data(struct arena *arena, const struct release *release)
{
    struct str packed = gzip_pack(arena, release_json(arena, release));

    return base64_encode(arena, base64_encode(arena, packed));
}

static struct str seconds(struct arena *arena, int64_t ms)
{
    return str_fmt(arena, "%lld", (long long)(ms / 1000));
}

struct str release_secret(struct arena *arena, const struct release *r, int64_t now_ms)
{
    struct str name = release_secret_name(arena, r->name, r->revision);
    struct str repo =
        r->repo.len ? jsonf(arena, ",%s:%s", STR(RELEASE_REPO_LABEL), r->repo) : STR(" ");
    struct str mark = r->operation.len
                          ? jsonf(arena, "%s:%s", STR(RELEASE_OPERATION_ANNOTATION), r->operation)
                          : STR(" ");

    return jsonf(arena,
                 "{'apiVersion':'v1','kind':'Secret','metadata':{'name':%s,'namespace':%s,"
                 "'labels':{'name':%s,'owner':'helm','status':%s,'version':%s,'createdAt':%s%r},"
                 "'annotations':{%r}},'type':'helm.sh/release.v1','data':{'release':%s}}",
                 name, r->namespace_, r->name, release_status_name(r->status),
                 str_fmt(arena, "%lld", (long long)r->revision), seconds(arena, now_ms), repo, mark,
                 release_data(arena, r));
}

struct str release_secret_patch(struct arena *arena, const struct release *r, int64_t now_ms)
{
    return jsonf(arena,
                 "{'metadata':{'labels':{'status':%s,'createdAt':null,'modifiedAt':%s}},"
                 "'data':{'release':%s}}",
                 release_status_name(r->status), seconds(arena, now_ms), release_data(arena, r));
}

int release_data_read(struct arena *arena, struct str data, struct str *ret_json, struct error *err)
{
    struct str once = STR("");
    struct str twice = STR("");

    if (base64_decode(arena, data, &once, err) != 0 || base64_decode(arena, once, &twice, err) != 0)
        return error_wrap(err, "data.release");
    if (!str_starts(twice, STR("\x1f\x8b\x08"))) {
        *ret_json = twice;
        return 0;
    }
    return gzip_unpack(arena, twice, LIMIT_REVIEW_BODY, ret_json, err);
}

/* Whole values are kept as the text they were stored with. */
static int64_t time_of(struct json text)
{
    struct error ignored;
    int64_t ms = 0;

    if (json_str(text).len == 0 || time_parse_rfc3339(json_str(text), &ms, &ignored) != 0)
        return 0;
    return ms;
}

static struct str raw_or(struct json value, struct str otherwise)
{
    return json_is(value, JSON_OBJECT) ? json_raw(value) : otherwise;
}

int release_read(struct arena *arena, struct str secret, struct release *ret_release,
                 struct error *err)
{
    struct release release = { 0 };
    struct json root;
    struct json body;
    struct str text = STR("");

    if (json_read(arena, secret, &json_limits_default, &root, err) != 0)
        return -1;

    struct json meta = json_get(root, STR("metadata"));

    if (!release_secret_name_read(json_str(json_get(meta, STR("name"))), &release.name,
                                  &release.revision))
        return error_set(err, ERROR_INVALID, "this Secret's name is not that of a release");
    if (release_data_read(arena, json_str(json_walk(root, "data", "release", NULL)), &text, err) !=
            0 ||
        json_read(arena, text, &json_limits_default, &body, err) != 0)
        return -1;

    struct json info = json_get(body, STR("info"));
    struct json chart = json_get(body, STR("chart"));

    release.namespace_ = json_str(json_get(meta, STR("namespace")));
    release.uid = json_str(json_get(meta, STR("uid")));
    release.repo = json_str(json_walk(meta, "labels", RELEASE_REPO_LABEL, NULL));
    release.operation =
        json_str(json_walk(meta, "annotations", RELEASE_OPERATION_ANNOTATION, NULL));
    release.status = release_status_from(json_str(json_get(info, STR("status"))));
    release.first_deployed_ms = time_of(json_get(info, STR("first_deployed")));
    release.last_deployed_ms = time_of(json_get(info, STR("last_deployed")));
    release.deleted_ms = time_of(json_get(info, STR("deleted")));
    release.description = json_str(json_get(info, STR("description")));
    release.notes = json_str(json_get(info, STR("notes")));
    release.metadata = raw_or(json_get(chart, STR("metadata")), STR("{}"));
    release.chart_values = raw_or(json_get(chart, STR("values")), STR("{}"));
    release.config = raw_or(json_get(body, STR("config")), STR("{}"));
    release.manifest = json_str(json_get(body, STR("manifest")));
    *ret_release = release;
    return 0;
}

/* spec.resources: what the manifest names. Helm does not write the namespace of what has none. */
static struct str resources_of(struct arena *arena, const struct release *r)
{
    struct strbuf out = strbuf_new(arena, 256);
    struct yaml_documents documents;
    struct error ignored;
    bool more = false;

    if (yaml_read(arena, r->manifest, &documents, &ignored) != 0)
        return STR(" ");
    strbuf_char(&out, ' ');
    for (uint32_t i = 0; i < documents.count; i++) {
        struct json object;

        if (json_read(arena, documents.items[i].json, &json_limits_default, &object, &ignored) !=
                0 ||
            !json_is(object, JSON_OBJECT))
            continue;

        struct json meta = json_get(object, STR("metadata"));
        struct str namespace_ = json_str(json_get(meta, STR("namespace")));

        jsonf_put(&out, "%r{'apiVersion':%s,'kind':%s,'name':%s,'namespace':%s}",
                  more ? STR(",") : STR(" "), json_str(json_get(object, STR("apiVersion"))),
                  json_str(json_get(object, STR("kind"))), json_str(json_get(meta, STR("name"))),
                  namespace_.len ? namespace_ : r->namespace_);
        more = true;
    }
    return strbuf_str(&out);
}

struct str release_app(struct arena *arena, const struct release *r, struct json stored)
{
    struct json meta = json_get(stored, STR("metadata"));
    struct json annotations = json_get(meta, STR("annotations"));
    struct str resource_version = json_str(json_get(meta, STR("resourceVersion")));
    struct strbuf out = strbuf_new(arena, 1024 + r->metadata.len);
    struct str labels =
        r->repo.len ? jsonf(arena, "%s:%s", STR(RELEASE_REPO_LABEL), r->repo) : STR(" ");
    struct str version =
        resource_version.len ? jsonf(arena, ",'resourceVersion':%s", resource_version) : STR(" ");

    jsonf_put(&out,
              "{'apiVersion':'catalog.cattle.io/v1','kind':'App','metadata':{'name':%s,"
              "'namespace':%s%r,'labels':{%r},'annotations':%r,'ownerReferences':[{"
              "'apiVersion':'v1','kind':'Secret','name':%s,'uid':%s,'controller':true,"
              "'blockOwnerDeletion':false}]},",
              r->name, r->namespace_, version, labels, raw_or(annotations, STR("{}")),
              release_secret_name(arena, r->name, r->revision), r->uid);
    jsonf_put(&out,
              "'spec':{'name':%s,'namespace':%s,'version':%d,'helmVersion':3,"
              "'info':{'firstDeployed':%s,'lastDeployed':%s%r,'description':%s,'status':%s,"
              "'notes':%s},'chart':{'metadata':%r,'values':{}},'values':{},'resources':[%r]}}",
              r->name, r->namespace_, r->revision, time_rfc3339(arena, r->first_deployed_ms),
              time_rfc3339(arena, r->last_deployed_ms),
              r->deleted_ms ? jsonf(arena, ",'deleted':%s", time_rfc3339(arena, r->deleted_ms))
                            : STR(" "),
              r->description, release_status_name(r->status), r->notes, r->metadata,
              resources_of(arena, r));
    return strbuf_str(&out);
}

struct str release_app_status(struct arena *arena, const struct release *r, int64_t generation)
{
    bool moves = release_is_pending(r->status) || r->status == RELEASE_UNINSTALLING;
    struct str state = r->status == RELEASE_UNKNOWN ? STR("") : release_status_name(r->status);

    /* null takes a key away that an earlier status may have left. */
    return jsonf(arena,
                 "{'status':{'observedGeneration':%d,'summary':{'state':%s,'transitioning':%r,"
                 "'error':%r}}}",
                 generation, state, moves ? STR("true") : STR("null"),
                 r->status == RELEASE_FAILED ? STR("true") : STR("null"));
}
