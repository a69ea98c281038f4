/* SPDX-License-Identifier: Apache-2.0 */
/* server_upkeep.c: a list, then changes one after the other; the first that fails ends the round.
 */
#include "controller/backends/observability/server_upkeep.h"

#include "base/map.h"
#include "base/memory.h"
#include "controller/limits.h"
#include "text/digest.h"

enum {
    ANSWER_MS = 10000,
    LOOK_ROUNDS = 4,    /* what nobody changed is looked at in one round of so many */
    FAILURES_BORNE = 1, /* in a row */
};

struct server_upkeep {
    struct kube_client *client;
    struct secret_folder *secret;
    struct dict *dropped; /* prefix -> the upkeep itself */
    uint64_t round_count, generation;
    bool look; /* the next round, whatever its number */
    uint32_t failures;
    struct arena *counted; /* of these, NULL = not known: */
    struct map *counts;
    struct arena *told; /* of: */
    struct str trouble, digest;
    /* The round under way. */
    struct arena *arena;
    struct monitors_wanted *wanted;
    struct monitors_plan plan;
    uint32_t imported, removed;
    void (*done)(void *context);
    void *context;
};

struct server_upkeep *server_upkeep_create(struct kube_client *client, struct secret_folder *secret)
{
    struct server_upkeep *upkeep = mem_new(struct server_upkeep);

    upkeep->client = client;
    upkeep->secret = secret;
    upkeep->dropped = dict_create();
    upkeep->counted = arena_create(0);
    upkeep->told = arena_create(0);
    return upkeep;
}

void server_upkeep_free(struct server_upkeep *upkeep)
{
    if (!upkeep)
        return;
    dict_free(upkeep->dropped);
    arena_free(upkeep->counted);
    arena_free(upkeep->told);
    arena_free(upkeep->arena);
    mem_free(upkeep);
}

void server_upkeep_drop(struct server_upkeep *upkeep, struct str prefix)
{
    dict_set(upkeep->dropped, prefix, upkeep);
}

bool server_upkeep_has_dropped(const struct server_upkeep *upkeep)
{
    return dict_count(upkeep->dropped) > 0;
}

/* --- what is known --- */

static void set_told(struct server_upkeep *upkeep, struct str trouble, struct str digest)
{
    struct arena *arena = arena_create(0);

    upkeep->generation += !str_eq(trouble, upkeep->trouble);
    upkeep->trouble = str_dup(arena, trouble);
    upkeep->digest = str_dup(arena, digest);
    arena_free(upkeep->told);
    upkeep->told = arena;
}

static void set_counts(struct server_upkeep *upkeep, const struct map *counts)
{
    struct arena *arena = arena_create(0);
    struct map *copy = map_new(arena, map_count(counts));

    for (uint32_t i = 0; i < map_count(counts); i++) {
        uint32_t *count = arena_new(arena, uint32_t);
        const uint32_t *before =
            upkeep->counts ? map_get(upkeep->counts, map_key(counts, i)) : NULL;

        *count = *(uint32_t *)map_value(counts, i);
        upkeep->generation += !before || *before != *count;
        map_put(copy, str_dup(arena, map_key(counts, i)), count);
    }
    arena_free(upkeep->counted);
    upkeep->counted = arena;
    upkeep->counts = copy;
}

static void finish(struct server_upkeep *upkeep)
{
    arena_free(upkeep->arena);
    upkeep->arena = NULL;
    upkeep->wanted = NULL;
    upkeep->done(upkeep->context);
}

/* What is known stands after a first failure. */
static void fail(struct server_upkeep *upkeep, const char *what, const struct error *error)
{
    upkeep->look = true;
    if (upkeep->failures++ >= FAILURES_BORNE) {
        set_told(upkeep, str_fmt(upkeep->arena, "%s: %s", what, error->text), upkeep->digest);
        upkeep->counts = NULL;
    }
    finish(upkeep);
}

/* --- requests --- */

static void send(struct server_upkeep *upkeep, const char *method, struct str path, struct str body,
                 kube_done *done)
{
    const struct http_header token = { STR_INIT("X-API-Key"),
                                       secret_folder_entry(upkeep->secret, 0) };

    kube_client_send(upkeep->client,
                     &(struct kube_raw){ .method = method,
                                         .path = path,
                                         .content_type = body.len ? "text/plain" : NULL,
                                         .body = body,
                                         .headers = &token,
                                         .header_count = 1,
                                         .timeout_ms = ANSWER_MS },
                     done, upkeep);
}

static void change(struct server_upkeep *upkeep);

static void on_imported(void *context, const struct kube_answer *answer)
{
    struct server_upkeep *upkeep = context;

    if (answer->error.code != ERROR_NONE)
        fail(upkeep, "monitors cannot be imported", &answer->error);
    else
        change(upkeep);
}

/* What is not there is removed. */
static void on_removed(void *context, const struct kube_answer *answer)
{
    struct server_upkeep *upkeep = context;

    if (answer->error.code != ERROR_NONE && answer->status != 404)
        fail(upkeep, "a monitor cannot be removed", &answer->error);
    else
        change(upkeep);
}

