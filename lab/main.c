/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: `herd-lab serve`: a Kubernetes-style API server and a simulated Rancher simulation on
 * this machine, in one process, kept in one folder.
 *
 * Order of the start: lock the folder, credentials, store and API, simulation, ports, files that
 * say where everything is, `ready`. The end is the same backwards. */
#include "io/file.h"
#include "io/program.h"
#include "io/signal.h"
#include "lab/credentials.h"
#include "lab/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum flag_id {
#define FLAG FLAG_AS_ID
#include "lab/flags.def"
#undef FLAG
    FLAG_COUNT
};

static const struct flag_row flag_rows[FLAG_COUNT] = {
#define FLAG FLAG_AS_ROW
#include "lab/flags.def"
#undef FLAG
};

static const struct program program = {
    .name = "herd-lab serve",
    .summary =
        "A Kubernetes-style API server and a simulated Rancher simulation on this one machine, "
        "for trying and testing Herd without a cluster.",
    .flags = flag_rows,
    .flag_count = FLAG_COUNT,
};

enum { DRAIN_MS = 2000 };

/* What the flags say, in the form in which it is used. */
struct settings {
    const char *data;
    const char *host, *rancher_host;
    uint16_t port, rancher_port;
    const char *kubeconfig;
    double time_scale;
};

static int read_settings(const struct flag_values *flags, struct arena *arena,
                         struct settings *ret_settings, struct error *err)
{
    struct settings s = { 0 };
    const char *scale = str_z(arena, flags->values[FLAG_TIME_SCALE].text);
    char *end = NULL;

    s.data = str_z(arena, flags->values[FLAG_DATA].text);
    if (!*s.data)
        return error_set(err, ERROR_BAD_REQUEST,
                         "--data is required: the folder to keep "
                         "everything in, e.g. --data build/lab");
    if (address_parse(arena, flags->values[FLAG_LISTEN].text, &s.host, &s.port, err) != 0)
        return error_wrap(err, "--listen");
    if (address_parse(arena, flags->values[FLAG_RANCHER_LISTEN].text, &s.rancher_host,
                      &s.rancher_port, err) != 0)
        return error_wrap(err, "--rancher-listen");
    s.time_scale = strtod(scale, &end);
    if (!*scale || *end || !(s.time_scale >= 0 && s.time_scale <= 1000))
        return error_set(err, ERROR_BAD_REQUEST,
                         "--time-scale: '%s' is not a number from 0 to 1000, such as 0.05", scale);
    s.kubeconfig = flags->values[FLAG_KUBECONFIG].text.len
                       ? str_z(arena, flags->values[FLAG_KUBECONFIG].text)
                       : str_z(arena, str_fmt(arena, "%s/kubeconfig", s.data));
    *ret_settings = s;
    return 0;
}

/* "namespace/name=host:port,..." */
static int set_services(struct api *api, struct str list, struct error *err)
{
    struct str part;

    while (list.len && str_split(&list, ',', &part)) {
        ptrdiff_t slash = str_find_char(part, '/', 0);
        ptrdiff_t equals = str_find_char(part, '=', 0);

        if (slash <= 0 || equals < slash + 2 || str_find_char(part, ':', (size_t)equals) < 0)
            return error_set(err, ERROR_BAD_REQUEST,
                             "--service: '%.*s' is not of the form namespace/name=host:port",
                             STR_ARG(part));
        api_set_service(api, str_slice(part, 0, (size_t)slash),
                        str_slice(part, (size_t)slash + 1, (size_t)equals),
                        str_slice(part, (size_t)equals + 1, part.len));
    }
    return 0;
}

/* One process for a folder: the lock goes with the process, however it ends. */
static int lock_folder(struct arena *arena, const char *folder, struct error *err)
{
    const char *file = str_z(arena, str_fmt(arena, "%s/lock", folder));
    int fd;

    if (file_make_folder(folder, 0700, err) != 0)
        return -1;
    fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(err, ERROR_FILE, "%s: %s", file, strerror(errno));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        return error_set(err, ERROR_FILE,
                         "another herd-lab works on %s; end it, or choose another --data", folder);
    }
    return fd;
}

static struct str url_of(struct arena *arena, const char *host, uint16_t port)
{
    const char *shown = !*host || strcmp(host, "0.0.0.0") == 0 ? "127.0.0.1" : host;
    bool v6 = strchr(shown, ':') != NULL;

    return str_fmt(arena, "https://%s%s%s:%u", v6 ? "[" : "", shown, v6 ? "]" : "", port);
}

struct addresses {
    struct str server, rancher;
};

static int write_files(struct arena *arena, const struct settings *s,
                       const struct credentials *credentials, const struct addresses *at,
                       struct str rancher_token, struct error *err)
{
    struct str env =
        str_fmt(arena,
                "HERD_LAB_SERVER='%.*s'\n"
                "HERD_LAB_TOKEN='%.*s'\n"
                "HERD_LAB_CA='%s'\n"
                "HERD_LAB_KUBECONFIG='%s'\n"
                "HERD_LAB_RANCHER_URL='%.*s'\n"
                "HERD_LAB_RANCHER_TOKEN='%.*s'\n"
                "HERD_LAB_RANCHER_CA='%s'\n",
                STR_ARG(at->server), STR_ARG(credentials->token), credentials->ca_file,
                s->kubeconfig, STR_ARG(at->rancher), STR_ARG(rancher_token), credentials->ca_file);

    if (credentials_write_kubeconfig(arena, credentials, at->server, s->kubeconfig, err) != 0 ||
        file_replace(str_z(arena, str_fmt(arena, "%s/env", s->data)), env, 0600, err) != 0)
        return -1;
    return file_replace(str_z(arena, str_fmt(arena, "%s/ready", s->data)), STR("ready\n"), 0644,
                        err);
}

