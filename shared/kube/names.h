/* SPDX-License-Identifier: Apache-2.0 */
/* names.h: what Kubernetes takes for a name, a label, a key.
 * Source: k8s.io/apimachinery/pkg/util/validation/validation.go. */
#ifndef HERD_KUBE_NAMES_H
#define HERD_KUBE_NAMES_H

#include "base/str.h"

/* NULL if `text` is one; else why not, as a constant sentence that says what is allowed. */
const char *kube_not_dns1123_label(struct str text);     /* at most 63 */
const char *kube_not_dns1123_subdomain(struct str text); /* at most 253 */
const char *kube_not_label_key(struct str text);         /* [prefix/]name */
const char *kube_not_label_value(struct str text);       /* at most 63, may be empty */
const char *kube_not_annotation_key(struct str text);    /* a label key, with any case before '/' */
const char *kube_not_data_key(struct str text);          /* of a ConfigMap or Secret */
/* As every Kubernetes takes it: some take all but '='. */
const char *kube_not_env_name(struct str text);
/* A subdomain, but that it may end with one '-'. */
const char *kube_not_generate_name(struct str text);

#endif
