/* SPDX-License-Identifier: Apache-2.0 */
/* images.h: what finished scans found, and which compliance checks containers fail, by image, kept
 * from one look to the next: while an image is scanned again NeuVector says nothing of the scan
 * before. */
#ifndef HERD_CONTROLLER_BACKENDS_NEUVECTOR_IMAGES_H
#define HERD_CONTROLLER_BACKENDS_NEUVECTOR_IMAGES_H

#include "base/set.h"
#include "stack/model/observed.h"

struct images;

struct images *images_create(void);
void images_free(struct images *images);
AUTO_DEFINE(images_free, struct images *)

/* NULL: no scan of it has finished. Borrowed until the next change of that image. */
const struct scan_findings *images_find(const struct images *images, struct str digest);
/* A scan that is older than the one that is known changes nothing; one without findings leaves
 * those that are known. Takes a reference of its own. */
void images_put(struct images *images, struct str digest, const struct scan_findings *findings);
/* The report of its newest scan cannot be read. */
void images_note_unreadable(struct images *images, struct str digest);
/* What its containers fail. NULL: not known. Borrowed until the next change of that image; another
 * list is at another place. */
struct checks *images_failed_checks(const struct images *images, struct str digest);
/* Whether they are not known because nobody has asked yet. */
bool images_checks_pending(const struct images *images, struct str digest);
/* `failed` NULL: nothing new, what is known stands. */
void images_put_checks(struct images *images, struct str digest, const struct check_list *failed,
                       bool pending);
/* Forget all but those: nothing runs them any more. */
void images_keep(struct images *images, struct set digests);

/* A scan was requested at that time, and accepted. */
void images_note_request(struct images *images, struct str digest, int64_t now_ms);
bool images_was_requested(const struct images *images, struct str digest, int64_t since_ms);

#endif
