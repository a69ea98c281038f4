/* interest.c: topics and holders point at each other; marks make one change linear in what a holder
 * held and wants. */
#include "controller/interest.h"

#include "base/map.h"
#include "base/memory.h"

struct holder {
    char *key;
    size_t key_len;
    struct held_topic **topics;
    uint32_t count;
};

struct held_topic {
    enum topic_kind kind;
    uint32_t count;
    uint32_t capacity;
    uint64_t mark; /* of the interests_set at work: held before, or wanted now */
    struct holder **holders;
    size_t name_len;
    char name[];
};

struct interests {
    struct interests_options options;
    struct dict *holders;
    struct dict *topics[TOPIC_KIND_COUNT];
    size_t topic_count;
    uint64_t mark;
};

struct interests *interests_create(const struct interests_options *options)
{
    struct interests *interests = mem_new(struct interests);

    interests->options = *options;
    interests->holders = dict_create();
    for (int kind = 0; kind < TOPIC_KIND_COUNT; kind++)
        interests->topics[kind] = dict_create();
    return interests;
}

static void holder_free(struct holder *holder)
{
    mem_free(holder->topics);
    mem_free(holder->key);
    mem_free(holder);
}

static void topic_free(struct held_topic *topic)
{
    mem_free(topic->holders);
    mem_free(topic);
}

void interests_free(struct interests *interests)
{
    struct str key;
    void *value;

    if (!interests)
        return;
    for (size_t cursor = 0; dict_next(interests->holders, &cursor, &key, &value);)
        holder_free(value);
    dict_free(interests->holders);
    for (int kind = 0; kind < TOPIC_KIND_COUNT; kind++) {
        for (size_t cursor = 0; dict_next(interests->topics[kind], &cursor, &key, &value);)
            topic_free(value);
        dict_free(interests->topics[kind]);
    }
    mem_free(interests);
}

static struct held_topic *topic_at(struct interests *interests, enum topic_kind kind,
                                   struct str name)
{
    struct held_topic *topic = dict_get(interests->topics[kind], name);

    if (topic)
        return topic;
    topic = mem_alloc(sizeof(*topic) + name.len + 1);
    topic->kind = kind;
    topic->name_len = name.len;
    if (name.len)
        memcpy(topic->name, name.at, name.len);
    dict_set(interests->topics[kind], name, topic);
    interests->topic_count++;
    return topic;
}

static struct str topic_name(const struct held_topic *topic)
{
    return str_make(topic->name, topic->name_len);
}

static void topic_add(struct interests *interests, struct held_topic *topic, struct holder *holder)
{
    if (topic->count == topic->capacity) {
        topic->capacity = topic->capacity ? topic->capacity * 2 : 1;
        topic->holders = mem_resize(topic->holders, sizeof(*topic->holders) * topic->capacity);
    }
    topic->holders[topic->count++] = holder;
    if (topic->count == 1 && interests->options.opened)
        interests->options.opened(interests->options.context, topic->kind, topic_name(topic));
}

static void topic_drop(struct interests *interests, struct held_topic *topic,
                       const struct holder *holder)
{
    for (uint32_t i = 0; i < topic->count; i++)
        if (topic->holders[i] == holder) {
            topic->holders[i] = topic->holders[--topic->count];
            break;
        }
    if (topic->count)
        return;
    if (interests->options.closed)
        interests->options.closed(interests->options.context, topic->kind, topic_name(topic));
    dict_remove(interests->topics[topic->kind], topic_name(topic));
    interests->topic_count--;
    topic_free(topic);
}

static struct holder *holder_at(struct interests *interests, struct str key)
{
    struct holder *holder = dict_get(interests->holders, key);

    if (holder)
        return holder;
    holder = mem_new(struct holder);
    holder->key = mem_copy(key.at, key.len);
    holder->key_len = key.len;
    dict_set(interests->holders, key, holder);
    return holder;
}

void interests_set(struct interests *interests, struct str key, const struct topics *wanted)
{
    struct holder *holder = holder_at(interests, key);
    struct held_topic **before = holder->topics;
    uint32_t before_count = holder->count;
    uint64_t was_held = ++interests->mark;
    uint64_t is_wanted = ++interests->mark;

    for (uint32_t i = 0; i < before_count; i++)
        before[i]->mark = was_held;
    holder->topics = wanted->count ? mem_alloc(sizeof(*holder->topics) * wanted->count) : NULL;
    holder->count = 0;
    for (uint32_t i = 0; i < wanted->count; i++) {
        struct held_topic *topic =
            topic_at(interests, wanted->items[i].kind, wanted->items[i].name);

        if (topic->mark == is_wanted)
            continue;
        if (topic->mark != was_held)
            topic_add(interests, topic, holder);
        topic->mark = is_wanted;
        holder->topics[holder->count++] = topic;
    }
    for (uint32_t i = 0; i < before_count; i++)
        if (before[i]->mark == was_held)
            topic_drop(interests, before[i], holder);
    mem_free(before);
}

void interests_forget(struct interests *interests, struct str key)
{
    struct holder *holder = dict_remove(interests->holders, key);

    if (!holder)
        return;
    for (uint32_t i = 0; i < holder->count; i++)
        topic_drop(interests, holder->topics[i], holder);
    holder_free(holder);
}

void interests_tell(const struct interests *interests, enum topic_kind kind, struct str name,
                    void (*told)(void *context, struct str holder), void *context)
{
    const struct held_topic *topic = dict_get(interests->topics[kind], name);

    for (uint32_t i = 0; topic && i < topic->count; i++)
        told(context, str_make(topic->holders[i]->key, topic->holders[i]->key_len));
}

size_t interests_holders(const struct interests *interests)
{
    return dict_count(interests->holders);
}

size_t interests_topics(const struct interests *interests)
{
    return interests->topic_count;
}
