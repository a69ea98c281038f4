/* SPDX-License-Identifier: Apache-2.0 */
/* client_change.c: a release is read before it is changed.
 *
 *   upgrade      GET App -- as it was seen? --> POST ?action=upgrade
 *   uninstall    GET App -- as it was seen? --> POST ?action=uninstall
 *   remove lock  GET App -- as it was seen? --> GET Secret -- still pending? --> DELETE it
 *
 * Rancher's actions know no preconditions, so the look narrows the gap to one round trip; the
 * Secret's deletion carries its uid and resourceVersion, so that there is none. A look that fails
 * changed nothing: it is a rejection, whatever the answer proves otherwise. */
#include "controller/backends/rancher_apps/client_parts.h"

#include "base/memory.h"

static const struct kube_resource secrets = KUBE_RESOURCE_INIT("", "v1", "secrets", "Secret", true);

static void end(struct request *request, enum request_result result, const struct error *error,
                const char *text, int64_t retry_after_ms)
{
    struct request_outcome outcome = { .result = result,
                                       .text = str_of(text),
                                       .retry_after_ms = retry_after_ms };

    if (error)
        outcome.error = *error;
    request->done(request->context, &outcome);
    request_free(request);
}

/* The object; false: `err` says why not. */
static bool read_object(struct request *request, const struct kube_answer *answer,
                        struct json *ret_object, struct error *err)
{
    *err = answer->error;
    if (answer->status >= 300)
        request_read_error(answer->status, answer->body, err);
    if (err->code == ERROR_NONE)
        (void)request_read_json(request->arena, str_dup(request->arena, answer->body), ret_object,
                                err);
    return err->code == ERROR_NONE;
}

/* What is not there is done; what cannot be looked at is not touched. */
static void end_unseen(struct request *request, const struct kube_answer *answer,
                       const struct error *err)
{
    if (err->code == ERROR_NOT_FOUND)
        end(request, REQUEST_DONE, NULL, "", -1);
    else
        end(request, REQUEST_REJECTED, err, "", answer->retry_after_ms);
}

/* The object; false: it ended here. */
static bool looked(struct request *request, const struct kube_answer *answer,
                   struct json *ret_object)
{
    struct error err;

    if (read_object(request, answer, ret_object, &err))
        return true;
    end_unseen(request, answer, &err);
    return false;
}

static void leave_alone(struct request *request)
{
    end(request, REQUEST_DONE, NULL, "left alone: it changed since it was looked at", -1);
}

static struct str path_of(struct request *request, enum kube_verb verb,
                          const struct kube_resource *resource, struct str name)
{
    const struct kube_request of = {
        .verb = verb,
        .resource = *resource,
        .namespace_ = request->release.namespace_,
        .name = name,
    };

    return kube_request_path(request->arena, &of);
}

static void get(struct request *request, const struct kube_resource *resource, struct str name,
                kube_done *done)
{
    request_get(request, path_of(request, KUBE_GET, resource, name), done);
}

static struct str uid_of(struct json object)
{
    return json_str(json_walk(object, "metadata", "uid", NULL));
}

/* Whether the App is the one that was decided about, in the state that was decided about. */
static bool is_as_seen(const struct request *request, struct json app)
{
    const struct rancher_release *release = &request->release;
    struct observed_release now;

    wire_app_read(app, &now);
    if (!str_eq(uid_of(app), release->uid) ||
        !str_eq(now.marked_uid.len ? now.marked_uid : now.stack_uid, release->stack_uid))
        return false;
    return !release->stuck || (now.revision == release->revision &&
                               (now.phase == RELEASE_PENDING || now.phase == RELEASE_UNINSTALLING));
}

static void uninstall(struct request *request)
{
    const struct rancher_release *release = &request->release;
    struct strbuf path =
        request_steve_path(request->arena, "apps", release->namespace_, release->name);

    strbuf_lit(&path, "?action=uninstall");
    request_action(request, strbuf_str(&path),
                   wire_uninstall_body(request->arena, release->stack, release->stack_uid));
}

static struct str secret_name(struct request *request)
{
    return str_fmt(request->arena, "sh.helm.release.v1.%.*s.v%u", STR_ARG(request->release.name),
                   request->release.revision);
}

/* Of Helm's Secret of a revision; "" = it is none. */
static struct str helm_status(struct json secret)
{
    struct json labels = json_walk(secret, "metadata", "labels", NULL);

    return str_eq(json_str(json_get(labels, STR("owner"))), STR("helm"))
               ? json_str(json_get(labels, STR("status")))
               : STR("");
}

/* An App follows its Secret, and may be late by much on a busy cluster: a release that is deployed
 * is not taken away because its App still says pending. One that has no Secret goes all the
 * same. */
