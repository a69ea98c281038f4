/* names.c: the four grammars, read by hand: they run for each key of each selector. */
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
