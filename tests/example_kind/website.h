/* SPDX-License-Identifier: Apache-2.0 */
/* website.h: an example of a kind: a Website is made into ConfigMaps, a Service and a ServiceMonitor. */
#ifndef HERD_TESTS_EXAMPLE_KIND_WEBSITE_H
#define HERD_TESTS_EXAMPLE_KIND_WEBSITE_H

#include "runtime/kind.h"
#include "stack/crd/crd.h"

extern const struct crd website_crd;
extern const struct kube_kind website_kind;

#endif
