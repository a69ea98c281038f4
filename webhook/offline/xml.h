/* SPDX-License-Identifier: Apache-2.0 */
/* xml.h: text as XML 1.0 takes it. */
#ifndef HERD_WEBHOOK_OFFLINE_XML_H
#define HERD_WEBHOOK_OFFLINE_XML_H

#include "base/str.h"

/* Escaped for an element. What no XML document may hold (section 2.2:
 * control characters, surrogates, U+FFFE, U+FFFF) and what is not UTF-8 becomes U+FFFD. */
void xml_put(struct strbuf *out, struct str text);
/* ` name="text"` */
void xml_attribute(struct strbuf *out, const char *name, struct str text);

#endif
