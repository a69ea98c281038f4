/* receipts_test.c: the key as it comes, changes and settles; and the Secret that it is made in. */
#include "support/rows.h"

#include "support/folder.h"
#include "support/loopback.h"
#include "support/scripted_api.h"
#include "support/stack_builder.h"

#include "controller/reconcile/kept_stack.h"
#include "controller/reconcile/receipt_secret.h"
#include "controller/reconcile/receipts.h"
#include "io/file.h"
#include "stack/decode.h"
#include "stack/default.h"
#include "text/base64.h"
#include "text/json.h"

#include <unistd.h>

#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

enum { SETTLE_MS = 180000 };

/* A Stack with that receipt. */
static struct json shop(struct arena *arena, struct str receipt)
{
    struct strbuf text = strbuf_new(arena, 1024);

    strbuf_lit(&text, "{\"metadata\":{\"name\":\"shop\",\"namespace\":\"team\",\"annotations\":{\""
                      STACK_LAST_APPLIED_BY "\":\"ann\",\"" STACK_RECEIPT "\":");
    json_quote(&text, receipt);
    strbuf_lit(&text, "}},\"spec\":{\"env\":\"dev\",\"charts\":[{\"name\":\"db\"}]}}");
    return test_json(arena, strbuf_str(&text));
}

/* The same, as it is kept, with a receipt by that key. */
static struct kube_object *kept(struct arena *arena, struct str key)
{
    struct problems ignored = problems_new(arena);
    struct receipt receipt = { .by = STR("ann"), .policies = STR("") };
    struct json bare = shop(arena, STR(""));
    struct strbuf kept = strbuf_new(arena, 1024);

    receipt_take_groups(arena, (struct json){ NULL, 0 }, &receipt);

    const struct stack *stack = stack_default(arena, stack_decode(arena, bare, &ignored), NULL);

    keep_stack(NULL, shop(arena, key.len ? receipt_write(arena, key, stack, STR(""), &receipt)
                                         : STR("wanted")),
               &kept);
    return kube_object_create(STR("team"), STR("shop"), STR("1"), STR("1"), strbuf_str(&kept));
}

static void begin(struct arena *arena, struct receipts *receipts, const char *key)
{
    AUTO(kube_cache_free) struct kube_cache *stacks = kube_cache_create();

    kube_object_unref(kube_cache_put(stacks, kept(arena, str_of(key))));
    receipts_begin(receipts, stacks);
}

static void nothing_is_held_before_everybody_has_the_key(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(receipts_free) struct receipts *receipts = NULL;
    const char *folder = folder_create(arena);
    const char *file = folder_name(arena, folder, "key");
    int64_t now = clock_monotonic_ms(system_clock());

    (void)state;
    receipts = receipts_create(file, RECEIPTS_HOLD, SETTLE_MS, NULL);
    begin(arena, receipts, "");
    rows_expect_int("without a key", receipts_mode(receipts), RECEIPTS_IGNORE);
    folder_put(file, STR("too short"), 0600);
    rows_expect("what is no key", !receipts_look(receipts, now += 2000), "changes nothing");
    folder_put(file, STR(KEY_A), 0600);
    rows_expect("a key that comes", receipts_look(receipts, now += 2000), "is news");
    rows_expect_str("it is read", receipts_key(receipts), STR(KEY_A));
    rows_expect("the webhook may not have it for hours",
                !receipts_look(receipts, now += 100 * SETTLE_MS), "no news");
    rows_expect_int("and nothing is held", receipts_mode(receipts), RECEIPTS_IGNORE);
    receipts_proven(receipts, now);
    receipts_proven(receipts, now + SETTLE_MS - 1);
    rows_expect("once one server has it, others may not",
                !receipts_look(receipts, now + SETTLE_MS - 1), "no news");
    rows_expect("once it settled", receipts_look(receipts, now += SETTLE_MS), "it is news");
    rows_expect_int("Stacks are held", receipts_mode(receipts), RECEIPTS_HOLD);
    rows_expect("and that is all", !receipts_look(receipts, now += 2000), "no news");
    folder_put(file, STR(KEY_B), 0600);
    rows_expect("another key", receipts_look(receipts, now += 2000), "is news");
    rows_expect_str("it is read", receipts_key(receipts), STR(KEY_B));
    rows_expect_int("and all begins anew", receipts_mode(receipts), RECEIPTS_IGNORE);
    rows_expect("also after long", !receipts_look(receipts, now += SETTLE_MS), "no news");
    unlink(file);
    rows_expect("a key that goes", !receipts_look(receipts, now += 2000), "stays");
    rows_expect_str("as it was", receipts_key(receipts), STR(KEY_B));
    folder_remove(folder);
}

