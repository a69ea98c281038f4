/* SPDX-License-Identifier: Apache-2.0 */
/* release.c: which overrides apply where, and the names and marks that a release carries. */
#include "stack/model/release.h"

#include "base/map.h"
#include "text/digest.h"

/* One override, made ready to be asked. */
struct override_test {
    bool everywhere; /* it names no clusters at all */
    bool by_selector;
    struct selector selector;
    struct map *ids;
};

struct override_matcher {
    uint32_t count;
    struct override_test *tests;
};

struct override_matcher *override_matcher_new(struct arena *arena, const struct stack *stack)
{
    const struct stack_overrides *overrides = &stack->spec.overrides;
    struct override_matcher *matcher = arena_new(arena, struct override_matcher);

    matcher->count = overrides->count;
    matcher->tests = arena_array(arena, struct override_test, overrides->count);
    for (uint32_t i = 0; i < overrides->count; i++) {
        const struct stack_override *o = &overrides->items[i];
        struct override_test *test = &matcher->tests[i];

        test->by_selector = !label_selector_is_empty(&o->selector);
        test->everywhere = !test->by_selector && o->cluster_ids.count == 0;
        if (test->by_selector)
            test->selector = label_selector_compile(arena, &o->selector);
        test->ids = map_new(arena, o->cluster_ids.count);
        for (uint32_t k = 0; k < o->cluster_ids.count; k++)
            map_put(test->ids, o->cluster_ids.items[k], matcher);
    }
    return matcher;
}

struct u32_list override_matcher_on(const struct override_matcher *matcher, struct arena *arena,
                                    struct str cluster_id, struct json cluster_labels)
{
    struct u32_list on = u32_list_new(arena, 0);

    for (uint32_t i = 0; i < matcher->count; i++) {
        const struct override_test *test = &matcher->tests[i];

        if (test->everywhere || map_get(test->ids, cluster_id) ||
            (test->by_selector && selector_matches(arena, &test->selector, cluster_labels)))
            u32_list_push(&on, i);
    }
    return on;
}

struct str release_repo_url(struct str repo)
{
    while (repo.len && repo.at[repo.len - 1] == '/')
        repo.len--;
    return repo;
}

struct str release_repo_name(struct arena *arena, struct str repo_url)
{
    struct str hex = digest_sha256_hex(arena, release_repo_url(repo_url));

    return str_fmt(arena, "herd-%.10s", hex.at);
}

bool release_repo_is_ours(struct str name)
{
    return str_starts(name, STR("herd-"));
}

struct str release_depends_on(struct arena *arena, const struct chart *chart)
{
    const struct str_list *names = &chart->depends_on;
    struct strbuf text = strbuf_new(arena, 16 * (size_t)names->count);

    for (uint32_t i = 0; i < names->count; i++) {
        if (i)
            strbuf_char(&text, ',');
        strbuf_put(&text, names->items[i]);
    }
    return strbuf_str(&text);
}

static const struct str description_begins = STR_INIT("Stack ");
static const struct str description_uid = STR_INIT(", uid ");

struct str release_description(struct arena *arena, struct str stack, struct str stack_uid)
{
    return str_fmt(arena, "%.*s%.*s%.*s%.*s", STR_ARG(description_begins), STR_ARG(stack),
                   STR_ARG(description_uid), STR_ARG(stack_uid));
}

struct str release_description_uid(struct str description)
{
    ptrdiff_t at = str_find(description, description_uid, 0);

    if (at < 0 || !str_starts(description, description_begins))
        return STR("");
    return str_slice(description, (size_t)at + description_uid.len, description.len);
}
