/* SPDX-License-Identifier: Apache-2.0 */
/* configuration_test.c: what a file and flags may say, and the line for each thing that they may not. */
#include "support/rows.h"

#include "support/repeat.h"

#include "stack/model/configuration.h"

#include "text/limits.h"

static struct str read_text(struct arena *arena, struct str text, struct configuration_layer *ret_layer)
{
    struct error err;

    if (configuration_read("c.yaml", text, ret_layer, &err) < 0)
        return str_dup(arena, str_of(err.text));
    return STR("");
}

/* "graph.cycle=warn plain-http=true", in the order of rules. */
static struct str said(struct arena *arena, const struct configuration_layer *layer)
{
    struct strbuf out = strbuf_new(arena, 64);

    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        if (layer->rule_given[id])
            strbuf_fmt(&out, "%s=%s ", rule_of(id)->name, severity_name(layer->severities.of[id]));
    if (layer->plain_http_given)
        strbuf_fmt(&out, "plain-http=%s ", layer->plain_http_allowed ? "true" : "false");
    for (uint32_t i = 0; layer->repo_hosts_given && i <= layer->repo_hosts.len; i++)
        strbuf_char(&out, i == 0 ? '@' : layer->repo_hosts.text[i - 1] == '\n' ? '@' : layer->repo_hosts.text[i - 1]);
    return str_trim(strbuf_str(&out));
}

static void a_file_says(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        const char *want;
    } rows[] = {
        { "nothing", "", "" },
        { "a comment", "# rules: {graph.cycle: warn}\n", "" },
        { "an empty document", "---\n", "" },
        { "an empty object", "{}", "" },
        { "rules without any", "rules:\nallowPlainHttpRepos:\n", "" },
        { "a rule", "rules: {graph.cycle: warn}", "graph.cycle=warn" },
        { "each severity", "rules:\n  graph.cycle: warn\n  gpu.no-provider: deny\n  overlap.today: audit\n",
          "graph.cycle=warn overlap.today=audit gpu.no-provider=deny" },
        { "off, of which YAML makes a boolean", "rules: {targets.local: off}", "targets.local=off" },
        { "off in quotes", "rules: {targets.local: 'off'}", "targets.local=off" },
        { "JSON", "{\"rules\":{\"targets.local\":\"off\"},\"allowPlainHttpRepos\":false}",
          "targets.local=off plain-http=false" },
        { "plain http", "allowPlainHttpRepos: true\n", "plain-http=true" },
        { "hosts of repositories", "allowRepoHosts: [localhost, '[::1]', 127.0.0.1]", "@localhost@::1@127.0.0.1@" },
        { "none of them", "allowRepoHosts: []", "@" },
        { "nothing of them", "allowRepoHosts:\n", "" },
        { "a rule that can only deny, denies", "rules: {shape.kind: deny}", "shape.kind=deny" },
        { "an anchor and its alias", "rules: {graph.cycle: &w warn, graph.unknown: *w}",
          "graph.unknown=warn graph.cycle=warn" },
        { "empty documents around it", "---\n---\n---\n", "" },
        { "one document, and an empty one", "rules: {graph.cycle: warn}\n---\n", "graph.cycle=warn" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct configuration_layer layer = { .plain_http_given = false };

        rows_expect_str(rows[i].row, read_text(arena, str_of(rows[i].text), &layer), STR(""));
        rows_expect_str(rows[i].row, said(arena, &layer), str_of(rows[i].want));
    }
}

