/* SPDX-License-Identifier: Apache-2.0 */
/* policy_test.c: StackPolicies: what is wrong with one, and what it finds in a Stack. */
#include "support/rows.h"

#include "stack/model/default.h"
#include "stack/policy/policy_set.h"
#include "support/stack_builder.h"
#include "text/yaml.h"

static const struct facts nothing; /* is known */

/* YAML, in which rows are readable. */
static struct json yaml_json(struct arena *arena, struct str text)
{
    struct yaml_documents documents;
    struct error err = { 0 };

    if (yaml_read(arena, text, &documents, &err) != 0)
        fail_msg("%s\n%.*s", err.text, STR_ARG(text));
    return test_json(arena, documents.items[0].json);
}

/* `spec`: members of the spec, in YAML's flow style. */
static struct json policy_json(struct arena *arena, const char *name, const char *spec)
{
    return yaml_json(arena, str_fmt(arena,
                                    "{apiVersion: herd.suse.com/v1, kind: StackPolicy, "
                                    "metadata: {name: %s}, spec: {%s}}", name, spec));
}

#define RULE(more) "rules: [{name: r, " more "}]"
#define FIELD(path, more) RULE("field: '" path "', " more)

static const struct {
    const char *says, *spec, *found, *message;
} decode_rows[] = {
    { "a good policy", FIELD("spec.charts[*].version", "pattern: '[0-9.]+'"), "", NULL },
    { "a kind that is none", "match: {kinds: [Pod]}, " FIELD("spec.env", "presence: Required"),
      "!policy.kind spec.match.kinds[0]", "supported values: \"Stack\"" },
    { "no rules", "rules: []", "!shape.required spec.rules", NULL },
    { "no spec.rules at all", "action: Warn", "!shape.required spec.rules", NULL },
    { "an action that is none", "action: deny, " FIELD("spec.env", "presence: Required"), "!shape.enum spec.action", "did you mean \"Deny\"?" },
    { "a field that policies do not have", "actions: Deny, " FIELD("spec.env", "presence: Required"), "!shape.unknown-field spec.actions", "did you mean \"action\"?" },
    { "a rule's name that is none", "rules: [{name: R 1, field: spec.env, presence: Required}]", "!policy.name spec.rules[0].name", NULL },
    { "one name twice", "rules: [{name: a, field: spec.env, presence: Required}, {name: a, field: spec.env, presence: Required}]",
      "!policy.name spec.rules[1].name", "Duplicate value: \"a\"; give each" },
    { "a slip in a field", FIELD("spec.charts[*].versoin", "presence: Required"), "!policy.field spec.rules[0].field", "unknown field \"versoin\" (did you mean \"version\"?)" },
    { "a list without [*]", FIELD("spec.charts.version", "presence: Required"), "!policy.field spec.rules[0].field", "write charts[*] for its elements" },
    { "something under a scalar", FIELD("spec.env.x", "presence: Required"), "!policy.field spec.rules[0].field", "follows a field that has no members" },
    { "a root that is none", FIELD("charts[*].version", "presence: Required"), "!policy.field spec.rules[0].field", "it must begin with spec., metadata. or computed." },
    { "nothing else is computed", FIELD("computed.cpus", "maximum: 1"), "!policy.field spec.rules[0].field", "supported fields of computed: gpus" },
    { "nor anything under it", FIELD("computed.gpus.nvidia", "maximum: 1"), "!policy.field spec.rules[0].field", "follows a field that has no members" },
    { "a number is no duration", FIELD("computed.gpus", "maximum: 4m30s"), "!policy.amount spec.rules[0].maximum", NULL },
    { "a part of metadata that no rule can see", FIELD("metadata.uid", "presence: Required"), "!policy.field spec.rules[0].field", "labels[KEY]" },
    { "a bracket that does not close", FIELD("spec.charts[*", "presence: Required"), "!policy.field spec.rules[0].field", "']'" },
    { "a dot at the end", FIELD("spec.env.", "presence: Required"), "!policy.field spec.rules[0].field", "the name of a field is missing" },
    { "two names without a dot", FIELD("spec.charts[*]version", "presence: Required"), "!policy.field spec.rules[0].field", "write '.'" },
    { "** at the end", FIELD("spec.charts[*].values.inline.**", "presence: Required"), "!policy.field spec.rules[0].field", "'**' may occur once" },
    { "** twice", FIELD("spec.charts[*].values.inline.**.a.**.b", "deny: [x]"), "!policy.field spec.rules[0].field", "'**' may occur once" },
    { "a rule that asks for nothing", FIELD("spec.env", "message: x"), "!policy.check spec.rules[0]", "maximum or presence; add one of them" },
    { "a rule without a place", RULE("allow: [x]"), "!policy.check spec.rules[0]; !policy.check spec.rules[0]", "requiredDependency; add one of them" },
    { "a rule with two places", RULE("field: spec.env, presence: Required, requiredChart: x"), "!policy.check spec.rules[0]", "keep one of them" },
    { "text of a list", FIELD("spec.charts", "allow: [x]"), "!policy.check spec.rules[0].field", "must be a scalar for pattern, notPattern, allow and deny, not a list or an object; append [*] or the name" },
    { "how many of a list", FIELD("spec.charts", "maximum: 20"), "", NULL },
    { "a bound of a text", FIELD("spec.env", "maximum: 20"), "!policy.check spec.rules[0].field", "must be a number, quantity or duration for minimum and maximum; use pattern, allow or deny for a string" },
    { "a bad pattern is named with its offset", FIELD("spec.env", "pattern: 'a(b'"), "!policy.pattern spec.rules[0].pattern", "offset 3" },
    { "so is the other", FIELD("spec.env", "notPattern: '[b'"), "!policy.pattern spec.rules[0].notPattern", "offset 2" },
    { "a pattern that needs too much", FIELD("spec.env", "pattern: '(((a{100}){100}){100}){10}'"), "!policy.pattern spec.rules[0].pattern", NULL },
    { "a bound that is no amount", FIELD("spec.rollout.maxFailures", "minimum: many"), "!policy.amount spec.rules[0].minimum", "\"many\": must be a number, quantity or duration" },
    { "a fraction without quotes", FIELD("spec.rollout.maxFailures", "minimum: 0.5"), "!shape.type spec.rules[0].minimum", "quotes" },
    { "a duration for a number", FIELD("spec.rollout.maxFailures", "minimum: 1h30m"), "!policy.amount spec.rules[0].minimum", "\"1h30m\": must be a number or quantity, as the field is" },
    { "a number for a duration", FIELD("spec.charts[*].timeout", "maximum: 30"), "!policy.amount spec.rules[0].maximum", "write it like 30m" },
    { "a duration for a duration", FIELD("spec.charts[*].timeout", "maximum: 30m"), "", NULL },
    { "the least above the most", FIELD("spec.rollout.maxFailures", "minimum: 3, maximum: 2"), "!policy.amount spec.rules[0].minimum", "must be less than or equal to maximum; lower the minimum or raise the maximum" },
    { "required at any depth", FIELD("spec.charts[*].values.inline.**.tag", "presence: Required"), "!policy.check spec.rules[0].presence", "finds only fields that are set; write the whole path" },
    { "forbidden and more", FIELD("spec.env", "presence: Forbidden, allow: ['true']"), "!policy.check spec.rules[0].presence", "keep presence: Forbidden alone" },
    { "charts of a field of none", FIELD("spec.env", "presence: Required, charts: [x]"), "!policy.check spec.rules[0].charts", "does not belong to a chart; remove charts" },
    { "a word that stands for nothing", FIELD("spec.env", "presence: Required, message: 'no ${evn}'"), "!policy.word spec.rules[0].message", "${evn}" },
    { "a word that a list cannot have", FIELD("spec.env", "allow: ['${value}']"), "!policy.word spec.rules[0].allow", "${value}" },
    { "allow with a word that the field never is", FIELD("spec.drift", "allow: [Correct, detect]"), "!policy.never spec.rules[0].allow[1]",
      "\"detect\": matches none of the field's supported values: \"Detect\", \"Correct\", \"Ignore\" (did you mean \"Detect\"?)" },
    { "deny, too, which would let everything pass", FIELD("spec.security", "deny: [Disabled]"), "!policy.never spec.rules[0].deny[0]", "did you mean \"disabled\"?" },
    { "so of a field deep down", FIELD("spec.securityProfile.policyMode", "allow: [protect]"), "!policy.never spec.rules[0].allow[0]", "did you mean \"Protect\"?" },
    { "a boolean is true or false", FIELD("spec.paused", "allow: ['yes']"), "!policy.never spec.rules[0].allow[0]", "supported values: \"true\", \"false\"; check for values that the field can have" },
    { "and so it may be asked for", FIELD("spec.charts[*].wait", "allow: ['true'], deny: ['false']"), "", NULL },
    { "a glob that none of the words matches", FIELD("spec.drift", "allow: [correct*]"), "!policy.never spec.rules[0].allow[0]", "did you mean \"Correct\"?" },
    { "a glob that one of them matches", FIELD("spec.drift", "allow: ['*tect'], deny: ['Ig*']"), "", NULL },
    { "what stands for anything may be one of them", FIELD("spec.drift", "deny: ['${env}']"), "", NULL },
    { "but not with such an end", FIELD("spec.drift", "deny: ['${env}-x']"), "!policy.never spec.rules[0].deny[0]", "\"${env}-x\": matches none" },
    { "what stands for nothing is told once", FIELD("spec.drift", "deny: ['${evn}']"), "!policy.word spec.rules[0].deny", "${evn}" },
    { "a pattern that none of the words matches", FIELD("spec.drift", "pattern: 'detect|correct'"), "!policy.never spec.rules[0].pattern", "matches none of the field's supported values" },
    { "nor the other", FIELD("spec.security", "notPattern: 'Dis.*'"), "!policy.never spec.rules[0].notPattern", NULL },
    { "patterns that one matches", FIELD("spec.drift", "pattern: '(?i)detect', notPattern: '[IC].*'"), "", NULL },
    { "any word of a field that takes any", FIELD("spec.env", "allow: [yes-please], deny: [Detect]"), "", NULL },
    { "an empty list, which would let everything pass", FIELD("spec.env", "allow: []"), "!policy.never spec.rules[0].allow", "Required value: must have at least 1 item; list values" },
    { "or nothing more", FIELD("spec.env", "allow: [prod], deny: []"), "!policy.never spec.rules[0].deny", NULL },
    { "a label beside the selector", "match: {labels: {team: x}}, rules: [{name: a, field: spec.env, presence: Required}]", "!shape.unknown-field spec.match.labels", "under selector.matchLabels" },
    { "a word in a pattern", FIELD("metadata.name", "pattern: '${namespace}-.*'"), "!policy.never spec.rules[0].pattern", "\"${namespace}\": must not be in a pattern" },
    { "in the other, which then lets everything pass", FIELD("spec.charts[*].namespace", "notPattern: 'a|${name}'"), "!policy.never spec.rules[0].notPattern", "use allow or deny" },
    { "told once where only some words are taken", FIELD("spec.drift", "pattern: '${env}'"), "!policy.never spec.rules[0].pattern", NULL },
    { "what is no word of ours, or is meant as it stands", FIELD("metadata.name", "pattern: 'a${b}', notPattern: '.*\\${name}.*'"), "", NULL },
    { "a label key that is none", "match: {selector: {matchLabels: {'a b': c}}}, " FIELD("spec.env", "presence: Required"),
      "!targets.label spec.match.selector.matchLabels[a b]", NULL },
    { "a label of clusters that is none", "match: {clusterSelector: {matchLabels: {'a b': c}}}, " FIELD("spec.env", "presence: Required"),
      "!targets.label spec.match.clusterSelector.matchLabels[a b]", NULL },
    { "a selector of no clusters in particular", "match: {clusterSelector: {}}, " FIELD("spec.env", "presence: Required"),
      "!targets.empty spec.match.clusterSelector", "Required value: must not be empty: it would select every cluster; name at least one label, or leave clusterSelector out" },
    { "an operator of none", "match: {clusterSelector: {matchExpressions: [{key: env, operator: Is, values: [prod]}]}}, " FIELD("spec.env", "presence: Required"),
      "!targets.expression spec.match.clusterSelector.matchExpressions[0].operator", NULL },
    { "clusters by label", "match: {clusterSelector: {matchLabels: {env: prod}}}, " FIELD("spec.env", "presence: Required"), "", NULL },
    { "a selector that nothing can match", "match: {selector: {matchExpressions: [{key: a, operator: Exists}, {key: a, operator: DoesNotExist}]}}, "
      FIELD("spec.env", "presence: Required"), "!targets.contradiction spec.match.selector", "nothing can match" },
};

