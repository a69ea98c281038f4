/* SPDX-License-Identifier: Apache-2.0 */
/* format_cyclonedx.c: CycloneDX 1.5 as JSON (ECMA-424's predecessor, cyclonedx.org/docs/1.5/json).
 *
 * The Stack is the application, images are its components, and a vulnerability of a package stands
 * once, with all images that it affects. Images have package URLs of the type oci: the digest of an
 * image's configuration is not that of its manifest, so none stands in them. */
#include "controller/report/formats.h"

#include "base/map.h"
#include "stack/model/vulnerability.h"
#include "text/json_write.h"
#include "text/sarif.h"
#include "text/time.h"

#include <ctype.h>

struct cyclonedx {
    const struct reported_stack *stack;
    struct arena *arena;
    struct json_writer w;
};

/* registry/path/name:tag. */
struct reference {
    struct str repository; /* with the registry */
    struct str name;       /* what follows its last '/' */
    struct str tag;        /* "" = none */
};

static struct reference reference_of(struct str image)
{
    struct str rest = image;
    struct str part = STR("");
    ptrdiff_t at = str_find_char(image, '@', 0);
    struct reference of = { .repository = at < 0 ? image : str_slice(image, 0, (size_t)at),
                            .tag = STR("") };

    rest = of.repository;
    while (str_split(&rest, '/', &part))
        of.name = part;
    at = str_find_char(of.name, ':', 0);
    if (at >= 0) {
        of.tag = str_slice(of.name, (size_t)at + 1, of.name.len);
        of.repository.len -= of.tag.len + 1;
        of.name = str_slice(of.name, 0, (size_t)at);
    }
    return of;
}

/* github.com/package-url/purl-spec: the type oci has names in lower case. */
static struct str purl_of(struct arena *arena, const struct reference *of)
{
    struct strbuf out = strbuf_new(arena, 128);
    struct str name = sarif_uri(arena, of->name);

    strbuf_lit(&out, "pkg:oci/");
    for (size_t i = 0; i < name.len; i++)
        strbuf_char(&out, (char)tolower((unsigned char)name.at[i]));
    strbuf_fmt(&out, "?repository_url=%.*s", STR_ARG(sarif_uri(arena, of->repository)));
    if (of->tag.len)
        strbuf_fmt(&out, "&tag=%.*s", STR_ARG(sarif_uri(arena, of->tag)));
    return strbuf_str(&out);
}

static void put_property(struct json_writer *w, const char *name, struct str value)
{
    json_open_object(w);
    json_field_str(w, "name", str_of(name));
    json_field_str(w, "value", value);
    json_close_object(w);
}

/* --- the head --- */

static struct str time_of(const struct cyclonedx *c)
{
    int64_t newest_ms = 0;

    for (uint32_t i = 0; i < c->stack->report.images.count; i++)
        if (c->stack->report.images.items[i].last_scan_ms > newest_ms)
            newest_ms = c->stack->report.images.items[i].last_scan_ms;
    return newest_ms ? time_rfc3339(c->arena, newest_ms) : STR("");
}

static void put_tools(struct json_writer *w)
{
    json_put_key(w, STR("tools"));
    json_open_object(w);
    json_put_key(w, STR("components"));
    json_open_array(w);
    json_open_object(w);
    json_field_str(w, "type", STR("application"));
    json_field_str(w, "name", STR("herd-controller"));
    json_field_str(w, "version", STR(HERD_VERSION));
    json_close_object(w);
    json_close_array(w);
    json_close_object(w);
}

static void put_counts(struct cyclonedx *c)
{
    const struct scan_summary *sum = &c->stack->report.summary;
    const struct {
        const char *name;
        int64_t count;
    } rows[] = {
        { "herd:images", sum->images },
        { "herd:scannedImages", sum->scanned },
        { "herd:unknownReleases", sum->unknown },
        { "herd:omittedImages", sum->images_omitted },
        { "herd:omittedFindings", sum->findings_omitted },
    };

    json_put_key(&c->w, STR("properties"));
    json_open_array(&c->w);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        put_property(&c->w, rows[i].name, str_fmt(c->arena, "%lld", (long long)rows[i].count));
    json_close_array(&c->w);
}

