/* severities.c: a list of rule=severity, each rule once. */
#include "webhook/severities.h"

static int unknown_rule(const char *origin, struct str name, struct error *err)
{
    struct str_nearest nearest = { .name = name };

    for (enum rule_id id = 0; id < RULE_COUNT; id++)
        str_nearest_try(&nearest, str_of(rule_of(id)->name));
    if (nearest.found.len)
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: there is no rule '%.*s'; did you mean %.*s?", origin, STR_ARG(name),
                         STR_ARG(nearest.found));
    return error_set(err, ERROR_BAD_REQUEST,
                     "%s: there is no rule '%.*s'; docs/rules.md lists them", origin,
                     STR_ARG(name));
}

/* "rule=severity" */
static int read_severity(const char *origin, struct str part, bool seen[RULE_COUNT],
                         struct rule_severities *severities, struct error *err)
{
    ptrdiff_t equals = str_find_char(part, '=', 0);
    struct str name = str_trim(str_slice(part, 0, equals < 0 ? 0 : (size_t)equals));
    struct str word = str_trim(str_slice(part, (size_t)equals + 1, part.len));
    enum severity severity;
    enum rule_id rule;

    if (equals < 0)
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: '%.*s' is not rule=severity, e.g. gpu.no-provider=deny", origin,
                         STR_ARG(part));
    if (!rule_from(name, &rule))
        return unknown_rule(origin, name, err);
    if (seen[rule])
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s stands twice; keep one of the two", origin, STR_ARG(name));
    if (!severity_from(word, &severity))
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s: '%.*s' is not a severity; write deny, warn, audit or off",
                         origin, STR_ARG(name), STR_ARG(word));
    if (rule_is_fixed(rule) && severity != SEVERITY_DENY)
        return error_set(err, ERROR_BAD_REQUEST,
                         "%s: %.*s can only deny, because all else relies on it; leave it out",
                         origin, STR_ARG(name));
    seen[rule] = true;
    severities->of[rule] = severity;
    return 0;
}

int severities_read(const struct flag_value *flag, struct rule_severities *ret_severities,
                    struct error *err)
{
    struct str text = flag->text;
    struct rule_severities severities = rule_severities_default();
    bool seen[RULE_COUNT] = { false };
    struct str part;

    while (text.len && str_split(&text, ',', &part))
        if (read_severity(flag->from, str_trim(part), seen, &severities, err) < 0)
            return -1;
    *ret_severities = severities;
    return 0;
}
