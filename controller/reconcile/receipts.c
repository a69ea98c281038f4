/* receipts.c: the key, since when it is known, and whether anybody else has it. */
#include "controller/reconcile/receipts.h"

#include "base/memory.h"
#include "base/plant.h"
#include "controller/reconcile/kept_stack.h"
#include "io/follow.h"
#include "io/loop.h"
#include "stack/decode.h"
#include "stack/default.h"

struct receipts {
    struct file_cache *file; /* NULL: there is no key */
    enum receipts_mode wanted;
    int64_t settle_ms;
    struct log *log;
    unsigned char key[RECEIPT_KEY_BYTES];
    size_t key_len;
    bool proven;           /* a receipt by this key was seen */
    int64_t holds_from_ms; /* from then on what is wanted counts */
    enum receipts_mode mode;
};

static bool take_key(struct receipts *receipts, int64_t now_ms)
{
    struct str found;

    if (!receipts->file)
        return false;
    found = receipt_key_of(file_cache_get(receipts->file, now_ms));
    if (str_eq(found, receipts_key(receipts)))
        return false;
    memcpy(receipts->key, found.at, found.len);
    receipts->key_len = found.len;
    receipts->proven = false;
    receipts->holds_from_ms = now_ms + receipts->settle_ms;
    return true;
}

static void tell(const struct receipts *receipts)
{
    static const char *const words[] = {
        [RECEIPTS_IGNORE] = "no Stack is held for want of a receipt, until the webhook has the key",
        [RECEIPTS_WARN] = "Stacks without a receipt are told of",
        [RECEIPTS_HOLD] = "Stacks without a receipt are held",
    };
    const char *now = receipts->key_len
                          ? words[receipts->mode]
                          : "no Stack is held for want of a receipt, because there is no key";

    if (receipts->wanted != RECEIPTS_IGNORE)
        log_info(receipts->log, "receipts", LOG_Z("now", now));
}

static enum receipts_mode mode_at(const struct receipts *receipts, int64_t now_ms)
{
    bool counts = receipts->key_len && (receipts->proven || PLANTED(HELD_EARLY)) &&
                  now_ms >= receipts->holds_from_ms;

    return counts ? receipts->wanted : RECEIPTS_IGNORE;
}

bool receipts_look(struct receipts *receipts, int64_t now_ms)
{
    enum receipts_mode before = receipts->mode;
    bool other = take_key(receipts, now_ms);

    receipts->mode = mode_at(receipts, now_ms);
    if (!other && before == receipts->mode)
        return false;
    tell(receipts);
    return true;
}

void receipts_proven(struct receipts *receipts, int64_t now_ms)
{
    if (receipts->proven)
        return;
    receipts->proven = true;
    receipts->holds_from_ms = now_ms + receipts->settle_ms;
}

static bool is_valid(const struct receipts *receipts, const struct kube_object *object)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems ignored = problems_new(arena);
    struct error err;
    struct json root;

    if (json_read(arena, kept_stack_object(arena, kube_object_kept(object)), &json_limits_default,
                  &root, &err) < 0)
        return false;
    return receipt_check(arena, receipts_key(receipts),
                         stack_default(arena, stack_decode(arena, root, &ignored), NULL), STR(""),
                         NULL) == RECEIPT_VALID;
}

void receipts_begin(struct receipts *receipts, const struct kube_cache *stacks)
{
    struct kube_object *object;

    for (size_t cursor = 0; receipts->key_len && !receipts->proven &&
                            kube_cache_next(stacks, &cursor, &object);)
        receipts->proven = is_valid(receipts, object);
    receipts_look(receipts, clock_monotonic_ms(system_clock()));
}

struct receipts *receipts_create(const char *key_file, enum receipts_mode mode, int64_t settle_ms,
                                 struct log *log)
{
    struct receipts *receipts = mem_new(struct receipts);

    if (key_file)
        receipts->file = file_cache_create(key_file, RECEIPT_KEY_BYTES, 0);
    receipts->wanted = mode;
    receipts->settle_ms = settle_ms;
    receipts->log = log;
    take_key(receipts, clock_monotonic_ms(system_clock()));
    receipts->holds_from_ms = 0;
    tell(receipts);
    return receipts;
}

void receipts_free(struct receipts *receipts)
{
    if (!receipts)
        return;
    file_cache_free(receipts->file);
    mem_free_secret(receipts, sizeof(*receipts));
}

enum receipts_mode receipts_mode(const struct receipts *receipts)
{
    return receipts->mode;
}

struct str receipts_key(const struct receipts *receipts)
{
    return str_make((const char *)receipts->key, receipts->key_len);
}