static void tells_what_is_wrong_with_a_policy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(decode_rows) / sizeof(decode_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct problems problems = problems_new(arena);

        policy_decode(arena, policy_json(arena, "p", decode_rows[i].spec), &problems);
        problems_sort(&problems);
        rows_expect_str(decode_rows[i].says, findings_text(arena, &problems),
                        str_of(decode_rows[i].found));
        if (!decode_rows[i].message)
            continue;

        const struct problem *first = &problems.list.items[0];
        struct str all = str_fmt(arena, "%.*s; %.*s", STR_ARG(first->message),
                                 STR_ARG(first->remedy));

        rows_expect(decode_rows[i].says, str_find(all, str_of(decode_rows[i].message), 0) >= 0,
                    str_z(arena, str_fmt(arena, "'%s' in '%.*s'", decode_rows[i].message,
                                         STR_ARG(all))));
    }
}

static void a_policy_s_name_is_what_kubernetes_takes(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);

    (void)state;
    policy_decode(arena, policy_json(arena, "My_Policy", FIELD("spec.env", "presence: Required")), &problems);
    rows_expect_str("a policy", findings_text(arena, &problems), STR("!shape.metadata metadata.name"));
}

static void every_rule_of_policies_has_a_row(void **state)
{
    (void)state;
    for (int i = 0; i < RULE_COUNT; i++) {
        const struct rule *rule = rule_of((enum rule_id)i);
        bool met = strcmp(rule->area, "policy") != 0;

        for (size_t k = 0; k < sizeof(decode_rows) / sizeof(decode_rows[0]); k++)
            met = met || strstr(decode_rows[k].found, rule->name);
        rows_expect(rule->name, met, "a row finds it");
    }
}

