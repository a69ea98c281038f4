/* SPDX-License-Identifier: Apache-2.0 */
/* kinds_test.c: which object a path means. */
#include "support/rows.h"

#include "kinds_fixture.h"

static const struct {
    const char *row, *path;
    const char *kind, *namespace_, *name; /* kind NULL: it is not found, and the error has `name` */
} paths[] = {
    { "a collection in a namespace", "/apis/herd.suse.com/v1/namespaces/team-a/stacks", "Stack", "team-a", "" },
    { "one object", "/apis/herd.suse.com/v1/namespaces/team-a/stacks/shop", "Stack", "team-a", "shop" },
    { "a collection in all namespaces", "/apis/herd.suse.com/v1/stacks", "Stack", "", "" },
    { "a cluster-scoped collection", "/apis/herd.suse.com/v1/stackpolicies", "StackPolicy", "", "" },
    { "one cluster-scoped object", "/apis/herd.suse.com/v1/stackpolicies/timeouts", "StackPolicy", "", "timeouts" },
    { "an object that is called as a part of the path is", "/apis/herd.suse.com/v1/stackpolicies/namespaces", "StackPolicy", "",
      "namespaces" },
    { "another group", "/apis/cloudnative.elide.dev/v1/namespaces/default/applications/my-app", "Application", "default", "my-app" },
    { "an object without its namespace", "/apis/herd.suse.com/v1/stacks/shop", NULL, NULL, "GET / lists" },
    { "a namespace of a cluster-scoped kind", "/apis/herd.suse.com/v1/namespaces/a/stackpolicies", NULL, NULL, "GET / lists" },
    { "a sub-resource", "/apis/herd.suse.com/v1/namespaces/a/stacks/b/status", NULL, NULL, "GET / lists" },
    { "more than that", "/apis/herd.suse.com/v1/namespaces/a/stacks/b/status/c", NULL, NULL, "GET / lists" },
    { "another version", "/apis/herd.suse.com/v2/namespaces/a/stacks", NULL, NULL, "GET / lists" },
    { "a kind of somebody else's", "/apis/apps/v1/namespaces/a/deployments", NULL, NULL, "GET / lists" },
    { "a slash at the end", "/apis/herd.suse.com/v1/namespaces/a/stacks/", NULL, NULL, "GET / lists" },
    { "an empty namespace", "/apis/herd.suse.com/v1/namespaces//stacks", NULL, NULL, "GET / lists" },
    { "nothing", "/apis/", NULL, NULL, "GET / lists" },
    { "a kind that is not reconciled here", "/apis/abi.io/v1/namespaces/a/abiinstances", NULL, NULL, "add abiinstance to its --kinds" },
};

static void a_path_means_an_object(void **state)
{
    const struct console_kinds kinds = some_kinds();

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct console_target target;
        struct error err = { .code = ERROR_NONE };
        int found = console_target_read(&kinds, str_of(paths[i].path), &target, &err);

        rows_expect_int(paths[i].row, found, paths[i].kind ? 0 : -1);
        if (found < 0) {
            rows_expect_int(paths[i].row, err.code, ERROR_NOT_FOUND);
            rows_expect(paths[i].row, strstr(err.text, paths[i].name), err.text);
            continue;
        }
        rows_expect_str(paths[i].row, target.kind->resource.kind, str_of(paths[i].kind));
        rows_expect_str(paths[i].row, target.namespace_, str_of(paths[i].namespace_));
        rows_expect_str(paths[i].row, target.name, str_of(paths[i].name));
    }
    (void)state;
}

static void a_kind_has_the_names_that_kubectl_takes(void **state)
{
    static const char *const names[] = { "Stack", "stacks", "stack", "stk" };
    const struct console_kinds kinds = some_kinds();

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        rows_expect(names[i], console_kinds_find(&kinds, str_of(names[i])) == &kinds.items[0], "is a Stack");
    rows_expect("no kind", !console_kinds_find(&kinds, STR("Deployment")), "is none");
    rows_expect("nothing", !console_kinds_find(&kinds, STR("")), "is none");
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_path_means_an_object),
                                        cmocka_unit_test(a_kind_has_the_names_that_kubectl_takes) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
