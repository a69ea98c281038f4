/* SPDX-License-Identifier: Apache-2.0 */
/* reflector_test.c: what follows on what: walks through the states, one row each. */
#include "support/rows.h"

#include "kube/reflector.h"

#include <stdio.h>

/* A step of a walk. Effects: L list, W watch, . nothing, _ wait; ( a list begins, ) one ends. */
struct step {
    char event;
    enum error_code error;
    int64_t lasted_ms;
};

#define START { 's', ERROR_NONE, 0 }
#define PAGE { 'P', ERROR_NONE, 0 }
#define LAST { 'p', ERROR_NONE, 0 }
#define CHANGE { 'c', ERROR_NONE, 0 }
#define TIMER { 't', ERROR_NONE, 0 }
#define LIST(error) { 'l', ERROR_##error, 0 }
#define END(lasted_ms) { 'e', ERROR_NONE, lasted_ms }
#define FAIL(error, lasted_ms) { 'f', ERROR_##error, lasted_ms }

static struct reflector_input input_of(const struct step *step, int number)
{
    static const char events[] = "splPceft";
    static const enum reflector_event kinds[] = {
        REFLECTOR_START, REFLECTOR_PAGE, REFLECTOR_LIST_FAILED, REFLECTOR_PAGE, REFLECTOR_CHANGE,
        REFLECTOR_WATCH_ENDED, REFLECTOR_WATCH_FAILED, REFLECTOR_TIMER };
    static char token[16];

    snprintf(token, sizeof(token), "t%d", number);
    return (struct reflector_input){
        .event = kinds[strchr(events, step->event) - events],
        .resource_version = step->event == 'c' ? STR("9") : STR("5"),
        .continue_ = step->event == 'P' ? str_of(token) : STR(""),
        .error = step->error,
        .retry_after_ms = -1,
        .lasted_ms = step->lasted_ms,
    };
}

