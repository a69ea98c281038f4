/* SPDX-License-Identifier: Apache-2.0 */
/* website.c: the fields of a Website, its definition, and what it is made into. Pure. */
#include "example_kind/website.h"

#include "kube/meta.h"
#include "stack/model/decode.h"
#include "text/json_write.h"

struct page {
    uint64_t given;
    struct str name;
    struct str text;
};
LIST_DEFINE(pages, struct page)

struct website {
    uint64_t given;
    struct pages pages;
    int64_t port;
    bool metrics;
};

#define FIELDS_DEF "example_kind/website_fields.def"
#include "stack/model/fields_rows.h"

static const struct crd_column columns[] = {
    { "Applied", "string", ".status.conditions[?(@.type==\"Applied\")].status", "Whether its objects are as desired", 0 },
    { 0 },
};

const struct crd website_crd = {
    .group = "web.example.com",
    .version = "v1alpha1",
    .kind = "Website",
    .plural = "websites",
    .singular = "website",
    .short_names = "web",
    .namespaced = true,
    .made_from = "tests/example_kind/website_fields.def",
    .help = "A Website: pages, and how they are served.",
    .spec = &fields_of_website,
    .status = &fields_of_kind_status,
    .columns = columns,
};

enum { CONFIG_MAPS, SERVICES, SERVICE_MONITORS, KINDS };
static const struct kube_resource resources[KINDS] = {
    [CONFIG_MAPS] = KUBE_RESOURCE_INIT("", "v1", "configmaps", "ConfigMap", true),
    [SERVICES] = KUBE_RESOURCE_INIT("", "v1", "services", "Service", true),
    [SERVICE_MONITORS] =
        KUBE_RESOURCE_INIT("monitoring.coreos.com", "v1", "servicemonitors", "ServiceMonitor", true),
};
static const struct kube_resource *const followed[KINDS] = { &resources[CONFIG_MAPS],
                                                             &resources[SERVICES],
                                                             &resources[SERVICE_MONITORS] };

static void add(struct kube_children *children, int kind, struct str name, struct str object)
{
    kube_children_push(children, (struct kube_child){ .resource = &resources[kind], .name = name, .object = object });
}

static void render(const struct kube_kind *kind, struct arena *arena,
                   const struct kind_observation *seen, struct kube_children *children,
                   struct problems *problems)
{
    struct website website = { 0 };
    struct kube_meta meta;

    kube_meta_read(seen->object, &meta);
    object_decode(arena, seen->object, &kind->resource, &fields_of_website, &website, problems);
    for (uint32_t i = 0; i < website.pages.count; i++) {
        const struct page *page = &website.pages.items[i];
        struct strbuf text = strbuf_new(arena, page->text.len + 8);

        json_quote(&text, page->text);
        add(children, CONFIG_MAPS, str_fmt(arena, "%.*s-%.*s", STR_ARG(meta.name), STR_ARG(page->name)),
            str_fmt(arena, "{\"data\":{\"text\":%.*s}}", STR_ARG(strbuf_str(&text))));
    }
    if (website.port)
        add(children, SERVICES, meta.name,
            str_fmt(arena, "{\"spec\":{\"ports\":[{\"port\":%d}],\"selector\":{\"web\":\"%.*s\"}}}", (int)website.port,
                    STR_ARG(meta.name)));
    if (website.metrics)
        add(children, SERVICE_MONITORS, meta.name,
            STR("{\"spec\":{\"endpoints\":[{\"port\":\"http\"}],\"selector\":{}}}"));
}

const struct kube_kind website_kind = {
    .resource = KUBE_RESOURCE_INIT("web.example.com", "v1alpha1", "websites", "Website", true),
    .children = followed,
    .child_count = KINDS,
    .label = "web.example.com/website",
    .field_manager = "example-website",
    .render = render,
};
