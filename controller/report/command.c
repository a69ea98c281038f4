/* SPDX-License-Identifier: Apache-2.0 */
/* command.c: one GET, and where there is no report a second one that tells why. */
#include "controller/report/command.h"

#include "controller/report/formats.h"
#include "kube/condition.h"
#include "kube/names.h"
#include "runtime/client.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

enum flag_id {
#define FLAG FLAG_AS_ID
#include "controller/report/flags.def"
#undef FLAG
    FLAG_COUNT
};

static const struct flag_row flag_rows[FLAG_COUNT] = {
#define FLAG FLAG_AS_ROW
#include "controller/report/flags.def"
#undef FLAG
};

const struct program report_program = {
    .name = "herd-controller report",
    .summary = "Prints what security scans found in the images of the Stack NAME, for other tools.",
    .flags = flag_rows,
    .flag_count = FLAG_COUNT,
    .words = "NAME",
    .exits = "0 printed, 1 there is no report or the API server does not answer, 2 flags cannot be "
             "used, 70 out of memory.",
};

struct command {
    struct arena *arena;
    struct loop *loop;
    struct kube_client *client;
    struct kube_config config;
    struct str namespace_, name;
    format_write *format;
    int code;
};

static void end(struct command *c, int code)
{
    c->code = code;
    loop_stop(c->loop);
}

static void fail(struct command *c, struct str why)
{
    struct str shown = str_shown(c->arena, why, 4096);

    fprintf(stderr, "%s: %.*s\n", report_program.name, STR_ARG(shown));
    end(c, PROGRAM_FAILED);
}

static void get(struct command *c, const struct kube_resource *resource, kube_done *done)
{
    kube_client_call(
        c->client,
        &(struct kube_request){
            .verb = KUBE_GET, .resource = *resource, .namespace_ = c->namespace_, .name = c->name },
        done, c);
}

/* --- why there is none --- */

static struct str reason_of(struct command *c, struct json stack)
{
    struct kube_conditions conditions =
        kube_conditions_read(c->arena, json_walk(stack, "status", "conditions", NULL));
    const struct kube_condition *scanned = kube_condition_find(&conditions, STR("SecurityScanned"));

    if (!str_eq(json_str(json_walk(stack, "spec", "security", NULL)), STR("enabled")))
        return STR("its spec.security is not enabled");
    if (!scanned)
        return STR("its controller has not looked at it yet");
    return str_fmt(c->arena, "SecurityScanned is %s, %.*s: %.*s",
                   condition_status_name(scanned->status), STR_ARG(scanned->reason),
                   STR_ARG(scanned->message));
}

static void on_stack(void *context, const struct kube_answer *answer)
{
    struct command *c = context;
    struct error err = { .code = ERROR_NONE };
    struct json stack;

    if (answer->error.code == ERROR_NOT_FOUND)
        fail(c, str_fmt(c->arena, "Not found: there is no Stack %.*s in namespace %.*s",
                        STR_ARG(c->name), STR_ARG(c->namespace_)));
    else if (answer->error.code != ERROR_NONE)
        fail(c, str_of(answer->error.text));
    else if (json_read(c->arena, answer->body, &json_limits_default, &stack, &err) < 0)
        fail(c, str_of(err.text));
    else
        fail(c, str_fmt(c->arena, "the Stack %.*s has no scan report yet: %.*s", STR_ARG(c->name),
                        STR_ARG(reason_of(c, stack))));
}

/* --- the report --- */

/* Whoever reads the document only in part learns it here. */
static void warn_of_gaps(struct command *c, const struct scan_report *report)
{
    struct str_list gaps = report_gaps(c->arena, report);

    for (uint32_t i = 0; i < gaps.count; i++)
        fprintf(stderr, "%s: warning: %.*s\n", report_program.name, STR_ARG(gaps.items[i]));
}

