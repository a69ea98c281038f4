/* SPDX-License-Identifier: Apache-2.0 */
/* helm_test.c: processes in place of helm: their output, end, turn, time and death. */
#include "support/folder.h"
#include "support/rows.h"

#include "io/file.h"
#include "lab/downstream/helm.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct shop {
    struct arena *arena;
    const char *folder;
    struct log *log;
    struct loop *loop;
    struct helm *helm;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int ended;
};

static void on_ended(void *context, struct str cluster, struct str namespace_,
                     struct str operation)
{
    struct shop *shop = context;

    rows_expect_str("the cluster is told", cluster, STR("c-m-1"));
    rows_expect_str("and the namespace", namespace_, STR("demo"));
    rows_expect("and the operation", operation.len > 0, "a name");
    pthread_mutex_lock(&shop->lock);
    shop->ended++;
    pthread_cond_signal(&shop->changed);
    pthread_mutex_unlock(&shop->lock);
}

static void *run_loop(void *context)
{
    loop_run(context);
    return NULL;
}

/* The program is a shell script: `body` sees helm's arguments. */
static void open_shop(struct shop *shop, const char *body)
{
    struct error err = { 0 };

    *shop = (struct shop){ .arena = arena_create(0) };
    shop->folder = folder_create(shop->arena);

    const char *program = folder_name(shop->arena, shop->folder, "helm");

    folder_put(program, str_fmt(shop->arena, "#!/bin/sh\n%s\n", body), 0755);
    chmod(program, 0755);
    shop->log = log_create(2, LOG_ERROR, LOG_TEXT, system_clock(), "helm-test");
    shop->loop = loop_create();
    pthread_mutex_init(&shop->lock, NULL);
    pthread_cond_init(&shop->changed, NULL);
    shop->helm = helm_create(
        &(struct helm_options){ .loop = shop->loop,
                                .program = program,
                                .folder = folder_name(shop->arena, shop->folder, "runs"),
                                .log = shop->log,
                                .ended = on_ended,
                                .context = shop },
        &err);
    rows_expect("the program is found", shop->helm != NULL, err.text);
    pthread_create(&shop->thread, NULL, run_loop, shop->loop);
}

static void close_shop(struct shop *shop)
{
    loop_stop(shop->loop);
    pthread_join(shop->thread, NULL);
    helm_free(shop->helm);
    loop_free(shop->loop);
    log_free(shop->log);
    pthread_cond_destroy(&shop->changed);
    pthread_mutex_destroy(&shop->lock);
    folder_remove(shop->folder);
    arena_free(shop->arena);
}

static void start(struct shop *shop, const char *operation, const char *argument,
                  int64_t timeout_ms)
{
    struct helm_run run = { .cluster = STR_INIT("c-m-1"),
                            .namespace_ = STR_INIT("demo"),
                            .operation = str_of(operation),
                            .kubeconfig = "/nowhere",
                            .arguments = str_list_new(shop->arena, 2),
                            .files = helm_files_new(shop->arena, 1),
                            .timeout_ms = timeout_ms };
    struct error err = { 0 };

    str_list_push(&run.arguments, str_of(argument));
    str_list_push(&run.arguments, STR("--values=" HELM_FOLDER "values.yaml"));
    helm_files_push(&run.files, (struct helm_file){ STR_INIT("values.yaml"), STR_INIT("a: 1\n") });
    rows_expect_int(operation, helm_start(shop->helm, &run, &err), 0);
}

static void wait_for(struct shop *shop, int ended)
{
    pthread_mutex_lock(&shop->lock);
    while (shop->ended < ended)
        pthread_cond_wait(&shop->changed, &shop->lock);
    pthread_mutex_unlock(&shop->lock);
}

static struct helm_view look(struct shop *shop, const char *operation)
{
    return helm_look(shop->helm, STR("c-m-1"), str_of(operation));
}

static void test_output_and_end(void **state)
{
    struct shop shop;

    (void)state;
    open_shop(&shop, "echo \"$1 $KUBECONFIG\"; cat \"${2#--values=}\"; echo no >&2; exit 3");
    rows_expect_int("nobody started it", look(&shop, "op").state, HELM_NONE);
    start(&shop, "op", "upgrade", 60000);
    wait_for(&shop, 1);
    rows_expect_int("it ended", look(&shop, "op").state, HELM_ENDED);
    rows_expect_int("with its own code", look(&shop, "op").exit_code, 3);
    rows_expect_str("both outputs, the files where they were named, and the kubeconfig",
                    helm_log(shop.helm, shop.arena, STR("c-m-1"), STR("op")),
                    STR("upgrade /nowhere\na: 1\nno\n"));
    start(&shop, "op", "again", 60000);
    rows_expect_int("one that was started is not started again", look(&shop, "op").exit_code, 3);
    helm_forget(shop.helm, STR("c-m-1"), STR("op"));
    rows_expect_int("it is forgotten", look(&shop, "op").state, HELM_NONE);
    rows_expect_str("with its files", helm_log(shop.helm, shop.arena, STR("c-m-1"), STR("op")),
                    STR(""));
    close_shop(&shop);
}

static void test_time_and_flood(void **state)
{
    struct shop shop;

    (void)state;
    open_shop(&shop, "[ \"$1\" = flood ] && exec head -c 1000000 /dev/zero; exec sleep 1000");
    start(&shop, "slow", "sleep", 50);
    wait_for(&shop, 1);
    rows_expect_int("it is killed when its time is over", look(&shop, "slow").exit_code, 128 + 9);
    rows_expect("and that is told", look(&shop, "slow").timed_out, "timed_out");
    start(&shop, "flood", "flood", 60000);
    wait_for(&shop, 2);
    rows_expect_int("output without end stops nobody", look(&shop, "flood").exit_code, 0);
    rows_expect_int("and its beginning is kept",
                    (int64_t)helm_log(shop.helm, shop.arena, STR("c-m-1"), STR("flood")).len,
                    HELM_LOG_MAX);
    close_shop(&shop);
}

static void test_turns(void **state)
{
    static const char *const names[] = { "0", "1", "2", "3", "4", "5" };
    struct shop shop;
    int queued = 0;

    (void)state;
    open_shop(&shop, "exec sleep 1000");
    for (int i = 0; i < 6; i++)
        start(&shop, names[i], "sleep", 60000);
    for (int i = 0; i < 6; i++)
        queued += look(&shop, names[i]).state == HELM_QUEUED;
    rows_expect_int("the others wait for their turn", queued, 6 - HELM_AT_ONCE);
    rows_expect_int("first come, first served", look(&shop, "4").state, HELM_QUEUED);
    helm_kill(shop.helm, STR("c-m-1"), STR("0"));
    rows_expect_int("who is killed makes room", look(&shop, "4").state, HELM_RUNNING);
    rows_expect_int("for one", look(&shop, "5").state, HELM_QUEUED);
    rows_expect_int("and is not there any more", look(&shop, "0").state, HELM_NONE);
    close_shop(&shop);
}

static void test_no_program(void **state)
{
    struct error err = { 0 };
    struct helm_options options = { .program = "/no/such/helm", .folder = "/tmp" };

    (void)state;
    rows_expect("a program that is not there is rejected", !helm_create(&options, &err), "NULL");
    rows_expect_str("by name", str_of(err.text),
                    STR("--helm: there is no program /no/such/helm; install helm 3, or say where "
                        "it is"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_and_end),
        cmocka_unit_test(test_time_and_flood),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_no_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
