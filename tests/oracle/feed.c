/* SPDX-License-Identifier: Apache-2.0 */
/* feed.c: herd-feed: what Herd makes of generated and mutated bytes, for an independent program to validate.
 *
 *   herd-feed json|yaml|reviews|status COUNT [FIRST]
 *
 * Writes one frame (of `status`, one line, for tests/argocd/main.go) for each number from FIRST (default 1) on to
 * standard output; tests/cluster/tools/oracle/ says what frames hold. The same number makes the same frame, so a
 * difference is repeated by its number alone. */
#include "support/rows.h"

#include "support/files.h"
#include "support/review_laws.h"

#include "support/any_stack.h"
#include "kube/object_status.h"
#include "text/json_write.h"
#include "text/yaml.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct feed {
    struct arena *arena; /* of what all frames share */
    struct review_examples examples;
    struct review_world world;
    struct str_list seeds; /* documents to begin with */
};

/* --- frames --- */

static void put(struct str bytes)
{
    if (bytes.len && fwrite(bytes.at, 1, bytes.len, stdout) != bytes.len) {
        perror("herd-feed");
        exit(2);
    }
}

static void put_frame(char kind, const struct str *parts, unsigned count)
{
    const char head[2] = { kind, (char)count };

    put(str_make(head, 2));
    for (unsigned i = 0; i < count; i++) {
        uint32_t len = (uint32_t)parts[i].len;
        const unsigned char bytes[4] = { (unsigned char)len, (unsigned char)(len >> 8),
                                         (unsigned char)(len >> 16), (unsigned char)(len >> 24) };

        put(str_make((const char *)bytes, 4));
        put(parts[i]);
    }
}

/* --- the canonical form of a value --- */

struct member {
    struct str key;
    struct json value;
};
LIST_DEFINE(members, struct member)

