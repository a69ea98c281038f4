/* SPDX-License-Identifier: Apache-2.0 */
/* image.h: references to container images. Source: github.com/distribution/reference,
 * reference.go (the grammar) and normalize.go (what of a name is a registry), which the kubelet
 * and container runtimes read images by. */
#ifndef HERD_KUBE_IMAGE_H
#define HERD_KUBE_IMAGE_H

#include "base/str.h"

struct image_reference {
    struct str name;   /* with the registry, if it has one */
    struct str tag;    /* "" = none */
    struct str digest; /* "sha256:...", "" = none */
};

/* NULL, and its parts, which borrow from `text`; else why it is none, as a constant sentence. */
const char *image_reference_read(struct str text, struct image_reference *ret_image);

#endif
