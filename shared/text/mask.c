/* SPDX-License-Identifier: Apache-2.0 */
/* mask.c: every form of every secret, found by its first bytes.
 *
 * A hash of the LIMIT_MASK_BYTES bytes at each place of the text leads to the forms that begin so;
 * the longest that fits there is hidden. Overlapping finds are hidden together, so that none leaves
 * the tail of another behind. */
#include "text/mask.h"

#include "base/map.h"
#include "text/base64.h"
#include "text/json_write.h"
#include "text/limits.h"

enum { WINDOW = LIMIT_MASK_BYTES, BUCKETS_FIRST = 64 };

struct form {
    struct str text;
    struct form *next; /* of the same bucket */
};

struct mask {
    struct arena *arena;
    struct map *known; /* form -> itself */
    struct form **buckets;
    uint32_t bucket_count; /* a power of two */
    struct str instead;    /* of words that are withheld */
};

static const struct str hidden = STR_INIT("[secret]");
static const struct str cut_mark = STR_INIT("...");

struct mask *mask_new(struct arena *arena)
{
    struct mask *mask = arena_new(arena, struct mask);

    mask->arena = arena;
    mask->known = map_new(arena, 0);
    mask->bucket_count = BUCKETS_FIRST;
    mask->buckets = arena_array(arena, struct form *, BUCKETS_FIRST);
    return mask;
}

void mask_withhold(struct mask *mask, struct str instead)
{
    if (mask->instead.len == 0)
        mask->instead = instead;
}

static struct form **bucket_of(const struct mask *mask, const char *window)
{
    return &mask->buckets[str_hash(str_make(window, WINDOW)) & (mask->bucket_count - 1)];
}

static void grow(struct mask *mask)
{
    struct form **old = mask->buckets;
    uint32_t count = mask->bucket_count;

    mask->bucket_count = 2 * count;
    mask->buckets = arena_array(mask->arena, struct form *, mask->bucket_count);
    for (uint32_t i = 0; i < count; i++)
        for (struct form *form = old[i], *next; form; form = next) {
            struct form **bucket = bucket_of(mask, form->text.at);

            next = form->next;
            form->next = *bucket;
            *bucket = form;
        }
}

static void add_form(struct mask *mask, struct str text)
{
    if (text.len < WINDOW || map_get(mask->known, text))
        return;
    if (map_count(mask->known) >= LIMIT_MASK_FORMS) {
        mask_withhold(mask, STR("(not shown: there are more secret values than can be looked for "
                                "in these words)"));
        return;
    }

    struct form *form = arena_new(mask->arena, struct form);
    struct form **bucket;

    form->text = str_dup(mask->arena, text);
    map_put(mask->known, form->text, form);
    if (map_count(mask->known) > mask->bucket_count)
        grow(mask);
    bucket = bucket_of(mask, text.at);
    form->next = *bucket;
    *bucket = form;
}

/* The alphabet for URLs, where it differs. */
static void add_base64(struct mask *mask, struct str text)
{
    char *url = arena_bytes(mask->arena, text.len + 1);

    add_form(mask, text);
    for (size_t i = 0; i < text.len; i++)
        url[i] = text.at[i] == '+' ? '-' : text.at[i] == '/' ? '_' : text.at[i];
    add_form(mask, str_make(url, text.len));
}

/* What base64 makes of the secret wherever it begins within a group of three bytes: the characters
 * that nothing but the secret decides. */
static void add_encoded(struct mask *mask, struct str secret)
{
    for (size_t before = 0; before < 3; before++) {
        char *bytes = arena_alloc(mask->arena, before + secret.len);
        size_t from = (8 * before + 5) / 6;
        size_t to = 8 * (before + secret.len) / 6;

        memcpy(bytes + before, secret.at, secret.len);
        add_base64(mask, str_slice(base64_encode(mask->arena, str_make(bytes, before + secret.len)),
                                   from, to));
    }
}

static void add_quoted(struct mask *mask, struct str secret)
{
    struct strbuf quoted = strbuf_new(mask->arena, secret.len + 16);

    json_quote(&quoted, secret);
    add_form(mask, str_slice(strbuf_str(&quoted), 1, quoted.len - 1));
}

void mask_add(struct mask *mask, struct str secret)
{
    struct str whole = str_trim(secret);
    struct str rest = whole;
    struct str line;

    if (whole.len < WINDOW)
        return;
    add_form(mask, whole);
    add_form(mask, str_shown(mask->arena, whole, SIZE_MAX));
    add_quoted(mask, secret);
    add_encoded(mask, whole);
    while (str_split(&rest, '\n', &line)) {
        line = str_trim(line);
        add_form(mask, line);
        if (line.len != whole.len && line.len >= WINDOW)
            add_encoded(mask, line);
    }
}

void mask_add_json(struct mask *mask, struct json value)
{
    struct json_iter it = json_iter(value);

    if (json_is(value, JSON_STRING))
        mask_add(mask, json_str(value));
    else if (json_is(value, JSON_NUMBER))
        mask_add(mask, json_raw(value));
    while (json_next(&it))
        mask_add_json(mask, it.value);
}

static size_t common_length(struct str a, struct str b)
{
    size_t most = a.len < b.len ? a.len : b.len;
    size_t i = 0;

    while (i < most && a.at[i] == b.at[i])
        i++;
    return i;
}

/* How many bytes of a secret stand at the beginning of `text`; 0 if none do. */
static size_t hidden_length(const struct mask *mask, struct str text)
{
    size_t longest = 0;

    if (text.len < WINDOW)
        return 0;
    for (const struct form *form = *bucket_of(mask, text.at); form; form = form->next) {
        size_t common = common_length(form->text, text);
        bool whole = common == form->text.len;
        bool cut = common >= WINDOW &&
                   (common == text.len || str_starts(str_slice(text, common, text.len), cut_mark));

        if ((whole || cut) && common > longest)
            longest = common;
    }
    return longest;
}

struct str mask_apply(struct mask *mask, struct arena *arena, struct str text)
{
    struct strbuf out;
    size_t hidden_to = 0;

    if (mask->instead.len && text.len)
        return mask->instead;
    if (map_count(mask->known) == 0)
        return text;
    out = strbuf_new(arena, text.len);
    for (size_t i = 0; i < text.len; i++) {
        size_t length = hidden_length(mask, str_slice(text, i, text.len));

        if (length && i >= hidden_to)
            strbuf_put(&out, hidden);
        if (length && i + length > hidden_to)
            hidden_to = i + length;
        if (i >= hidden_to)
            strbuf_char(&out, text.at[i]);
    }
    return strbuf_str(&out);
}
