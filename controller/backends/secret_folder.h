/* SPDX-License-Identifier: Apache-2.0 */
/* secret_folder.h: the entries of a Secret that is mounted as a folder, read again when it changes.
 */
#ifndef HERD_CONTROLLER_BACKENDS_SECRET_FOLDER_H
#define HERD_CONTROLLER_BACKENDS_SECRET_FOLDER_H

#include "base/cleanup.h"
#include "base/str.h"

#include <stdint.h>

struct secret_folder;

/* `folder` "" = there is none. The entries are the files PREFIX + names[i]; nothing is kept of the
 * texts. */
struct secret_folder *secret_folder_create(const char *folder, struct str prefix,
                                           const char *const *names, uint32_t count);
void secret_folder_free(struct secret_folder *folder);
AUTO_DEFINE(secret_folder_free, struct secret_folder *)
/* Entry i as it is now, without blanks around it; "" = it is not there. Borrowed until the next
 * call for the same entry. */
struct str secret_folder_entry(struct secret_folder *folder, uint32_t i);

#endif
