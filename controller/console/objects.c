/* SPDX-License-Identifier: Apache-2.0 */
/* objects.c: objects and collections: reads from memory, writes through the API server.
 *
 * A collection is sent object by object: what it takes is its snapshots, which others hold too. */
#include "controller/console/console_internal.h"

#include "base/memory.h"
#include "controller/console/wire.h"
#include "controller/limits.h"
#include "kube/request.h"
#include "kube/selector.h"
#include "text/json.h"

/* --- reads --- */

struct listing {
    struct arena *arena;
    const struct console_kind *kind;
    struct kube_object **objects;
    uint32_t count;
    uint32_t next;
    struct selector selector;
    struct arena *scratch; /* of one object's labels */
    bool has_items, ended;
    struct str text; /* being sent */
    size_t sent;
};

static bool is_selected(struct listing *listing, const struct kube_object *object)
{
    struct error ignored;
    struct json root;
    bool selected;

    if (listing->selector.all.count == 0)
        return true;
    arena_reset(listing->scratch);
    selected =
        json_read(listing->scratch, kube_object_kept(object), &json_limits_default, &root,
                  &ignored) == 0 &&
        selector_matches(NULL, &listing->selector, json_walk(root, "metadata", "labels", NULL));
    return selected;
}

/* An object, the comma before it, or the end. */
static void take_next(struct listing *listing)
{
    while (listing->next < listing->count) {
        const struct kube_object *object = listing->objects[listing->next];

        if (!is_selected(listing, object)) {
            listing->next++;
            continue;
        }
        if (listing->has_items) {
            listing->has_items = false;
            listing->text = STR(",\n");
            return;
        }
        listing->has_items = true;
        listing->next++;
        listing->text = kube_object_kept(object);
        return;
    }
    listing->ended = true;
    listing->text = STR("]}\n");
}

static ptrdiff_t list_next(void *context, char *into, size_t room)
{
    struct listing *listing = context;
    size_t bytes;

    if (listing->sent == listing->text.len) {
        if (listing->ended)
            return -1;
        take_next(listing);
        listing->sent = 0;
    }
    bytes = listing->text.len - listing->sent < room ? listing->text.len - listing->sent : room;
    memcpy(into, listing->text.at + listing->sent, bytes);
    listing->sent += bytes;
    return (ptrdiff_t)bytes;
}

static void list_end(void *context)
{
    struct listing *listing = context;

    for (uint32_t i = 0; i < listing->count; i++)
        kube_object_unref(listing->objects[i]);
    arena_free(listing->scratch);
    arena_free(listing->arena);
}

static void answer_list(struct console *console, struct http_exchange *exchange,
                        const struct console_target *target, struct str label_selector)
{
    struct arena *arena = arena_create(0);
    struct listing *listing = arena_new(arena, struct listing);
    struct error err;

    listing->arena = arena;
    listing->scratch = arena_create(0);
    listing->kind = target->kind;
    listing->selector = selector_new(arena);
    if (label_selector.len &&
        selector_parse(arena, str_dup(arena, label_selector), &listing->selector, &err) < 0) {
        error_wrap(&err, "labelSelector");
        err.code = ERROR_BAD_REQUEST;
        console_answer_error(exchange, &err);
        list_end(listing);
        return;
    }
    listing->objects =
        mirror_list(console->mirror, target->kind, target->namespace_, arena, &listing->count);
    listing->text =
        str_fmt(arena,
                "{\"apiVersion\":\"%s/%s\",\"kind\":\"%sList\",\"metadata\":{\"resourceVersion\":"
                "\"\"},\"items\":[",
                target->kind->crd->group, target->kind->crd->version, target->kind->crd->kind);
    console_put_headers(exchange);
    http_answer_stream(exchange, "application/json", list_next, list_end, listing);
}

static void answer_object(struct console *console, struct http_exchange *exchange,
                          const struct console_target *target)
{
    struct arena *arena = console_arena(exchange);
    const struct kube_resource *resource = &target->kind->resource;
    AUTO(kube_object_unref)
    struct kube_object *object = mirror_get(console->mirror, target->kind,
                                            kube_key(arena, target->namespace_, target->name));
    struct error err;

    if (object) {
        console_answer_json(exchange, 200, str_dup(arena, kube_object_kept(object)));
        return;
    }
    error_set(&err, ERROR_NOT_FOUND, "%.*s.%.*s \"%.*s\" not found", STR_ARG(resource->plural),
              STR_ARG(resource->group), STR_ARG(str_shown(arena, target->name, 300)));
    console_answer_error(exchange, &err);
}

/* What is not followed is not known to be absent. */
static int check_synced(struct console *console, const struct console_target *target,
                        struct error *err)
{
    const struct console_kind *kind = target->kind;
    struct error trouble;

    if (kind->resource.namespaced && console->namespace_.len &&
        !str_eq(console->namespace_, target->namespace_))
        return error_set(err, ERROR_NOT_FOUND,
                         "this controller follows the namespace \"%.*s\" alone (--namespace); read "
                         "others from the API server",
                         STR_ARG(console->namespace_));
    if (mirror_is_synced(console->mirror, kind, &trouble))
        return 0;
    if (trouble.code == ERROR_NOT_FOUND)
        return error_set(err, ERROR_NOT_FOUND,
                         "%s.%s are not installed; apply their CustomResourceDefinition",
                         kind->crd->plural, kind->crd->group);
    return error_set(err, ERROR_UNAVAILABLE, "%s.%s are not read yet%s%s", kind->crd->plural,
                     kind->crd->group, trouble.code == ERROR_NONE ? "" : ": ",
                     trouble.code == ERROR_NONE ? "" : trouble.text);
}