#define STACK_SPEC                                                                                 \
    "env: prod, targets: {clusterIds: [c-1]}, charts: ["                                           \
    "{name: db, chart: qdrant, repo: 'https://a.io', version: 1.2.3, values: {inline: "            \
    "{image: {repository: r/q, tag: v1}, sidecar: {image: {tag: latest}}, replicas: 3}}}, "        \
    "{name: app, repo: 'oci://b.io/x', version: '^1.2', dependsOn: [db], timeout: 20m}]"

#define GPUS                                                                                       \
    "targets: {clusterIds: [c-1]}, charts: [{name: db, repo: 'https://a.io', version: 1.0.0, "     \
    "values: {inline: {replicas: 3, limits: {nvidia.com/gpu: 2}}}}, {name: e, repo: "              \
    "'https://a.io', version: 1.0.0, values: {inline: {limits: {nvidia.com/mig-1g.5gb: 1}}}}"
#define MORE(id, values) "{clusterIds: [" id "], charts: [{name: db, values: {inline: {" values "}}}]}"

static const struct {
    const char *says, *policy, *stack, *found, *message;
} validate_rows[] = {
    { "a pattern that all match", FIELD("spec.charts[*].repo", "pattern: '(https|oci)://.*'"), NULL, "", NULL },
    { "a pattern that one does not match", FIELD("spec.charts[*].version", "pattern: '\\d+\\.\\d+\\.\\d+'"), NULL,
      "!policy/p/r spec.charts[1].version", "Invalid value: \"^1.2\": must match \\d+\\.\\d+\\.\\d+ (StackPolicy p)" },
    { "a pattern matches the whole value", FIELD("spec.env", "pattern: 'pro'"), NULL, "!policy/p/r spec.env", NULL },
    { "notPattern", FIELD("spec.charts[*].version", "notPattern: '[~^].*'"), NULL, "!policy/p/r spec.charts[1].version", "which is not allowed" },
    { "allow", FIELD("spec.charts[*].repo", "allow: ['https://a.io', 'oci://c*']"), NULL, "!policy/p/r spec.charts[1].repo",
      "Unsupported value: \"oci://b.io/x\": supported values: \"https://a.io\", \"oci://c*\" (StackPolicy p)" },
    { "allow with stars", FIELD("spec.charts[*].repo", "allow: ['*://a.io', 'oci://*/x']"), NULL, "", NULL },
    { "allow with words", FIELD("spec.charts[*].namespace", "allow: ['${namespace}-*', '${env}-x']"), NULL,
      "!policy/p/r spec.charts[0].namespace; !policy/p/r spec.charts[1].namespace", "supported values: \"team-a-*\", \"prod-x\"" },
    { "deny", FIELD("spec.charts[*].values.inline.**.tag", "deny: [latest]"), NULL,
      "!policy/p/r spec.charts[0].values.inline.sidecar.image.tag", "Forbidden: \"latest\" is not allowed" },
    { "any depth finds what is at the top, too", FIELD("spec.charts[*].values.inline.**.replicas", "maximum: 2"), NULL,
      "!policy/p/r spec.charts[0].values.inline.replicas", "3: must be less than or equal to 2" },
    { "any depth finds what is in a list, under keys that read as several", FIELD("spec.charts[*].values.inline.**.tag", "deny: [latest]"),
      "targets: {clusterIds: [c-1]}, charts: [{name: db, repo: 'https://a.io', version: 1.0.0, values: {inline: "
      "{a.b: [1, {'x[0]': {tag: latest}}], tagged: latest}}}]",
      "!policy/p/r spec.charts[0].values.inline[a.b][1][x[0]].tag", NULL },
    { "any depth below some member", FIELD("spec.charts[*].values.inline.*.**.tag", "deny: [latest, v1]"), NULL,
      "!policy/p/r spec.charts[0].values.inline.image.tag; !policy/p/r spec.charts[0].values.inline.sidecar.image.tag", NULL },
    { "any depth, then any member", FIELD("spec.charts[*].values.inline.**.image.*", "deny: [latest]"), NULL,
      "!policy/p/r spec.charts[0].values.inline.sidecar.image.tag", NULL },
    { "a quantity", FIELD("spec.charts[*].values.inline.replicas", "minimum: '3500m'"), NULL, "!policy/p/r spec.charts[0].values.inline.replicas", "3: must be greater than or equal to 3500m" },
    { "one value as a number and as a duration", "rules: [{name: number, field: 'spec.charts[*].values.inline.wait', maximum: 1}, "
      "{name: time, field: 'spec.charts[*].values.inline.wait', maximum: 4m30s}]",
      "targets: {clusterIds: [c-1]}, charts: [{name: db, repo: 'https://a.io', version: 1.0.0, values: {inline: {wait: 5m}}}]",
      "!policy/p/time spec.charts[0].values.inline.wait", "5m: must be less than or equal to 4m30s" },
    { "stars at both ends, in between, and none", FIELD("spec.charts[*].repo", "deny: ['https://a.ioo', 'https://a', 'https://a.io?*', '*b.io', 'o*x*/', 'oci://b.io/x/*']"), NULL, "", NULL },
    { "a star for nothing", FIELD("spec.charts[*].repo", "deny: ['https://a.io*', '*oci://b.io/x']"), NULL, "!policy/p/r spec.charts[0].repo; !policy/p/r spec.charts[1].repo", NULL },
    { "what cannot be compared", FIELD("spec.charts[*].values.inline.image.tag", "maximum: 2"), NULL, "!policy/p/r spec.charts[0].values.inline.image.tag", "cannot be compared" },
    { "a duration", FIELD("spec.charts[*].timeout", "maximum: 15m"), NULL, "!policy/p/r spec.charts[1].timeout", "20m: must be less than or equal to 15m" },
    { "a default counts", FIELD("spec.charts[*].timeout", "minimum: 15m"), NULL, "!policy/p/r spec.charts[0].timeout", "10m: must be greater than or equal to 15m" },
    { "security by env counts", FIELD("spec.security", "allow: [enabled]"), NULL, "", NULL },
    { "so do its thresholds", FIELD("spec.securityProfile.thresholds.critical", "minimum: 0, maximum: 0"), NULL, "", NULL },
    { "thresholds that are weakened", FIELD("spec.securityProfile.thresholds.critical", "minimum: 0, maximum: 0"),
      "env: prod, targets: {clusterIds: [c-1]}, securityProfile: {thresholds: {critical: -1}}, charts: [{name: db, repo: 'https://a.io', version: 1.0.0}]",
      "!policy/p/r spec.securityProfile.thresholds.critical", "-1: must be greater than or equal to 0" },
    { "how many charts", FIELD("spec.charts", "maximum: 1"), NULL, "!policy/p/r spec.charts", "2: the number of elements must be less than or equal to 1" },
    { "a label that is required", FIELD("metadata.labels[team]", "presence: Required"), NULL, "!policy/p/r metadata.labels[team]", "Required value: must be set (StackPolicy p)" },
    { "a label that is there", FIELD("metadata.labels[tier]", "presence: Required, allow: [gold]"), NULL, "", NULL },
    { "what is absent is asked for nothing", FIELD("metadata.labels[team]", "allow: [a]"), NULL, "", NULL },
    { "a field that is forbidden", FIELD("spec.charts[*].dependsOn", "presence: Forbidden"), NULL, "!policy/p/r spec.charts[1].dependsOn", "must not be set" },
    { "values that are required of each chart", FIELD("spec.charts[*].values.inline.replicas", "presence: Required"), NULL, "!policy/p/r spec.charts[1].values.inline.replicas", NULL },
    { "the name", FIELD("metadata.name", "pattern: 'x.*'"), NULL, "!policy/p/r metadata.name", NULL },
    { "of some charts only", FIELD("spec.charts[*].version", "charts: [qdr*], pattern: '[0-9.]+'"), NULL, "", NULL },
    { "of a chart by its name in its repository", FIELD("spec.charts[*].version", "charts: [qdrant], deny: [1.2.3]"), NULL, "!policy/p/r spec.charts[0].version", NULL },
    { "an override is asked for the same", FIELD("spec.charts[*].version", "pattern: '[0-9.]+'"),
      "targets: {clusterIds: [c-1]}, charts: [{name: db, repo: 'https://a.io', version: 1.0.0}], overrides: [{clusterIds: [c-1], charts: [{name: db, version: '^1'}]}]",
      "!policy/p/r spec.overrides[0].charts[0].version", NULL },
    { "so are its values, of that chart", FIELD("spec.charts[*].values.inline.**.tag", "charts: [db], deny: [latest]"),
      "targets: {clusterIds: [c-1]}, charts: [{name: db, repo: 'https://a.io', version: 1.0.0}, {name: e, repo: 'https://a.io', version: 1.0.0}], "
      "overrides: [{clusterIds: [c-1], charts: [{name: db, values: {inline: {x: {tag: latest}}}}, {name: e, values: {inline: {x: {tag: latest}}}}]}]",
      "!policy/p/r spec.overrides[0].charts[0].values.inline.x.tag", NULL },
    { "a chart that is required", RULE("requiredChart: 'gpu-*'"), NULL, "!policy/p/r spec.charts", "Required value: a chart \"gpu-*\"" },
    { "one that is there", RULE("requiredChart: qdrant"), NULL, "", NULL },
    { "a dependency that is required", RULE("requiredDependency: qdrant"), NULL, "", NULL },
    { "of each chart but itself", RULE("requiredDependency: app"), NULL, "!policy/p/r spec.charts[0].dependsOn", "\"db\" must depend on \"app\"" },
    { "GPUs of one cluster in all", FIELD("computed.gpus", "maximum: 6"), GPUS "]", "!policy/p/r spec.charts", "7: the number of GPUs on one cluster must be less than or equal to 6" },
    { "as many as there may be", FIELD("computed.gpus", "maximum: 7"), GPUS "]", "", NULL },
    { "none are none", FIELD("computed.gpus", "minimum: 1"), NULL, "!policy/p/r spec.charts", "0: the number of GPUs on one cluster must be greater than or equal to 1" },
    { "an override that asks for more", FIELD("computed.gpus", "maximum: 7"), GPUS "], overrides: [" MORE("c-1", "replicas: 4") "]", "!policy/p/r spec.overrides[0].charts", "9: the number of GPUs" },
    { "two that do so together", FIELD("computed.gpus", "maximum: 9"), GPUS "], overrides: [" MORE("c-1", "replicas: 4") ", " MORE("c-1", "limits: {nvidia.com/gpu: 4}") "]",
      "!policy/p/r spec.overrides[1].charts; !policy/p/r spec.overrides[1].charts", "13: the number of GPUs" },
    { "a message of its own", FIELD("spec.env", "deny: [prod], message: '${name} of ${namespace} in ${value} (${field})', remedy: 'ask ${policy}/${rule}'"), NULL,
      "!policy/p/r spec.env", "s of team-a in prod (spec.env) (StackPolicy p); ask p/r" },
    { "Warn warns", "action: Warn, " FIELD("spec.env", "deny: [prod]"), NULL, "policy/p/r spec.env", NULL },
    { "another env", "match: {env: [dev, 'stag*']}, " FIELD("spec.env", "deny: [prod]"), NULL, "", NULL },
    { "this env", "match: {env: [dev, 'pr*']}, " FIELD("spec.env", "deny: [prod]"), NULL, "!policy/p/r spec.env", NULL },
    { "this namespace", "match: {namespaces: ['team-*']}, " FIELD("spec.env", "deny: [prod]"), NULL, "!policy/p/r spec.env", NULL },
    { "another namespace", "match: {namespaces: [a]}, " FIELD("spec.env", "deny: [prod]"), NULL, "", NULL },
    { "a namespace that is left out", "match: {excludeNamespaces: ['*-a']}, " FIELD("spec.env", "deny: [prod]"), NULL, "", NULL },
    { "by label", "match: {selector: {matchLabels: {tier: gold}}}, " FIELD("spec.env", "deny: [prod]"), NULL, "!policy/p/r spec.env", NULL },
    { "by another label", "match: {selector: {matchExpressions: [{key: tier, operator: NotIn, values: [gold]}]}}, " FIELD("spec.env", "deny: [prod]"), NULL, "", NULL },
    { "a pattern that takes too long counts as broken", FIELD("spec.charts[*].name", "charts: [zz], pattern: '(a*)*b'"),
      "targets: {clusterIds: [c-1]}, charts: [{name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, chart: zz, repo: 'https://a.io', version: 1.0.0}]",
      "!policy/p/r spec.charts[0].name", NULL },
};

