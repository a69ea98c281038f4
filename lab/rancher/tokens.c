/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.c: Rancher's API tokens, kept as Secrets herd-lab-token-<name> in cattle-system of the
 * management cluster. "Bearer token-abcde:secret"; the same as Basic and as cookie R_SESS. */
#include "lab/rancher/inside.h"

#include "lab/rancher/jsonf.h"
#include "text/base64.h"
#include "text/time.h"

#include <stdio.h>

#define SECRET_PREFIX "herd-lab-token-"
#define ADMIN_TOKEN "token-admin"
#define ADMIN_USER "user-admin"

/* auth-token-max-ttl-minutes: 90 days. */
enum { TTL_MAX_S = 129600 * 60 };

static struct str secret_of(struct arena *arena, struct str name)
{
    return str_fmt(arena, SECRET_PREFIX "%.*s", STR_ARG(name));
}

static struct str random_letters(struct simulation *simulation, struct arena *arena, size_t count)
{
    static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
    struct strbuf out = strbuf_new(arena, count + 1);
    uint64_t chance = 0;

    for (size_t i = 0; i < count; i++) {
        if (i % 8 == 0)
            chance = simulation_chance(simulation);
        strbuf_char(&out, letters[chance % (sizeof(letters) - 1)]);
        chance /= sizeof(letters) - 1;
    }
    return strbuf_str(&out);
}

struct record {
    struct str name, secret, user, cluster, description;
    int64_t created_ms, ttl_ms; /* ttl 0 = for ever */
};

static int store(struct simulation *simulation, struct arena *arena, const struct record *r,
                 struct error *err)
{
    struct str body =
        jsonf(arena,
              "{'secret':%s,'user':%s,'cluster':%s,'description':%s,'created':%d,"
              "'ttl':%d}",
              r->secret, r->user, r->cluster, r->description, r->created_ms, r->ttl_ms);

    return world_ensure(simulation, arena, LOCAL_CLUSTER, &res_secrets, SYSTEM_NAMESPACE,
                        jsonf(arena,
                              "{'apiVersion':'v1','kind':'Secret','metadata':{'name':%s,"
                              "'namespace':'cattle-system'},'type':'lab.herd.suse.com/token',"
                              "'data':{'token':%s}}",
                              secret_of(arena, r->name), base64_encode(arena, body)),
                        err);
}

static bool load(struct simulation *simulation, struct arena *arena, struct str name,
                 struct record *ret_record)
{
    struct error err = { 0 };
    struct str object = STR("");
    struct str body = STR("");
    struct json root;

    if (api_get(simulation->api, arena, LOCAL_CLUSTER, &res_secrets, SYSTEM_NAMESPACE,
                secret_of(arena, name), &object, &err) != 0 ||
        json_read(arena, object, &json_limits_default, &root, &err) != 0 ||
        base64_decode(arena, json_str(json_walk(root, "data", "token", NULL)), &body, &err) != 0 ||
        json_read(arena, body, &json_limits_default, &root, &err) != 0)
        return false;
    *ret_record = (struct record){
        .name = name,
        .secret = json_str(json_get(root, STR("secret"))),
        .user = json_str(json_get(root, STR("user"))),
        .cluster = json_str(json_get(root, STR("cluster"))),
        .description = json_str(json_get(root, STR("description"))),
    };
    json_int64(json_get(root, STR("created")), &ret_record->created_ms);
    json_int64(json_get(root, STR("ttl")), &ret_record->ttl_ms);
    return ret_record->secret.len > 0;
}

static bool is_expired(const struct simulation *simulation, const struct record *record)
{
    return record->ttl_ms && simulation_now(simulation) >= record->created_ms + record->ttl_ms;
}

/* The admin's token is made once. What the seed gives is no secret, so it comes from the system's
 * own randomness. */
