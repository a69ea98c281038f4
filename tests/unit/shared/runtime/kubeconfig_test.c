/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig_test.c: what is taken from kubeconfig files, and what each rejection says. */
#include "support/rows.h"
#include "support/folder.h"

#include "io/file.h"
#include "runtime/kubeconfig.h"

#include <stdlib.h>

#define CLUSTER "clusters: [{name: c, cluster: {server: 'https://api:6443/'"
#define REST "contexts: [{name: x, context: {cluster: c, user: u, namespace: team}}]\n" \
             "current-context: x\n"

static struct str write_file(struct arena *arena, const char *folder, const char *name,
                             const char *text)
{
    const char *path = folder_name(arena, folder, name);

    folder_put(path, str_of(text), 0600);
    return str_of(path);
}

static void takes_data_files_and_tokens(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    struct kube_config config;
    struct error err = { 0 };

    write_file(arena, folder, "ca.crt", "-----BEGIN CERTIFICATE-----\nQQ==\n");
    write_file(arena, folder, "token", "t0ken\n");

    struct str file = write_file(
        arena, folder, "config",
        CLUSTER ", certificate-authority: ca.crt, tls-server-name: api.local}}]\n"
        "users: [{name: u, user: {tokenFile: token, token: old,\n"
        "  client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t,\n"
        "  client-key-data: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t}}]\n" REST);

    if (kube_config_load(arena, file.at, NULL, &config, &err) < 0)
        fail_msg("%s", err.text);
    rows_expect_str("server without its last slash", config.server, STR("https://api:6443"));
    rows_expect_str("ca file beside the kubeconfig", config.ca_pem,
                    STR("-----BEGIN CERTIFICATE-----\nQQ==\n"));
    rows_expect_str("certificate data", config.certificate_pem,
                    STR("-----BEGIN CERTIFICATE-----"));
    rows_expect_str("key data", config.key_pem, STR("-----BEGIN PRIVATE KEY-----"));
    rows_expect_str("the token file wins", config.token, STR(""));
    rows_expect("and is found", str_ends(config.token_file, STR("/token")), config.token_file.at);
    rows_expect_str("name to check", config.tls_server_name, STR("api.local"));
    rows_expect_str("namespace", config.namespace_, STR("team"));
    folder_remove(folder);
    (void)state;
}

static void merges_the_files_of_the_environment(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    struct kube_config config;
    struct error err = { 0 };
    struct str first = write_file(arena, folder, "1", CLUSTER "}}]\ncurrent-context: x\n");
    struct str second = write_file(
        arena, folder, "2",
        "clusters: [{name: c, cluster: {server: 'https://other'}}]\n"
        "users: [{name: u, user: {token: abc}}]\n"
        "current-context: y\n"
        "contexts: [{name: x, context: {cluster: c, user: u}}]\n");

    setenv("KUBECONFIG", str_fmt(arena, "%s:%s/none:%s", first.at, folder, second.at).at, 1);
    if (kube_config_load(arena, NULL, NULL, &config, &err) < 0)
        fail_msg("%s", err.text);
    unsetenv("KUBECONFIG");
    rows_expect_str("the first file's cluster", config.server, STR("https://api:6443"));
    rows_expect_str("the second file's user", config.token, STR("abc"));
    rows_expect_str("no namespace is default", config.namespace_, STR("default"));
    folder_remove(folder);
    (void)state;
}

static void rejects_in_one_line_with_file_context_and_field(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        const char *context;
        const char *want; /* a part of the message */
    } rows[] = {
        { "a plugin", CLUSTER "}}]\nusers: [{name: u, user: {exec: {command: aws}}}]\n" REST, NULL,
          "context \"x\": users[u].exec: credential plugins are not run" },
        { "an auth provider", CLUSTER "}}]\nusers: [{name: u, user: {auth-provider: {}}}]\n" REST,
          NULL, "users[u].auth-provider: auth providers are not run" },
        { "a password", CLUSTER "}}]\nusers: [{name: u, user: {username: me}}]\n" REST, NULL,
          "users[u].username: passwords are not sent" },
        { "a proxy", CLUSTER ", proxy-url: 'http://p'}}]\nusers: []\n" REST, NULL,
          "clusters[c].proxy-url: proxies are not supported" },
        { "a user that is not there", CLUSTER "}}]\n" REST, NULL, "users has no entry \"u\"" },
        { "a context that is not there", CLUSTER "}}]\n" REST, "zz",
          "contexts has no entry \"zz\"" },
        { "no current context", CLUSTER "}}]\n", NULL, "current-context is not set" },
        { "no server", "clusters: [{name: c, cluster: {}}]\n" REST, NULL,
          "clusters[c].server: is missing" },
        { "another scheme", "clusters: [{name: c, cluster: {server: 'ftp://x'}}]\n" REST, NULL,
          "clusters[c].server: must begin with https://" },
        { "half a pair", CLUSTER "}}]\nusers: [{name: u, user: {client-key-data: "
          "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t}}]\n" REST, NULL,
          "users[u].client-certificate: is missing" },
        { "bad base64", CLUSTER ", certificate-authority-data: '***'}}]\n" REST, NULL,
          "clusters[c].certificate-authority-data: is not base64" },
        { "no PEM", CLUSTER ", certificate-authority-data: QQ==}}]\n" REST, NULL,
          "clusters[c].certificate-authority-data: holds no PEM" },
        { "a CA file that is not there", CLUSTER ", certificate-authority: gone.crt}}]\n" REST,
          NULL, "clusters[c].certificate-authority: " },
        { "insecure and a CA", CLUSTER ", insecure-skip-tls-verify: true, "
          "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t}}]\n" REST, NULL,
          "insecure-skip-tls-verify: contradicts certificate-authority" },
        { "a wrong type", "clusters: [{name: c, cluster: {server: 5}}]\n" REST, NULL,
          "clusters[c].server: must be a string" },
        { "no YAML", "{", NULL, "line " },
        { "a list", "[]", NULL, "must be one document of kind Config" },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct str file = write_file(arena, folder, "config", rows[i].text);
        struct kube_config config;
        struct error err = { 0 };

        rows_expect_int(rows[i].row,
                        kube_config_load(arena, file.at, rows[i].context, &config, &err), -1);
        if (!strstr(err.text, rows[i].want) || !strstr(err.text, file.at) ||
            strchr(err.text, '\n'))
            rows_expect_str(rows[i].row, str_of(err.text), str_of(rows[i].want));
    }
    folder_remove(folder);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_data_files_and_tokens),
        cmocka_unit_test(merges_the_files_of_the_environment),
        cmocka_unit_test(rejects_in_one_line_with_file_context_and_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
