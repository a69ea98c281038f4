/* SPDX-License-Identifier: Apache-2.0 */
/* fields_canonical.h: what a struct of the tables says, in the one form that all documents have
 * which say the same: for digests.
 *
 * JSON, members in byte order of their names. A member that is its row's default, empty or unset is
 * left out, and what no row knows is not there. So it stays the same when defaults are spelled out
 * or not, when an API server prunes and reorders, and when a later Herd adds fields.
 *
 * A status is written so as well, as it is stored: its members in the order of their rows, and
 * those that are FIELD_ALWAYS there even if they say nothing. */
#ifndef HERD_STACK_FIELDS_CANONICAL_H
#define HERD_STACK_FIELDS_CANONICAL_H

#include "stack/model/fields.h"

/* `of`: decoded and defaulted, or a status. False: it says nothing. */
bool fields_canonical(const struct field_table *table, const void *of, struct strbuf *out);

#endif