static void walks(void **state)
{
    enum { LONG = 400000 };
    static const struct {
        const char *row;
        struct step steps[12];
        const char *want;
        const char *version;
    } rows[] = {
        { "a list of three pages, then a watch", { START, PAGE, PAGE, LAST },
          "(L L L )W", "5" },
        { "a watch that ends is resumed where it was",
          { START, LAST, CHANGE, END(LONG) }, "(L )W . W", "9" },
        { "one that is closed at once is resumed after a wait",
          { START, LAST, END(10), TIMER }, "(L )W _ W", "5" },
        { "a lost connection too",
          { START, LAST, CHANGE, FAIL(LOST, LONG), TIMER }, "(L )W . _ W", "9" },
        { "410 of a watch lists at once",
          { START, LAST, FAIL(EXPIRED, 0), LAST }, "(L )W (L )W", "5" },
        { "the third 410 in a row waits",
          { START, LAST, FAIL(EXPIRED, 0), LAST, FAIL(EXPIRED, 0),
            LAST, FAIL(EXPIRED, 0), TIMER }, "(L )W (L )W (L )W _ (L", "" },
        { "but not after a watch that brought something",
          { START, LAST, FAIL(EXPIRED, 0), LAST, FAIL(EXPIRED, 0),
            LAST, CHANGE, FAIL(EXPIRED, 0) }, "(L )W (L )W (L )W . (L", "" },
        { "410 inside a list begins it anew",
          { START, PAGE, LIST(EXPIRED), LAST }, "(L L (L )W", "5" },
        { "a list that fails is tried again after a wait",
          { START, PAGE, LIST(CONNECT), TIMER, LAST }, "(L L _ (L )W", "5" },
        { "a version too large for the server lists after a wait",
          { START, LAST, FAIL(TIMEOUT, 0), TIMER }, "(L )W _ (L", "5" },
        { "so does a line too long",
          { START, LAST, FAIL(TOO_LARGE, 0), TIMER }, "(L )W _ (L", "5" },
        { "a server that is busy is watched again after a wait",
          { START, LAST, FAIL(TOO_MANY, 0), TIMER }, "(L )W _ W", "5" },
        { "what comes late changes nothing",
          { START, CHANGE, END(0), TIMER, LAST, LAST, START, LIST(NONE) },
          "(L . . . )W . . .", "5" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reflector reflector = reflector_new();
        struct rng rng = rng_from_seed(i);
        char got[128] = "";

        for (int s = 0; s < 12 && rows[i].steps[s].event; s++) {
            struct reflector_input input = input_of(&rows[i].steps[s], s);
            struct reflector_output out = reflector_step(&reflector, &input, &rng);
            size_t at = strlen(got);

            snprintf(got + at, sizeof(got) - at, "%s%s%s%c", s ? " " : "",
                     out.list_begins ? "(" : "", out.list_ends ? ")" : "", ".LW_"[out.effect]);
        }
        rows_expect_str(rows[i].row, str_of(got), str_of(rows[i].want));
        rows_expect_str(rows[i].row, str_of(reflector.resource_version),
                        str_of(rows[i].version));
        reflector_free(&reflector);
    }
    (void)state;
}

static void a_page_that_leads_nowhere_is_not_followed(void **state)
{
    struct reflector reflector = reflector_new();
    struct rng rng = rng_from_seed(1);
    struct reflector_input start = { .event = REFLECTOR_START };
    struct reflector_input page = { .event = REFLECTOR_PAGE, .resource_version = STR("1"),
                                    .continue_ = STR("same"), .retry_after_ms = -1 };

    reflector_step(&reflector, &start, &rng);
    assert_int_equal(reflector_step(&reflector, &page, &rng).effect, REFLECTOR_DO_LIST);
    assert_int_equal(reflector_step(&reflector, &page, &rng).effect, REFLECTOR_DO_WAIT);
    reflector_free(&reflector);
    (void)state;
}

/* A failure is tried again by backoff; what works, after the interval, a tenth more or less. */
static void one_with_an_interval_lists_again_and_does_not_watch(void **state)
{
    enum { INTERVAL_MS = 300000 };
    struct step steps[] = { START, PAGE, LAST, TIMER, LIST(CONNECT), TIMER, LAST, TIMER };
    static const char want[] = "LL_L_L_L";
    struct reflector reflector = reflector_new();
    struct rng rng = rng_from_seed(1);

    reflector.interval_ms = INTERVAL_MS;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct reflector_input input = input_of(&steps[i], (int)i);
        struct reflector_output out = reflector_step(&reflector, &input, &rng);

        rows_expect_int("what follows", ".LW_"[out.effect], want[i]);
        rows_expect_int("a whole list ends it", out.list_ends, steps[i].event == 'p');
        if (out.list_ends)
            rows_expect("the wait is about as long",
                        out.wait_ms >= INTERVAL_MS * 9 / 10 && out.wait_ms <= INTERVAL_MS * 11 / 10, "it is not");
        else if (out.effect == REFLECTOR_DO_WAIT)
            rows_expect("a failure waits for less", out.wait_ms < INTERVAL_MS / 10, "it does not");
    }
    reflector_free(&reflector);
    (void)state;
}

static void an_interval_ends_a_watch_with_a_list(void **state)
{
    static const struct {
        const char *name;
        struct step steps[3];
        enum reflector_effect then;
    } rows[] = {
        { "it watches", { START, LAST, END(0) }, REFLECTOR_DO_LIST },
        { "its watch waits to go on", { START, LAST, FAIL(CONNECT, 0) }, REFLECTOR_DO_WAIT },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct reflector reflector = reflector_new();
        struct rng rng = rng_from_seed(1);
        struct reflector_output out = { .effect = REFLECTOR_DO_NOTHING };

        for (int s = 0; s < 3; s++) {
            struct reflector_input input = input_of(&rows[i].steps[s], s);

            if (s == 2 && rows[i].then == REFLECTOR_DO_LIST)
                reflector.interval_ms = 1000;
            out = reflector_step(&reflector, &input, &rng);
        }
        rows_expect_int(rows[i].name, out.effect, rows[i].then);
        reflector.interval_ms = 1000;
        out = reflector_step(&reflector,
                             &(struct reflector_input){ .event = REFLECTOR_TIMER, .retry_after_ms = -1 },
                             &rng);
        rows_expect_int("the wait ends with a list, not a watch", out.effect,
                        rows[i].then == REFLECTOR_DO_WAIT ? REFLECTOR_DO_LIST : REFLECTOR_DO_NOTHING);
        reflector_free(&reflector);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks),
        cmocka_unit_test(an_interval_ends_a_watch_with_a_list),
        cmocka_unit_test(a_page_that_leads_nowhere_is_not_followed),
        cmocka_unit_test(one_with_an_interval_lists_again_and_does_not_watch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