static void on_secret_of_stuck(void *context, const struct kube_answer *answer)
{
    struct request *request = context;
    struct error err;
    struct json secret;
    bool seen = read_object(request, answer, &secret, &err);
    struct str status = seen ? helm_status(secret) : STR("");

    if (!seen && err.code != ERROR_NOT_FOUND)
        end_unseen(request, answer, &err);
    else if (!seen || str_starts(status, STR("pending-")) || str_eq(status, STR("uninstalling")))
        uninstall(request);
    else
        leave_alone(request);
}

/* Somebody was faster: the Secret is another one, or says something else. */
static void on_deleted(void *context, const struct kube_answer *answer)
{
    if (answer->error.code == ERROR_CONFLICT)
        leave_alone(context);
    else
        request_finish(context, answer);
}

static void on_secret(void *context, const struct kube_answer *answer)
{
    struct request *request = context;
    struct json secret;

    if (!looked(request, answer, &secret))
        return;

    struct str version = json_str(json_walk(secret, "metadata", "resourceVersion", NULL));

    if (!str_starts(helm_status(secret), STR("pending-")) || uid_of(secret).len == 0 ||
        version.len == 0) {
        leave_alone(request);
        return;
    }
    connection_send(request->connection,
                    &(struct kube_raw){
                        .method = "DELETE",
                        .path = path_of(request, KUBE_DELETE, &secrets, secret_name(request)),
                        .content_type = "application/json",
                        .body = kube_delete_body(request->arena, uid_of(secret), version),
                        .timeout_ms = READ_TIME_MS,
                    },
                    on_deleted, request);
}

static void on_app_to_uninstall(void *context, const struct kube_answer *answer)
{
    struct request *request = context;
    struct json app;

    if (!looked(request, answer, &app))
        return;
    if (!is_as_seen(request, app))
        leave_alone(request);
    else if (request->release.stuck)
        get(request, &secrets, secret_name(request), on_secret_of_stuck);
    else
        uninstall(request);
}

static void on_app_to_unlock(void *context, const struct kube_answer *answer)
{
    struct request *request = context;
    struct json app;

    if (!looked(request, answer, &app))
        return;
    if (is_as_seen(request, app))
        get(request, &secrets, secret_name(request), on_secret);
    else
        leave_alone(request);
}

/* What was absent must still be, and any other as it was seen to the revision: helm upgrade
 * --install takes over whatever has that name. Whose it may be was decided with the action. */
static void on_app_to_upgrade(void *context, const struct kube_answer *answer)
{
    struct request *request = context;
    const struct rancher_release *release = &request->release;
    struct observed_release now;
    struct json app = { NULL, 0 };
    struct error err;
    bool seen = read_object(request, answer, &app, &err);

    if (!seen && (err.code != ERROR_NOT_FOUND || release->uid.len)) {
        end_unseen(request, answer, &err);
        return;
    }
    wire_app_read(app, &now);
    if (str_eq(uid_of(app), release->uid) && now.revision == release->revision)
        request_action(request, request->path, request->body);
    else
        leave_alone(request);
}

static struct request *begin(struct rancher_client *rancher, const struct rancher_release *release,
                             request_done *done, void *context, enum error_code fine)
{
    struct request *request = request_new(rancher, release->connection, done, context, NULL, fine);
    struct arena *arena = arena_create(0);

    request->arena = arena;
    request->release = (struct rancher_release){
        .connection = release->connection,
        .namespace_ = str_dup(arena, release->namespace_),
        .name = str_dup(arena, release->name),
        .uid = str_dup(arena, release->uid),
        .stack = str_dup(arena, release->stack),
        .stack_uid = str_dup(arena, release->stack_uid),
        .revision = release->revision,
        .stuck = release->stuck,
    };
    return request;
}

void rancher_upgrade(struct rancher_client *rancher, const struct rancher_release *release,
                     const struct wire_upgrade *upgrade, request_done *done, void *context)
{
    struct request *request = begin(rancher, release, done, context, ERROR_NONE);
    struct strbuf path =
        request_steve_path(request->arena, "clusterrepos", upgrade->repo_name, STR(""));

    arena_keep_secret(request->arena); /* the body has the values */
    strbuf_lit(&path, "?action=upgrade");
    request->path = strbuf_str(&path);
    request->body = wire_upgrade_body(request->arena, upgrade);
    get(request, &rancher_apps, release->name, on_app_to_upgrade);
}

void rancher_uninstall(struct rancher_client *rancher, const struct rancher_release *release,
                       request_done *done, void *context)
{
    get(begin(rancher, release, done, context, ERROR_NOT_FOUND), &rancher_apps, release->name,
        on_app_to_uninstall);
}

void rancher_remove_lock(struct rancher_client *rancher, const struct rancher_release *release,
                         request_done *done, void *context)
{
    struct request *request = begin(rancher, release, done, context, ERROR_NOT_FOUND);

    request->release.stuck = true;
    get(request, &rancher_apps, release->name,
        release->revision <= 1 ? on_app_to_uninstall : on_app_to_unlock);
}