static void print(struct command *c, struct json object)
{
    const struct reported_stack stack = { c->namespace_, c->name,
                                          scan_report_read(c->arena, object) };
    struct strbuf out = strbuf_new(c->arena, 64 * 1024);

    warn_of_gaps(c, &stack.report);
    c->format(&stack, &out);
    if (fwrite(out.at, 1, out.len, stdout) == out.len && fflush(stdout) == 0)
        end(c, PROGRAM_OK);
    else
        fail(c, str_fmt(c->arena, "cannot write the report: %s", strerror(errno)));
}

static void on_report(void *context, const struct kube_answer *answer)
{
    struct command *c = context;
    struct error err = { .code = ERROR_NONE };
    struct json object;

    if (answer->error.code == ERROR_NOT_FOUND)
        get(c, &stack_resource, on_stack);
    else if (answer->error.code != ERROR_NONE)
        fail(c, str_of(answer->error.text));
    else if (json_read(c->arena, answer->body, &json_limits_default, &object, &err) < 0)
        fail(c, str_of(err.text));
    else
        print(c, object);
}

/* --- flags --- */

static int read_name(const struct flag_values *flags, struct command *c, struct error *err)
{
    const char *why;

    if (flags->rest.count == 0)
        return error_set(err, ERROR_BAD_REQUEST, "say which Stack: herd-controller report NAME");
    if (flags->rest.count > 1)
        return error_set(
            err, ERROR_BAD_REQUEST,
            "one name of a Stack is expected, and there are %u, the second one '%.*s'; "
            "run herd-controller report once for each Stack",
            flags->rest.count, STR_ARG(str_shown(c->arena, flags->rest.items[1], 256)));
    c->name = flags->rest.items[0];
    why = kube_not_dns1123_subdomain(c->name);
    if (why)
        return error_set(err, ERROR_BAD_REQUEST, "'%.*s' is no name of a Stack: it %s",
                         STR_ARG(c->name), why);
    return 0;
}

static int read_namespace(const struct flag_values *flags, struct command *c, struct error *err)
{
    const struct flag_value *flag = &flags->values[FLAG_NAMESPACE];
    const char *why;

    c->namespace_ = flag->text.len ? flag->text : c->config.namespace_;
    if (!c->namespace_.len)
        c->namespace_ = STR("default");
    why = kube_not_dns1123_label(c->namespace_);
    if (why)
        return error_set(err, ERROR_BAD_REQUEST, "--namespace: '%.*s' is no namespace: it %s",
                         STR_ARG(c->namespace_), why);
    return 0;
}

static int read_flags(const struct flag_values *flags, struct command *c, struct error *err)
{
    const struct kube_config_flags wanted = {
        .file = str_z(c->arena, flags->values[FLAG_KUBECONFIG].text),
        .context = str_z(c->arena, flags->values[FLAG_CONTEXT].text),
        .in_cluster = flags->values[FLAG_IN_CLUSTER].number != 0,
    };

    c->format = format_find(flags->values[FLAG_OUTPUT].text);
    if (read_name(flags, c, err) < 0 ||
        kube_config_from_flags(c->arena, &wanted, &c->config, err) < 0)
        return -1;
    return read_namespace(flags, c, err);
}

static int ask(struct command *c)
{
    struct error err = { .code = ERROR_NONE };
    const struct kube_client_options options = {
        .loop = c->loop, .config = &c->config, .user_agent = "herd-controller-report/" HERD_VERSION
    };

    c->client = kube_client_create(&options, &err);
    if (!c->client)
        return program_reject(&report_program, &err);
    get(c, &scan_report_resource, on_report);
    loop_run(c->loop);
    return c->code;
}

int report_run(int argc, char **argv)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct command c = { .arena = arena };
    struct flag_values flags;
    struct error err;
    int code;

    signal(SIGPIPE, SIG_IGN); /* a write that fails is said */
    code = program_parse(&report_program, argc, argv, arena, &flags);
    if (code != PROGRAM_GO_ON)
        return code;
    if (read_flags(&flags, &c, &err) < 0)
        return program_reject(&report_program, &err);
    c.loop = loop_create();
    code = ask(&c);
    kube_client_free(c.client);
    loop_free(c.loop);
    return code;
}