static void what_it_may_not_say_is_told_with_its_place(void **state)
{
    static const struct {
        const char *row;
        const char *text;
        const char *want;
    } rows[] = {
        { "a list", "- rules", "c.yaml:1:1: Invalid value: must be an object, not array; write rules: and below it lines such as "
                               "gpu.no-provider: deny" },
        { "a word", "warn", "c.yaml:1:1: Invalid value: must be an object, not string; write rules: and below it lines such as "
                            "gpu.no-provider: deny" },
        { "a field with a slip", "# mine\nrule:\n  graph.cycle: warn\n",
          "c.yaml:2:1: rule: Unsupported value: unknown field (did you mean \"rules\"?)" },
        { "a field in other letters", "AllowPlainHTTPRepos: true",
          "c.yaml:1:1: AllowPlainHTTPRepos: Unsupported value: unknown field (did you mean \"allowPlainHttpRepos\"?)" },
        { "a field of something else", "apiVersion: v1\nkind: ConfigMap\n",
          "c.yaml:1:1: apiVersion: Unsupported value: unknown field; docs/configuration.md lists the fields (and 1 more)" },
        { "rules that are a list", "rules:\n  - graph.cycle\n",
          "c.yaml:1:1: rules: Invalid value: must be an object of rules and their severities, not array; write lines such as "
          "gpu.no-provider: deny" },
        { "a rule with a slip", "rules:\n  graph.cycle: warn\n  graph.cicle: warn\n",
          "c.yaml:3:3: rules: Not found: \"graph.cicle\": no rule has that name (did you mean \"graph.cycle\"?)" },
        { "a rule that is far from all", "rules: {x: warn}",
          "c.yaml:1:9: rules: Not found: \"x\": no rule has that name; docs/rules.md lists the rules" },
        { "a policy's rule", "rules: {policy/pinned/exact: warn}",
          "c.yaml:1:9: rules: Not found: \"policy/pinned/exact\": no rule has that name; docs/rules.md lists the rules" },
        { "a severity that is none", "rules:\n  graph.cycle: maybe",
          "c.yaml:2:3: rules: graph.cycle: Unsupported value: \"maybe\": supported values: \"deny\", \"warn\", \"audit\", \"off\"" },
        { "on, which is no severity", "rules: {graph.cycle: on}",
          "c.yaml:1:9: rules: graph.cycle: Unsupported value: \"true\": supported values: \"deny\", \"warn\", \"audit\", \"off\"" },
        { "a severity in capitals", "rules: {graph.cycle: Warn}",
          "c.yaml:1:9: rules: graph.cycle: Unsupported value: \"Warn\": supported values: \"deny\", \"warn\", \"audit\", \"off\"" },
        { "no severity at all", "rules:\n  graph.cycle:\n",
          "c.yaml:2:3: rules: graph.cycle: Unsupported value: \"null\": supported values: \"deny\", \"warn\", \"audit\", \"off\"" },
        { "a severity that is an object", "rules: {graph.cycle: {severity: warn}}",
          "c.yaml:1:9: rules: graph.cycle: Unsupported value: \"{\"severity\":\"warn\"}\": supported values: \"deny\", \"warn\", "
          "\"audit\", \"off\"" },
        { "what is no Stack cannot pass", "rules: {shape.kind: off}",
          "c.yaml:1:9: rules: Forbidden: shape.kind can only deny: every other rule reads the object as a v1 Stack; "
          "leave it out" },
        { "nor what the API server rejects anyway", "rules: {graph.itself: audit}",
          "c.yaml:1:9: rules: Forbidden: graph.itself can only deny: the definition of Stacks rejects the same, "
          "whatever a webhook says; leave it out" },
        { "nor a policy that is not in order", "rules: {policy.pattern: off}",
          "c.yaml:1:9: rules: Forbidden: policy.pattern can only deny: a StackPolicy that is not in order cannot "
          "be put to Stacks; leave it out" },
        { "true in quotes", "allowPlainHttpRepos: 'true'",
          "c.yaml:1:1: allowPlainHttpRepos: Invalid value: must be a boolean, not string; write true or false without quotes" },
        { "hosts that are no list", "allowRepoHosts: localhost",
          "c.yaml:1:1: allowRepoHosts: Invalid value: must be a list of hosts such as [localhost], not string" },
        { "a host with a port", "allowRepoHosts:\n- localhost:5000\n",
          "c.yaml:2:3: allowRepoHosts[0]: Invalid value: \"localhost:5000\": must be a host alone, such as localhost or "
          "127.0.0.1; leave out scheme, port and path" },
        { "an address of a repository", "allowRepoHosts: ['http://localhost']",
          "c.yaml:1:18: allowRepoHosts[0]: Invalid value: \"http://localhost\": must be a host alone, such as localhost or "
          "127.0.0.1; leave out scheme, port and path" },
        { "a number", "allowRepoHosts: [127]", "c.yaml:1:18: allowRepoHosts[0]: Invalid value: 127: must be a host alone, "
                                               "such as localhost or 127.0.0.1; leave out scheme, port and path" },
        { "a host that is allowed anyway", "allowRepoHosts: [localhost, x.io]",
          "c.yaml:1:29: allowRepoHosts[1]: Invalid value: \"x.io\": is allowed anyway; only loopback, link-local and "
          "metadata hosts need to be named; leave it out" },
        { "several: the first, and how many more", "rules:\n  a: warn\n  b: warn\nallowPlainHttpRepos: 1\n",
          "c.yaml:2:3: rules: Not found: \"a\": no rule has that name; docs/rules.md lists the rules (and 2 more)" },
        { "a second document", "rules: {graph.cycle: warn}\n---\nrules: {graph.cycle: off}\n",
          "c.yaml:3:1: must be one document; put the settings of the second into the first" },
        { "terminal escapes", "rules: {\"\\e[31m\": warn}",
          "c.yaml:1:9: rules: Not found: \"\\x1b[31m\": no rule has that name; docs/rules.md lists the rules" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct configuration_layer layer = { .plain_http_given = true };

        rows_expect_str(rows[i].row, read_text(arena, str_of(rows[i].text), &layer), str_of(rows[i].want));
        rows_expect_str("nothing of it is taken", said(arena, &layer), STR("plain-http=false"));
    }
}

static void hostile_text_is_rejected_within_bounds(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const struct str many_rules = repeat(arena, "rules:\n", "  x%u: warn\n", 10000, "");
    const struct {
        const char *row;
        struct str text;
        const char *want; /* a piece */
    } rows[] = {
        { "a rule twice", STR("rules:\n  graph.cycle: warn\n  graph.cycle: deny\n"), "c.yaml:3:3: " },
        { "a field twice", STR("rules: {}\nrules: {}\n"), "c.yaml:2:1: " },
        { "a tab", STR("rules:\n\tgraph.cycle: warn\n"), "c.yaml:2:" },
        { "an open bracket", STR("rules: {graph.cycle: warn"), "c.yaml:2:1: did not find" },
        { "no UTF-8", STR("rules: {graph.cycle: \xff}"), "c.yaml:1:" },
        { "NUL", STR("rules:\0{}"), "c.yaml:1:" },
        { "a tag that makes an object of something", STR("rules: !!python/object:os.system x"), "c.yaml:1:" },
        { "an alias of itself", STR("rules: &a {graph.cycle: *a}"), "c.yaml:1:" },
        { "aliases of aliases",
          STR("a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
              "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e]\n"),
          "c.yaml" },
        { "a well of brackets", repeat(arena, "rules: ", "[", 1000, ""), "c.yaml:1:" },
        { "too much text", repeat(arena, "#", "x", LIMIT_YAML_TEXT, "\n"), "c.yaml:1:1: the text has 1048578 bytes, more than 1048576" },
        { "a long name", repeat(arena, "rules: {", "abcdefgh", 125, ": warn}"), "Not found: \"abcdefgh" },
        { "ten thousand rules that there are not", many_rules, "c.yaml:2:3: rules: Not found: \"x0\": no rule has that name" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct configuration_layer layer = { .plain_http_given = true };
        struct str got = read_text(arena, rows[i].text, &layer);

        if (str_find(got, str_of(rows[i].want), 0) < 0)
            fail_msg("%s: '%.*s' does not say '%s'", rows[i].row, STR_ARG(got), rows[i].want);
        rows_expect(rows[i].row, got.len < 1000, "less than 1000 bytes");
        rows_expect_str("nothing of it is taken", said(arena, &layer), STR("plain-http=false"));
    }
    rows_expect("all are counted", str_ends(read_text(arena, many_rules, &(struct configuration_layer){ 0 }),
                                            STR("(and 9999 more)")), "9999");
}

static int read_flags(const char *list, struct configuration_layer *ret_layer, struct error *err)
{
    const struct flag_value severities = { .text = str_of(list), .from = "--rule-severity" };
    const struct flag_value plain_http = { .given = false };

    return configuration_read_flags(&severities, &plain_http, ret_layer, err);
}

static struct configuration laid(const char *file, const char *list)
{
    struct configuration configuration = configuration_default();
    struct configuration_layer of_file;
    struct configuration_layer of_flags;
    struct error err;

    assert_int_equal(configuration_read("f", str_of(file), &of_file, &err), 0);
    assert_int_equal(read_flags(list, &of_flags, &err), 0);
    configuration_lay(&configuration, &of_file);
    configuration_lay(&configuration, &of_flags);
    return configuration;
}

static void flags_win_over_the_file_and_the_file_over_defaults(void **state)
{
    struct configuration_layer http = { .plain_http_given = true };
    struct configuration all =
        laid("rules: {graph.cycle: warn, gpu.no-provider: deny}\nallowPlainHttpRepos: true\nallowRepoHosts: [localhost]",
             " graph.cycle = off , targets.local=warn");
    struct configuration none = laid("", "");
    struct configuration defaults = configuration_default();

    (void)state;
    rows_expect_int("both: the flag", all.severities.of[RULE_GRAPH_CYCLE], SEVERITY_OFF);
    rows_expect_int("the file alone", all.severities.of[RULE_GPU_NO_PROVIDER], SEVERITY_DENY);
    rows_expect_int("the flag alone", all.severities.of[RULE_TARGETS_LOCAL], SEVERITY_WARN);
    rows_expect_int("neither", all.severities.of[RULE_GPU_NOT_AWAITED], SEVERITY_DENY);
    rows_expect("hosts by the file", repo_hosts_have(&all.repo_hosts, STR("localhost")), "allowed");
    rows_expect("plain http by the file", all.plain_http_allowed, "allowed");
    configuration_lay(&all, &http);
    rows_expect("that a flag forbids", !all.plain_http_allowed, "forbidden");
    rows_expect_int("what a layer says is counted", configuration_layer_count(&http), 1);
    assert_memory_equal(&none, &defaults, sizeof(none));
}

static void hosts_are_bounded(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct configuration_layer layer = { .plain_http_given = true };
    struct str got = read_text(arena, repeat(arena, "allowRepoHosts:\n", "- x%u.localhost\n", 100, ""), &layer);

    (void)state;
    rows_expect_str("as many as fit", got,
                    STR("c.yaml:75:3: allowRepoHosts[73]: Too long: must have at most 1024 bytes in all; name fewer hosts "
                        "(and 26 more)"));
}

static void a_second_look_is_never_stricter(void **state)
{
    struct configuration now = laid("rules: {graph.cycle: warn, targets.local: off, gpu.busy: deny, overlap.today: audit}", "");
    struct rule_severities second = rule_severities_at_most_default(&now.severities);

    (void)state;
    rows_expect_int("what may pass", second.of[RULE_GRAPH_CYCLE], SEVERITY_WARN);
    rows_expect_int("what is off", second.of[RULE_TARGETS_LOCAL], SEVERITY_OFF);
    rows_expect_int("what is only audited", second.of[RULE_OVERLAP_TODAY], SEVERITY_AUDIT);
    rows_expect_int("what was made stricter", second.of[RULE_GPU_BUSY], SEVERITY_WARN);
    rows_expect_int("what nothing was said of", second.of[RULE_GRAPH_UNKNOWN], SEVERITY_DENY);
}

static void what_a_flag_may_not_say_is_told(void **state)
{
    static const struct {
        const char *row;
        const char *list;
        const char *want;
    } rows[] = {
        { "a hole", "graph.cycle=warn,,graph.unknown=warn",
          "--rule-severity: Invalid value: \"\": must be rule=severity, e.g. gpu.no-provider=deny" },
        { "a rule twice", "graph.cycle=warn,graph.cycle=deny",
          "--rule-severity: Duplicate value: \"graph.cycle\"; remove one of the two" },
        { "escapes", "\x1b[31m", "--rule-severity: Invalid value: \"\\x1b[31m\": must be rule=severity, e.g. gpu.no-provider=deny" },
        { "escapes as a severity", "graph.cycle=\x1b[31m",
          "--rule-severity: graph.cycle: Unsupported value: \"\\x1b[31m\": supported values: \"deny\", \"warn\", \"audit\", \"off\"" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct configuration_layer layer = { .plain_http_given = true };
        struct error err;

        rows_expect_int(rows[i].row, read_flags(rows[i].list, &layer, &err), -1);
        rows_expect_str(rows[i].row, str_of(err.text), str_of(rows[i].want));
        rows_expect_str("nothing of it is taken", said(arena, &layer), STR("plain-http=false"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_says),
        cmocka_unit_test(what_it_may_not_say_is_told_with_its_place),
        cmocka_unit_test(hostile_text_is_rejected_within_bounds),
        cmocka_unit_test(flags_win_over_the_file_and_the_file_over_defaults),
        cmocka_unit_test(hosts_are_bounded),
        cmocka_unit_test(a_second_look_is_never_stricter),
        cmocka_unit_test(what_a_flag_may_not_say_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
