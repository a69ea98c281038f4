/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h: rules in NeuVector that Herd owns: those that Stacks want against those that are there.
 * Pure.
 *
 * NeuVector's objects have no labels, so a rule of Herd's is told by its comment, "herd:" and the
 * uid of the Stack; no other rule is ever changed. What the kinds of rules differ in is a row of
 * rules_rows. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_RULES_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_RULES_H

#include "base/set.h"
#include "stack/model/stack.h"

enum rules_kind { RULES_ADMISSION, RULES_RESPONSE, RULES_KINDS };

/* What a Stack wants on one cluster. */
struct rules_wish {
    struct str uid;
    bool due[RULES_KINDS];  /* its rules of this kind are to be compared */
    int64_t critical, high; /* most that an image may have; -1 = no limit, and so no rule */
    /* Admission rules. */
    enum admission_mode admission;
    struct str namespaces; /* "a,b", sorted; "" = none, and so no rule */
    /* Response rules. */
    struct str_list webhooks;
    bool quarantine;
    struct str workloads;   /* of its releases, by their manifests; "" = no rule */
    struct str_list groups; /* NeuVector's, of those that run; a look fills it in */
};
LIST_DEFINE(rules_wishes, struct rules_wish)

bool rules_are_wanted(enum rules_kind kind, const struct rules_wish *wish);

struct rules_change {
    struct str uid; /* the Stack's */
    const char *method;
    struct str path, body;
};
LIST_DEFINE(rules_changes, struct rules_change)

struct rules_comparison {
    struct rules_changes changes; /* make the rules what the Stacks want */
    struct set marked;   /* uids of Stacks that have rules, or will have some after the changes */
    struct set disabled; /* uids of Stacks with a rule that is wanted and that somebody disabled */
};

/* What a rule amounts to; each kind makes and reads those of its own. */
struct rules_desired {
    const struct rules_wish *wish;
    struct str key; /* tells it from the Stack's others */
    unsigned which; /* of the kind's own list */
    struct str group;
    bool waits; /* NeuVector has no such group at present: not made now, but kept */
};
LIST_DEFINE(rules_desired_list, struct rules_desired)

/* A kind of rules. */
struct rules_row {
    const char *name;                     /* "admission rules" */
    const char *read_right, *write_right; /* NeuVector's name of the permission */
    struct str list;                      /* path of the list, whose member is "rules" */
    struct str rule;                      /* path of one, without "/ID" */
    bool stays_disabled;                  /* one that somebody disabled is not enabled again */
    void (*desire)(struct arena *arena, const struct rules_wish *wish,
                   struct rules_desired_list *to);
    struct str (*key_of)(struct arena *arena, struct json rule);
    bool (*is_right)(struct arena *arena, struct json rule, const struct rules_desired *desired);
    struct rules_change (*create)(struct arena *arena, const struct rules_desired *desired);
    struct rules_change (*correct)(struct arena *arena, const struct rules_desired *desired,
                                   int64_t id);
};
extern const struct rules_row rules_admission, rules_response;
extern const struct rules_row *const rules_rows[RULES_KINDS];

/* "herd:UID" */
struct str rules_mark(struct arena *arena, const struct rules_wish *wish);

/* Of the answer to GET /v1/admission/state: whether admission rules have any effect. */
int rules_admission_state_read(struct json state, bool *ret_enabled, struct error *err);

/* The answer to GET of the row's list, against all wishes of which the kind is due. -1: that is no
 * list of rules. */
int rules_compare(struct arena *arena, enum rules_kind kind, struct json rules,
                  const struct rules_wishes *wishes, struct rules_comparison *ret_comparison,
                  struct error *err);

#endif
