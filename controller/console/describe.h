/* SPDX-License-Identifier: Apache-2.0 */
/* describe.h: what the console says of itself. Pure. */
#ifndef HERD_CONTROLLER_CONSOLE_DESCRIBE_H
#define HERD_CONTROLLER_CONSOLE_DESCRIBE_H

#include "controller/console/kinds.h"

struct console_route {
    const char *method, *path, *summary;
};
/* routes.def */
extern const struct console_route console_routes[];
extern const uint32_t console_route_count;

/* GET /: the controller, its kinds, and where what is. */
void describe_index(const struct console_kinds *kinds, struct strbuf *out);
/* GET /crd: a List of the kinds' CustomResourceDefinitions, as manifests/crds/ has them. */
void describe_definitions(struct arena *arena, const struct console_kinds *kinds,
                          struct strbuf *out);
/* GET /openapi.json: OpenAPI 3.0.3, https://spec.openapis.org/oas/v3.0.3. The schemas of objects
 * are those of the definitions. */
void describe_openapi(struct arena *arena, const struct console_kinds *kinds, struct strbuf *out);

#endif
