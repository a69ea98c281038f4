/* SPDX-License-Identifier: Apache-2.0 */
/* list.c: collections, whole or in pages of one version: to be read, or to be deleted.
 *
 * A continue token is base64 of {"v":version,"ns":...,"n":...}: the version that all pages are of,
 * and the place to go on behind. Once that version is compacted, the answer is 410. */
#include "lab/apiserver/http.h"

#include "text/base64.h"

struct list_query {
    struct selection selection;
    struct collection of;
    struct store_row after;
    uint64_t version; /* 0 = now */
    uint64_t limit;
    bool continued;
};

static int bad_token(struct request *rq)
{
    return fail_bad_request(&rq->failure, STR("continue key is not valid: it is not one that this "
                                              "server gave"));
}

static int read_token(struct request *rq, struct str token, struct list_query *q)
{
    struct json json;
    struct str text;
    struct error err;
    int64_t version = 0;

    if (base64_decode(rq->arena, token, &text, &err) != 0 ||
        json_read(rq->arena, text, &json_limits_default, &json, &err) != 0 ||
        !json_int64(json_get(json, STR("v")), &version) || version <= 0)
        return bad_token(rq);
    q->version = (uint64_t)version;
    q->after.namespace_ = json_str(json_get(json, STR("ns")));
    q->after.name = json_str(json_get(json, STR("n")));
    q->continued = true;
    return 0;
}

static struct str make_token(struct request *rq, uint64_t version, const struct store_row *last)
{
    struct strbuf out = strbuf_new(rq->arena, 128);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_int(&w, "v", (int64_t)version);
    json_field_str(&w, "ns", last->namespace_);
    json_field_str(&w, "n", last->name);
    json_close_object(&w);
    return base64_encode(rq->arena, strbuf_str(&out));
}

/* resourceVersion of a list: "", "0" and "not older than" are answered from now, which is newer. */
static int read_version(struct http_request_of_api *h, struct list_query *q)
{
    struct request *rq = h->rq;
    struct str text = query_of(h, "resourceVersion");
    struct str match = query_of(h, "resourceVersionMatch");
    uint64_t version = 0;
    uint64_t newest = watch_cache_version(store_watch_cache(rq->api->store));

    if (text.len && !str_to_u64(text, &version))
        return fail_bad_request(&rq->failure,
                                str_fmt(rq->arena, "invalid resource version: %.*s",
                                        STR_ARG(list_version_invalid(rq->arena, text))));
    if (version > newest) {
        fail(&rq->failure, 504, "Timeout", "Too large resource version: %llu, current: %llu",
             (unsigned long long)version, (unsigned long long)newest);
        rq->failure.retry_after_s = 1;
        return -1;
    }
    if (str_eq(match, STR("Exact")))
        q->version = version;
    return 0;
}

static int read_query(struct http_request_of_api *h, struct list_query *q)
{
    struct request *rq = h->rq;
    struct str limit = query_of(h, "limit");
    struct str token = query_of(h, "continue");

    *q = (struct list_query){ .of = request_collection(rq, rq->kind, rq->namespace_),
                              .after = { STR_INIT(""), STR_INIT(""), STR_INIT(""), 0 } };
    if (list_options_check(h, false) != 0)
        return -1;
    /* Below zero is no limit. */
    if (!str_to_u64(limit, &q->limit) || q->limit > 100000)
        q->limit = 0;
    if (selection_read(rq, query_of(h, "labelSelector"), query_of(h, "fieldSelector"),
                       &q->selection) != 0)
        return -1;
    return token.len ? read_token(rq, token, q) : read_version(h, q);
}

static int expired(struct request *rq, const struct list_query *q)
{
    if (q->continued)
        return fail_expired(&rq->failure,
                            STR("The provided continue parameter is too old to display a "
                                "consistent list result. You can start a new list without the "
                                "continue parameter."));
    return fail_expired(&rq->failure, STR("The resourceVersion for the provided list is too old."));
}

/* Rows that the selectors let through; with a limit, batches are read until there are enough. */
static int read_rows(struct http_request_of_api *h, struct list_query *q,
                     struct store_rows *ret_rows, struct store_page *ret_last)
{
    struct request *rq = h->rq;
    struct store_page page = { .more = true };
    struct error err;

    while (page.more && !(q->limit && ret_rows->count >= q->limit)) {
        uint32_t want = q->limit ? (uint32_t)(q->limit - ret_rows->count) : 0;
        enum store_answer answer =
            store_list(rq->api->store, rq->arena, &q->of, &q->after, want, q->version, &page, &err);

        if (answer == STORE_CHANGED)
            return expired(rq, q);
        if (answer != STORE_DONE)
            return request_store_failed(rq, &err);
        q->version = page.version;
        for (uint32_t i = 0; i < page.rows.count; i++)
            if (selection_holds(rq, &q->selection, page.rows.items[i].object))
                store_rows_push(ret_rows, page.rows.items[i]);
        if (page.rows.count)
            q->after = page.rows.items[page.rows.count - 1];
    }
    *ret_last = page;
    return 0;
}

