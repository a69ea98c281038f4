/* SPDX-License-Identifier: Apache-2.0 */
/* json_place.c: one step for each key or index. O(members passed + length of the path). */
#include "text/json_place.h"

static bool ends_step(struct str path, size_t at)
{
    return at >= path.len || path.at[at] == '.' || path.at[at] == '[';
}

/* How many bytes of `path` name this key: ".key", "[key]", or "key" at the beginning; 0 if none. */
static size_t step_over(struct str path, size_t at, struct str key)
{
    bool bracket = path.at[at] == '[';
    size_t begin = at + (bracket || path.at[at] == '.');
    size_t end = begin + key.len;

    if (!str_eq(str_slice(path, begin, end), key))
        return 0;
    if (bracket && (end >= path.len || path.at[end] != ']'))
        return 0;
    end += bracket;
    return ends_step(path, end) ? end - at : 0;
}

static bool find_member(struct json object, struct str path, size_t *at, struct json *value)
{
    struct json_iter it = json_iter(object);
    size_t longest = 0;

    while (json_next(&it)) {
        size_t step = step_over(path, *at, it.key);

        if (step > longest) {
            longest = step;
            *value = it.value;
        }
    }
    *at += longest;
    return longest > 0;
}

static bool find_element(struct json array, struct str path, size_t *at, struct json *value)
{
    ptrdiff_t close = path.at[*at] == '[' ? str_find_char(path, ']', *at) : -1;
    struct json_iter it = json_iter(array);
    uint64_t index;

    if (close < 0 || !str_to_u64(str_slice(path, *at + 1, (size_t)close), &index))
        return false;
    while (json_next(&it)) {
        if (it.position != index)
            continue;
        *value = it.value;
        *at = (size_t)close + 1;
        return true;
    }
    return false;
}

struct json_place json_place_of(struct json root, struct str path)
{
    struct json_place place = { .value = root };
    size_t at = 0;

    while (at < path.len) {
        bool element = json_is(place.value, JSON_ARRAY);
        bool found = element ? find_element(place.value, path, &at, &place.value)
                             : find_member(place.value, path, &at, &place.value);

        if (!found)
            return place;
        place.member = !element;
    }
    place.whole = true;
    return place;
}
