/* SPDX-License-Identifier: Apache-2.0 */
/* token.c: HMAC over SHA-256 (RFC 2104), base64url without padding, and the claims as JSON. */
#include "lab/apiserver/token.h"

#include "text/base64.h"
#include "text/digest.h"
#include "text/json.h"
#include "text/json_write.h"

enum { BLOCK = 64, DIGEST = 32, TOKEN_MAX = 16384 };

#define HEADER "{\"alg\":\"HS256\",\"typ\":\"JWT\"}"

static unsigned nibble(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static struct str sha256(struct arena *arena, struct str bytes)
{
    struct str hex = digest_sha256_hex(arena, bytes);
    char *raw = arena_array(arena, char, DIGEST);

    for (size_t i = 0; i < DIGEST; i++)
        raw[i] = (char)(nibble(hex.at[2 * i]) << 4 | nibble(hex.at[2 * i + 1]));
    return str_make(raw, DIGEST);
}

static struct str keyed(struct arena *arena, struct str key, unsigned char pad, struct str bytes)
{
    struct strbuf out = strbuf_new(arena, BLOCK + bytes.len);

    for (size_t i = 0; i < BLOCK; i++)
        strbuf_char(&out, (char)((i < key.len ? (unsigned char)key.at[i] : 0) ^ pad));
    strbuf_put(&out, bytes);
    return sha256(arena, strbuf_str(&out));
}

static struct str hmac(struct arena *arena, struct str key, struct str bytes)
{
    if (key.len > BLOCK)
        key = sha256(arena, key);
    return keyed(arena, key, 0x5c, keyed(arena, key, 0x36, bytes));
}

static struct str url_encode(struct arena *arena, struct str bytes)
{
    struct str text = base64_encode(arena, bytes);
    struct strbuf out = strbuf_new(arena, text.len);

    for (size_t i = 0; i < text.len && text.at[i] != '='; i++)
        strbuf_char(&out, text.at[i] == '+' ? '-' : text.at[i] == '/' ? '_' : text.at[i]);
    return strbuf_str(&out);
}

static int url_decode(struct arena *arena, struct str text, struct str *ret_bytes,
                      struct error *err)
{
    struct strbuf out = strbuf_new(arena, text.len + 3);

    for (size_t i = 0; i < text.len; i++)
        strbuf_char(&out, text.at[i] == '-' ? '+' : text.at[i] == '_' ? '/' : text.at[i]);
    while (out.len % 4)
        strbuf_char(&out, '=');
    return base64_decode(arena, strbuf_str(&out), ret_bytes, err);
}

static void put_reference(struct json_writer *w, struct str name, struct str uid)
{
    json_open_object(w);
    json_field_str(w, "name", name);
    json_field_str(w, "uid", uid);
    json_close_object(w);
}

static struct str claims_json(struct arena *arena, const struct token_claims *c)
{
    struct strbuf out = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_put_key(&w, STR("aud"));
    json_open_array(&w);
    for (uint32_t i = 0; i < c->audiences.count; i++)
        json_put_str(&w, c->audiences.items[i]);
    json_close_array(&w);
    json_field_int(&w, "exp", c->expires_s);
    json_field_int(&w, "iat", c->issued_s);
    json_field_str(&w, "iss", STR(TOKEN_ISSUER));
    json_field_str(&w, "jti", c->id);
    json_put_key(&w, STR("kubernetes.io"));
    json_open_object(&w);
    json_field_str(&w, "namespace", c->namespace_);
    if (c->bound_kind.len) {
        json_put_key(&w, str_eq(c->bound_kind, STR("Pod")) ? STR("pod") : STR("secret"));
        put_reference(&w, c->bound_name, c->bound_uid);
    }
    json_put_key(&w, STR("serviceaccount"));
    put_reference(&w, c->name, c->uid);
    json_close_object(&w);
    json_field_int(&w, "nbf", c->issued_s);
    json_field_str(&w, "sub",
                   str_fmt(arena, "system:serviceaccount:%.*s:%.*s", STR_ARG(c->namespace_),
                           STR_ARG(c->name)));
    json_close_object(&w);
    return strbuf_str(&out);
}

struct str token_write(struct arena *arena, struct str key, const struct token_claims *claims)
{
    struct str head = url_encode(arena, STR(HEADER));
    struct str body = url_encode(arena, claims_json(arena, claims));
    struct str text = str_fmt(arena, "%.*s.%.*s", STR_ARG(head), STR_ARG(body));
    struct str sign = url_encode(arena, hmac(arena, key, text));

    return str_fmt(arena, "%.*s.%.*s", STR_ARG(text), STR_ARG(sign));
}

/* Equal in a time that does not depend on where they differ. */
static bool same(struct str a, struct str b)
{
    unsigned differ = a.len != b.len;

    for (size_t i = 0; i < a.len && i < b.len; i++)
        differ |= (unsigned char)a.at[i] ^ (unsigned char)b.at[i];
    return differ == 0;
}

static void read_bound(struct json kubernetes, struct token_claims *c)
{
    struct json pod = json_get(kubernetes, STR("pod"));
    struct json secret = json_get(kubernetes, STR("secret"));
    struct json bound = json_is(pod, JSON_OBJECT) ? pod : secret;

    if (!json_is(bound, JSON_OBJECT))
        return;
    c->bound_kind = json_is(pod, JSON_OBJECT) ? STR("Pod") : STR("Secret");
    c->bound_name = json_str(json_get(bound, STR("name")));
    c->bound_uid = json_str(json_get(bound, STR("uid")));
}

static struct token_claims claims_of(struct arena *arena, struct json root)
{
    struct json kubernetes = json_get(root, STR("kubernetes.io"));
    struct json_iter it = json_iter(json_get(root, STR("aud")));
    struct token_claims c = {
        .namespace_ = json_str(json_get(kubernetes, STR("namespace"))),
        .name = json_str(json_walk(kubernetes, "serviceaccount", "name", NULL)),
        .uid = json_str(json_walk(kubernetes, "serviceaccount", "uid", NULL)),
        .id = json_str(json_get(root, STR("jti"))),
        .audiences = str_list_new(arena, 1),
    };

    while (json_next(&it))
        str_list_push(&c.audiences, json_str(it.value));
    json_int64(json_get(root, STR("iat")), &c.issued_s);
    json_int64(json_get(root, STR("exp")), &c.expires_s);
    read_bound(kubernetes, &c);
    return c;
}

int token_read(struct arena *arena, struct str key, struct str token, int64_t now_s,
               struct token_claims *ret_claims, struct error *err)
{
    struct str rest = token, head, body, text, signature, json;
    struct token_claims claims;
    struct json root;

    if (key.len == 0 || token.len > TOKEN_MAX || !str_split(&rest, '.', &head) ||
        !str_split(&rest, '.', &body) || rest.len == 0 ||
        !str_eq(head, url_encode(arena, STR(HEADER))))
        return error_set(err, ERROR_UNAUTHORIZED, "invalid bearer token");
    text = str_slice(token, 0, head.len + 1 + body.len);
    if (url_decode(arena, rest, &signature, err) != 0 || !same(signature, hmac(arena, key, text)))
        return error_set(err, ERROR_UNAUTHORIZED,
                         "[invalid bearer token, go-jose/go-jose: error in cryptographic "
                         "primitive]");
    if (url_decode(arena, body, &json, err) != 0 ||
        json_read(arena, json, &json_limits_default, &root, err) != 0)
        return error_set(err, ERROR_UNAUTHORIZED, "invalid bearer token");
    claims = claims_of(arena, root);
    if (now_s >= claims.expires_s)
        return error_set(err, ERROR_UNAUTHORIZED,
                         "[invalid bearer token, service account token has expired]");
    *ret_claims = claims;
    return 0;
}
