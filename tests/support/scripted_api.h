/* SPDX-License-Identifier: Apache-2.0 */
/* scripted_api.h: an API server of a test's own: what each request gets is said beforehand.
 *
 * Answers stand in a queue for each kind of request, told apart by method and by a piece of the URL;
 * the last one said is repeated. Watches stay open and give what is put into them. */
#ifndef HERD_TESTS_SUPPORT_SCRIPTED_API_H
#define HERD_TESTS_SUPPORT_SCRIPTED_API_H

#include "runtime/client.h"

struct scripted_api;

struct scripted_api *scripted_api_create(void);
void scripted_api_free(struct scripted_api *api);
AUTO_DEFINE(scripted_api_free, struct scripted_api *)
/* Where it is; the text is the server's, and lives as long. */
struct kube_config scripted_api_config(const struct scripted_api *api);
/* A client of it, and of another config if `options` has one; kube_client_free. */
struct kube_client *scripted_api_client(const struct scripted_api *api, struct kube_client_options options);

/* The next request `method` whose path and query hold `piece` gets this. */
void scripted_api_say(struct scripted_api *api, const char *method, const char *piece, int status,
                      const char *body);
/* The same, with a header. */
void scripted_api_say_header(struct scripted_api *api, const char *method, const char *piece,
                             int status, const char *header, const char *value, const char *body);
/* The same, but the connection hangs without an answer. */
void scripted_api_hang(struct scripted_api *api, const char *method, const char *piece);
/* The next watch gets these bytes and then, with `ends`, its end; else it stays silent. */
void scripted_api_say_watch(struct scripted_api *api, const char *bytes, bool ends);

/* It listens no more, and again where it was. */
void scripted_api_leave(struct scripted_api *api);
void scripted_api_return(struct scripted_api *api);

/* How many requests `method` with `piece` came so far, and the last one's URL and body. */
uint32_t scripted_api_count(struct scripted_api *api, const char *method, const char *piece);
struct str scripted_api_last(struct scripted_api *api, struct arena *arena, const char *method,
                             const char *piece);
/* Whether the last one carried the header `line`, "Name: value". */
bool scripted_api_last_has(struct scripted_api *api, const char *method, const char *piece,
                           const char *line);
/* Run the loop until so many came; what they are answered is not there yet. */
void scripted_api_run_until(struct scripted_api *api, struct loop *loop, const char *method, const char *piece,
                            uint32_t count);

#endif
