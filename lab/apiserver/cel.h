/* cel.h: does a match condition hold? Only for the expressions that cel.c names; never a guess. */
#ifndef HERD_LAB_APISERVER_CEL_H
#define HERD_LAB_APISERVER_CEL_H

#include "base/list.h"
#include "text/json.h"

enum cel_answer { CEL_FALSE, CEL_TRUE, CEL_UNKNOWN };

/* What cel_understands knows, for people. */
#define CEL_KNOWN                                                                                  \
    "|| && ! ( ) == != in, texts, numbers, lists, has(), size(), startsWith(), endsWith(), "       \
    "contains() and paths below request, object and oldObject"

/* `request` is the AdmissionReview's request, with object and oldObject in it. CEL_UNKNOWN: it is
 * not understood, or an error as CEL has them; *ret_why says which. */
enum cel_answer cel_holds(struct arena *arena, struct str expression, struct json request,
                          struct str *ret_why);
/* Whether the expression is of the part of CEL that is known here, whatever is asked about. */
bool cel_understands(struct arena *arena, struct str expression);

#endif