static void a_successor_holds_at_once_what_was_held(void **state)
{
    static const struct {
        const char *row;
        const char *signed_by; /* of the Stack that there is; "" = none */
        enum receipts_mode wanted, mode;
    } rows[] = {
        { "a receipt by the key", KEY_A, RECEIPTS_HOLD, RECEIPTS_HOLD },
        { "by another one", KEY_B, RECEIPTS_HOLD, RECEIPTS_IGNORE },
        { "none", "", RECEIPTS_HOLD, RECEIPTS_IGNORE },
        { "by the key, to warn", KEY_A, RECEIPTS_WARN, RECEIPTS_WARN },
        { "by the key, to ignore", KEY_A, RECEIPTS_IGNORE, RECEIPTS_IGNORE },
    };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    const char *folder = folder_create(arena);
    const char *file = folder_name(arena, folder, "key");

    (void)state;
    folder_put(file, STR(KEY_A), 0600);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        AUTO(receipts_free) struct receipts *receipts =
            receipts_create(file, rows[i].wanted, SETTLE_MS, NULL);

        begin(arena, receipts, rows[i].signed_by);
        rows_expect_int(rows[i].row, receipts_mode(receipts), rows[i].mode);
    }
    folder_remove(folder);
}

static void without_a_file_there_is_no_key(void **state)
{
    AUTO(receipts_free) struct receipts *receipts =
        receipts_create(NULL, RECEIPTS_HOLD, SETTLE_MS, NULL);

    (void)state;
    rows_expect("no news", !receipts_look(receipts, 1000), "ever");
    rows_expect_str("no key", receipts_key(receipts), STR(""));
}

/* --- the Secret --- */

#define SECRETS "/api/v1/namespaces/herd-system/secrets"
#define STATUS(reason, code)                                                                       \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"" reason       \
    "\",\"message\":\"no\",\"code\":" code "}"

struct fixture {
    struct arena *arena;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *client;
    struct receipt_secret *secret;
    bool answered;
    bool may_write_asked;
};

static void on_request(void *context, const char *verb, struct str plural, int status, int64_t duration_ms)
{
    struct fixture *f = context;

    (void)verb, (void)plural, (void)status, (void)duration_ms;
    f->answered = true;
}

static bool may_write(void *context)
{
    struct fixture *f = context;

    f->may_write_asked = true;
    return true;
}

static void set_up(struct fixture *f)
{
    *f = (struct fixture){ .arena = arena_create(0), .api = scripted_api_create(),
                           .loop = loop_create() };
    f->client = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop,
                                                                          .may_write = may_write,
                                                                          .may_write_context = f,
                                                                          .on_request = on_request,
                                                                          .on_request_context = f });
    f->secret = receipt_secret_create(&(struct receipt_secret_options){
        .loop = f->loop,
        .api = f->client,
        .namespace_ = STR("herd-system"),
        .name = STR("herd-receipts"),
        .seed = 1,
    });
}

static void tear_down(struct fixture *f)
{
    receipt_secret_free(f->secret);
    kube_client_free(f->client);
    loop_free(f->loop);
    scripted_api_free(f->api);
    arena_free(f->arena);
}

static void the_secret_is_made_where_it_is_absent(void **state)
{
    struct fixture f;
    struct error err;
    struct json body;
    struct str last, key;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", SECRETS, 404, STATUS("NotFound", "404"));
    scripted_api_say(f.api, "POST", SECRETS, 500, STATUS("InternalError", "500"));
    scripted_api_say(f.api, "POST", SECRETS, 409, STATUS("AlreadyExists", "409"));
    receipt_secret_pause(f.secret, false);
    scripted_api_run_until(f.api, f.loop, "POST", SECRETS, 2);
    rows_expect_int("tried again", scripted_api_count(f.api, "GET", SECRETS "/herd-receipts"), 2);
    last = scripted_api_last(f.api, f.arena, "POST", SECRETS);
    last = str_slice(last, (size_t)str_find_char(last, '{', 0), last.len);
    assert_int_equal(json_read(f.arena, last, &json_limits_default, &body, &err), 0);
    rows_expect_str("its name", json_str(json_walk(body, "metadata", "name", NULL)),
                    STR("herd-receipts"));
    assert_int_equal(base64_decode(f.arena, json_str(json_walk(body, "data", "key", NULL)), &key,
                                   &err), 0);
    rows_expect_int("its key", (int64_t)key.len, RECEIPT_KEY_BYTES);
    tear_down(&f);
}

static void one_that_is_there_stays(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    scripted_api_say(f.api, "GET", SECRETS, 200,
                     "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x\"}}");
    receipt_secret_pause(f.secret, false);
    loopback_run_until(f.loop, &f.answered);
    receipt_secret_pause(f.secret, true);
    receipt_secret_pause(f.secret, false);
    f.answered = false;
    loopback_run_until(f.loop, &f.answered);
    rows_expect_int("it was read twice", scripted_api_count(f.api, "GET", SECRETS), 2);
    rows_expect("nothing is written", !f.may_write_asked, "nor about to be");
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_held_before_everybody_has_the_key),
        cmocka_unit_test(a_successor_holds_at_once_what_was_held),
        cmocka_unit_test(without_a_file_there_is_no_key),
        cmocka_unit_test(the_secret_is_made_where_it_is_absent),
        cmocka_unit_test(one_that_is_there_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
