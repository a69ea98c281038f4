/* SPDX-License-Identifier: Apache-2.0 */
/* wire_pods.c: why the pods of a release are not ready; those of one cause are told once, with
 * their number. */
#include "controller/backends/rancher_apps/wire.h"

#include "kube/pod.h"

enum { CAUSE_BYTES_MAX = 300, CAUSES_MAX = 3 };

struct cause {
    struct str pod; /* the first */
    struct str text;
    uint32_t count;
};

struct causes {
    struct arena *arena;
    struct cause items[CAUSES_MAX];
    uint32_t count;
    uint32_t more; /* pods of other causes */
};

static void add(struct causes *causes, struct str pod, struct str text)
{
    for (uint32_t i = 0; i < causes->count; i++)
        if (str_eq(causes->items[i].text, text)) {
            causes->items[i].count++;
            return;
        }
    if (causes->count == CAUSES_MAX)
        causes->more++;
    else
        causes->items[causes->count++] = (struct cause){ pod, text, 1 };
}

static bool is_of(struct json pod, struct str release)
{
    struct json meta = json_get(pod, STR("metadata"));
    struct json instance = json_walk(meta, "labels", "app.kubernetes.io/instance", NULL);
    struct str name = json_str(json_get(meta, STR("name")));

    if (json_is(instance, JSON_STRING))
        return str_eq(json_str(instance), release);
    return str_starts(name, release) && name.len > release.len && name.at[release.len] == '-';
}

static void validate(struct causes *causes, struct json pod)
{
    struct str name = json_str(json_walk(pod, "metadata", "name", NULL));
    struct str text = pod_cause(causes->arena, pod);

    if (text.len)
        add(causes, name, str_shown(causes->arena, text, CAUSE_BYTES_MAX));
}

struct str wire_pods_cause(struct arena *arena, struct json pods, struct str release)
{
    struct json_iter it = json_iter(json_get(pods, STR("items")));
    struct strbuf out = strbuf_new(arena, 256);
    struct causes causes = { .arena = arena };

    while (json_next(&it))
        if (is_of(it.value, release))
            validate(&causes, it.value);
    for (uint32_t i = 0; i < causes.count; i++) {
        const struct cause *cause = &causes.items[i];

        strbuf_put(&out, i ? STR("; ") : STR(""));
        if (cause->count > 1)
            strbuf_fmt(&out, "%u pods such as ", cause->count);
        else
            strbuf_lit(&out, "pod ");
        strbuf_fmt(&out, "%.*s: %.*s", STR_ARG(str_shown(arena, cause->pod, 253)),
                   STR_ARG(cause->text));
    }
    if (causes.more)
        strbuf_fmt(&out, "; and %u more", causes.more);
    return strbuf_str(&out);
}
