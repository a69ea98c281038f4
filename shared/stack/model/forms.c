/* SPDX-License-Identifier: Apache-2.0 */
/* forms.c: the rows of forms.def. */
#include "stack/model/fields.h"

#include "kube/names.h"
#include "stack/model/share.h"
#include "text/quantity.h"

static const char *not_size(struct str text)
{
    struct quantity quantity;
    struct error ignored;

    return quantity_parse(text, &quantity, &ignored) < 0 || quantity.milli <= 0
               ? "must be a quantity above 0"
               : NULL;
}

/* The API server takes others, with which no container starts. */
static const char *not_mount_path(struct str text)
{
    if (!str_starts(text, STR("/")) || str_find_char(text, ':', 0) >= 0)
        return "must be an absolute path without ':'";
    return str_eq(text, STR("/")) ? "must not be the container's own root" : NULL;
}

static const char *not_share(struct str text)
{
    return share_is_valid(text) ? NULL : "must be a number or percentage, 0 or more";
}

#define FORM(name, wrong, remedy)                                                                  \
    const struct field_form form_of_##name = { wrong, STR_INIT(remedy) };
#include "stack/model/forms.def"
#undef FORM
