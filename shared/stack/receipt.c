/* receipt.c: read back strictly: what is not, to the byte, what would be written is wrong. */
#include "stack/receipt.h"

#include "base/limits.h"
#include "stack/fields_canonical.h"
#include "text/digest.h"
#include "text/json_write.h"

/* Goes in front of what is signed: bytes signed for another purpose are no receipt. */
#define PURPOSE "herd.suse.com/receipt v1"

struct str receipt_key_of(struct str file)
{
    return file.len == RECEIPT_KEY_BYTES ? file : STR("");
}

void receipt_take_groups(struct arena *arena, struct json groups, struct receipt *receipt)
{
    struct json_iter it = json_iter(groups);
    size_t bytes = 0;

    receipt->groups = str_list_new(arena, json_count(groups));
    receipt->groups_left_out = 0;
    while (json_next(&it)) {
        struct str group = json_str(it.value);

        bytes += group.len;
        if (bytes <= LIMIT_RECEIPT_GROUPS)
            str_list_push(&receipt->groups, group);
        else
            receipt->groups_left_out++;
    }
}

static void put_members(struct json_writer *w, const struct receipt *receipt)
{
    json_field_str(w, "by", receipt->by);
    json_put_key(w, STR("groups"));
    json_open_array(w);
    for (uint32_t i = 0; i < receipt->groups.count; i++)
        json_put_str(w, receipt->groups.items[i]);
    json_close_array(w);
    if (receipt->groups_left_out)
        json_field_int(w, "more", receipt->groups_left_out);
    json_field_str(w, "policies", receipt->policies);
}

/* What a Stack is called while it is judged. */
struct identity {
    const char *kind; /* name or generateName */
    struct str namespace_, name;
};

static struct identity named(const struct kube_meta *meta, struct str namespace_)
{
    return (struct identity){ "name", meta->namespace_.len ? meta->namespace_ : namespace_,
                              meta->name };
}

static struct identity to_be_named(const struct kube_meta *meta, struct str namespace_)
{
    return (struct identity){ "generateName",
                              meta->namespace_.len ? meta->namespace_ : namespace_,
                              meta->generate_name };
}

static struct str mac_of(struct arena *arena, struct str key, const struct stack *stack,
                         const struct identity *identity, const struct receipt *receipt)
{
    struct strbuf spec = strbuf_new(arena, 4096);
    struct strbuf signed_ = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&signed_);

    fields_canonical(&fields_of_stack_spec, &stack->spec, &spec);
    json_open_object(&w);
    json_field_str(&w, "for", STR(PURPOSE));
    json_field_str(&w, "namespace", identity->namespace_);
    json_put_key(&w, str_of(identity->kind));
    json_put_str(&w, identity->name);
    put_members(&w, receipt);
    json_field_raw(&w, "spec", strbuf_str(&spec));
    json_close_object(&w);
    return digest_hmac_hex(arena, key, strbuf_str(&signed_));
}

static struct str written(struct arena *arena, struct str key, const struct stack *stack,
                          const struct identity *identity, const struct receipt *receipt)
{
    struct strbuf text = strbuf_new(arena, 512);
    struct json_writer w = json_writer(&text);

    json_open_object(&w);
    put_members(&w, receipt);
    json_field_str(&w, "mac", mac_of(arena, key, stack, identity, receipt));
    json_close_object(&w);
    return strbuf_str(&text);
}

struct str receipt_write(struct arena *arena, struct str key, const struct stack *stack,
                         struct str namespace_, const struct receipt *receipt)
{
    struct identity identity = stack->meta.name.len ? named(&stack->meta, namespace_)
                                                    : to_be_named(&stack->meta, namespace_);

    return written(arena, key, stack, &identity, receipt);
}

/* Members of another type read as nothing, and are not what is written then. */
static void read_members(struct arena *arena, struct json from, struct receipt *to)
{
    struct json_iter it = json_iter(json_get(from, STR("groups")));

    *to = (struct receipt){
        .by = json_str(json_get(from, STR("by"))),
        .groups = str_list_new(arena, 4),
        .policies = json_str(json_get(from, STR("policies"))),
    };
    while (json_next(&it))
        str_list_push(&to->groups, json_str(it.value));
    json_int64(json_get(from, STR("more")), &to->groups_left_out);
}

/* Or is still to be. */
static bool is_generated(const struct kube_meta *meta)
{
    return !meta->name.len ||
           (meta->generate_name.len && str_starts(meta->name, meta->generate_name));
}

static bool is_written(struct arena *arena, struct str key, const struct stack *stack,
                       struct str namespace_, const struct receipt *receipt, struct str text)
{
    struct identity name = named(&stack->meta, namespace_);
    struct identity prefix = to_be_named(&stack->meta, namespace_);

    return digest_equal(text, written(arena, key, stack, &name, receipt)) ||
           (is_generated(&stack->meta) &&
            digest_equal(text, written(arena, key, stack, &prefix, receipt)));
}

enum receipt_state receipt_check(struct arena *arena, struct str key, const struct stack *stack,
                                 struct str namespace_, struct receipt *ret_receipt)
{
    struct str text = kube_annotation(&stack->meta, STR(STACK_RECEIPT));
    struct str by = kube_annotation(&stack->meta, STR(STACK_LAST_APPLIED_BY));
    struct error ignored = { .code = ERROR_NONE };
    struct receipt receipt;
    struct json json;

    if (!text.len)
        return RECEIPT_MISSING;
    if (!key.len || json_read(arena, text, &json_limits_default, &json, &ignored) < 0)
        return RECEIPT_WRONG;
    read_members(arena, json, &receipt);
    if (!str_eq(receipt.by, by) || !is_written(arena, key, stack, namespace_, &receipt, text))
        return RECEIPT_WRONG;
    if (ret_receipt)
        *ret_receipt = receipt;
    return RECEIPT_VALID;
}
