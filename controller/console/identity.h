/* SPDX-License-Identifier: Apache-2.0 */
/* identity.h: who calls the console, by the headers of the request. Pure.
 *
 * A caller is a bearer token, and the API server knows whose it is. Without one, programs on this
 * machine may count as the controller itself, where that is allowed (a lab). It has to be a program
 * that a person runs here, then: not a web page (its Origin), nor one that was led here by a
 * foreign name (Host; DNS rebinding), nor a proxy that serves others. */
#ifndef HERD_CONTROLLER_CONSOLE_IDENTITY_H
#define HERD_CONTROLLER_CONSOLE_IDENTITY_H

#include "base/error.h"

struct identity_facts {
    struct str peer; /* numeric address */
    /* Headers, "" if absent. */
    struct str authorization, host, origin, sec_fetch_site, forwarded, x_forwarded_for,
        impersonate_user;
};

/* 0 and the token, "" for the controller itself. -1: ERROR_UNAUTHORIZED, ERROR_FORBIDDEN or
 * ERROR_BAD_REQUEST, and what to do. */
int console_identify(const struct identity_facts *facts, bool anonymous_allowed,
                     struct str *ret_token, struct error *err);

/* 127.0.0.0/8 or ::1. */
bool address_is_loopback(struct str address);

#endif
