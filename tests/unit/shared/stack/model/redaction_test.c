/* SPDX-License-Identifier: Apache-2.0 */
/* redaction_test.c: what Helm says reaches nobody with a Secret's value in it. */
#include "support/rows.h"

#include "stack/model/redaction.h"

static void hides_values_where_others_speak(void **state)
{
    static const struct {
        const char *name;
        const char *secret;
        const char *stack_uid; /* of the release's stamp */
        const char *said;
        const char *want;
    } rows[] = {
        { "a value of the Secret", "db:\n  password: hunter22\n", "u1", "bad hunter22",
          "bad [secret]" },
        { "of a document in JSON", "{\"password\":\"hunter22\"}", "u1", "bad hunter22",
          "bad [secret]" },
        { "of a release without a stamp", "password: hunter22\n", "", "bad hunter22",
          "bad [secret]" },
        { "words without it stay", "password: hunter22\n", "u1", "it is late", "it is late" },
        { "another Stack's release: all of it", "password: hunter22\n", "u2", "bad hunter23", "" },
        { "a Secret that cannot be read: all of it", "password: [", "u1", "bad hunter22",
          WORDS_WITHHELD },
        { "no words stay none", "password: [", "u1", "", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct mask *mask = mask_new(arena);
        struct observed observed = { .clusters = observed_clusters_new(arena, 1) };
        struct observed_cluster cluster = { .releases = observed_releases_new(arena, 1),
                                            .operations = observed_operations_new(arena, 1) };
        struct str said = str_of(rows[i].said);

        observed_releases_push(&cluster.releases, (struct observed_release){
            .namespace_ = STR("n"), .name = STR("r"), .stack_uid = str_of(rows[i].stack_uid),
            .description = said });
        observed_operations_push(&cluster.operations, (struct observed_operation){
            .namespace_ = STR("n"), .release_name = STR("r"), .message = said });
        observed_clusters_push(&observed.clusters, cluster);
        rows_expect_int("somebody speaks", redaction_is_needed(&observed.clusters.items[0]), said.len > 0);
        redaction_hide_text(mask, arena, str_of(rows[i].secret));
        redaction_hide(mask, arena, STR("u1"), &observed.clusters.items[0]);
        rows_expect_str(rows[i].name, observed.clusters.items[0].releases.items[0].description,
                        str_of(rows[i].want));
        rows_expect_str(rows[i].name, observed.clusters.items[0].operations.items[0].message,
                        str_of(rows[i].want));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hides_values_where_others_speak),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