static struct json stack_of(struct arena *arena, const char *spec)
{
    return yaml_json(arena, str_fmt(arena,
                                    "{apiVersion: herd.suse.com/v1, kind: Stack, metadata: {name: s, "
                                    "namespace: team-a, labels: {tier: gold}}, spec: {%s}}", spec));
}

static struct policy_set *set_of(struct arena *arena, const char *name, const char *spec)
{
    struct policy_set_builder *builder = policy_set_begin();
    struct problems problems = problems_new(arena);

    if (!policy_set_add(builder, policy_json(arena, name, spec), &problems))
        fail_msg("%s", findings_text(arena, &problems).at);
    return policy_set_finish(builder);
}

static void finds_what_a_stack_breaks(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(validate_rows) / sizeof(validate_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        AUTO(policy_set_unref) struct policy_set *set = set_of(arena, "p", validate_rows[i].policy);
        struct problems problems = problems_new(arena);
        struct json object = stack_of(arena, validate_rows[i].stack ? validate_rows[i].stack : STACK_SPEC);
        const struct stack *stack = stack_default(arena, stack_decode(arena, object, &problems),
                                                  NULL);

        rows_expect_str(validate_rows[i].says, findings_text(arena, &problems), STR(""));
        policy_set_evaluate(set, stack, resolved_targets_of(arena, stack, &nothing), &problems);
        problems_sort(&problems);
        rows_expect_str(validate_rows[i].says, findings_text(arena, &problems),
                        str_of(validate_rows[i].found));
        if (!validate_rows[i].message)
            continue;

        const struct problem *first = &problems.list.items[0];
        struct str all = str_fmt(arena, "%.*s; %.*s", STR_ARG(first->message),
                                 STR_ARG(first->remedy));

        rows_expect(validate_rows[i].says, str_find(all, str_of(validate_rows[i].message), 0) >= 0,
                    str_z(arena, str_fmt(arena, "'%s' in '%.*s'", validate_rows[i].message,
                                         STR_ARG(all))));
    }
}

