/* SPDX-License-Identifier: Apache-2.0 */
/* http.h: a request of HTTP, taken apart, and its answers. Inside of lab/apiserver only. */
#ifndef HERD_LAB_APISERVER_HTTP_H
#define HERD_LAB_APISERVER_HTTP_H

#include "lab/apiserver/request.h"
#include "lab/apiserver/roles.h"
#include "lab/apiserver/table.h"

struct http_request_of_api {
    struct http_exchange *exchange;
    struct request *rq;
    struct str path;       /* behind the cluster's prefix */
    struct str_list parts; /* its segments */
    enum output output;
    enum table_object include;
    struct str accept;
};

/* A query parameter, "" if absent. */
struct str query_of(struct http_request_of_api *h, const char *name);
bool query_true(struct http_request_of_api *h, const char *name);

/* Answers; warnings become headers. */
void answer_json(struct http_request_of_api *h, int status, struct str body);
void answer_failure(struct http_request_of_api *h);
/* One object, as object, Table or metadata only. */
void answer_object(struct http_request_of_api *h, int status, struct str object);
void http_put_warnings(struct http_request_of_api *h);

/* Kind, name and verb of method and path. -1: the failure is filled. */
int find_route(struct http_request_of_api *h);
/* Options of a creation, an update or a patch, into the request; those of a deletion from its body,
 * if it has one. -1: the failure is filled. */
int read_write_options(struct http_request_of_api *h);
int read_delete_options(struct http_request_of_api *h, struct delete_options *ret_options);
/* Do the options of a list or a watch go together? -1: the failure is filled. */
int list_options_check(struct http_request_of_api *h, bool watches);
/* What is said of a resourceVersion that is no number. */
struct str list_version_invalid(struct arena *arena, struct str version);
void handle_list(struct http_request_of_api *h);
void handle_watch(struct http_request_of_api *h);
void handle_create(struct http_request_of_api *h);
void handle_update(struct http_request_of_api *h);
void handle_patch(struct http_request_of_api *h);
void handle_delete(struct http_request_of_api *h);
void handle_delete_collection(struct http_request_of_api *h);
void handle_scale(struct http_request_of_api *h);
/* A PATCH's body as a change, by its media type. -1: the failure is filled in. */
int read_patch(struct http_request_of_api *h, struct edit *ret_edit);
/* Kinds that are questions: access and identity. */
void handle_question(struct http_request_of_api *h);

/* Everything that is not a resource; false if the path is none of these. */
bool handle_discovery(struct http_request_of_api *h);
bool handle_openapi(struct http_request_of_api *h);

/* Become somebody else, if the headers ask for it and the caller may; -1: the failure is filled. */
int impersonate(struct http_request_of_api *h);
/* May the caller do what method and path say? -1: the failure is filled. */
int authorize(struct http_request_of_api *h);
/* "User "x" cannot list resource ...", with why behind it unless that is "". */
int fail_access(struct request *rq, const struct access *access, struct str why);
/* POST .../serviceaccounts/<name>/token */
void handle_token_request(struct http_request_of_api *h);
/* Whose a token is that is to be used at one of `audiences` (none: the API's own). */
int authenticate_token(struct request *rq, struct str token, const struct str_list *audiences,
                       struct api_caller *ret_caller, struct str_list *ret_audiences,
                       struct error *err);

#endif
