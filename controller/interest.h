/* interest.h: who wants to hear of what.
 *
 * A holder is a Stack's key; a topic is a thing that may change: a cluster, a release, a ConfigMap.
 * Each reconcile says anew what its Stack is interested in. A topic lives as long as somebody holds
 * it; its first holder opens it and its last one closes it, which is what starts and ends
 * informers. */
#ifndef HERD_CONTROLLER_INTEREST_H
#define HERD_CONTROLLER_INTEREST_H

#include "base/cleanup.h"
#include "base/list.h"

enum topic_kind {
    TOPIC_CLUSTER,    /* id: everything about a cluster that is not one release's */
    TOPIC_RELEASE,    /* namespace/name, on any cluster */
    TOPIC_STACK,      /* namespace/name of a Stack that others wait for */
    TOPIC_CONFIG_MAP, /* namespace/name */
    TOPIC_SECRET,     /* namespace/name */
    TOPIC_KIND_COUNT
};

struct topic {
    enum topic_kind kind;
    struct str name;
};
LIST_DEFINE(topics, struct topic)

struct interests;

struct interests_options {
    void (*opened)(void *context, enum topic_kind kind, struct str name);
    void (*closed)(void *context, enum topic_kind kind, struct str name);
    void *context;
};

struct interests *interests_create(const struct interests_options *options);
/* Nothing is closed by it: whoever frees the interests frees what they opened, too. */
void interests_free(struct interests *interests);
AUTO_DEFINE(interests_free, struct interests *)

/* From now on `holder` wants exactly `wanted`; repetitions do not count. What is new is opened
 * before what is left is closed. */
void interests_set(struct interests *interests, struct str holder, const struct topics *wanted);
/* `holder` is no more. */
void interests_forget(struct interests *interests, struct str holder);

/* Call `told(context, holder)` for each holder. It may not change interests. */
void interests_tell(const struct interests *interests, enum topic_kind kind, struct str name,
                    void (*told)(void *context, struct str holder), void *context);

size_t interests_holders(const struct interests *interests);
size_t interests_topics(const struct interests *interests);

#endif
