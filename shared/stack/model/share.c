/* SPDX-License-Identifier: Apache-2.0 */
/* share.c: a number, or a percentage rounded down, as maxUnavailable is in Kubernetes. */
#include "stack/model/share.h"

enum { NUMBER_MAX = 1000000 };

static bool share_read(struct str share, uint64_t *ret_number, bool *ret_percent)
{
    *ret_percent = share.len > 0 && share.at[share.len - 1] == '%';
    return str_to_u64(str_slice(share, 0, share.len - *ret_percent), ret_number) &&
           *ret_number <= (*ret_percent ? 100 : NUMBER_MAX);
}

bool share_is_valid(struct str share)
{
    uint64_t number;
    bool percent;

    return share_read(share, &number, &percent);
}

uint64_t share_of(struct str share, uint64_t total)
{
    uint64_t number;
    bool percent;

    if (!share_read(share, &number, &percent))
        return 0;
    return percent ? total * number / 100 : number;
}
