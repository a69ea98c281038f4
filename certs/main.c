/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: herd-devca: a throw-away CA and a webhook certificate for one machine.
 *
 * For development and the lab. In a cluster cert-manager issues (certs/README.md). */
#include "base/flag.h"
#include "io/file.h"
#include "io/loop.h"
#include "io/program.h"
#include "io/tls.h"

enum flag_id {
#define FLAG FLAG_AS_ID
#include "certs/flags.def"
#undef FLAG
    FLAG_COUNT
};

static const struct flag_row flag_rows[FLAG_COUNT] = {
#define FLAG FLAG_AS_ROW
#include "certs/flags.def"
#undef FLAG
};

static const struct program program = {
    .name = "herd-devca",
    .summary = "Writes a throw-away CA and a server certificate signed by it, for development.",
    .flags = flag_rows,
    .flag_count = FLAG_COUNT,
};

enum { PEM_BYTES_MAX = 64 * 1024, CLOCK_SKEW_MS = 60 * 1000 };

static struct str_list split_list(struct arena *arena, struct str text)
{
    struct str_list list = str_list_new(arena, 4);
    struct str part;

    while (text.len && str_split(&text, ',', &part))
        str_list_push(&list, part);
    return list;
}

static const char *in_folder(struct arena *arena, struct str folder, const char *name)
{
    return str_fmt(arena, "%.*s/%s", STR_ARG(folder), name).at;
}

static int write_pair(struct arena *arena, struct str folder, const char *name,
                      const struct tls_pair *pair, struct error *err)
{
    const char *certificate = str_fmt(arena, "%s.crt", name).at;
    const char *key = str_fmt(arena, "%s.key", name).at;

    if (file_replace(in_folder(arena, folder, key), pair->key_pem, 0600, err) < 0)
        return -1;
    return file_replace(in_folder(arena, folder, certificate), pair->certificate_pem, 0644, err);
}

static int make_ca(struct arena *arena, struct str folder, struct tls_request *request, bool keep,
                   struct tls_pair *ret_ca, struct error *err)
{
    if (keep) {
        if (file_read(arena, in_folder(arena, folder, "ca.crt"), PEM_BYTES_MAX,
                      &ret_ca->certificate_pem, err) < 0)
            return -1;
        return file_read(arena, in_folder(arena, folder, "ca.key"), PEM_BYTES_MAX, &ret_ca->key_pem,
                         err);
    }
    request->common_name = STR("herd development CA");
    request->is_ca = true;
    if (tls_issue(arena, request, NULL, ret_ca, err) < 0)
        return -1;
    return write_pair(arena, folder, "ca", ret_ca, err);
}

static int issue(struct arena *arena, const struct flag_value *values, struct error *err)
{
    int64_t now_ms = clock_wall_ms(system_clock());
    struct str folder = values[FLAG_FOLDER].text;
    struct tls_pair ca;
    struct tls_pair leaf;
    struct tls_request request = {
        .dns_names = str_list_new(arena, 0),
        .addresses = str_list_new(arena, 0),
        .not_before_ms = now_ms - CLOCK_SKEW_MS,
        .not_after_ms = now_ms + values[FLAG_DAYS].number * 24 * 3600 * 1000,
    };

    if (folder.len == 0)
        return error_set(err, ERROR_BAD_REQUEST, "--folder is missing: say where to write");
    if (file_make_folder(str_z(arena, folder), 0755, err) < 0 ||
        make_ca(arena, folder, &request, values[FLAG_RENEW].number, &ca, err) < 0)
        return -1;
    request.is_ca = false;
    request.dns_names = split_list(arena, values[FLAG_DNS_NAMES].text);
    request.addresses = split_list(arena, values[FLAG_ADDRESSES].text);
    if (request.dns_names.count == 0 && request.addresses.count == 0)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--dns-names and --addresses are both empty: the certificate would be "
                         "good for nothing");
    request.common_name =
        request.dns_names.count ? request.dns_names.items[0] : request.addresses.items[0];
    if (tls_issue(arena, &request, &ca, &leaf, err) < 0)
        return -1;
    return write_pair(arena, folder, "tls", &leaf, err);
}

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct flag_values flags;
    struct error err;
    int code = program_parse(&program, argc, argv, arena, &flags);

    if (code != PROGRAM_GO_ON)
        return code;
    if (issue(arena, flags.values, &err) < 0)
        return program_reject(&program, &err);
    return PROGRAM_OK;
}
