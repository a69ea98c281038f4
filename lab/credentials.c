/* SPDX-License-Identifier: Apache-2.0 */
/* credentials.c: issue, keep and hand out. */
#include "lab/credentials.h"

#include "io/file.h"
#include "text/base64.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/random.h>

#define DAY_MS INT64_C(86400000)

enum { FILE_BYTES_MAX = 1024 * 1024, TOKEN_BYTES = 24 };

static const char *in_folder(struct arena *arena, const char *folder, const char *name)
{
    return str_z(arena, str_fmt(arena, "%s/%s", folder, name));
}

/* Both files, or -1; what is missing or unreadable is made anew by the caller. */
static int read_pair(struct arena *arena, const char *folder, const char *name,
                     struct tls_pair *ret_pair, struct error *err)
{
    struct tls_pair pair;

    if (file_read(arena, in_folder(arena, folder, str_z(arena, str_fmt(arena, "%s.crt", name))),
                  FILE_BYTES_MAX, &pair.certificate_pem, err) != 0 ||
        file_read(arena, in_folder(arena, folder, str_z(arena, str_fmt(arena, "%s.key", name))),
                  FILE_BYTES_MAX, &pair.key_pem, err) != 0)
        return -1;
    if (tls_check_pair(&pair, err) != 0)
        return error_wrap(err, "%s/%s.crt", folder, name);
    *ret_pair = pair;
    return 0;
}

static int write_pair(struct arena *arena, const char *folder, const char *name,
                      const struct tls_pair *pair, struct error *err)
{
    if (file_replace(in_folder(arena, folder, str_z(arena, str_fmt(arena, "%s.key", name))),
                     pair->key_pem, 0600, err) != 0)
        return -1;
    return file_replace(in_folder(arena, folder, str_z(arena, str_fmt(arena, "%s.crt", name))),
                        pair->certificate_pem, 0644, err);
}

static struct tls_request request_for(struct arena *arena, const char *name, int64_t now_ms,
                                      int64_t days)
{
    return (struct tls_request){
        .common_name = str_of(name),
        .organization = STR(""),
        .dns_names = str_list_new(arena, 4),
        .addresses = str_list_new(arena, 4),
        .not_before_ms = now_ms - DAY_MS / 24,
        .not_after_ms = now_ms + days * DAY_MS,
    };
}

static bool is_numeric(struct arena *arena, struct str host)
{
    unsigned char address[16];

    return inet_pton(AF_INET, str_z(arena, host), address) == 1 ||
           inet_pton(AF_INET6, str_z(arena, host), address) == 1;
}

static int open_ca(struct arena *arena, const char *folder, int64_t now_ms, struct tls_pair *ret_ca,
                   struct error *err)
{
    struct tls_request request = request_for(arena, "herd-lab", now_ms, 3650);
    struct error ignored;

    /* A key without its certificate is a start that was cut: nothing was issued from it yet. */
    if (read_pair(arena, folder, "ca", ret_ca, &ignored) == 0)
        return 0;
    if (file_exists(in_folder(arena, folder, "ca.crt")))
        return error_set(err, ERROR_FILE,
                         "the lab's CA cannot be used: %s; remove ca.crt and ca.key in %s and "
                         "every client gets a new kubeconfig at the next start",
                         ignored.text, folder);
    request.is_ca = true;
    if (tls_issue(arena, &request, NULL, ret_ca, err) != 0)
        return -1;
    return write_pair(arena, folder, "ca", ret_ca, err);
}

static int issue_server(struct arena *arena, const char *folder, int64_t now_ms,
                        const struct str_list *hosts, const struct tls_pair *ca, struct error *err)
{
    static const char *const names[] = { "localhost", "kubernetes", "kubernetes.default",
                                         "kubernetes.default.svc" };
    struct tls_request request = request_for(arena, "herd-lab", now_ms, 365);
    struct tls_pair pair;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        str_list_push(&request.dns_names, str_of(names[i]));
    str_list_push(&request.addresses, STR("127.0.0.1"));
    str_list_push(&request.addresses, STR("::1"));
    for (uint32_t i = 0; i < hosts->count; i++) {
        struct str_list *list =
            is_numeric(arena, hosts->items[i]) ? &request.addresses : &request.dns_names;

        if (hosts->items[i].len && !str_list_has(list, hosts->items[i]))
            str_list_push(list, hosts->items[i]);
    }
    if (tls_issue(arena, &request, ca, &pair, err) != 0)
        return -1;
    return write_pair(arena, folder, "tls", &pair, err);
}

