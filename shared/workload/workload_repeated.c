/* SPDX-License-Identifier: Apache-2.0 */
/* workload_repeated.c: lists that server-side apply takes as maps: of variables by name, of mounts
 * by path. */
#include "workload/workload.h"

static bool has_env(const struct workload_envs *envs, uint32_t count, struct str name)
{
    for (uint32_t i = 0; i < count; i++)
        if (str_eq(envs->items[i].name, name))
            return true;
    return false;
}

/* Those of Secrets are the author's. */
static void check_env(struct arena *arena, const struct workload_envs *envs,
                      struct problems *problems)
{
    for (uint32_t i = 0; i < envs->count; i++) {
        const struct workload_env *env = &envs->items[i];

        if (env->secret.len && env->name.len && has_env(envs, i, env->name))
            workload_deny(problems, "spec.secrets.apiKeys",
                          str_fmt(arena, "Duplicate value: \"%.*s\"", STR_ARG(env->name)),
                          "choose a name that no other API key has, nor a variable that Herd sets");
    }
}

void workload_check_repeated(struct arena *arena, const struct workload *workload,
                             struct problems *problems)
{
    check_env(arena, &workload->env, problems);
    if (workload->volume_size.len && workload->shared_memory &&
        str_eq(workload->mount_path, STR(WORKLOAD_SHARED_MEMORY)))
        workload_deny(problems, "spec.storage.mountPath",
                      STR("Duplicate value: \"" WORKLOAD_SHARED_MEMORY
                          "\": the memory that the server's processes share is there"),
                      "choose another path");
}
