/* SPDX-License-Identifier: Apache-2.0 */
/* expectations.c: a version, a deadline and some bytes for each key. */
#include "runtime/expectations.h"

#include "base/map.h"
#include "base/memory.h"

#include <string.h>

struct expectation {
    uint64_t version;
    int64_t until_ms;
    bool put_off; /* work waits for it */
    size_t len;
    char kept[];
};

struct expectations {
    struct dict *by_key;
};

struct expectations *expectations_create(void)
{
    struct expectations *expectations = mem_new(struct expectations);

    expectations->by_key = dict_create();
    return expectations;
}

void expectations_free(struct expectations *expectations)
{
    struct str key;
    void *value;

    if (!expectations)
        return;
    for (size_t cursor = 0; dict_next(expectations->by_key, &cursor, &key, &value);)
        mem_free(value);
    dict_free(expectations->by_key);
    mem_free(expectations);
}

void expectations_set(struct expectations *expectations, struct str key,
                      struct str resource_version, const struct kube_object *cached,
                      struct str kept, int64_t now_ms)
{
    struct expectation *expectation;
    uint64_t version;
    uint64_t seen = 0;

    if (!str_to_u64(resource_version, &version) ||
        (cached && !str_to_u64(kube_object_resource_version(cached), &seen)) || seen >= version)
        return;
    expectation = mem_alloc(sizeof(*expectation) + kept.len);
    expectation->version = version;
    expectation->until_ms = now_ms + EXPECTATIONS_WAIT_MS;
    expectation->len = kept.len;
    if (kept.len)
        memcpy(expectation->kept, kept.at, kept.len);
    mem_free(dict_set(expectations->by_key, key, expectation));
}

void expectations_forget(struct expectations *expectations, struct str key)
{
    mem_free(dict_remove(expectations->by_key, key));
}

int64_t expectations_put_off(struct expectations *expectations, struct str key, int64_t now_ms)
{
    struct expectation *expectation = dict_get(expectations->by_key, key);

    if (!expectation)
        return 0;
    if (expectation->until_ms <= now_ms) {
        expectations_forget(expectations, key);
        return 0;
    }
    expectation->put_off = true;
    return expectation->until_ms - now_ms;
}

struct str expectations_kept(const struct expectations *expectations, struct str key,
                             int64_t now_ms)
{
    const struct expectation *expectation = dict_get(expectations->by_key, key);

    if (!expectation || expectation->until_ms <= now_ms)
        return STR("");
    return str_make(expectation->kept, expectation->len);
}

enum observation expectations_observe(struct expectations *expectations, struct str key,
                                      struct str resource_version)
{
    struct expectation *expectation = dict_get(expectations->by_key, key);
    enum observation observation = OBSERVED_NEWS;
    uint64_t version;

    if (!expectation)
        return OBSERVED_NEWS;
    if (str_to_u64(resource_version, &version)) {
        if (version < expectation->version) {
            /* It came between what we decided from and our write, which has it in it. */
            expectation->put_off = true;
            return OBSERVED_OLDER;
        }
        if (version == expectation->version && !expectation->put_off)
            observation = OBSERVED_OURS;
    }
    expectations_forget(expectations, key);
    return observation;
}
