/* SPDX-License-Identifier: Apache-2.0 */
/* configuration_fuzz.c: a file that says how Stacks are validated: what is rejected says where and is fit to show, what is taken
 * leaves each rule that can only deny as it was, and says the same again. */
#include "fuzz.h"

#include "stack/model/configuration.h"

static void check_fault(const struct error *err)
{
    struct str text = str_of(err->text);

    MUST(str_starts(text, STR("f:")) && text.len < sizeof(err->text));
    for (size_t i = 0; i < text.len; i++)
        MUST((unsigned char)text.at[i] >= ' ' && text.at[i] != 0x7f);
}

static void check_layer(const struct configuration_layer *layer)
{
    struct configuration configuration = configuration_default();

    configuration_lay(&configuration, layer);
    for (enum rule_id id = 0; id < RULE_COUNT; id++) {
        MUST(configuration.severities.of[id] <= SEVERITY_DENY);
        MUST(!rule_fixed_why(id) || configuration.severities.of[id] == SEVERITY_DENY);
        MUST(layer->rule_given[id] || configuration.severities.of[id] == rule_of(id)->severity);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = str_make((const char *)data, size);
    struct configuration_layer layer = { .plain_http_given = false };
    struct configuration_layer again = { .plain_http_given = false };
    struct error err = { .text = "" };

    if (configuration_read("f", text, &layer, &err) < 0) {
        check_fault(&err);
        MUST(configuration_layer_count(&layer) == 0);
        return 0;
    }
    check_layer(&layer);
    MUST(configuration_read("f", text, &again, &err) == 0);
    MUST(memcmp(&layer, &again, sizeof(layer)) == 0);
    return 0;
}
