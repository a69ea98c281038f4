/* SPDX-License-Identifier: Apache-2.0 */
/* configuration.h: what an administrator may change about the validation: how severe each rule is,
 * whether charts may come over http://, and from which hosts that are reserved otherwise. Flags say
 * it but for the hosts, and a file; where both do, flags win.
 *
 * The file is YAML:
 *     rules:
 *       gpu.no-provider: deny
 *       targets.local: off
 *     allowPlainHttpRepos: true
 *     allowRepoHosts: [localhost]
 */
#ifndef HERD_STACK_CONFIGURATION_H
#define HERD_STACK_CONFIGURATION_H

#include "base/flag.h"
#include "stack/model/repo_host.h"
#include "stack/model/rules.h"

struct configuration {
    struct rule_severities severities;
    bool plain_http_allowed;
    struct repo_hosts repo_hosts;
};

struct configuration configuration_default(void);

/* What one place says; the rest stays as it is. Zeroed, it says nothing. */
struct configuration_layer {
    bool rule_given[RULE_COUNT];
    struct rule_severities severities;
    bool plain_http_given;
    bool plain_http_allowed;
    bool repo_hosts_given;
    struct repo_hosts repo_hosts;
};

void configuration_lay(struct configuration *configuration,
                       const struct configuration_layer *layer);
/* How many things it says. */
uint32_t configuration_layer_count(const struct configuration_layer *layer);

/* --rule-severity ("rule=severity,rule=severity", each rule once) and --allow-plain-http-repos. -1:
 * what is wrong, and whom to blame. */
int configuration_read_flags(const struct flag_value *severities,
                             const struct flag_value *plain_http,
                             struct configuration_layer *ret_layer, struct error *err);

/* The text of a file; blanks and comments alone say nothing. -1: "name:line:column: " and the first
 * thing that is wrong, and how many more are. */
int configuration_read(const char *name, struct str text, struct configuration_layer *ret_layer,
                       struct error *err);

#endif
