/* SPDX-License-Identifier: Apache-2.0 */
/* sarif.c: in the order in which people read it. */
#include "text/sarif.h"

#include <ctype.h>

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

void sarif_put_text(struct json_writer *w, const char *key, struct str text)
{
    json_put_key(w, str_of(key));
    json_open_object(w);
    json_field_str(w, "text", text);
    json_close_object(w);
}

/* graph.unknown-node -> GraphUnknownNode: SARIF wants a name in Pascal case (section 3.49.7). */
static struct str pascal_case(struct arena *arena, struct str id)
{
    struct strbuf name = strbuf_new(arena, id.len);
    bool first = true;

    for (size_t i = 0; i < id.len; i++) {
        unsigned char c = (unsigned char)id.at[i];

        if (isalnum(c))
            strbuf_char(&name, (char)(first ? toupper(c) : c));
        first = !isalnum(c);
    }
    return strbuf_str(&name);
}

void sarif_open(struct json_writer *w, const struct sarif_tool *tool)
{
    json_open_object(w);
    json_field_str(w, "$schema", STR(SCHEMA));
    json_field_str(w, "version", STR("2.1.0"));
    json_put_key(w, STR("runs"));
    json_open_array(w);
    json_open_object(w);
    json_put_key(w, STR("tool"));
    json_open_object(w);
    json_put_key(w, STR("driver"));
    json_open_object(w);
    json_field_str(w, "name", tool->name);
    json_field_str(w, "version", tool->version);
    json_field_str(w, "semanticVersion", tool->version);
    json_field_str(w, "informationUri", tool->information_uri);
    json_put_key(w, STR("rules"));
    json_open_array(w);
}

static void put_properties(struct json_writer *w, const struct sarif_rule *rule)
{
    json_put_key(w, STR("properties"));
    json_open_object(w);
    json_field_str(w, "security-severity", rule->security_severity);
    json_put_key(w, STR("tags"));
    json_open_array(w);
    json_put_str(w, STR("security"));
    json_close_array(w);
    json_close_object(w);
}

void sarif_put_rule(struct json_writer *w, const struct sarif_rule *rule)
{
    json_open_object(w);
    json_field_str(w, "id", rule->id);
    json_field_str(w, "name", pascal_case(w->out->arena, rule->id));
    sarif_put_text(w, "shortDescription", rule->short_description);
    sarif_put_text(w, "fullDescription", rule->full_description);
    sarif_put_text(w, "help", rule->help);
    if (rule->help_uri.len)
        json_field_str(w, "helpUri", rule->help_uri);
    json_put_key(w, STR("defaultConfiguration"));
    json_open_object(w);
    json_field_str(w, "level", rule->level);
    json_close_object(w);
    if (rule->security_severity.len)
        put_properties(w, rule);
    json_close_object(w);
}

void sarif_close_rules(struct json_writer *w)
{
    json_close_array(w);
    json_close_object(w);
    json_close_object(w);
}

void sarif_open_results(struct json_writer *w)
{
    json_field_str(w, "columnKind", STR("unicodeCodePoints"));
    json_put_key(w, STR("results"));
    json_open_array(w);
}

void sarif_close(struct json_writer *w)
{
    json_close_array(w);
    json_close_object(w);
    json_close_array(w);
    json_close_object(w);
    strbuf_char(w->out, '\n');
}

struct str sarif_uri(struct arena *arena, struct str name)
{
    struct strbuf uri = strbuf_new(arena, name.len);

    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.at[i];

        if (isalnum(c) || strchr("-._~/", c))
            strbuf_char(&uri, (char)c);
        else
            strbuf_fmt(&uri, "%%%02X", c);
    }
    return strbuf_str(&uri);
}
