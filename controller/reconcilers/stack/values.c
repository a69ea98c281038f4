/* SPDX-License-Identifier: Apache-2.0 */
/* values.c: reading by name, and masks of what was read. */
#include "controller/reconcilers/stack/values.h"

#include "base/map.h"
#include "controller/limits.h"

struct values_reader values_reader(struct arena *arena, const struct references *references,
                                   struct str namespace_)
{
    return (struct values_reader){ .arena = arena,
                                   .references = references,
                                   .namespace_ = namespace_,
                                   .found = observed_references_new(arena, 0),
                                   .places = map_new(arena, 8),
                                   .masks = map_new(arena, 1) };
}

/* Names of Kubernetes objects and keys hold no newline. */
static struct str place_of(struct arena *arena, const struct observed_reference *one)
{
    return str_fmt(arena, "%c%.*s\n%.*s", one->secret ? 'S' : 'C', STR_ARG(one->name),
                   STR_ARG(one->key));
}

void values_want(struct values_reader *reader, const struct observed_references *wanted)
{
    for (uint32_t i = 0; i < wanted->count; i++) {
        const struct observed_reference *one = &wanted->items[i];
        struct str place = place_of(reader->arena, one);
        uintptr_t at = (uintptr_t)map_get(reader->places, place);

        if (at) {
            reader->found.items[at - 1].optional &= one->optional;
            continue;
        }
        observed_references_push(&reader->found, *one);
        map_put(reader->places, place, (void *)(uintptr_t)reader->found.count);
    }
}

static enum tracked_kind tracked_kind_of(bool secret)
{
    return secret ? TRACKED_SECRET : TRACKED_CONFIG_MAP;
}

static struct reference_found find(struct arena *arena, const struct references *references,
                                   struct str namespace_, bool secret, struct str name,
                                   struct str key)
{
    return references_read(references, arena, tracked_kind_of(secret),
                           kube_key(arena, namespace_, name), key);
}

void values_read(struct values_reader *reader)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < reader->found.count; i++) {
        struct observed_reference *one = &reader->found.items[i];
        struct reference_found found = { .state = REFERENCE_NOT_SYNCED };

        if (bytes > LIMIT_VALUES_READ)
            found.text = str_fmt(reader->arena,
                                 "the ConfigMaps and Secrets of the Stack hold more "
                                 "than %d MiB together",
                                 LIMIT_VALUES_READ / 1024 / 1024);
        else
            found = find(reader->arena, reader->references, reader->namespace_, one->secret,
                         one->name, one->key);
        one->state = found.state;
        one->text = found.text;
        one->version = found.version;
        bytes += found.text.len;
        reader->settling =
            reader->settling || (found.state == REFERENCE_NOT_SYNCED && found.text.len == 0);
    }
}

/* --- masks --- */

static void hide(struct mask *mask, struct arena *arena, const struct observed_reference *one)
{
    switch (one->state) {
    case REFERENCE_READ:
        redaction_hide_text(mask, arena, one->text);
        return;
    case REFERENCE_ABSENT:
    case REFERENCE_NO_KEY:
        if (one->optional)
            return;
        break;
    case REFERENCE_BROKEN:
    case REFERENCE_NOT_SYNCED:
        break;
    }
    mask_withhold(mask, STR(WORDS_WITHHELD));
}

/* The Secrets among `of`, each by its number, so that equal ones share a mask. */
static struct u32_list secrets_of(const struct values_reader *reader,
                                  const struct observed_references *of, struct strbuf *numbers)
{
    struct u32_list secrets = u32_list_new(reader->arena, of->count);

    for (uint32_t i = 0; i < of->count; i++) {
        struct str place = place_of(reader->arena, &of->items[i]);
        uintptr_t at = of->items[i].secret ? (uintptr_t)map_get(reader->places, place) : 0;

        if (!at)
            continue;
        u32_list_push(&secrets, (uint32_t)at - 1);
        strbuf_fmt(numbers, "%u,", (uint32_t)at);
    }
    return secrets;
}

struct mask *values_mask(struct values_reader *reader, const struct observed_references *of)
{
    struct strbuf numbers = strbuf_new(reader->arena, 64);
    struct u32_list secrets = secrets_of(reader, of, &numbers);
    struct mask *mask = map_get(reader->masks, strbuf_str(&numbers));

    if (mask)
        return mask;
    mask = mask_new(reader->arena);
    for (uint32_t i = 0; i < secrets.count; i++)
        hide(mask, reader->arena, &reader->found.items[secrets.items[i]]);
    map_put(reader->masks, strbuf_str(&numbers), mask);
    return mask;
}

/* "NAME/KEY=VERSION": neither a name nor a key holds '/' or '='. */
static bool hide_sent(struct mask *mask, struct arena *arena, const struct references *references,
                      struct str namespace_, struct str line)
{
    struct reference_found found;
    struct str name, key;

    if (!str_split(&line, '/', &name) || !str_split(&line, '=', &key))
        return false;
    found = find(arena, references, namespace_, true, name, key);
    if (found.state != REFERENCE_READ || !str_eq(found.version, line))
        return false;
    redaction_hide_text(mask, arena, found.text);
    return true;
}

struct str values_shown(struct arena *arena, const struct references *references,
                        struct str namespace_, struct str secret_versions, struct str words)
{
    struct mask *mask = mask_new(arena);
    struct str line;

    while (str_split(&secret_versions, '\n', &line))
        if (line.len && !hide_sent(mask, arena, references, namespace_, line))
            return STR(WORDS_WITHHELD);
    return mask_apply(mask, arena, words);
}
