/* cel.h: does a match condition hold? Only for the expressions that cel.c names; never a guess. */
#ifndef HERD_LAB_APISERVER_CEL_H
#define HERD_LAB_APISERVER_CEL_H

#include "base/list.h"
#include "text/json.h"

enum cel_answer { CEL_FALSE, CEL_TRUE, CEL_UNKNOWN };

/* `request` is the AdmissionReview's request, with object and oldObject in it. */
enum cel_answer cel_holds(struct arena *arena, struct str expression, struct json request);

#endif
