/* SPDX-License-Identifier: Apache-2.0 */
/* image_fuzz.c: a reference to an image that is taken is made of its parts, and each part is one by itself. */
#include "fuzz.h"

#include "kube/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct str text = str_make((const char *)data, size);
    struct image_reference image, name;
    struct str whole;

    if (image_reference_read(text, &image))
        return 0;
    whole = str_fmt(arena, "%.*s%s%.*s%s%.*s", STR_ARG(image.name), image.tag.len ? ":" : "", STR_ARG(image.tag),
                    image.digest.len ? "@" : "", STR_ARG(image.digest));
    MUST(str_eq(whole, text));
    MUST(!image_reference_read(image.name, &name) && str_eq(name.name, image.name));
    MUST(image.name.len && image.name.len <= 255 && image.tag.len <= 128);
    return 0;
}