/* --- as a part of admission --- */

static struct verdict validate(struct arena *arena, const struct policy_set *set, struct json object,
                            struct json old)
{
    struct facts facts = { .policies = set };
    struct rule_severities severities = rule_severities_default();

    return stack_admit(arena, object, old, &facts, &severities);
}

static void audit_is_told_to_nobody(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(policy_set_unref) struct policy_set *set =
        set_of(arena, "p", "action: Audit, " FIELD("spec.env", "deny: [prod]"));
    struct json none = { NULL, 0 };
    struct verdict verdict = validate(arena, set, stack_of(arena, STACK_SPEC), none);

    (void)state;
    rows_expect("it is allowed", verdict.allowed && verdict.warnings.count == 0, "without a word");
    rows_expect_int("and found", verdict.problems.list.count, 1);
}

static struct json labelled(struct arena *arena, const char *labels, const char *spec)
{
    return yaml_json(arena, str_fmt(arena,
                                    "{apiVersion: herd.suse.com/v1, kind: Stack, metadata: {name: s, "
                                    "namespace: team-a, labels: {%s}}, spec: {%s}}", labels, spec));
}

static void a_new_policy_does_not_lock_a_stack_that_runs(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(policy_set_unref) struct policy_set *set = set_of(
        arena, "p",
        "rules: [{name: team, field: 'metadata.labels[team]', presence: Required}, "
        "{name: name, field: metadata.name, deny: [s]}, {name: env, field: spec.env, deny: [prod]}]");
    const char *later = "paused: true, " STACK_SPEC;
    struct verdict verdict = validate(arena, set, labelled(arena, "", later),
                                   labelled(arena, "", STACK_SPEC));

    (void)state;
    rows_expect("what was so before only warns", verdict.allowed, "allowed");
    rows_expect_int("each", verdict.warnings.count, 3);
    verdict = validate(arena, set, labelled(arena, "", later), labelled(arena, "team: a", STACK_SPEC));
    rows_expect_str("a label that is taken away is rejected",
                    findings_text(arena, &verdict.problems),
                    STR("!policy/p/team metadata.labels[team]; policy/p/name metadata.name; "
                        "policy/p/env spec.env"));
}

