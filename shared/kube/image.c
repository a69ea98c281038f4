/* SPDX-License-Identifier: Apache-2.0 */
/* image.c: [REGISTRY/]PATH[:TAG][@ALGORITHM:HEX], taken apart from its end. */
#include "kube/image.h"

#include <string.h>

enum { NAME_BYTES_MAX = 255, TAG_BYTES_MAX = 128, DIGEST_HEX_MIN = 32 };

static bool is_lower(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_letter(char c)
{
    return is_lower(c) || (c >= 'A' && c <= 'Z');
}

static ptrdiff_t find_last(struct str text, char c)
{
    ptrdiff_t at = (ptrdiff_t)text.len - 1;

    while (at >= 0 && text.at[at] != c)
        at--;
    return at;
}

/* Letters and digits in lower case, and between them '.', '_', "__" or any number of '-'. */
static bool is_path_component(struct str text)
{
    size_t i = 0;

    while (i < text.len) {
        size_t begin = i;

        while (i < text.len && is_lower(text.at[i]))
            i++;
        if (i == begin)
            return false;
        if (i == text.len)
            return true;
        begin = i;
        while (i < text.len && text.at[i] == text.at[begin])
            i++;
        if (text.at[begin] != '-' && i - begin > (text.at[begin] == '_' ? 2U : 1U))
            return false;
        if (text.at[begin] != '-' && text.at[begin] != '_' && text.at[begin] != '.')
            return false;
    }
    return false;
}

/* A host name or a bracketed IPv6 address, and perhaps a port. */
static bool is_registry(struct str text)
{
    ptrdiff_t bracket = find_last(text, ']');
    ptrdiff_t colon = find_last(text, ':');
    struct str host = colon > bracket ? str_slice(text, 0, (size_t)colon) : text;
    struct str port = colon > bracket ? str_slice(text, (size_t)colon + 1, text.len) : STR("0");
    bool is_ipv6 = str_starts(host, STR("[")) && str_ends(host, STR("]")) && host.len > 2;
    uint64_t ignored;

    if (!str_to_u64(port, &ignored) || !host.len)
        return false;
    if (is_ipv6)
        host = str_slice(host, 1, host.len - 1);
    for (size_t i = 0; i < host.len; i++)
        if (!is_letter(host.at[i]) && host.at[i] != (is_ipv6 ? ':' : '.') &&
            (is_ipv6 || host.at[i] != '-'))
            return false;
    return is_ipv6 || (is_letter(host.at[0]) && is_letter(host.at[host.len - 1]));
}

/* The first part of a name is a registry if it looks like a host. */
static bool names_registry(struct str first)
{
    for (size_t i = 0; i < first.len; i++)
        if (first.at[i] == '.' || first.at[i] == ':' || (first.at[i] >= 'A' && first.at[i] <= 'Z'))
            return true;
    return str_eq(first, STR("localhost"));
}

static const char *check_name(struct str name)
{
    ptrdiff_t slash = str_find_char(name, '/', 0);
    struct str first = str_slice(name, 0, slash < 0 ? 0 : (size_t)slash);
    struct str rest = name;
    struct str component;

    if (!name.len)
        return "it has no name";
    if (name.len > NAME_BYTES_MAX)
        return "its name must be no more than 255 bytes";
    if (slash >= 0 && names_registry(first)) {
        if (!is_registry(first))
            return "what stands before the first '/' must be a registry: a host name, and perhaps "
                   "':' and a port";
        rest = str_slice(name, (size_t)slash + 1, name.len);
    }
    if (!rest.len || str_ends(rest, STR("/")))
        return "it has no name behind its last '/'";
    while (str_split(&rest, '/', &component))
        if (!is_path_component(component))
            return "each part of its name must consist of lower-case letters and digits, with "
                   "single '.' or '_', \"__\" or '-' between them";
    return NULL;
}

static const char *check_tag(struct str tag)
{
    if (!tag.len)
        return "the tag behind ':' is missing";
    if (tag.len > TAG_BYTES_MAX)
        return "its tag must be no more than 128 bytes";
    for (size_t i = 0; i < tag.len; i++)
        if (!is_letter(tag.at[i]) && tag.at[i] != '_' &&
            (i == 0 || (tag.at[i] != '.' && tag.at[i] != '-')))
            return "its tag must consist of letters, digits, '_', '.' and '-', and not begin with "
                   "'.' or '-'";
    return NULL;
}

static bool is_hex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const char *check_digest(struct str digest)
{
    static const char wrong[] = "its digest must be written as sha256: and 64 hexadecimal digits";
    ptrdiff_t colon = str_find_char(digest, ':', 0);
    struct str hex = str_slice(digest, colon < 0 ? 0 : (size_t)colon + 1, digest.len);
    bool is_sha256 = str_starts(digest, STR("sha256:"));

    if (colon < 1 || (is_sha256 ? hex.len != 64 : hex.len < DIGEST_HEX_MIN))
        return wrong;
    for (ptrdiff_t i = 0; i < colon; i++)
        if (!is_letter(digest.at[i]) && (i == 0 || !strchr("+._-", digest.at[i]) || !digest.at[i]))
            return wrong;
    for (size_t i = 0; i < hex.len; i++)
        if (!is_hex(hex.at[i]))
            return wrong;
    return NULL;
}

const char *image_reference_read(struct str text, struct image_reference *ret_image)
{
    struct image_reference image = { .name = text };
    ptrdiff_t at = str_find_char(text, '@', 0);
    const char *wrong = NULL;
    ptrdiff_t colon;

    if (at >= 0) {
        image.name = str_slice(text, 0, (size_t)at);
        image.digest = str_slice(text, (size_t)at + 1, text.len);
        wrong = check_digest(image.digest);
    }
    colon = find_last(image.name, ':');
    if (colon > find_last(image.name, '/')) {
        image.tag = str_slice(image.name, (size_t)colon + 1, image.name.len);
        image.name = str_slice(image.name, 0, (size_t)colon);
        wrong = wrong ? wrong : check_tag(image.tag);
    }
    wrong = wrong ? wrong : check_name(image.name);
    if (!wrong)
        *ret_image = image;
    return wrong;
}