/* Lists of custom resources say that there is nothing to go on with; typed ones leave it out. */
static bool says_the_end(const struct http_request_of_api *h)
{
    return h->output == OUTPUT_OBJECT && kind_has(h->rq->kind, KIND_CUSTOM);
}

static struct str list_meta(struct http_request_of_api *h, const struct list_query *q,
                            const struct store_page *last)
{
    struct strbuf out = strbuf_new(h->rq->arena, 128);
    struct json_writer w = json_writer(&out);

    json_open_object(&w);
    json_field_str(&w, "resourceVersion",
                   str_fmt(h->rq->arena, "%llu", (unsigned long long)q->version));
    if (last->more) {
        json_field_str(&w, "continue", make_token(h->rq, q->version, &q->after));
        if (!q->selection.selects)
            json_field_int(&w, "remainingItemCount", (int64_t)last->remaining);
    } else if (says_the_end(h)) {
        json_field_str(&w, "continue", STR(""));
    }
    json_close_object(&w);
    return strbuf_str(&out);
}

/* In a list, Kubernetes leaves apiVersion and kind out of the objects of built-in kinds. A stored
 * object begins with them, see object_split. */
static struct str item_of(struct request *rq, struct str object)
{
    struct str type =
        str_fmt(rq->arena, "{\"apiVersion\":\"%.*s\",\"kind\":\"%.*s\",",
                STR_ARG(kind_api_version(rq->arena, rq->kind)), STR_ARG(rq->kind->kind));

    if (kind_has(rq->kind, KIND_CUSTOM) || !str_starts(object, type))
        return object;
    return str_fmt(rq->arena, "{%.*s", STR_ARG(str_slice(object, type.len, object.len)));
}

static void write_items(struct http_request_of_api *h, const struct store_rows *rows,
                        struct str meta, struct json_writer *w)
{
    struct request *rq = h->rq;

    json_open_object(w);
    if (h->output == OUTPUT_METADATA) {
        json_field_str(w, "kind", STR("PartialObjectMetadataList"));
        json_field_str(w, "apiVersion", STR("meta.k8s.io/v1"));
    } else {
        json_field_str(w, "kind", rq->kind->list_kind);
        json_field_str(w, "apiVersion", kind_api_version(rq->arena, rq->kind));
    }
    json_field_raw(w, "metadata", meta);
    json_put_key(w, STR("items"));
    json_open_array(w);
    for (uint32_t i = 0; i < rows->count; i++) {
        struct str object = request_present(rq, rq->kind, rows->items[i].object);
        struct json view;
        struct error err;

        if (h->output != OUTPUT_METADATA)
            json_put_raw(w, item_of(rq, object));
        else if (json_read(rq->arena, object, &json_limits_default, &view, &err) == 0)
            partial_metadata(view, w);
    }
    json_close_array(w);
    json_close_object(w);
}

static void write_table(struct http_request_of_api *h, const struct store_rows *rows,
                        struct str meta, struct json_writer *w)
{
    struct request *rq = h->rq;

    table_begin(rq->kind, meta, true, w);
    for (uint32_t i = 0; i < rows->count; i++) {
        struct str object = request_present(rq, rq->kind, rows->items[i].object);
        struct json view;
        struct error err;

        if (json_read(rq->arena, object, &json_limits_default, &view, &err) == 0)
            table_row(rq->kind, object, view, h->include, rq->now_ms, rq->arena, w);
    }
    table_end(w);
}

/* Read the collection as the query asks, do with it what is to be done (NULL: nothing), and answer
 * with it as it was read. */
static void answer_list(struct http_request_of_api *h,
                        int (*act)(struct http_request_of_api *h, const struct store_rows *rows,
                                   const void *context),
                        const void *context)
{
    struct store_rows rows = store_rows_new(h->rq->arena, 64);
    struct strbuf out = strbuf_new(h->rq->arena, 4096);
    struct json_writer w = json_writer(&out);
    struct store_page last = { .more = false };
    struct list_query q;
    struct str meta;

    if (read_query(h, &q) != 0 || read_rows(h, &q, &rows, &last) != 0 ||
        (act && act(h, &rows, context) != 0)) {
        answer_failure(h);
        return;
    }
    meta = list_meta(h, &q, &last);
    if (h->output == OUTPUT_TABLE)
        write_table(h, &rows, meta, &w);
    else
        write_items(h, &rows, meta, &w);
    answer_json(h, 200, strbuf_str(&out));
}

void handle_list(struct http_request_of_api *h)
{
    answer_list(h, NULL, NULL);
}

/* Each object is deleted by itself; one that is gone meanwhile is fine. */
static int delete_rows(struct http_request_of_api *h, const struct store_rows *rows,
                       const void *context)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        struct request one = *h->rq;
        struct str object;
        bool gone;

        one.verb = VERB_DELETE;
        one.namespace_ = rows->items[i].namespace_;
        one.name = rows->items[i].name;
        if (do_delete(&one, context, &object, &gone) != 0 && one.failure.code != 404) {
            h->rq->failure = one.failure;
            return -1;
        }
    }
    return 0;
}

void handle_delete_collection(struct http_request_of_api *h)
{
    struct delete_options options;

    if (read_delete_options(h, &options) != 0)
        answer_failure(h);
    else
        answer_list(h, delete_rows, &options);
}