/* What is found of all that stands at a place, and of no value there: touched only if the sum is another. */
#define ONE_CHART(name, values)                                                                    \
    "{name: " name ", repo: 'https://a.example.com', version: 1.0.0, namespace: ns, values: {inline: {" values "}}}"
#define SUMMED(a, b, rest) "charts: [" a ", " b "], targets: {clusterIds: [c-1]}" rest
#define ASKS(count) "resources: {limits: {nvidia.com/gpu: " count "}}"
#define TWO_CHARTS SUMMED(ONE_CHART("a", ASKS("4")), ONE_CHART("b", "x: 1"), "")
static const struct {
    const char *says, *rule, *before, *after;
    bool allowed;
} sums[] = {
    { "a chart that was not there before, either", "requiredChart: neuvector", TWO_CHARTS, SUMMED(ONE_CHART("a", ASKS("4")), ONE_CHART("b", "x: 2"), ""), true },
    { "another one that is not there, either", "requiredChart: neuvector", TWO_CHARTS, SUMMED(ONE_CHART("a", ASKS("4")), ONE_CHART("c", "x: 1"), ""), true },
    { "one that was there, and is no more", "requiredChart: b", TWO_CHARTS, SUMMED(ONE_CHART("a", ASKS("4")), ONE_CHART("c", "x: 1"), ""), false },
    { "as many as before", "field: spec.charts, maximum: 1", TWO_CHARTS, SUMMED(ONE_CHART("a", ASKS("4")), ONE_CHART("b", "x: 2"), ""), true },
    { "as many GPUs as before", "field: computed.gpus, maximum: 1", TWO_CHARTS, SUMMED(ONE_CHART("a", ASKS("4")), ONE_CHART("b", "x: 2"), ""), true },
    { "more GPUs than before", "field: computed.gpus, maximum: 1", TWO_CHARTS, SUMMED(ONE_CHART("a", ASKS("8")), ONE_CHART("b", "x: 1"), ""), false },
    { "more, whatever the policy's words", "field: computed.gpus, maximum: 1, message: too many", TWO_CHARTS, SUMMED(ONE_CHART("a", ASKS("8")), ONE_CHART("b", "x: 1"), ""), false },
    { "an edge of the chart that was touched elsewhere", "requiredDependency: a", TWO_CHARTS, SUMMED(ONE_CHART("a", ASKS("4")), ONE_CHART("b", "x: 2"), ""), true },
    { "a pause", "field: computed.gpus, maximum: 1", TWO_CHARTS, TWO_CHARTS ", paused: true", true },
};

