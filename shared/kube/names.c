/* SPDX-License-Identifier: Apache-2.0 */
/* names.c: the grammars, read by hand: they run for each key of each selector. */
#include "kube/names.h"

enum { LABEL_MAX = 63, SUBDOMAIN_MAX = 253 };

static bool is_lower_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_alnum(char c)
{
    return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

static bool is_label(struct str text)
{
    if (text.len == 0 || !is_lower_alnum(text.at[0]) || !is_lower_alnum(text.at[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!is_lower_alnum(text.at[i]) && text.at[i] != '-')
            return false;
    return true;
}

/* Alphanumeric at both ends; '-', '_' and '.' between. */
static bool is_qualified(struct str text)
{
    if (text.len == 0 || !is_alnum(text.at[0]) || !is_alnum(text.at[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (!is_alnum(text.at[i]) && !strchr("-_.", text.at[i]))
            return false;
    return memchr(text.at, '\0', text.len) == NULL;
}

const char *kube_not_dns1123_label(struct str text)
{
    if (text.len == 0)
        return "must not be empty";
    if (text.len > LABEL_MAX)
        return "must be no more than 63 characters";
    if (!is_label(text))
        return "must consist of lower case letters, digits or '-', and begin and end with a "
               "letter or digit (e.g. 'my-name')";
    return NULL;
}

const char *kube_not_dns1123_subdomain(struct str text)
{
    static const char *const grammar =
        "must consist of lower case letters, digits, '-' or '.', and each part between dots must "
        "begin and end with a letter or digit (e.g. 'example.com')";

    if (text.len == 0)
        return "must not be empty";
    if (text.len > SUBDOMAIN_MAX)
        return "must be no more than 253 characters";
    if (text.at[text.len - 1] == '.')
        return grammar;

    struct str rest = text;
    struct str part;

    while (str_split(&rest, '.', &part))
        if (!is_label(part))
            return grammar;
    return NULL;
}

const char *kube_not_label_key(struct str text)
{
    ptrdiff_t slash = str_find_char(text, '/', 0);
    struct str name = slash < 0 ? text : str_slice(text, (size_t)slash + 1, text.len);

    if (text.len == 0)
        return "must not be empty";
    if (slash >= 0 && kube_not_dns1123_subdomain(str_slice(text, 0, (size_t)slash)))
        return "must have a DNS subdomain before '/', of lower case letters, digits, '-' and '.' "
               "(e.g. 'example.com/my-name')";
    if (name.len > LABEL_MAX)
        return "must have no more than 63 characters in its name part";
    if (!is_qualified(name))
        return "must consist of letters, digits, '-', '_' or '.', and begin and end with a letter "
               "or digit (e.g. 'my.name' or 'example.com/my-name')";
    return NULL;
}

const char *kube_not_label_value(struct str text)
{
    if (text.len > LABEL_MAX)
        return "must be no more than 63 characters";
    if (text.len && !is_qualified(text))
        return "must be empty or consist of letters, digits, '-', '_' or '.', and begin and end "
               "with a letter or digit (e.g. 'my_value')";
    return NULL;
}

const char *kube_not_annotation_key(struct str text)
{
    ptrdiff_t slash = str_find_char(text, '/', 0);
    char prefix[SUBDOMAIN_MAX];

    if (slash < 0 || slash > SUBDOMAIN_MAX)
        return kube_not_label_key(text);
    for (ptrdiff_t i = 0; i < slash; i++)
        prefix[i] =
            text.at[i] >= 'A' && text.at[i] <= 'Z' ? (char)(text.at[i] - 'A' + 'a') : text.at[i];
    if (kube_not_dns1123_subdomain((struct str){ prefix, (size_t)slash }))
        return kube_not_label_key(text);

    struct str name = str_slice(text, (size_t)slash + 1, text.len);

    return str_find_char(name, '/', 0) < 0 && name.len ? kube_not_label_key(name)
                                                       : kube_not_label_key(text);
}

const char *kube_not_data_key(struct str text)
{
    if (text.len == 0)
        return "must not be empty";
    if (text.len > SUBDOMAIN_MAX)
        return "must be no more than 253 characters";
    for (size_t i = 0; i < text.len; i++)
        if (!is_alnum(text.at[i]) && text.at[i] != '-' && text.at[i] != '_' && text.at[i] != '.')
            return "must consist of letters, digits, '-', '_' or '.'";
    if (str_eq(text, STR(".")) || str_starts(text, STR("..")))
        return "must not be '.' or begin with '..'";
    return NULL;
}

const char *kube_not_env_name(struct str text)
{
    if (text.len && text.at[0] >= '0' && text.at[0] <= '9')
        return "must not begin with a digit";
    return kube_not_data_key(text);
}

/* k8s.io/apimachinery/pkg/api/validation/generic.go: the API server puts one letter in place of the
 * last two characters, if the last is a '-'. */
const char *kube_not_generate_name(struct str text)
{
    char masked[SUBDOMAIN_MAX];
    bool dashed = text.len > 1 && str_ends(text, STR("-"));

    if (!dashed || text.len > SUBDOMAIN_MAX + 1)
        return kube_not_dns1123_subdomain(text);
    memcpy(masked, text.at, text.len - 2);
    masked[text.len - 2] = 'a';
    return kube_not_dns1123_subdomain((struct str){ masked, text.len - 1 });
}