int tokens_seed(struct simulation *simulation, uint64_t seed, struct error *err)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct record record;

    if (!load(simulation, arena, STR(ADMIN_TOKEN), &record)) {
        struct rng held = simulation->rng;
        FILE *random = fopen("/dev/urandom", "rb");
        uint64_t noise = seed;

        if (!random || fread(&noise, sizeof(noise), 1, random) != 1)
            noise = seed ^ (uint64_t)simulation_now(simulation);
        if (random)
            fclose(random);
        simulation->rng = rng_from_seed(noise);
        record = (struct record){ STR(ADMIN_TOKEN),
                                  random_letters(simulation, arena, 54),
                                  STR(ADMIN_USER),
                                  STR(""),
                                  STR("made by herd-lab"),
                                  simulation_now(simulation),
                                  0 };
        simulation->rng = held;
        if (store(simulation, arena, &record, err) != 0)
            return error_wrap(err, "admin token");
    }
    snprintf(simulation->token, sizeof(simulation->token), ADMIN_TOKEN ":%.*s",
             STR_ARG(record.secret));
    return 0;
}

/* "name:secret" from Bearer, Basic or the cookie; the header wins. */
static struct str presented(struct http_exchange *exchange)
{
    struct arena *arena = http_view(exchange)->arena;
    struct str header = http_header(exchange, "Authorization");
    struct str cookie = http_header(exchange, "Cookie");
    struct str token = STR("");
    struct error ignored;

    if (str_starts(header, STR("Bearer ")))
        return str_trim(str_slice(header, 7, header.len));
    if (str_starts(header, STR("Basic ")) &&
        base64_decode(arena, str_trim(str_slice(header, 6, header.len)), &token, &ignored) == 0)
        return token;

    ptrdiff_t at = str_find(cookie, STR("R_SESS="), 0);

    if (at < 0)
        return STR("");
    cookie = str_slice(cookie, (size_t)at + 7, cookie.len);
    str_split(&cookie, ';', &token);
    return token;
}

static bool same_secret(struct str a, struct str b)
{
    unsigned char differs = 0;

    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        differs |= (unsigned char)(a.at[i] ^ b.at[i]);
    return differs == 0;
}

bool tokens_authenticate(struct simulation *simulation, struct http_exchange *exchange,
                         struct token *ret_token)
{
    struct arena *arena = http_view(exchange)->arena;
    struct str rest = presented(exchange);
    struct str name = STR("");
    struct record record;
    struct fault_rule rule;

    if (!str_split(&rest, ':', &name) || !rest.at || str_find_char(rest, ':', 0) >= 0)
        return false;
    if (faults_strike(simulation, FAULT_TOKEN_EXPIRED, &(struct fault_place){ .cluster = STR("") },
                      &rule))
        return false;
    if (!load(simulation, arena, name, &record) || !same_secret(record.secret, rest) ||
        is_expired(simulation, &record))
        return false;
    *ret_token = (struct token){ record.name, record.user, record.cluster,
                                 str_eq(record.user, STR(ADMIN_USER)) };
    return true;
}

/* ---- /v3/tokens ------------------------------------------------------------------------------ */

static struct str resource(struct simulation *simulation, struct arena *arena,
                           const struct record *r, const struct token *caller, bool show_secret)
{
    struct str value =
        show_secret ? jsonf(arena, ",'token':%s",
                            str_fmt(arena, "%.*s:%.*s", STR_ARG(r->name), STR_ARG(r->secret)))
                    : STR(" ");

    return jsonf(arena,
                 "{'type':'token','baseType':'token','id':%s,'name':%s,'userId':%s,"
                 "'userPrincipal':%s,'authProvider':'local','ttl':%d,'expired':%b,'expiresAt':%s,"
                 "'isDerived':true,'current':%b,'enabled':true,'description':%s,'clusterId':%s,"
                 "'created':%s,'labels':{},'links':{}%r}",
                 r->name, r->name, r->user, str_fmt(arena, "local://%.*s", STR_ARG(r->user)),
                 r->ttl_ms, is_expired(simulation, r),
                 r->ttl_ms ? time_rfc3339(arena, r->created_ms + r->ttl_ms) : STR(""),
                 str_eq(r->name, caller->name), r->description, r->cluster,
                 time_rfc3339(arena, r->created_ms), value);
}

