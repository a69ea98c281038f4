/* crd.h: the CustomResourceDefinition of Stacks, made from fields.def and status_fields.def. */
#ifndef HERD_STACK_CRD_H
#define HERD_STACK_CRD_H

#include "base/str.h"

/* manifests/crds/herd.suse.com_stacks.yaml. Equal tables give equal bytes. */
void stack_crd_write(struct strbuf *out);

#endif