static int open_admin(struct arena *arena, const char *folder, int64_t now_ms,
                      const struct tls_pair *ca, struct tls_pair *ret_pair, struct error *err)
{
    struct tls_request request = request_for(arena, "herd-lab-admin", now_ms, 365);

    request.organization = STR("system:masters");
    request.for_client = true;
    if (tls_issue(arena, &request, ca, ret_pair, err) != 0)
        return -1;
    return write_pair(arena, folder, "admin", ret_pair, err);
}

/* Random hex digits that are kept in a file. */
static int open_secret(struct arena *arena, const char *folder, const char *name,
                       struct str *ret_token, struct error *err)
{
    const char *file = in_folder(arena, folder, name);
    unsigned char random[TOKEN_BYTES];
    struct strbuf token = strbuf_new(arena, 2 * TOKEN_BYTES);
    struct str kept;

    if (file_exists(file)) {
        if (file_read(arena, file, FILE_BYTES_MAX, &kept, err) != 0)
            return -1;
        *ret_token = str_trim(kept);
        if (ret_token->len >= 2 * TOKEN_BYTES)
            return 0;
    }
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return error_set(err, ERROR_INTERNAL, "no random bytes for %s: %s", name, strerror(errno));
    for (size_t i = 0; i < sizeof(random); i++)
        strbuf_fmt(&token, "%02x", random[i]);
    *ret_token = strbuf_str(&token);
    return file_replace(file, *ret_token, 0600, err);
}

int credentials_open(struct arena *arena, const char *folder, const struct clock *clock,
                     const struct str_list *hosts, struct credentials *ret_credentials,
                     struct error *err)
{
    int64_t now_ms = clock_wall_ms(clock);
    struct credentials c = {
        .ca_file = in_folder(arena, folder, "ca.crt"),
        .certificate_file = in_folder(arena, folder, "tls.crt"),
        .key_file = in_folder(arena, folder, "tls.key"),
    };
    struct tls_pair ca;

    if (open_ca(arena, folder, now_ms, &ca, err) != 0 ||
        issue_server(arena, folder, now_ms, hosts, &ca, err) != 0 ||
        open_admin(arena, folder, now_ms, &ca, &c.admin, err) != 0 ||
        open_secret(arena, folder, "admin.token", &c.token, err) != 0 ||
        open_secret(arena, folder, "accounts.key", &c.accounts_key, err) != 0)
        return -1;
    c.ca_pem = ca.certificate_pem;
    *ret_credentials = c;
    return 0;
}

int credentials_write_kubeconfig(struct arena *arena, const struct credentials *c,
                                 struct str server, const char *file, struct error *err)
{
    struct strbuf out = strbuf_new(arena, 8192);
    struct str ca = base64_encode(arena, c->ca_pem);
    struct str certificate = base64_encode(arena, c->admin.certificate_pem);
    struct str key = base64_encode(arena, c->admin.key_pem);

    strbuf_lit(&out, "apiVersion: v1\nkind: Config\ncurrent-context: herd-lab\nclusters:\n"
                     "- name: herd-lab\n  cluster:\n");
    strbuf_fmt(&out, "    server: %.*s\n    certificate-authority-data: %.*s\n", STR_ARG(server),
               STR_ARG(ca));
    strbuf_lit(&out, "users:\n- name: admin\n  user:\n");
    strbuf_fmt(&out, "    token: %.*s\n", STR_ARG(c->token));
    strbuf_lit(&out, "- name: admin-certificate\n  user:\n");
    strbuf_fmt(&out, "    client-certificate-data: %.*s\n    client-key-data: %.*s\n",
               STR_ARG(certificate), STR_ARG(key));
    strbuf_lit(&out, "contexts:\n"
                     "- name: herd-lab\n  context: {cluster: herd-lab, user: admin}\n"
                     "- name: herd-lab-certificate\n"
                     "  context: {cluster: herd-lab, user: admin-certificate}\n");
    return file_replace(file, strbuf_str(&out), 0600, err);
}
