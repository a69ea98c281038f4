/* SPDX-License-Identifier: Apache-2.0 */
/* quantity_fuzz.c: what is read is written so that it reads as the same quantity. */
#include "fuzz.h"

#include "text/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf out = strbuf_new(arena, 0);
    struct quantity quantity;
    struct quantity again;
    struct error err;

    if (quantity_parse(str_make((const char *)data, size), &quantity, &err) < 0)
        return 0;
    quantity_write(quantity, &out);
    MUST(quantity_parse(strbuf_str(&out), &again, &err) == 0);
    MUST(again.milli == quantity.milli);
    return 0;
}
