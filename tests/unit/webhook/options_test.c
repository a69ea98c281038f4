/* SPDX-License-Identifier: Apache-2.0 */
/* options_test.c: what `herd-webhook serve` takes, and the line for each thing that it does not. */
#include "support/rows.h"

#include "webhook/options.h"

enum { WORDS_MAX = 6 };

/* As main does it. "" or the error's text. */
static struct str read_words(struct arena *arena, const char *const *words, uint32_t processors,
                             struct webhook_options *ret_options)
{
    char *argv[WORDS_MAX + 2] = { (char *)(uintptr_t)"serve" };
    struct flag_values flags;
    struct error err;
    int argc = 1;

    for (; argc <= WORDS_MAX && words[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    if (flags_parse(webhook_program.flags, webhook_program.flag_count, argc, argv, NULL, arena,
                    &flags, &err) < 0 ||
        webhook_options_read(arena, &flags, processors, ret_options, &err) < 0)
        return str_dup(arena, str_of(err.text));
    return STR("");
}

static void what_cannot_be_used_is_told(void **state)
{
    static const struct {
        const char *row;
        const char *words[WORDS_MAX];
        const char *want;
    } rows[] = {
        { "a word too many", { "extra" },
          "serve takes flags only, and no word 'extra'; write herd-webhook serve [flags]; --help "
          "lists them" },
        { "an address without a port", { "--listen=127.0.0.1" },
          "--listen: '127.0.0.1' is not an address and port; write it like 127.0.0.1:8443, "
          "[::1]:8443 or :8443" },
        { "a port that is none", { "--listen=:65536" },
          "--listen: ':65536' is not an address and port; write it like 127.0.0.1:8443, "
          "[::1]:8443 or :8443" },
        { "the same of the plain port", { "--metrics-listen=x" },
          "--metrics-listen: 'x' is not an address and port; write it like 127.0.0.1:8443, "
          "[::1]:8443 or :8443" },
        { "too many threads", { "--threads=9" },
          "--threads: 9 is out of bounds; it must be 0 to 8" },
        { "a drain beyond a pod's patience", { "--drain=2m" },
          "--drain: 2m is out of bounds; it must be 0 to 60000 ms" },
        { "a drain without a unit", { "--drain=10" },
          "--drain: '10' is not a duration; write it like 30s, 250ms or 1h30m" },
        { "a level that is none", { "--log-level=loud" },
          "--log-level: 'loud' is not one of debug|info|warn|error" },
        { "two places to read clusters from", { "--in-cluster", "--kubeconfig=f" },
          "--in-cluster excludes --kubeconfig and --context; give one of both" },
        { "a context within the cluster", { "--in-cluster", "--context=c" },
          "--in-cluster excludes --kubeconfig and --context; give one of both" },
        { "a context of nothing", { "--context=c" },
          "--context names a context of --kubeconfig, which is not set; give both" },
        { "a severity without a rule", { "--rule-severity=warn" },
          "--rule-severity: Invalid value: \"warn\": must be rule=severity, e.g. gpu.no-provider=deny" },
        { "a hole in the list", { "--rule-severity=graph.cycle=warn,,graph.itself=warn" },
          "--rule-severity: Invalid value: \"\": must be rule=severity, e.g. gpu.no-provider=deny" },
        { "a rule with a slip", { "--rule-severity=graph.cicle=warn" },
          "--rule-severity: Not found: \"graph.cicle\": no rule has that name (did you mean \"graph.cycle\"?)" },
        { "a rule that is far from all", { "--rule-severity=x=warn" },
          "--rule-severity: Not found: \"x\": no rule has that name; docs/rules.md lists the rules" },
        { "a severity that is none", { "--rule-severity=graph.cycle=maybe" },
          "--rule-severity: graph.cycle: Unsupported value: \"maybe\": supported values: \"deny\", \"warn\", \"audit\", \"off\"" },
        { "a rule twice", { "--rule-severity=graph.cycle=warn,graph.cycle=deny" },
          "--rule-severity: Duplicate value: \"graph.cycle\"; remove one of the two" },
        { "what is no Stack cannot pass", { "--rule-severity=shape.kind=off" },
          "--rule-severity: Forbidden: shape.kind can only deny: every other rule reads the object as a v1 Stack; leave it "
          "out" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct webhook_options options = { .drain_ms = -7 };

        rows_expect_str(rows[i].row, read_words(arena, rows[i].words, 2, &options),
                        str_of(rows[i].want));
        rows_expect_int(rows[i].row, options.drain_ms, -7);
    }
}

static void defaults_serve(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *const words[] = { NULL };
    struct webhook_options options;

    (void)state;
    rows_expect_str("no flag is needed", read_words(arena, words, 2, &options), STR(""));
    rows_expect_str("all addresses", str_of(options.listen_host), STR(""));
    rows_expect_int("review port", options.listen_port, 8443);
    rows_expect_int("plain port", options.metrics_port, 8080);
    rows_expect_int("drain", options.drain_ms, 10000);
    rows_expect("nothing is watched", !kube_config_flags_given(&options.api), "unset");
    rows_expect_int("they say nothing of the validation",
                    configuration_layer_count(&options.configuration), 0);
    rows_expect_str("the file does", str_of(options.config_file),
                    STR("/etc/herd/config/config.yaml"));
}

static void all_is_taken_over(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *const words[] = { "--listen=[::1]:1",
                                  "--kubeconfig=f",
                                  "--context=c",
                                  "--rule-severity= graph.cycle = warn , gpu.no-provider=deny",
                                  "--allow-plain-http-repos",
                                  "--config-file=c" };
    struct webhook_options options;

    (void)state;
    rows_expect_str("taken", read_words(arena, words, 2, &options), STR(""));
    rows_expect_str("host", str_of(options.listen_host), STR("::1"));
    rows_expect_str("kubeconfig", str_of(options.api.file), STR("f"));
    rows_expect_str("context", str_of(options.api.context), STR("c"));
    rows_expect_int("what is said", configuration_layer_count(&options.configuration), 3);
    rows_expect_int("a rule that warns", options.configuration.severities.of[RULE_GRAPH_CYCLE],
                    SEVERITY_WARN);
    rows_expect_int("a rule that denies",
                    options.configuration.severities.of[RULE_GPU_NO_PROVIDER], SEVERITY_DENY);
    rows_expect("plain http", options.configuration.plain_http_allowed, "on");
    rows_expect_str("the file", str_of(options.config_file), STR("c"));
}

static void threads_follow_processors(void **state)
{
    static const struct {
        const char *row;
        const char *words[3];
        uint32_t processors;
        uint32_t want;
    } rows[] = {
        { "one for each processor", { NULL }, 3, 3 },
        { "four at most", { NULL }, 64, 4 },
        { "one if nobody knows", { NULL }, 0, 1 },
        { "4 where they wait for the API server", { "--in-cluster" }, 1, 4 },
        { "not where nobody is asked", { "--in-cluster", "--check-access=false" }, 1, 1 },
        { "as many as asked for", { "--threads=8" }, 2, 8 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct webhook_options options = { .event_threads = 0 };

        rows_expect_str(rows[i].row,
                        read_words(arena, rows[i].words, rows[i].processors, &options), STR(""));
        rows_expect_int(rows[i].row, options.event_threads, rows[i].want);
    }
}

static void the_version_needs_nothing_else(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *const words[] = { "--version", "--listen=x", NULL };
    struct webhook_options options;

    (void)state;
    rows_expect_str("taken", read_words(arena, words, 1, &options), STR(""));
    rows_expect("version", options.version, "asked for");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_used_is_told),
        cmocka_unit_test(defaults_serve),
        cmocka_unit_test(all_is_taken_over),
        cmocka_unit_test(threads_follow_processors),
        cmocka_unit_test(the_version_needs_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
