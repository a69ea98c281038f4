/* SPDX-License-Identifier: Apache-2.0 */
/* labels_fuzz.c: a query string's label selector: what is read is written as text that reads as the same. */
#include "fuzz.h"

#include "kube/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct selector selector;
    struct selector again;
    struct error err = { 0 };

    if (selector_parse(arena, str_make((const char *)data, size), &selector, &err) < 0) {
        MUST(err.code == ERROR_BAD_REQUEST && err.text[0]);
        return 0;
    }

    struct str text = selector_text(arena, &selector);

    MUST(selector_parse(arena, text, &again, &err) == 0);
    MUST(again.all.count == selector.all.count);
    MUST(str_eq(selector_text(arena, &again), text));
    MUST(selector_matches(NULL, &selector, (struct json){ NULL, 0 }) ==
         selector_matches(NULL, &again, (struct json){ NULL, 0 }));
    return 0;
}