/* Serve until a signal asks for the end. */
static int serve_ports(const struct settings *s, const struct flag_values *flags,
                       struct arena *arena, struct log *log, const struct credentials *credentials,
                       struct api *api, struct simulation *simulation, struct error *err)
{
    AUTO(tls_source_free)
    struct tls_source *tls = tls_source_create(credentials->certificate_file, credentials->key_file,
                                               credentials->ca_file, err);
    struct server_options options = {
        .api = api,
        .simulation = simulation,
        .clock = system_clock(),
        .log = log,
        .tls = tls,
        .host = s->host,
        .rancher_host = s->rancher_host,
        .port = s->port,
        .rancher_port = s->rancher_port,
        .connections_max = (uint32_t)flags->values[FLAG_CONNECTIONS].number,
    };
    AUTO(server_free) struct server *server = tls ? server_create(&options, err) : NULL;
    struct addresses at;
    int number;

    if (!server || simulation_start(simulation, err) != 0)
        return -1;
    at.server = url_of(arena, s->host, server_port(server));
    at.rancher = url_of(arena, s->rancher_host, server_rancher_port(server));
    server_set_ready(server, true);
    if (write_files(arena, s, credentials, &at, simulation_token(simulation), err) != 0)
        return -1;
    printf("kubernetes %.*s\nrancher    %.*s\nkubeconfig %s\n", STR_ARG(at.server),
           STR_ARG(at.rancher), s->kubeconfig);
    fflush(stdout);
    log_info(log, "serving", LOG_STR("kubernetes", at.server), LOG_STR("rancher", at.rancher),
             LOG_INT("port", server_port(server)),
             LOG_INT("rancher-port", server_rancher_port(server)));
    number = signal_wait();
    log_info(log, "stopping", LOG_INT("signal", number));
    unlink(str_z(arena, str_fmt(arena, "%s/ready", s->data)));
    server_drain(server, DRAIN_MS);
    simulation_stop(simulation);
    return 0;
}

static int serve_from(const struct settings *s, const struct flag_values *flags,
                      struct arena *arena, struct log *log, struct error *err)
{
    struct str_list hosts = str_list_new(arena, 2);
    struct credentials credentials;
    struct api_options api_options = {
        .data_folder = s->data,
        .clock = system_clock(),
        .log = log,
        .seed = (uint64_t)flags->values[FLAG_SEED].number,
    };

    str_list_push(&hosts, str_of(s->host));
    str_list_push(&hosts, str_of(s->rancher_host));
    for (struct str part, rest = flags->values[FLAG_TLS_SAN].text; str_split(&rest, ',', &part);)
        str_list_push(&hosts, part);
    if (credentials_open(arena, s->data, system_clock(), &hosts, &credentials, err) != 0)
        return -1;
    api_options.token_key = credentials.accounts_key;
    api_options.admin_token = credentials.token;

    AUTO(api_free) struct api *api = api_create(&api_options, err);

    if (!api || api_add_cluster(api, STR("local"), err) != 0 ||
        set_services(api, flags->values[FLAG_SERVICES].text, err) != 0)
        return -1;

    struct simulation_options simulation_options = {
        .api = api,
        .clock = system_clock(),
        .log = log,
        .simulation_file = str_z(arena, flags->values[FLAG_SIMULATION].text),
        .time_scale = s->time_scale,
        .seed = (uint64_t)flags->values[FLAG_SEED].number,
        .runs_workloads = flags->values[FLAG_WORKLOADS].number,
        .downstream_kubeconfigs = flags->values[FLAG_DOWNSTREAM_KUBECONFIGS].text,
        .helm = str_z(arena, flags->values[FLAG_HELM].text),
        .helm_folder = str_z(arena, str_fmt(arena, "%s/helm", s->data)),
        .ca_pem = credentials.ca_pem,
    };
    AUTO(simulation_free)
    struct simulation *simulation = simulation_create(&simulation_options, err);

    if (!simulation)
        return -1;
    return serve_ports(s, flags, arena, log, &credentials, api, simulation, err);
}

static int serve(const struct flag_values *flags, struct arena *arena)
{
    AUTO(log_free) struct log *log = program_log(&program, flags);
    struct settings settings = { 0 };
    struct error err;
    int lock;
    int result;

    if (read_settings(flags, arena, &settings, &err) != 0)
        return program_reject(&program, &err);
    program_log_flags(log, flags);
    lock = lock_folder(arena, settings.data, &err);
    if (lock < 0) {
        log_error(log, "cannot start", LOG_Z("error", err.text));
        return PROGRAM_FAILED;
    }
    result = serve_from(&settings, flags, arena, log, &err);
    close(lock);
    if (result == 0)
        return PROGRAM_OK;
    log_error(log, "cannot serve", LOG_Z("error", err.text));
    return err.code == ERROR_BAD_REQUEST ? PROGRAM_USAGE : PROGRAM_FAILED;
}

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct flag_values flags;
    struct error err;

    signal_setup();

    int code = program_parse(&program, argc, argv, arena, &flags);

    if (code != PROGRAM_GO_ON)
        return code;
    if (flags.values[FLAG_VERSION].number) {
        printf("herd-lab %s\n", HERD_VERSION);
        return PROGRAM_OK;
    }
    if (flags.rest.count != 1 || !str_eq(flags.rest.items[0], STR("serve"))) {
        error_set(&err, ERROR_BAD_REQUEST,
                  "say what to do: herd-lab serve --data FOLDER [flags]; --help lists them");
        return program_reject(&program, &err);
    }
    return serve(&flags, arena);
}