static void a_sum_excuses_the_same_sum(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        const char *rules = str_z(arena, str_fmt(arena, "rules: [{name: r, %s}]", sums[i].rule));
        AUTO(policy_set_unref) struct policy_set *set = set_of(arena, "p", rules);
        struct json none = { NULL, 0 };
        struct json before = labelled(arena, "", sums[i].before);
        struct verdict verdict = validate(arena, set, labelled(arena, "", sums[i].after), before);

        rows_expect(sums[i].says, verdict.allowed == sums[i].allowed, str_z(arena, findings_text(arena, &verdict.problems)));
        verdict = validate(arena, set, labelled(arena, "", sums[i].after), none);
        rows_expect(sums[i].says, !verdict.allowed, "rejected of a new Stack");
    }
}

static void a_label_that_makes_a_policy_apply_is_validated(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(policy_set_unref) struct policy_set *set =
        set_of(arena, "p", "match: {selector: {matchLabels: {tier: gold}}}, "
                           FIELD("spec.env", "deny: [prod]"));
    struct verdict verdict = validate(arena, set, labelled(arena, "tier: gold", STACK_SPEC),
                                   labelled(arena, "tier: tin", STACK_SPEC));

    (void)state;
    rows_expect("though the spec stayed as it was", !verdict.allowed, "rejected");
}

