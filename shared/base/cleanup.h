/* SPDX-License-Identifier: Apache-2.0 */
/* cleanup.h: objects that are freed when their scope ends.
 *
 * AUTO(x_free) struct x *x = NULL;     freed by x_free(x) on every remedy of the scope
 * return TAKE(x);                      gives it away instead; the scope then frees NULL: nothing */
#ifndef HERD_BASE_CLEANUP_H
#define HERD_BASE_CLEANUP_H

/* Declare, once for each type and next to its x_free, what AUTO(x_free) calls. */
#define AUTO_DEFINE(free_function, type)                                                           \
    static inline void free_function##_auto(type *held)                                            \
    {                                                                                              \
        free_function(*held);                                                                      \
    }

#define AUTO(free_function) __attribute__((cleanup(free_function##_auto)))

#define TAKE(variable)                                                                             \
    __extension__({                                                                                \
        __typeof__(variable) taken_ = (variable);                                                  \
        (variable) = 0;                                                                            \
        taken_;                                                                                    \
    })

#endif