/* The next change; the rest waits for the next round. */
static void change(struct server_upkeep *upkeep)
{
    const struct suse_monitors *imports = &upkeep->plan.imports;
    const struct str_list *removals = &upkeep->plan.removals;

    if (upkeep->imported < imports->count) {
        const struct suse_monitor *from = &imports->items[upkeep->imported];
        uint32_t count = imports->count - upkeep->imported;

        count = count < LIMIT_SERVER_IMPORT ? count : LIMIT_SERVER_IMPORT;
        upkeep->imported += count;
        send(upkeep, "POST", server_import_path, suse_monitors_document(upkeep->arena, from, count),
             on_imported);
    } else if (upkeep->removed < removals->count && upkeep->removed < LIMIT_SERVER_REMOVALS) {
        send(upkeep, "DELETE",
             server_monitor_path(upkeep->arena, removals->items[upkeep->removed++]), STR(""),
             on_removed);
    } else {
        upkeep->failures = 0;
        set_told(upkeep, STR(""), upkeep->digest);
        finish(upkeep);
    }
}

static bool has_removal_of(const struct monitors_plan *plan, struct str prefix)
{
    for (uint32_t i = 0; i < plan->removals.count; i++)
        if (str_starts(plan->removals.items[i], prefix))
            return true;
    return false;
}

/* Those of which the list has nothing left. */
static void forget_dropped(struct server_upkeep *upkeep)
{
    struct str prefix;
    void *unused;

    for (size_t cursor = 0; dict_next(upkeep->dropped, &cursor, &prefix, &unused);)
        if (!has_removal_of(&upkeep->plan, prefix))
            dict_remove(upkeep->dropped, prefix);
}

static void on_list(void *context, const struct kube_answer *answer)
{
    struct server_upkeep *upkeep = context;
    struct error error = answer->error;

    if (error.code != ERROR_NONE ||
        server_monitors_plan(upkeep->arena, str_dup(upkeep->arena, answer->body), upkeep->wanted,
                             &upkeep->plan, &error) < 0) {
        fail(upkeep, "monitors cannot be listed", &error);
        return;
    }
    set_counts(upkeep, upkeep->plan.counts);
    forget_dropped(upkeep);
    upkeep->look = upkeep->plan.imports.count || upkeep->plan.removals.count;
    change(upkeep);
}

/* --- rounds --- */

/* Who wants something again has dropped nothing; what was dropped has nobody who wants it. */
static void settle_dropped(struct server_upkeep *upkeep, struct monitors_wanted *wanted)
{
    struct str prefix;
    void *unused;

    for (uint32_t i = 0; i < wanted->owners.count; i++)
        dict_remove(upkeep->dropped, wanted->owners.items[i]);
    for (size_t cursor = 0; dict_next(upkeep->dropped, &cursor, &prefix, &unused);)
        str_list_push(&wanted->owners, str_dup(upkeep->arena, prefix));
}

static struct str digest_of(struct arena *arena, const struct monitors_wanted *wanted)
{
    struct strbuf all = strbuf_new(arena, 1024);

    for (uint32_t i = 0; i < wanted->owners.count; i++)
        strbuf_fmt(&all, "%.*s\n", STR_ARG(wanted->owners.items[i]));
    for (uint32_t i = 0; i < wanted->kept.count; i++)
        strbuf_fmt(&all, "%.*s kept\n", STR_ARG(wanted->kept.items[i]));
    for (uint32_t i = 0; i < wanted->monitors.count; i++)
        strbuf_fmt(&all, "%.*s %.*s\n", STR_ARG(wanted->monitors.items[i].identifier),
                   STR_ARG(wanted->monitors.items[i].query));
    return digest_sha256_hex(arena, strbuf_str(&all));
}

bool server_upkeep_begin(struct server_upkeep *upkeep, struct monitors_wanted *wanted,
                         void (*done)(void *context), void *context)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    bool is_turn = upkeep->round_count++ % LOOK_ROUNDS == 0;
    struct str digest;

    upkeep->arena = arena;
    settle_dropped(upkeep, wanted);
    digest = digest_of(arena, wanted);
    if (!(wanted->owners.count + wanted->kept.count) ||
        !(is_turn || upkeep->look || !str_eq(digest, upkeep->digest) ||
          dict_count(upkeep->dropped))) {
        upkeep->arena = NULL;
        return false;
    }
    set_told(upkeep, upkeep->trouble, digest);
    upkeep->arena = TAKE(arena);
    upkeep->wanted = wanted;
    upkeep->imported = upkeep->removed = 0;
    upkeep->look = false;
    upkeep->done = done;
    upkeep->context = context;
    send(upkeep, "GET", server_monitors_path, STR(""), on_list);
    return true;
}

bool server_upkeep_count(const struct server_upkeep *upkeep, struct str prefix, uint32_t *ret_count)
{
    const uint32_t *count = upkeep->counts ? map_get(upkeep->counts, prefix) : NULL;

    if (count)
        *ret_count = *count;
    return count != NULL;
}

struct str server_upkeep_trouble(const struct server_upkeep *upkeep)
{
    return upkeep->trouble;
}

uint64_t server_upkeep_generation(const struct server_upkeep *upkeep)
{
    return upkeep->generation;
}
