/* SPDX-License-Identifier: Apache-2.0 */
/* semver.h: chart versions (SemVer 2.0.0) and ranges of them, as Helm reads both.
 * Ranges: github.com/Masterminds/semver v3: "^1.2", "~1.2.3", ">=1.2, <2 || 3.x", "1.2 - 1.4". */
#ifndef HERD_TEXT_SEMVER_H
#define HERD_TEXT_SEMVER_H

#include "base/error.h"

struct semver {
    uint64_t major, minor, patch;
    struct str pre;   /* without '-' */
    struct str build; /* without '+' */
};

/* Exact: three numbers, no leading 'v'... which Helm charts may have: "v1.2.3" is accepted. */
int semver_parse(struct str text, struct semver *ret_version, struct error *err);
/* SemVer order; build metadata does not count. */
int semver_cmp(const struct semver *a, const struct semver *b);

struct semver_range;

int semver_range_parse(struct arena *arena, struct str text, struct semver_range **ret_range,
                       struct error *err);
bool semver_range_has(const struct semver_range *range, const struct semver *version);
/* No version at all is in it: ">2, <1". False of one that names a pre-release, or is too long to be
 * looked at. */
bool semver_range_is_empty(const struct semver_range *range);

#endif
