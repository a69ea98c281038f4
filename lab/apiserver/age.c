/* SPDX-License-Identifier: Apache-2.0 */
/* age.c: how long ago something was, as people read it. */
#include "lab/apiserver/columns.h"

#include "text/time.h"

struct str age_text(struct arena *arena, int64_t age_ms)
{
    long long s = age_ms / 1000, m = s / 60, h = m / 60, d = h / 24, y = d / 365;

    if (s < -1)
        return STR("<invalid>");
    if (s < 0)
        return STR("0s");
    if (s < 120)
        return str_fmt(arena, "%llds", s);
    if (m < 10)
        return s % 60 ? str_fmt(arena, "%lldm%llds", m, s % 60) : str_fmt(arena, "%lldm", m);
    if (m < 180)
        return str_fmt(arena, "%lldm", m);
    if (h < 8)
        return m % 60 ? str_fmt(arena, "%lldh%lldm", h, m % 60) : str_fmt(arena, "%lldh", h);
    if (h < 48)
        return str_fmt(arena, "%lldh", h);
    if (h < 192)
        return h % 24 ? str_fmt(arena, "%lldd%lldh", d, h % 24) : str_fmt(arena, "%lldd", d);
    if (d < 730)
        return str_fmt(arena, "%lldd", d);
    if (d < 2920)
        return d % 365 ? str_fmt(arena, "%lldy%lldd", y, d % 365) : str_fmt(arena, "%lldy", y);
    return str_fmt(arena, "%lldy", y);
}

struct str age_since(struct cells *c, struct str time)
{
    struct error err;
    int64_t ms;

    if (time.len == 0 || time_parse_rfc3339(time, &ms, &err) != 0)
        return STR("<unknown>");
    return age_text(c->arena, c->now_ms - ms);
}
