/* SPDX-License-Identifier: Apache-2.0 */
/* sarif.h: the frame of a SARIF 2.1.0 document (OASIS, Static Analysis Results Interchange Format):
 * one run of one tool, and the rules that its results name.
 *
 *     sarif_open, sarif_put_rule for each, sarif_close_rules, further members of the run,
 *     sarif_open_results, an object for each, sarif_close */
#ifndef HERD_TEXT_SARIF_H
#define HERD_TEXT_SARIF_H

#include "text/json_write.h"

struct sarif_tool {
    struct str name, version;
    struct str information_uri;
};

struct sarif_rule {
    struct str id;
    struct str short_description;
    struct str full_description;
    struct str help;
    struct str help_uri;          /* "" = none */
    struct str level;             /* error, warning or note */
    struct str security_severity; /* CVSS score, by which code scanning sorts; "" = none */
};

void sarif_open(struct json_writer *w, const struct sarif_tool *tool);
void sarif_put_rule(struct json_writer *w, const struct sarif_rule *rule);
void sarif_close_rules(struct json_writer *w);
void sarif_open_results(struct json_writer *w);
void sarif_close(struct json_writer *w);

/* Member `key` as SARIF has texts: {"text": ...}. */
void sarif_put_text(struct json_writer *w, const char *key, struct str text);
/* RFC 3986: what is not unreserved, and no '/', is percent-encoded; so a ':' makes no scheme. */
struct str sarif_uri(struct arena *arena, struct str name);

#endif
