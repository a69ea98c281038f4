/* SPDX-License-Identifier: Apache-2.0 */
/* schema_decode_test.c: what does not fit a Go type, in its decoder's words. */
#include "support/rows.h"

#include "lab/apiserver/kind.h"

#define CANNOT "parsing time "
#define MICRO " as \"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
#define WHOLE " as \"2006-01-02T15:04:05Z07:00\": cannot parse "

static const struct row {
    const char *sentence, *type, *value, *want;
} rows[] = {
    { "bytes", "Secret", "{\"data\":{\"a\":\"YQ==\"}}", "" },
    { "what is none of base64's characters", "Secret", "{\"data\":{\"a\":\"YW!=\"}}",
      "illegal base64 data at input byte 2" },
    { "what ends too early", "Secret", "{\"data\":{\"a\":\"YWFhY\"}}", "illegal base64 data at input byte 4" },
    { "a time", "ObjectMeta", "{\"creationTimestamp\":\"2024-01-15T10:30:00Z\"}", "" },
    { "one with a fraction and a zone", "ObjectMeta",
      "{\"creationTimestamp\":\"2024-01-15T10:30:00.123456789+02:00\"}", "" },
    { "none at all", "ObjectMeta", "{\"creationTimestamp\":null}", "" },
    { "a text that is no time", "ObjectMeta", "{\"creationTimestamp\":\"now\"}",
      CANNOT "\"now\"" WHOLE "\"now\" as \"2006\"" },
    { "an empty one", "ObjectMeta", "{\"creationTimestamp\":\"\"}", CANNOT "\"\"" WHOLE "\"\" as \"2006\"" },
    { "a date alone", "ObjectMeta", "{\"creationTimestamp\":\"2024-01-15\"}",
      CANNOT "\"2024-01-15\"" WHOLE "\"\" as \"T\"" },
    { "a time without a zone", "ObjectMeta", "{\"creationTimestamp\":\"2024-01-15T10:30:00\"}",
      CANNOT "\"2024-01-15T10:30:00\"" WHOLE "\"\" as \"Z07:00\"" },
    { "a thirteenth month", "ObjectMeta", "{\"creationTimestamp\":\"2024-13-15T10:30:00Z\"}",
      CANNOT "\"2024-13-15T10:30:00Z\": month out of range" },
    { "a day that February does not have", "ObjectMeta", "{\"creationTimestamp\":\"2023-02-29T10:30:00Z\"}",
      CANNOT "\"2023-02-29T10:30:00Z\": day out of range" },
    { "more than a time", "ObjectMeta", "{\"creationTimestamp\":\"2024-01-15T10:30:00Z!\"}",
      CANNOT "\"2024-01-15T10:30:00Z!\": extra text: \"!\"" },
    { "microseconds", "Lease", "{\"spec\":{\"renewTime\":\"2024-01-15T10:30:00.000001Z\"}}", "" },
    { "a time without them", "Lease", "{\"spec\":{\"renewTime\":\"2024-01-15T10:30:00Z\"}}",
      CANNOT "\"2024-01-15T10:30:00Z\"" MICRO "\"Z\" as \".000000\"" },
    { "a number for a text", "ConfigMap", "{\"data\":{\"a\":1}}",
      "json: cannot unmarshal number into Go struct field ConfigMap.data of type string" },
};

static void test_rows(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct builtin *builtin = builtin_new(arena);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str why = STR("");
        struct value *value;
        struct error err;

        if (value_read(arena, str_of(rows[i].value), &json_limits_default, &value, &err) != 0)
            fail_msg("%s: %s", rows[i].sentence, err.text);
        schema_decodes(arena, map_get(builtin->types, str_of(rows[i].type)), value,
                       str_of(rows[i].type), &why);
        rows_expect_str(rows[i].sentence, why, str_of(rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
