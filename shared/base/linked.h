/* SPDX-License-Identifier: Apache-2.0 */
/* linked.h: objects in a doubly linked list, by links of their own.
 *
 * For a struct with members `next` and `previous` that point to its own type,
 * LINKED_DEFINE(batch, struct batch) makes batch_link and batch_unlink. The list is a pointer to
 * its first object, NULL if there is none, and owns nothing. Both take constant time. */
#ifndef HERD_BASE_LINKED_H
#define HERD_BASE_LINKED_H

#include <stddef.h>

#define LINKED_DEFINE(name, type)                                                                  \
    /* It becomes the first. */                                                                    \
    static inline void name##_link(type **list, type *item)                                        \
    {                                                                                              \
        item->previous = NULL;                                                                     \
        item->next = *list;                                                                        \
        if (item->next)                                                                            \
            item->next->previous = item;                                                           \
        *list = item;                                                                              \
    }                                                                                              \
                                                                                                   \
    static inline void name##_unlink(type **list, type *item)                                      \
    {                                                                                              \
        if (item->previous)                                                                        \
            item->previous->next = item->next;                                                     \
        else                                                                                       \
            *list = item->next;                                                                    \
        if (item->next)                                                                            \
            item->next->previous = item->previous;                                                 \
        item->next = item->previous = NULL;                                                        \
    }

#endif
