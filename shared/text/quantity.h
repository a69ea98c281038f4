/* SPDX-License-Identifier: Apache-2.0 */
/* quantity.h: Kubernetes resource quantities: "100m", "16Gi", "1.5", "2e3".
 * Grammar and rounding: k8s.io/apimachinery/pkg/api/resource/quantity.go. */
#ifndef HERD_TEXT_QUANTITY_H
#define HERD_TEXT_QUANTITY_H

#include "base/error.h"

/* Exact to a thousandth, rounded up, as Kubernetes rounds; capped at INT64_MAX thousandths. */
struct quantity {
    int64_t milli;
};

int quantity_parse(struct str text, struct quantity *ret_quantity, struct error *err);
/* True if it is a whole number. */
bool quantity_is_whole(struct quantity quantity);
struct quantity quantity_add(struct quantity a, struct quantity b);
struct quantity quantity_times(struct quantity a, int64_t times);
/* Canonical text without a suffix: "2", "1500m". */
void quantity_write(struct quantity quantity, struct strbuf *out);

#endif
