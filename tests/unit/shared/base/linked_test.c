/* SPDX-License-Identifier: Apache-2.0 */
/* linked_test.c: objects come and go at any place of a list. */
#include "support/rows.h"

#include "base/linked.h"

struct bead {
    struct bead *next, *previous;
    char name;
};
LINKED_DEFINE(bead, struct bead)

/* Forwards and backwards, so that both links are looked at. */
static struct str shown(struct arena *arena, const struct bead *list)
{
    struct strbuf out = strbuf_new(arena, 16);
    const struct bead *last = NULL;

    for (const struct bead *bead = list; bead; last = bead, bead = bead->next)
        strbuf_char(&out, bead->name);
    strbuf_char(&out, ' ');
    for (const struct bead *bead = last; bead; bead = bead->previous)
        strbuf_char(&out, bead->name);
    return strbuf_str(&out);
}

static void each_place_can_be_left(void **state)
{
    static const char *const left[] = { "cb bc", "ca ac", "ba ab" };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct bead beads[] = { { .name = 'a' }, { .name = 'b' }, { .name = 'c' } };
        struct bead *list = NULL;

        for (size_t k = 0; k < 3; k++)
            bead_link(&list, &beads[k]);
        rows_expect_str("the newest is first", shown(arena, list), STR("cba abc"));
        bead_unlink(&list, &beads[i]);
        rows_expect_str("the others stay", shown(arena, list), str_of(left[i]));
        bead_link(&list, &beads[i]);
        rows_expect("it comes back as the first", list == &beads[i], "with nothing lost");
        for (size_t k = 0; k < 3; k++)
            bead_unlink(&list, &beads[k]);
        rows_expect("in the end", list == NULL, "there is none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_place_can_be_left) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
