/* values.h: a chart's values from the ConfigMaps and Secrets that it names, and what of them nobody
 * may read in a message. */
#ifndef HERD_CONTROLLER_RECONCILE_VALUES_H
#define HERD_CONTROLLER_RECONCILE_VALUES_H

#include "controller/reconcile/references.h"
#include "stack/words.h"

/* Borrowed. */
struct values_reader {
    struct arena *arena;
    const struct references *references;
    const struct stack *stack;
    bool settling; /* set if something is being read for the first time and will soon be there */
};

struct observed_values values_read(struct values_reader *reader, const struct chart *chart);
/* Hides what stands in all Secrets that the Stack names; shows nothing if one of them cannot be
 * read. */
struct mask *values_mask(const struct values_reader *reader);
/* What was said of a request with the values of these Secrets, in these versions. Where they are
 * not at hand any more, nothing of it is shown. */
struct str values_shown(struct values_reader *reader, struct str chart_name,
                        struct str secret_versions, struct str words);

#endif