void console_read(struct console *console, struct http_exchange *exchange, struct str token,
                  const struct console_target *target)
{
    struct arena *arena = console_arena(exchange);
    bool is_list = !target->name.len;
    const struct access_question question = {
        .verb = is_list ? "list" : "get",
        .resource = &target->kind->resource,
        .namespace_ = target->namespace_,
        .name = target->name,
    };
    struct str label_selector;
    struct error err;

    if (wire_read_parameters(arena, http_view(exchange)->query, is_list, &label_selector, &err) <
            0 ||
        console_access_check(console->access, arena, token, &question, &err) < 0 ||
        check_synced(console, target, &err) < 0)
        console_answer_error(exchange, &err);
    else if (is_list)
        answer_list(console, exchange, target, label_selector);
    else
        answer_object(console, exchange, target);
}

/* --- writes --- */

struct write {
    struct console *console;
    struct http_exchange *exchange;
    const struct console_target *target;
    struct str token;
    struct arena *arena;
};

static struct caller_answer send(const struct write *write, const char *method, struct str query,
                                 struct str content_type, struct str body)
{
    const struct kube_request object = {
        .resource = write->target->kind->resource,
        .namespace_ = write->target->namespace_,
        .name = write->target->name,
    };
    struct str path = kube_request_path(write->arena, &object);

    return caller_ask(
        write->console->requests, write->arena,
        &(struct caller_request){
            .token = write->token,
            .method = method,
            .path = query.len ? str_fmt(write->arena, "%.*s?%.*s", STR_ARG(path), STR_ARG(query))
                              : path,
            .content_type = content_type,
            .body = body,
        });
}

/* The server's list of headers is a stack, hence backwards. */
static void pass_on_warnings(const struct write *write, struct str warnings)
{
    while (warnings.len) {
        size_t begin = --warnings.len;

        while (begin && warnings.at[begin - 1] != '\n')
            begin--;
        http_answer_header(write->exchange, "Warning", str_slice(warnings, begin, warnings.len));
        warnings.len = begin;
    }
}

/* What the API server answered, as it is; or why it did not, if what came is not its own. */
static void pass_on(const struct write *write, struct caller_answer *answer, bool changes)
{
    pass_on_warnings(write, answer->warnings);
    if (answer->status && str_starts(answer->body, STR("{"))) {
        console_answer_json(write->exchange, answer->status, answer->body);
        return;
    }
    if (answer->error.code == ERROR_NONE)
        error_set(&answer->error, ERROR_UNAVAILABLE, "the API server's answer is not JSON");
    if (changes && (answer->error.code == ERROR_LOST || answer->error.code == ERROR_TIMEOUT))
        error_wrap(&answer->error, "it is not known whether the change was made; read the object");
    console_answer_error(write->exchange, &answer->error);
}

/* Who reads after a write finds it. */
static void await(const struct write *write, struct str answer)
{
    struct wire_written written;
    const struct console_target *target = write->target;

    if (wire_read_written(write->arena, answer, &written))
        mirror_await(write->console->mirror, target->kind,
                     kube_key(write->arena, target->namespace_, written.name), &written);
}

/* A PUT that names no version replaces what is there, as it is for the caller. 0, or -1: it is
 * answered. */
static int fill_version(const struct write *write, struct str *body)
{
    struct caller_answer live;
    struct str filled;
    struct error err;

    if (!wire_lacks_version(write->arena, *body))
        return 0;
    live = send(write, "GET", STR(""), STR(""), STR(""));
    if (live.error.code != ERROR_NONE) {
        pass_on(write, &live, false);
        return -1;
    }
    if (wire_fill_version(write->arena, *body, live.body, &filled, &err) < 0) {
        console_answer_error(write->exchange, &err);
        return -1;
    }
    *body = filled;
    return 0;
}

static const char *method_of(const struct console_target *target, struct str method,
                             const char **ret_allow)
{
    static const char *const of_objects[] = { "PUT", "PATCH", "DELETE" };

    if (target->name.len) {
        *ret_allow = "GET, PUT, PATCH, DELETE";
        for (size_t i = 0; i < sizeof(of_objects) / sizeof(of_objects[0]); i++)
            if (str_eq(method, str_of(of_objects[i])))
                return of_objects[i];
        return NULL;
    }
    /* An object is created in a namespace, if its kind has any. */
    *ret_allow = target->kind->resource.namespaced && !target->namespace_.len ? "GET" : "GET, POST";
    return strstr(*ret_allow, "POST") && str_eq(method, STR("POST")) ? "POST" : NULL;
}

/* What a patch or the options of a DELETE are is the API server's to say. */
static bool carries_object(const char *method)
{
    return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0;
}

void console_write(struct console *console, struct http_exchange *exchange, struct str token,
                   const struct console_target *target)
{
    const struct http_exchange_view *view = http_view(exchange);
    const struct write write = { console, exchange, target, token, console_arena(exchange) };
    struct str body = view->body;
    const char *allow;
    const char *method = method_of(target, view->method, &allow);
    struct caller_answer answer;
    struct error err;

    if (!method) {
        console_answer_method(exchange, allow);
        return;
    }
    if (carries_object(method) && wire_is_json(view->content_type)) {
        if (wire_check(write.arena, body, &err) < 0) {
            console_answer_error(exchange, &err);
            return;
        }
        if (strcmp(method, "PUT") == 0 && fill_version(&write, &body) < 0)
            return;
    }
    answer = send(&write, method, view->query, view->content_type, body);
    if (answer.error.code == ERROR_NONE && !wire_is_dry_run(write.arena, view->query))
        await(&write, answer.body);
    pass_on(&write, &answer, true);
}
