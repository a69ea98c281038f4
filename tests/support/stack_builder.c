/* SPDX-License-Identifier: Apache-2.0 */
/* stack_builder.c: Stacks for tests. */
#include "support/stack_builder.h"

#include "support/rows.h"

struct stack_builder a_stack(struct arena *arena)
{
    return (struct stack_builder){
        .arena = arena,
        .name = STR("shop"),
        .targets = STR("{\"clusterIds\":[\"c-m-one\"]}"),
        .charts = strbuf_new(arena, 256),
        .spec = strbuf_new(arena, 64),
    };
}

void with_raw_chart(struct stack_builder *b, const char *json)
{
    if (b->charts.len)
        strbuf_char(&b->charts, ',');
    strbuf_put(&b->charts, str_of(json));
}

void with_chart(struct stack_builder *b, const char *name, const char *depends_on)
{
    struct str rest = depends_on[0] ? str_of(depends_on) : (struct str){ NULL, 0 };
    struct str one;
    bool first = true;

    if (b->charts.len)
        strbuf_char(&b->charts, ',');
    strbuf_fmt(&b->charts,
               "{\"name\":\"%s\",\"repo\":\"https://charts.example.com\",\"version\":\"1.2.3\"", name);
    strbuf_lit(&b->charts, ",\"dependsOn\":[");
    while (str_split(&rest, ',', &one)) {
        strbuf_fmt(&b->charts, "%s\"%.*s\"", first ? "" : ",", STR_ARG(one));
        first = false;
    }
    strbuf_lit(&b->charts, "]}");
}

void with_spec(struct stack_builder *b, const char *members)
{
    strbuf_fmt(&b->spec, ",%s", members);
}

void with_targets(struct stack_builder *b, const char *json)
{
    b->targets = str_of(json);
}

struct str stack_text(struct stack_builder *b)
{
    struct str charts = strbuf_str(&b->charts);
    struct str spec = strbuf_str(&b->spec);

    return str_fmt(b->arena,
                   "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":"
                   "\"%.*s\",\"namespace\":\"default\"},\"spec\":{\"targets\":%.*s,\"charts\":[%.*s]"
                   "%.*s}}",
                   STR_ARG(b->name), STR_ARG(b->targets), STR_ARG(charts), STR_ARG(spec));
}

struct json test_json(struct arena *arena, struct str text)
{
    struct json read = { NULL, 0 };
    struct error err = { 0 };

    if (json_read(arena, text, &json_limits_default, &read, &err) != 0)
        fail_msg("a test's own document: %s\n%.*s", err.text, STR_ARG(text));
    return read;
}

struct json stack_json(struct stack_builder *b)
{
    return test_json(b->arena, stack_text(b));
}

struct verdict validate_json(struct arena *arena, struct json object)
{
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();

    return stack_admit(arena, object, (struct json){ NULL, 0 }, &facts, &severities);
}

struct str findings_text(struct arena *arena, const struct problems *problems)
{
    struct strbuf text = strbuf_new(arena, 64);

    for (uint32_t i = 0; i < problems->list.count; i++) {
        const struct problem *one = &problems->list.items[i];

        strbuf_fmt(&text, "%s%s%.*s %.*s", i ? "; " : "",
                   one->severity == SEVERITY_DENY ? "!" : "", STR_ARG(one->rule),
                   STR_ARG(one->field));
    }
    return strbuf_str(&text);
}
