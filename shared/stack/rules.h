/* rules.h: the table of rules for readers. Looking one up is validate.h's rule_of. */
#ifndef HERD_STACK_RULES_H
#define HERD_STACK_RULES_H

#include "stack/validate.h"

/* docs/rules.md. */
void rules_doc_write(struct strbuf *out);

#endif