static void put_metadata(struct cyclonedx *c)
{
    struct str time = time_of(c);

    json_put_key(&c->w, STR("metadata"));
    json_open_object(&c->w);
    if (time.len)
        json_field_str(&c->w, "timestamp", time);
    put_tools(&c->w);
    json_put_key(&c->w, STR("component"));
    json_open_object(&c->w);
    json_field_str(&c->w, "type", STR("application"));
    json_field_str(&c->w, "bom-ref", STR("stack"));
    json_field_str(&c->w, "group", c->stack->namespace_);
    json_field_str(&c->w, "name", c->stack->name);
    json_close_object(&c->w);
    put_counts(c);
    json_close_object(&c->w);
}

/* --- images --- */

static void put_image(struct cyclonedx *c, const struct scan_image *image)
{
    struct reference of = reference_of(image->name);

    json_open_object(&c->w);
    json_field_str(&c->w, "type", STR("container"));
    json_field_str(&c->w, "bom-ref", image->digest);
    json_field_str(&c->w, "name", of.repository);
    if (of.tag.len)
        json_field_str(&c->w, "version", of.tag);
    if (of.name.len)
        json_field_str(&c->w, "purl", purl_of(c->arena, &of));
    json_put_key(&c->w, STR("properties"));
    json_open_array(&c->w);
    put_property(&c->w, "herd:digest", image->digest);
    put_property(&c->w, "herd:scan", image->state);
    for (uint32_t i = 0; i < image->places.count; i++)
        put_property(&c->w, "herd:runsOn",
                     str_fmt(c->arena, "%.*s %.*s", STR_ARG(image->places.items[i].cluster_id),
                             STR_ARG(image->places.items[i].release)));
    json_close_array(&c->w);
    json_close_object(&c->w);
}

/* References are unique, whatever the object says. */
static void put_images(struct cyclonedx *c)
{
    const struct scan_images *images = &c->stack->report.images;
    struct map *seen = map_new(c->arena, images->count);

    json_put_key(&c->w, STR("components"));
    json_open_array(&c->w);
    for (uint32_t i = 0; i < images->count; i++) {
        const struct scan_image *image = &images->items[i];

        if (!image->digest.len || map_get(seen, image->digest))
            continue;
        map_put(seen, image->digest, &images->items[i]);
        put_image(c, image);
    }
    json_close_array(&c->w);
}

/* A list that leaves out something would read as if it were whole. */
static void put_composition(struct cyclonedx *c)
{
    if (!report_gaps(c->arena, &c->stack->report).count)
        return;
    json_put_key(&c->w, STR("compositions"));
    json_open_array(&c->w);
    json_open_object(&c->w);
    json_field_str(&c->w, "aggregate", STR("incomplete"));
    json_put_key(&c->w, STR("assemblies"));
    json_open_array(&c->w);
    json_put_str(&c->w, STR("stack"));
    json_close_array(&c->w);
    json_close_object(&c->w);
    json_close_array(&c->w);
}

/* --- vulnerabilities --- */

/* Findings that differ in nothing but the image. */
struct group {
    const struct scan_finding *finding;
    struct str_list digests;
};
LIST_DEFINE(groups, struct group)

static struct groups groups_of(struct cyclonedx *c)
{
    const struct scan_findings_list *findings = &c->stack->report.findings;
    struct groups groups = groups_new(c->arena, findings->count);
    struct map *by_text = map_new(c->arena, findings->count);

