/* SPDX-License-Identifier: Apache-2.0 */
/* claims_pack.c: claims as bytes. */
#include "stack/targets/claims.h"

/* Numbers in groups of 7 bits, lowest first; a text is its length and its bytes. */
static void put_number(struct strbuf *out, uint64_t number)
{
    for (; number > 0x7f; number >>= 7)
        strbuf_char(out, (char)(number | 0x80));
    strbuf_char(out, (char)number);
}

static void put_text(struct strbuf *out, struct str text)
{
    put_number(out, text.len);
    strbuf_put(out, text);
}

static void put_texts(struct strbuf *out, const struct str_list *texts)
{
    put_number(out, texts->count);
    for (uint32_t i = 0; i < texts->count; i++)
        put_text(out, texts->items[i]);
}

static void put_place(struct strbuf *out, const struct claim_place *place)
{
    put_texts(out, &place->ids);
    put_number(out, place->selector.all.count);
    for (uint32_t i = 0; i < place->selector.all.count; i++) {
        const struct selector_requirement *one = &place->selector.all.items[i];

        put_text(out, one->key);
        put_number(out, one->op);
        put_texts(out, &one->values);
    }
}

void claims_pack(const struct claims *claims, struct strbuf *out)
{
    put_number(out, claims->deleting);
    put_texts(out, &claims->releases);
    put_place(out, &claims->targets);
    put_number(out, claims->skips.count);
    for (uint32_t i = 0; i < claims->skips.count; i++) {
        const struct claim_skip *skip = &claims->skips.items[i];

        put_place(out, &skip->where);
        put_number(out, skip->releases.count);
        for (uint32_t k = 0; k < skip->releases.count; k++)
            put_number(out, skip->releases.items[k]);
    }
}

static uint64_t take_number(struct str *rest)
{
    uint64_t number = 0;
    bool more = true;

    for (unsigned shift = 0; more && rest->len && shift < 64; shift += 7) {
        more = *rest->at & 0x80;
        number |= (uint64_t)(*rest->at & 0x7f) << shift;
        *rest = str_slice(*rest, 1, rest->len);
    }
    return number;
}

/* Each thing that is counted takes a byte at least: bytes that lie get no more room than that. */
static uint32_t take_count(struct str *rest)
{
    uint64_t count = take_number(rest);

    return (uint32_t)(count < rest->len ? count : rest->len);
}

static struct str take_text(struct str *rest)
{
    uint32_t len = take_count(rest);
    struct str text = str_slice(*rest, 0, len);

    *rest = str_slice(*rest, len, rest->len);
    return text;
}

static struct str_list take_texts(struct arena *arena, struct str *rest)
{
    uint32_t count = take_count(rest);
    struct str_list texts = str_list_new(arena, count);

    for (uint32_t i = 0; i < count; i++)
        str_list_push(&texts, take_text(rest));
    return texts;
}

static struct claim_place take_place(struct arena *arena, struct str *rest)
{
    struct claim_place place = { .ids = take_texts(arena, rest), .selector = selector_new(arena) };
    uint32_t count = take_count(rest);

    for (uint32_t i = 0; i < count; i++) {
        struct str key = take_text(rest);
        enum selector_operator op = (enum selector_operator)(take_number(rest) & 3);

        selector_add(&place.selector, key, op, take_texts(arena, rest));
    }
    place.by_selector = count > 0;
    place.everywhere = count == 0 && place.ids.count == 0;
    return place;
}

struct claims claims_read(struct arena *arena, struct str packed)
{
    struct claims claims = { .deleting = take_number(&packed) & 1 };

    claims.releases = take_texts(arena, &packed);
    claims.targets = take_place(arena, &packed);

    uint32_t count = take_count(&packed);

    claims.skips = claim_skips_new(arena, count);
    for (uint32_t i = 0; i < count; i++) {
        struct claim_skip skip = { .where = take_place(arena, &packed) };
        uint32_t releases = take_count(&packed);

        skip.releases = u32_list_new(arena, releases);
        for (uint32_t k = 0; k < releases; k++)
            u32_list_push(&skip.releases, (uint32_t)take_number(&packed));
        claim_skips_push(&claims.skips, skip);
    }
    return claims;
}