struct listing {
    struct simulation *simulation;
    struct arena *arena;
    const struct token *caller;
    struct strbuf out;
    bool more;
};

static bool list_one(void *context, struct str object)
{
    struct listing *listing = context;
    struct error ignored;
    struct json root;
    struct record record;

    if (json_read(listing->arena, object, &json_limits_default, &root, &ignored) != 0)
        return true;

    struct str name = json_str(json_walk(root, "metadata", "name", NULL));

    if (!str_starts(name, STR(SECRET_PREFIX)) ||
        !load(listing->simulation, listing->arena,
              str_slice(name, sizeof(SECRET_PREFIX) - 1, name.len), &record))
        return true;
    if (listing->more)
        strbuf_char(&listing->out, ',');
    strbuf_put(&listing->out,
               resource(listing->simulation, listing->arena, &record, listing->caller, false));
    listing->more = true;
    return true;
}

static void create(struct simulation *simulation, struct http_exchange *exchange,
                   const struct token *caller)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct arena *arena = view->arena;
    struct error err = { 0 };
    struct json body;
    int64_t ttl_ms = 0;
    int64_t max_ms = (int64_t)TTL_MAX_S * 1000;

    if (json_read(arena, view->body, &json_limits_default, &body, &err) != 0) {
        reply_e2(exchange, 422, "InvalidBodyContent", str_of(err.text));
        return;
    }
    json_int64(json_get(body, STR("ttl")), &ttl_ms);
    if (ttl_ms <= 0 || ttl_ms > max_ms)
        ttl_ms = max_ms;

    struct record record = {
        .name = str_fmt(arena, "token-%.*s", STR_ARG(random_letters(simulation, arena, 5))),
        .secret = random_letters(simulation, arena, 54),
        .user = caller->user,
        .cluster = json_str(json_get(body, STR("clusterId"))),
        .description = json_str(json_get(body, STR("description"))),
        .created_ms = simulation_now(simulation),
        .ttl_ms = ttl_ms,
    };

    if (store(simulation, arena, &record, &err) != 0)
        reply_e2(exchange, 500, "ServerError", str_dup(arena, str_of(err.text)));
    else
        reply_json(exchange, 201, resource(simulation, arena, &record, caller, true));
}

void tokens_handle(struct simulation *simulation, struct http_exchange *exchange, struct str name,
                   const struct token *caller)
{
    const struct http_exchange_view *view = http_view(exchange);
    struct arena *arena = view->arena;
    struct error err = { 0 };
    struct record record;

    if (name.len && !load(simulation, arena, name, &record)) {
        reply_e2(exchange, 404, "NotFound", str_fmt(arena, "token %.*s not found", STR_ARG(name)));
    } else if (name.len && str_eq(view->method, STR("DELETE"))) {
        api_delete_object(simulation->api, arena, LOCAL_CLUSTER, &res_secrets, SYSTEM_NAMESPACE,
                          secret_of(arena, name), &err);
        http_answer(exchange, 204, "application/json", STR(""));
    } else if (name.len) {
        reply_json(exchange, 200, resource(simulation, arena, &record, caller, false));
    } else if (str_eq(view->method, STR("POST"))) {
        create(simulation, exchange, caller);
    } else {
        struct listing listing = { simulation, arena, caller, strbuf_new(arena, 1024), false };

        api_list(simulation->api, arena, LOCAL_CLUSTER, &res_secrets, SYSTEM_NAMESPACE, list_one,
                 &listing, &err);
        reply_json(exchange, 200,
                   jsonf(arena,
                         "{'type':'collection','resourceType':'token','links':{},"
                         "'data':[%r]}",
                         listing.more ? strbuf_str(&listing.out) : STR(" ")));
    }
}
