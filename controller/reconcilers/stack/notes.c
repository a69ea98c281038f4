/* SPDX-License-Identifier: Apache-2.0 */
/* notes.c: a short list for each Stack that has any; numbers only grow. */
#include "controller/reconcilers/stack/notes.h"

#include "base/map.h"
#include "base/memory.h"
#include "base/pack.h"

struct noted {
    struct noted *newer;
    uint64_t number;
    struct note note; /* its strings stand behind it */
};

struct notes {
    struct dict *oldest_of; /* key -> struct noted */
    uint64_t number;
};

struct notes *notes_create(void)
{
    struct notes *notes = mem_new(struct notes);

    notes->oldest_of = dict_create();
    return notes;
}

static void free_chain(struct noted *oldest)
{
    while (oldest) {
        struct noted *newer = oldest->newer;

        mem_free(oldest);
        oldest = newer;
    }
}

void notes_free(struct notes *notes)
{
    struct str key;
    void *oldest;

    if (!notes)
        return;
    for (size_t cursor = 0; dict_next(notes->oldest_of, &cursor, &key, &oldest);)
        free_chain(oldest);
    dict_free(notes->oldest_of);
    mem_free(notes);
}

void notes_add(struct notes *notes, struct str key, const struct note *note)
{
    size_t bytes = note->uid.len + note->cluster_id.len + note->chart_name.len + note->reason.len +
                   note->message.len;
    struct noted *noted = mem_alloc(sizeof(*noted) + bytes);
    char *at = (char *)(noted + 1);

    noted->number = ++notes->number;
    noted->note = (struct note){
        .uid = pack_str(&at, note->uid),
        .cluster_id = pack_str(&at, note->cluster_id),
        .chart_name = pack_str(&at, note->chart_name),
        .reason = pack_str(&at, note->reason),
        .message = pack_str(&at, note->message),
        .transient = note->transient,
        .terminal = note->terminal,
    };

    struct noted *newest = dict_get(notes->oldest_of, key);

    if (!newest) {
        dict_set(notes->oldest_of, key, noted);
        return;
    }
    while (newest->newer)
        newest = newest->newer;
    newest->newer = noted;
}

static void apply(const struct note *note, struct arena *arena, int64_t now_wall_ms,
                  struct stack_status *status)
{
    struct str cluster_id = str_dup(arena, note->cluster_id);
    struct str chart_name = str_dup(arena, note->chart_name);
    struct str reason = str_dup(arena, note->reason);
    struct str message = str_dup(arena, note->message);

    if (note->transient)
        stack_status_note_transient(arena, status, cluster_id, chart_name, reason, message,
                                    now_wall_ms);
    else
        stack_status_note_failure(arena, status, cluster_id, chart_name, note->terminal, reason,
                                  message, now_wall_ms);
}

uint64_t notes_apply(const struct notes *notes, struct arena *arena, struct str key, struct str uid,
                     int64_t now_wall_ms, struct stack_status *status)
{
    for (const struct noted *noted = dict_get(notes->oldest_of, key); noted; noted = noted->newer)
        if (str_eq(noted->note.uid, uid))
            apply(&noted->note, arena, now_wall_ms, status);
    return notes->number;
}

void notes_drop(struct notes *notes, struct str key, uint64_t number)
{
    struct noted *oldest = dict_remove(notes->oldest_of, key);

    while (oldest && oldest->number <= number) {
        struct noted *newer = oldest->newer;

        mem_free(oldest);
        oldest = newer;
    }
    if (oldest)
        dict_set(notes->oldest_of, key, oldest);
}

void notes_forget(struct notes *notes, struct str key)
{
    free_chain(dict_remove(notes->oldest_of, key));
}