static void a_set_is_in_order_and_knows_what_it_asks(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);
    struct policy_set_builder *builder = policy_set_begin();
    const char *env = FIELD("spec.env", "deny: [prod]");

    (void)state;
    rows_expect("b", policy_set_add(builder, policy_json(arena, "b", env), &problems), "taken");
    rows_expect("one that is not in order",
                !policy_set_add(builder, policy_json(arena, "c", "rules: []"), &problems), "left out");
    rows_expect_str("and told", findings_text(arena, &problems), STR("!shape.required spec.rules"));
    rows_expect("a", policy_set_add(builder, policy_json(arena, "a", env), &problems), "taken");

    AUTO(policy_set_unref) struct policy_set *set = policy_set_finish(builder);

    rows_expect_int("policies", policy_set_count(set), 2);
    rows_expect_str("by name", policy_set_name(set, 0), STR("a"));
    rows_expect_str("its rules", policy_set_rule_name(set, 1, 0), STR("r"));
}

/* Its other rules must not go with it: it may be older than what rejects it. */
static void a_policy_with_a_rule_that_never_works_counts(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct problems problems = problems_new(arena);
    struct problems found = problems_new(arena);
    struct policy_set_builder *builder = policy_set_begin();
    struct json policy = policy_json(
        arena, "p",
        "rules: [{name: vain, field: spec.drift, deny: [detect]}, {name: prod, field: spec.env, deny: [prod]}]");
    const struct stack *stack = stack_default(
        arena, stack_decode(arena, stack_of(arena, STACK_SPEC), &found), NULL);

    (void)state;
    rows_expect("the policy", policy_set_add(builder, policy, &problems), "taken");
    rows_expect_str("and told", findings_text(arena, &problems), STR("!policy.never spec.rules[0].deny[0]"));

    AUTO(policy_set_unref) struct policy_set *set = policy_set_finish(builder);

    policy_set_evaluate(set, stack, resolved_targets_of(arena, stack, &nothing), &found);
    rows_expect_str("its other rule", findings_text(arena, &found), STR("!policy/p/prod spec.env"));
}

static void one_rule_does_not_fill_the_answer(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(policy_set_unref) struct policy_set *set =
        set_of(arena, "p", FIELD("spec.charts[*].name", "deny: ['c*']"));
    struct stack_builder b = a_stack(arena);
    struct problems problems = problems_new(arena);

    (void)state;
    for (int i = 0; i < 500; i++)
        with_chart(&b, str_fmt(arena, "c%d", i).at, "");

    const struct stack *stack = stack_default(arena, stack_decode(arena, stack_json(&b), &problems), NULL);

    policy_set_evaluate(set, stack, resolved_targets_of(arena, stack, &nothing), &problems);
    rows_expect_int("a hundred, and one for the others", problems.list.count, 101);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_is_wrong_with_a_policy),
        cmocka_unit_test(a_policy_s_name_is_what_kubernetes_takes),
        cmocka_unit_test(every_rule_of_policies_has_a_row),
        cmocka_unit_test(finds_what_a_stack_breaks),
        cmocka_unit_test(audit_is_told_to_nobody),
        cmocka_unit_test(a_new_policy_does_not_lock_a_stack_that_runs),
        cmocka_unit_test(a_sum_excuses_the_same_sum),
        cmocka_unit_test(a_label_that_makes_a_policy_apply_is_validated),
        cmocka_unit_test(a_set_is_in_order_and_knows_what_it_asks),
        cmocka_unit_test(a_policy_with_a_rule_that_never_works_counts),
        cmocka_unit_test(one_rule_does_not_fill_the_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
