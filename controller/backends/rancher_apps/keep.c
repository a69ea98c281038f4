/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c: members whose places have a meaning: the rows below, in their order. They are read far
 * more often than written, so that takes no memory. A row is read and written by the functions of
 * its kind: int (numbers, enums, booleans) as NUMBER: and str as LENGTH:BYTES. */
#include "controller/backends/rancher_apps/keep.h"

#include "controller/backends/rancher_apps/workloads.h"

#include "text/number.h"

enum { DESCRIPTION_BYTES_MAX = 400 };

#define APP(ROW)                                                                                   \
    ROW(int, phase)                                                                                \
    ROW(int, revision)                                                                             \
    ROW(str, chart_version)                                                                        \
    ROW(str, stack)                                                                                \
    ROW(str, marked_stack)                                                                         \
    ROW(str, marked_uid)                                                                           \
    ROW(str, repo_name)
#define APP_OF_A_STACK(ROW)                                                                        \
    ROW(str, stack_uid)                                                                            \
    ROW(str, chart_name)                                                                           \
    ROW(str, digest)                                                                               \
    ROW(str, depends_on)                                                                           \
    ROW(str, replaces)                                                                             \
    ROW(int, stamped_revision)                                                                     \
    ROW(str, marked_digest)                                                                        \
    ROW(int, corrections)                                                                          \
    ROW(int, marked_revision)                                                                      \
    ROW(int, marked_ms)                                                                            \
    ROW(str, workloads)
#define APP_TROUBLE(ROW)                                                                           \
    ROW(str, description)                                                                          \
    ROW(int, began_ms)
#define OPERATION(ROW)                                                                             \
    ROW(str, release_name)                                                                         \
    ROW(str, stack_uid)                                                                            \
    ROW(int, uninstall)                                                                            \
    ROW(int, state)                                                                                \
    ROW(int, created_ms)                                                                           \
    ROW(str, message)
#define REPO(ROW)                                                                                  \
    ROW(str, url)                                                                                  \
    ROW(int, state)                                                                                \
    ROW(str, message)                                                                              \
    ROW(str, index_version)                                                                        \
    ROW(str, downloaded)                                                                           \
    ROW(int, managed)

#define PUT(kind, member) put_##kind(kept, of.member);
#define NEXT(kind, member) of.member = next_##kind(&kept);

static void put_int(struct strbuf *kept, int64_t number)
{
    strbuf_i64(kept, number);
    strbuf_char(kept, ':');
}

static void put_str(struct strbuf *kept, struct str text)
{
    put_int(kept, (int64_t)text.len);
    strbuf_put(kept, text);
}

/* What is missing at the end is 0, or "". */
static int64_t next_int(struct str *kept)
{
    ptrdiff_t colon = str_find_char(*kept, ':', 0);
    int64_t number = 0;

    if (colon < 0)
        return 0;
    number_int64(str_slice(*kept, 0, (size_t)colon), &number);
    *kept = str_slice(*kept, (size_t)colon + 1, kept->len);
    return number;
}

static struct str next_str(struct str *kept)
{
    size_t len = (size_t)next_int(kept);
    struct str text = str_slice(*kept, 0, len);

    *kept = str_slice(*kept, len, kept->len);
    return text;
}

/* What the mark says is nearly always what the stamp says. */
static struct str shortened(struct str text, struct str other)
{
    return text.len && str_eq(text, other) ? STR("=") : text;
}

static struct str restored(struct str text, struct str other)
{
    return str_eq(text, STR("=")) ? other : text;
}

bool keep_app(void *context, struct json app, struct strbuf *kept)
{
    struct observed_release of;

    (void)context;
    wire_app_read(app, &of);
    of.marked_stack = shortened(of.marked_stack, of.stack);
    of.marked_digest = shortened(of.marked_digest, of.digest);
    /* Only of those that Herd may have made: they are the ones that it deletes. */
    of.workloads = workloads_of_app(kept->arena, json_walk(app, "spec", "resources", NULL));
    of.repo_name = release_repo_is_ours(of.repo_name) ? of.repo_name : STR("");
    APP(PUT)
    if (of.stack.len || of.marked_uid.len) {
        APP_OF_A_STACK(PUT)
        /* Helm's words are shown only where something is wrong or under way. */
        of.description = str_shown(kept->arena, of.description, DESCRIPTION_BYTES_MAX);
        if (of.phase != RELEASE_DEPLOYED)
            APP_TROUBLE(PUT)
    }
    return true;
}

void kept_app(struct str kept, struct observed_release *ret_release)
{
    struct observed_release of = { .revision = 0 };

    APP(NEXT)
    APP_OF_A_STACK(NEXT)
    APP_TROUBLE(NEXT)
    of.marked_stack = restored(of.marked_stack, of.stack);
    of.marked_digest = restored(of.marked_digest, of.digest);
    *ret_release = of;
}

bool keep_operation(void *context, struct json operation, struct strbuf *kept)
{
    struct observed_operation of;

    (void)context;
    if (!wire_operation_read(kept->arena, operation, &of))
        return false;
    OPERATION(PUT)
    return true;
}

void kept_operation(struct str kept, struct observed_operation *ret_operation)
{
    struct observed_operation of = { .uninstall = false };

    OPERATION(NEXT)
    *ret_operation = of;
}

bool keep_repo(void *context, struct json repo, struct strbuf *kept)
{
    struct wire_repo of;

    (void)context;
    if (!wire_repo_read(kept->arena, repo, &of))
        return false;
    REPO(PUT)
    return true;
}

void kept_repo(struct str kept, struct wire_repo *ret_repo)
{
    struct wire_repo of = { .managed = false };

    REPO(NEXT)
    *ret_repo = of;
}
