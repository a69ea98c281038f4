/* SPDX-License-Identifier: Apache-2.0 */
/* rancher_error.c: the six shapes of an error.
 *
 *   steve            {"type":"error",..,"code":"NotFound","message":"..","status":404,"type":..}
 *   norman           {"baseType":"error","code":"NotFound","message":"..","status":404,"type":..}
 *   Kubernetes       {"kind":"Status",...,"message":"...","reason":"NotFound","code":404}
 *   login filter     {"type":"error","status":"401","message":"..."}
 *   cluster router   {"Code":{"Code":"NotFound","Status":404},"Message":"...","Cause":null,...}
 *   proxies, dialers plain text, or nothing
 *
 * steve writes the key "type" twice, which the strict reader rejects with good reason. So bodies of
 * errors, and only those, are searched by a scan of their own that takes the first of equal
 * keys. */
#include "controller/clusters/rancher_error.h"

#include "base/limits.h"
#include "text/json.h"

enum { SCAN_BYTES_MAX = 64 * 1024, SHOWN_BYTES_MAX = 400 };

/* The end, behind its closing quote, of the string whose opening quote is at `at`; or -1. */
static ptrdiff_t string_end(struct str text, size_t at)
{
    for (size_t i = at + 1; i < text.len; i++) {
        if (text.at[i] == '\\')
            i++;
        else if (text.at[i] == '"')
            return (ptrdiff_t)i + 1;
    }
    return -1;
}

static size_t skip_space(struct str text, size_t at)
{
    while (at < text.len && (text.at[at] == ' ' || text.at[at] == '\t' || text.at[at] == '\n' ||
                             text.at[at] == '\r'))
        at++;
    return at;
}

/* The end of the value that begins at `at`: where, outside of strings, nesting is back at its start
 * and a comma or closing bracket follows. -1: it has none. */
