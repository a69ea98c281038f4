/* SPDX-License-Identifier: Apache-2.0 */
/* objects_repo.c: ClusterRepos, their status and their indexes. */
#include "lab/rancher/jsonf.h"
#include "text/zip.h"
#include "lab/rancher/objects.h"
#include "text/base64.h"

struct str object_git_repo(struct arena *arena, struct str name, struct str url)
{
    return jsonf(arena,
                 "{'apiVersion':'catalog.cattle.io/v1','kind':'ClusterRepo','metadata':{'name':%s},"
                 "'spec':{'gitRepo':%s,'gitBranch':'release-v2.14'}}",
                 name, url);
}

struct str object_index(struct arena *arena, struct str name, struct str repo, struct str index)
{
    return jsonf(arena,
                 "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':%s,"
                 "'namespace':'cattle-system','annotations':{'catalog.cattle.io/repo':%s,"
                 "'catalog.cattle.io/next':''}},'binaryData':{'content':%s}}",
                 name, repo, base64_encode(arena, gzip_pack(arena, index)));
}

struct str object_repo_status(struct arena *arena, const struct repo_result *r)
{
    struct str condition =
        jsonf(arena, "{'type':%s,'status':%s,'lastUpdateTime':%s%r}", r->condition,
              r->ok ? STR("True") : STR("False"), r->now,
              r->ok ? STR(" ") : jsonf(arena, ",'reason':'Error','message':%s", r->message));

    if (!r->ok)
        return jsonf(arena,
                     "{'status':{'observedGeneration':%d,'numberOfRetries':%d,'nextRetryAt':%r,"
                     "'conditions':[%r]}}",
                     r->generation, r->retries,
                     r->next_retry.len ? jsonf(arena, "%s", r->next_retry) : STR("null"),
                     condition);
    return jsonf(arena,
                 "{'status':{'observedGeneration':%d,'indexConfigMapName':%s,"
                 "'indexConfigMapNamespace':'cattle-system','indexConfigMapResourceVersion':%s,"
                 "'downloadTime':%s,'url':%s,'numberOfRetries':0,'nextRetryAt':null,"
                 "'conditions':[%r]}}",
                 r->generation, r->config_map, r->config_map_version, r->now, r->url, condition);
}
