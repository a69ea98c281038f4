/* SPDX-License-Identifier: Apache-2.0 */
/* configured.c: a file that is followed by one thread, for many. */
#include "settings/configured.h"

#include "base/memory.h"
#include "io/follow.h"
#include "text/limits.h"

#include <pthread.h>

struct configured {
    char *name;
    struct configuration_layer flags;
    struct file_follow *file; /* this and what follows are the refreshing thread's */
    struct configured_file of_file;
    struct error rejected; /* as it was told; text "" = nothing was */
    pthread_mutex_t lock;  /* of `now` */
    struct configuration now;
};

static uint32_t count_overruled(const struct configuration_layer *file,
                                const struct configuration_layer *flags)
{
    uint32_t count = file->plain_http_given && flags->plain_http_given;

    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        count += file->rule_given[id] && flags->rule_given[id];
    return count;
}

/* "" of a file that is not there. */
static int read_file(struct configured *configured, struct arena *arena, bool *ret_there,
                     struct str *ret_text, struct error *err)
{
    struct error why;

    if (file_follow_read(configured->file, arena, ret_text, &why) == 0) {
        *ret_there = true;
        return 0;
    }
    if (why.code != ERROR_NOT_FOUND) {
        *err = why;
        return -1;
    }
    *ret_there = false;
    *ret_text = STR("");
    return 0;
}

static void put_in_force(struct configured *configured, const struct configuration_layer *layer)
{
    struct configuration now = configuration_default();

    configuration_lay(&now, layer);
    configuration_lay(&now, &configured->flags);
    pthread_mutex_lock(&configured->lock);
    configured->now = now;
    pthread_mutex_unlock(&configured->lock);
}

static int take(struct configured *configured, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct configuration_layer layer;
    struct str text;
    bool there;

    if (read_file(configured, arena, &there, &text, err) < 0 ||
        configuration_read(configured->name, text, &layer, err) < 0)
        return -1;
    file_follow_take(configured->file);
    configured->of_file = (struct configured_file){ there, configuration_layer_count(&layer),
                                                    count_overruled(&layer, &configured->flags) };
    put_in_force(configured, &layer);
    return 0;
}

struct configured *configured_create(const char *file, const struct configuration_layer *flags,
                                     struct error *err)
{
    AUTO(configured_free) struct configured *configured = mem_new(struct configured);

    configured->name = mem_copy(file, strlen(file));
    configured->flags = *flags;
    configured->file = file_follow_create(&file, 1, LIMIT_YAML_TEXT);
    pthread_mutex_init(&configured->lock, NULL);
    if (take(configured, err) < 0)
        return NULL;
    return TAKE(configured);
}

void configured_free(struct configured *configured)
{
    if (!configured)
        return;
    file_follow_free(configured->file);
    pthread_mutex_destroy(&configured->lock);
    mem_free(configured->name);
    mem_free(configured);
}

int configured_refresh(struct configured *configured, struct error *err)
{
    if (!file_follow_changed(configured->file))
        return 0;
    return take(configured, err) < 0 ? -1 : 1;
}

struct configured_file configured_file_of(const struct configured *configured)
{
    return configured->of_file;
}

/* --- told --- */

static void count_reload(const struct configured_teller *teller, struct str result)
{
    metrics_add(teller->metrics, teller->reloads, &result, 1);
}

static void tell_taken(const struct configured *configured, const struct configured_teller *teller)
{
    const struct configured_file *file = &configured->of_file;

    if (file->there)
        log_info(teller->log, "configuration taken", LOG_Z("file", configured->name),
                 LOG_INT("said", file->said), LOG_INT("overruled_by_flags", file->overruled));
    else
        log_info(teller->log, "no configuration file: defaults and flags are in use",
                 LOG_Z("file", configured->name));
}

void configured_tell(struct configured *configured, const struct configured_teller *teller)
{
    tell_taken(configured, teller);
    health_set(teller->health, teller->check, STR(""));
}

bool configured_look(struct configured *configured, const struct configured_teller *teller)
{
    struct error err = { .text = "" };
    int found = configured_refresh(configured, &err);

    /* Logged once it is so. */
    metrics_set(teller->metrics, teller->rejected, NULL, found < 0);
    health_note(teller->health, teller->check, str_of(err.text));
    if (found > 0) {
        count_reload(teller, STR("taken"));
        tell_taken(configured, teller);
    } else if (found < 0 && strcmp(configured->rejected.text, err.text) != 0) {
        count_reload(teller, STR("rejected"));
        log_warn(teller->log, "configuration rejected; the last good one stays in use",
                 LOG_Z("error", err.text));
    }
    configured->rejected = err;
    return found > 0;
}

struct configuration configured_take(struct configured *configured)
{
    struct configuration now;

    if (!configured)
        return configuration_default();
    pthread_mutex_lock(&configured->lock);
    now = configured->now;
    pthread_mutex_unlock(&configured->lock);
    return now;
}