static ptrdiff_t value_end(struct str text, size_t at)
{
    uint32_t depth = 0;

    for (size_t i = at; i < text.len; i++) {
        char c = text.at[i];

        if (c == '"') {
            ptrdiff_t end = string_end(text, i);

            if (end < 0)
                return -1;
            i = (size_t)end - 1;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (depth == 0)
                return (ptrdiff_t)i;
            depth--;
        } else if (c == ',' && depth == 0) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

/* The bytes of the first member `key` of the object `text`; "" if there is none. */
static struct str member(struct str text, struct str key)
{
    size_t at = skip_space(text, 0);

    if (at == text.len || text.at[at] != '{')
        return STR("");
    at = skip_space(text, at + 1);
    while (at < text.len && text.at[at] == '"') {
        ptrdiff_t key_end = string_end(text, at);

        if (key_end < 0)
            break;

        struct str name = str_slice(text, at + 1, (size_t)key_end - 1);
        size_t colon = skip_space(text, (size_t)key_end);

        if (colon == text.len || text.at[colon] != ':')
            break;

        size_t start = skip_space(text, colon + 1);
        ptrdiff_t end = value_end(text, start);

        if (end < 0)
            break;
        if (str_eq(name, key))
            return str_trim(str_slice(text, start, (size_t)end));
        if (text.at[end] != ',')
            break;
        at = skip_space(text, (size_t)end + 1);
    }
    return STR("");
}

/* A member that is a string, decoded; "" if it is not one. */
static struct str text_member(struct arena *arena, struct str object, struct str key)
{
    struct str raw = member(object, key);
    struct error ignored = { .code = ERROR_NONE };
    struct json value;

    if (raw.len == 0 || raw.at[0] != '"' ||
        json_read(arena, raw, &json_limits_default, &value, &ignored) < 0)
        return STR("");
    return json_str(value);
}

/* Words that are not Kubernetes' own reasons. */
static const struct {
    struct str word;
    enum error_code code;
} words[] = {
    { STR_INIT("PermissionDenied"), ERROR_FORBIDDEN },
    { STR_INIT("ActionNotAvailable"), ERROR_NOT_FOUND },
    { STR_INIT("MethodNotAllow"), ERROR_NOT_ALLOWED },
    { STR_INIT("ClusterUnavailable"), ERROR_UNAVAILABLE },
    { STR_INIT("ServerError"), ERROR_INTERNAL },
};

static enum error_code code_from_word(struct str word, int http_status)
{
    for (int code = ERROR_NONE + 1; code < ERROR_CODE_COUNT; code++)
        if (str_eq(word, str_of(error_reason((enum error_code)code))))
            return (enum error_code)code;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (str_eq(word, words[i].word))
            return words[i].code;
    return error_from_http_status(http_status);
}

/* steve answers 500 ServerError for whatever fails inside an action; only the words tell what it
 * was, and so whether asking again can help. */
static const struct {
    struct str part;
    enum error_code code;
} meanings[] = {
    { STR_INIT("no chart version found"), ERROR_NOT_FOUND },
    { STR_INIT("no chart name found"), ERROR_NOT_FOUND },
    { STR_INIT("improper constraint"), ERROR_INVALID },
    { STR_INIT("Too long: must have at most"), ERROR_TOO_LARGE },
    { STR_INIT("request body too large"), ERROR_TOO_LARGE },
    { STR_INIT("is forbidden:"), ERROR_FORBIDDEN },
    { STR_INIT("failed to find Session"), ERROR_CONNECT },
    { STR_INIT("cluster agent disconnected"), ERROR_CONNECT },
    { STR_INIT("lost connection to cluster"), ERROR_CONNECT },
    { STR_INIT("connect: connection refused"), ERROR_CONNECT },
};

/* Proxies and dialers say in plain text that nobody was reached. A handler that met the same words
 * on its own way, to the host of a chart for example, answers in JSON, and was reached. */
static enum error_code refine(enum error_code code, struct str message, bool in_json)
{
    if (code != ERROR_INTERNAL)
        return code;
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (str_find(message, meanings[i].part, 0) >= 0 &&
            !(in_json && meanings[i].code == ERROR_CONNECT))
            return meanings[i].code;
    return code;
}

/* What an answer without words means at this place. */
static struct str silent_meaning(int http_status)
{
    switch (http_status) {
    case 401:
        return STR("Rancher rejects the token, or its user may not use this cluster; check "
                   "the token file and the user's cluster role");
    case 403:
        return STR("the token's user has no right to this in Rancher; give it the role "
                   "cluster-owner on the cluster");
    case 404:
        return STR("Rancher has no such resource, or the token's user may not see it");
    default:
        return STR("no reason given");
    }
}

static bool is_html(struct str body)
{
    struct str start = str_trim(str_slice(body, 0, 256));

    return start.len && start.at[0] == '<';
}

static struct str find_message(struct arena *arena, struct str body, struct str *ret_word)
{
    struct str message = text_member(arena, body, STR("message"));
    struct str router = member(body, STR("Code"));

    *ret_word = text_member(arena, body, STR("reason"));
    if (ret_word->len == 0)
        *ret_word = text_member(arena, body, STR("code"));
    if (ret_word->len == 0)
        *ret_word = text_member(arena, router, STR("Code"));
    if (message.len == 0)
        message = text_member(arena, body, STR("Message"));
    return message;
}

void rancher_error_read(struct arena *arena, int http_status, struct str body,
                        struct error *ret_error)
{
    struct str scanned = str_trim(str_slice(body, 0, SCAN_BYTES_MAX));
    struct str word = STR("");
    struct str message;
    bool in_json = scanned.len && scanned.at[0] == '{';

    if (in_json)
        message = find_message(arena, scanned, &word);
    else if (is_html(scanned))
        message = STR("an HTML page, as of a proxy or a login page, and not Rancher's API");
    else
        message = scanned;

    enum error_code code = refine(code_from_word(word, http_status), message, in_json);

    if (message.len == 0)
        message = word.len ? word : silent_meaning(http_status);
    else if (code == ERROR_UNAUTHORIZED)
        message = str_fmt(arena, "Rancher rejects the token: %.*s", STR_ARG(message));
    error_set(ret_error, code, "%.*s (HTTP %d)",
              STR_ARG(str_shown(arena, message, SHOWN_BYTES_MAX)), http_status);
}

/* Whether the object names its error, as all of Rancher's and Kubernetes' own do. */
static bool has_word(struct str body)
{
    return member(body, STR("reason")).len || member(body, STR("code")).len ||
           member(body, STR("Code")).len;
}

bool rancher_error_is_rejection(int http_status, struct str body)
{
    struct str scanned = str_trim(str_slice(body, 0, SCAN_BYTES_MAX));

    /* A redirect is of something in between; a 408 may come after half of the work. */
    if (http_status < 400 || http_status == 408)
        return false;
    if (http_status < 500)
        return true;
    if (http_status == 502 || http_status == 504)
        return false;
    /* A body of Rancher's own says that its handler came to an end with an error; these plain texts
     * say that nobody was reached. Any other 5xx may come from something in between. */
    if (scanned.len && scanned.at[0] == '{')
        return http_status != 503 || has_word(scanned);
    for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
        if (meanings[i].code == ERROR_CONNECT && str_find(scanned, meanings[i].part, 0) >= 0)
            return true;
    return false;
}

int rancher_collection_read(struct str body, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct json_limits limits = json_limits_default;
    struct json answer;

    limits.bytes_max = LIMIT_ANSWER_BODY;
    limits.string_max = LIMIT_ANSWER_BODY;
    if (json_read(arena, str_dup(arena, body), &limits, &answer, err) < 0)
        return error_wrap(err, "Rancher answered with what is not JSON");
    if (!str_eq(json_str(json_get(answer, STR("type"))), STR("collection")))
        return error_set(err, ERROR_SYNTAX, "what answers is JSON, and not as Rancher's");
    return 0;
}