    for (uint32_t i = 0; i < findings->count; i++) {
        const struct scan_finding *one = &findings->items[i];
        struct str text =
            str_fmt(c->arena, "%.*s\n%.*s\n%.*s\n%.*s", STR_ARG(one->cve), STR_ARG(one->package),
                    STR_ARG(one->version), STR_ARG(one->fixed));
        struct group *group = map_get(by_text, text);

        if (!group) {
            group = groups_push(&groups, (struct group){ one, str_list_new(c->arena, 1) });
            map_put(by_text, text, group);
        }
        if (scan_report_image(&c->stack->report, one->digest) &&
            !str_list_has(&group->digests, one->digest))
            str_list_push(&group->digests, one->digest);
    }
    return groups;
}

static struct str severity_of(struct str severity)
{
    enum vulnerability_severity known;
    static const char *const words[] = { "medium", "high", "critical" };

    return str_of(vulnerability_severity_from(severity, &known) ? words[known] : "unknown");
}

/* A number from 0 to 10 with a decimal, or "". */
static struct str score_of(struct str score)
{
    bool plain = score.len == 3 && isdigit((unsigned char)score.at[0]) && score.at[1] == '.' &&
                 isdigit((unsigned char)score.at[2]);

    return plain || str_eq(score, STR("10.0")) ? score : STR("");
}

static void put_source(struct cyclonedx *c, const struct scan_finding *finding)
{
    const struct report_source source = report_source_of(c->arena, finding->cve);

    json_put_key(&c->w, STR("source"));
    json_open_object(&c->w);
    json_field_str(&c->w, "name", source.name);
    if (source.page.len)
        json_field_str(&c->w, "url", source.page);
    json_close_object(&c->w);
}

static void put_rating(struct cyclonedx *c, const struct scan_finding *finding)
{
    struct str score = score_of(finding->score);

    json_put_key(&c->w, STR("ratings"));
    json_open_array(&c->w);
    json_open_object(&c->w);
    if (score.len)
        json_field_raw(&c->w, "score", score);
    json_field_str(&c->w, "severity", severity_of(finding->severity));
    json_close_object(&c->w);
    json_close_array(&c->w);
}

static void put_vulnerability(struct cyclonedx *c, const struct group *group)
{
    const struct scan_finding *finding = group->finding;

    json_open_object(&c->w);
    json_field_str(&c->w, "id", finding->cve);
    put_source(c, finding);
    put_rating(c, finding);
    if (finding->fixed.len)
        json_field_str(&c->w, "recommendation",
                       str_fmt(c->arena, "Update %.*s to %.*s.", STR_ARG(finding->package),
                               STR_ARG(finding->fixed)));
    json_put_key(&c->w, STR("affects"));
    json_open_array(&c->w);
    for (uint32_t i = 0; i < group->digests.count; i++) {
        json_open_object(&c->w);
        json_field_str(&c->w, "ref", group->digests.items[i]);
        json_close_object(&c->w);
    }
    json_close_array(&c->w);
    json_put_key(&c->w, STR("properties"));
    json_open_array(&c->w);
    put_property(&c->w, "herd:package", finding->package);
    put_property(&c->w, "herd:installedVersion", finding->version);
    json_close_array(&c->w);
    json_close_object(&c->w);
}

void format_cyclonedx(const struct reported_stack *stack, struct strbuf *out)
{
    struct cyclonedx c = { .stack = stack, .arena = out->arena, .w = json_writer(out) };
    struct groups groups = groups_of(&c);

    json_open_object(&c.w);
    json_field_str(&c.w, "bomFormat", STR("CycloneDX"));
    json_field_str(&c.w, "specVersion", STR("1.5"));
    json_field_int(&c.w, "version", 1);
    put_metadata(&c);
    put_images(&c);
    put_composition(&c);
    json_put_key(&c.w, STR("vulnerabilities"));
    json_open_array(&c.w);
    for (uint32_t i = 0; i < groups.count; i++)
        put_vulnerability(&c, &groups.items[i]);
    json_close_array(&c.w);
    json_close_object(&c.w);
    strbuf_char(out, '\n');
}