static int by_key(const void *a, const void *b)
{
    return str_cmp(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static void put_text(struct strbuf *out, struct str text)
{
    strbuf_char(out, 's');
    strbuf_u64(out, text.len);
    strbuf_char(out, ':');
    strbuf_put(out, text);
}

static void put_number(struct strbuf *out, struct json value)
{
    union {
        double number;
        uint64_t bits;
    } rounded = { .number = json_double(value) };
    int64_t whole;

    if (json_int64(value, &whole))
        strbuf_fmt(out, "i%" PRId64 ";", whole);
    else
        strbuf_fmt(out, "d%016" PRIx64 ";", rounded.bits);
}

static void put_canonical(struct arena *arena, struct strbuf *out, struct json value)
{
    struct json_iter it = json_iter(value);
    struct members members = members_new(arena, 0);

    switch (json_kind(value)) {
    case JSON_ABSENT:
    case JSON_NULL:
        strbuf_char(out, 'n');
        return;
    case JSON_BOOL:
        strbuf_char(out, json_bool(value) ? 't' : 'f');
        return;
    case JSON_NUMBER:
        put_number(out, value);
        return;
    case JSON_STRING:
        put_text(out, json_str(value));
        return;
    case JSON_ARRAY:
        strbuf_char(out, '[');
        while (json_next(&it))
            put_canonical(arena, out, it.value);
        strbuf_char(out, ']');
        return;
    case JSON_OBJECT:
        while (json_next(&it))
            members_push(&members, (struct member){ it.key, it.value });
        if (members.count)
            qsort(members.items, members.count, sizeof(struct member), by_key);
        strbuf_char(out, '{');
        for (uint32_t i = 0; i < members.count; i++) {
            put_text(out, members.items[i].key);
            put_canonical(arena, out, members.items[i].value);
        }
        strbuf_char(out, '}');
        return;
    }
}

static struct str canonical(struct arena *arena, struct json value)
{
    struct strbuf out = strbuf_new(arena, 1024);

    put_canonical(arena, &out, value);
    return strbuf_str(&out);
}

/* --- documents --- */

static void add_seeds(struct feed *feed, const char *folder)
{
    struct str_list names = test_files(feed->arena, folder, "");

    for (uint32_t i = 0; i < names.count; i++) {
        struct str path = str_fmt(feed->arena, "%s/%.*s", folder, STR_ARG(names.items[i]));
        struct str text = test_file(feed->arena, path.at);

        /* What is long is long in one way only, and slow. */
        if (names.items[i].at[0] != '.' && text.len < 8192)
            str_list_push(&feed->seeds, text);
    }
}

static const char *const json_pieces[] = {
    "{", "}", "[", "]", "\"", ",", ":", "0", "-", "-0", "1e5", "1E-400", "1e999", ".5", "1.", "01", "null", "true",
    "nul", "\\", "\\u0000", "\\ud800", "\\ud83d\\ude00", "\\u00e4", "\\x", "\n", "\t", "\x01", "\x7f", "\xff", "\xc3",
    "\xc0\x80", "\xed\xa0\x80", "\xef\xbb\xbf", "\xf4\x90\x80\x80", "9223372036854775807", "9223372036854775808",
    "-9223372036854775808", "18446744073709551616", "0.1", "123456789012345678901234567890", "\"a\":1,", "\"A\":1,",
    "\"\\u0061\":2,", "/*x*/", "//", "'a'", "NaN", "Infinity", "[[[[[[[[", "{\"a\":{\"a\":", " ",
};

static const char *const yaml_pieces[] = {
    "- ", ": ", ":", "? ", "\n", "\n  ", "\n- ", "# ", " #", "&a ", "*a", "<<: *a\n", "<<: ", "| \n", "|\n", ">-\n", "|2\n",
    "!!str ", "!!int ", "!!float ", "!!bool ", "!!null ", "!!binary ", "!!set ", "!x ", "~", "null", "Null", "yes", "No",
    "on", "y", "true", "TRUE", "0x1f", "0o17", "017", "0b11", "1_000", "1e3", "1.", ".5", "+1", "-0", ".inf", "-.Inf",
    ".NaN", "1:30", "190:20:30", "2026-01-01", "2026-01-01T00:00:00Z", "'", "\"", "''", "\"\\n\"", "\"\\x41\"", "\"\\e\"",
    "{", "}", "[", "]", ",", "{a: 1}", "[a, b]", "a: 1\n", "b: 2\n", "---\n", "...\n", "%YAML 1.1\n", "\t", "\r\n", "\xc2\x85",
    "\xe2\x80\xa8", "\xef\xbb\xbf", "\xff", "@", "`", "%", "|", ">", "!", "&", "*", "=", "9223372036854775808",
    "18446744073709551616", "1e999", "\"1\": 2\n", "1: 2\n", "1.5: 2\n", "true: 2\n", "~: 2\n", "? [a]\n: b\n",
};

#define ANY_OF(rng, table) (table)[rng_below((rng), sizeof(table) / sizeof((table)[0]))]

static struct str spliced(struct arena *arena, struct str text, size_t at, size_t gone, struct str piece)
{
    struct strbuf out = strbuf_new(arena, text.len + piece.len);

    strbuf_put(&out, str_slice(text, 0, at));
    strbuf_put(&out, piece);
    strbuf_put(&out, str_slice(text, at + gone, text.len));
    return strbuf_str(&out);
}

static struct str mutated(struct arena *arena, struct rng *rng, const struct feed *feed, struct str text, bool yaml)
{
    size_t at = (size_t)rng_below(rng, text.len + 1);
    struct str piece = str_of(yaml ? ANY_OF(rng, yaml_pieces) : ANY_OF(rng, json_pieces));
    struct str other = feed->seeds.items[rng_below(rng, feed->seeds.count)];
    size_t from = (size_t)rng_below(rng, other.len + 1);
    char flipped = at < text.len ? (char)(text.at[at] ^ (1 << rng_below(rng, 8))) : 'x';

    switch (rng_below(rng, 5)) {
    case 0:
        return spliced(arena, text, at, 1, str_make(&flipped, 1));
    case 1:
        return spliced(arena, text, at, (size_t)rng_below(rng, 8), STR(""));
    case 2:
        return spliced(arena, text, at, (size_t)rng_below(rng, 40), str_slice(other, from, from + rng_below(rng, 40)));
    default:
        return spliced(arena, text, at, rng_below(rng, 2), piece);
    }
}

static struct str any_document(struct arena *arena, struct rng *rng, const struct feed *feed, bool yaml)
{
    struct str text = rng_below(rng, 8) ? feed->seeds.items[rng_below(rng, feed->seeds.count)] : any_stack(arena, rng);

    for (uint64_t n = rng_below(rng, 5); n > 0; n--)
        text = mutated(arena, rng, feed, text, yaml);
    return text;
}

static void begin_json(struct feed *feed)
{
    add_seeds(feed, "tests/fuzz/corpus/json");
    add_seeds(feed, "tests/fuzz/corpus/stack");
    add_seeds(feed, "tests/fuzz/corpus/review");
}

static void feed_json(const struct feed *feed, struct arena *arena, uint64_t number)
{
    struct rng rng = rng_from_seed(number);
    struct str document = any_document(arena, &rng, feed, false);
    struct error err = { 0 };
    struct json root;
    int rejected = json_read(arena, document, &json_limits_default, &root, &err);

    put_frame('J', (struct str[]){ document, str_of(rejected ? err.text : ""),
                                   rejected ? STR("") : canonical(arena, root) }, 3);
}

static void begin_yaml(struct feed *feed)
{
    add_seeds(feed, "tests/fuzz/corpus/yaml");
    add_seeds(feed, "examples");
    add_seeds(feed, "examples/accepted");
    add_seeds(feed, "examples/rejected");
}

static void feed_yaml(const struct feed *feed, struct arena *arena, uint64_t number)
{
    struct rng rng = rng_from_seed(number);
    struct str document = any_document(arena, &rng, feed, true);
    struct error err = { 0 };
    struct yaml_documents documents;
    struct json root = { NULL, 0 };
    int rejected = yaml_read(arena, document, &documents, &err);

    if (!rejected && documents.count == 1)
        rejected = json_read(arena, documents.items[0].json, &json_limits_default, &root, &err);
    put_frame('Y', (struct str[]){ document, str_of(rejected ? err.text : ""),
                                   rejected ? STR("") : documents.count > 1 ? STR("several") : canonical(arena, root) },
              3);
}

/* --- reviews --- */

static void begin_reviews(struct feed *feed)
{
    feed->examples = review_examples_read(feed->arena);
    review_world_begin(&feed->world, feed->arena);
}

static void feed_review(const struct feed *feed, struct arena *arena, uint64_t number)
{
    enum review_route route = number % 2 ? REVIEW_MUTATE : REVIEW_VALIDATE;
    struct str body = review_number(arena, &feed->examples, number / 2);
    struct review_attempt attempt = review_attempt(&feed->world, arena, route, body);
    struct str answer = attempt.outcome.answer;

    put_frame('R', (struct str[]){ body, route == REVIEW_MUTATE ? STR("mutate") : STR("validate"), answer,
                                   answer.len ? review_patched(arena, body, answer) : STR("") }, 4);
}

static void end_reviews(struct feed *feed)
{
    review_world_end(&feed->world);
}

/* --- the status of objects --- */

static const char *const counts[] = {
    "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration",
    "desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberAvailable", "numberReady",
};

static void open_object(struct json_writer *w, const char *key)
{
    json_put_key(w, str_of(key));
    json_open_object(w);
}

static void open_array(struct json_writer *w, const char *key)
{
    json_put_key(w, str_of(key));
    json_open_array(w);
}

static void put_int(struct json_writer *w, const char *key, int64_t number)
{
    json_put_key(w, str_of(key));
    json_put_int(w, number);
}

static const char *word_of(struct rng *rng, const char *const *words, size_t count)
{
    return words[rng_below(rng, count)];
}

#define WORD_OF(rng, ...)                                                                                       \
    word_of((rng), (const char *const[]){ __VA_ARGS__ }, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void put_counts(struct json_writer *w, struct rng *rng)
{
    /* Mostly all are as wanted, so that what comes behind the counts is reached, too. */
    bool all = rng_below(rng, 2);

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (all || rng_below(rng, 8))
            put_int(w, counts[i], all && rng_below(rng, 16) ? 2 : (int64_t)rng_below(rng, 4));
}

static void put_conditions(struct json_writer *w, struct rng *rng)
{
    static const char *const types[] = { "Available", "Progressing", "Ready", "Complete", "Failed", "Stalled", "Reconciling" };

    open_array(w, "conditions");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (rng_below(rng, i < 2 ? 2 : 8))
            continue;
        json_open_object(w);
        json_field_str(w, "type", str_of(types[i]));
        json_field_str(w, "status", str_of(WORD_OF(rng, "True", "True", "False", "Unknown")));
        json_field_str(w, "reason", str_of(WORD_OF(rng, "NewReplicaSetAvailable", "ProgressDeadlineExceeded", "Other")));
        json_close_object(w);
    }
    json_close_array(w);
}

static void feed_status(const struct feed *feed, struct arena *arena, uint64_t number)
{
    static const char *const kinds_of[][2] = {
        { "apps/v1", "Deployment" }, { "apps/v1", "StatefulSet" }, { "apps/v1", "DaemonSet" }, { "batch/v1", "Job" },
        { "v1", "PersistentVolumeClaim" }, { "v1", "Service" }, { "example.com/v1", "Deployment" }, { "v1", "ConfigMap" },
    };
    struct rng rng = rng_from_seed(number);
    const char *const *kind = kinds_of[rng_below(&rng, sizeof(kinds_of) / sizeof(kinds_of[0]))];
    struct strbuf text = strbuf_new(arena, 1024);
    struct json_writer w = json_writer(&text);

    (void)feed;
    json_open_object(&w);
    json_field_str(&w, "apiVersion", str_of(kind[0]));
    json_field_str(&w, "kind", str_of(kind[1]));
    open_object(&w, "metadata");
    json_field_int(&w, "generation", 2);
    if (!rng_below(&rng, 32))
        json_field_str(&w, "deletionTimestamp", STR("2026-01-01T00:00:00Z"));
    json_close_object(&w);
    open_object(&w, "spec");
    if (rng_below(&rng, 4))
        json_field_int(&w, "replicas", (int64_t)rng_below(&rng, 4));
    if (rng_below(&rng, 2))
        json_field_int(&w, "progressDeadlineSeconds", rng_below(&rng, 2) ? 600 : INT32_MAX);
    json_field_str(&w, "type", str_of(WORD_OF(&rng, "ClusterIP", "LoadBalancer")));
    if (rng_below(&rng, 2))
        json_field_str(&w, "clusterIP", STR("10.0.0.1"));
    json_field_raw(&w, "updateStrategy",
                   str_of(WORD_OF(&rng, "{}", "{}", "{\"type\":\"OnDelete\"}", "{\"rollingUpdate\":{\"partition\":1}}")));
    json_close_object(&w);
    open_object(&w, "status");
    put_counts(&w, &rng);
    json_field_str(&w, "phase", str_of(WORD_OF(&rng, "Bound", "Pending")));
    json_field_str(&w, "currentRevision", STR("a"));
    json_field_str(&w, "updateRevision", str_of(WORD_OF(&rng, "a", "a", "b")));
    if (rng_below(&rng, 2))
        json_field_str(&w, "startTime", STR("2026-01-01T00:00:00Z"));
    put_conditions(&w, &rng);
    json_close_object(&w);
    json_close_object(&w);

    struct error err = { 0 };
    struct json object = { NULL, 0 };

    if (json_read(arena, strbuf_str(&text), &json_limits_default, &object, &err) < 0) {
        fprintf(stderr, "herd-feed: %s\n", err.text);
        exit(2);
    }
    put(str_fmt(arena, "%s\t%.*s\n", object_state_name(object_status_of(arena, object).state), STR_ARG(strbuf_str(&text))));
}

static void begin_nothing(struct feed *feed)
{
    (void)feed;
}

/* --- the kinds --- */

static const struct kind {
    const char *name;
    void (*begin)(struct feed *feed);
    void (*one)(const struct feed *feed, struct arena *arena, uint64_t number);
    void (*end)(struct feed *feed);
} kinds[] = {
    { "json", begin_json, feed_json, NULL },
    { "yaml", begin_yaml, feed_yaml, NULL },
    { "reviews", begin_reviews, feed_review, end_reviews },
    { "status", begin_nothing, feed_status, NULL },
};

static const struct kind *kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    fprintf(stderr, "herd-feed: '%s' is not json, yaml, reviews or status\n", name);
    exit(2);
}

int main(int argc, char **argv)
{
    AUTO(arena_free) struct arena *shared = arena_create(0);
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct feed feed = { .arena = shared, .seeds = str_list_new(shared, 64) };

    if (argc < 3) {
        fprintf(stderr, "usage: herd-feed json|yaml|reviews|status COUNT [FIRST]\n");
        return 2;
    }

    const struct kind *kind = kind_named(argv[1]);
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    uint64_t end = first + strtoull(argv[2], NULL, 10);

    kind->begin(&feed);
    for (uint64_t number = first; number < end; number++, arena_reset(arena))
        kind->one(&feed, arena, number);
    if (kind->end)
        kind->end(&feed);
    return fflush(stdout) == 0 ? 0 : 2;
}
