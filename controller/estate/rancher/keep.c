/* keep.c: arrays whose places have a meaning, in the order in which they are written here. */
#include "controller/estate/rancher/keep.h"

#include "text/json_write.h"

enum { DESCRIPTION_BYTES_MAX = 400 };

/* The strings of an array, one after the other; what is missing or of another kind is "". */
static struct str next_str(struct json_iter *it)
{
    return json_next(it) ? json_str(it->value) : STR("");
}

static int64_t next_int(struct json_iter *it)
{
    int64_t number = 0;

    if (json_next(it))
        json_int64(it->value, &number);
    return number;
}

static struct json_iter read_kept(struct arena *arena, struct str kept)
{
    struct error ignored = { .code = ERROR_NONE };
    struct json root = { NULL, 0 };

    /* Our own writing: it can only fail if nothing was kept, and then all members are absent. */
    json_read(arena, kept, &json_limits_default, &root, &ignored);
    return json_iter(root);
}

bool keep_app(void *context, struct json app, struct strbuf *kept)
{
    struct json_writer w = json_writer(kept);
    struct observed_release release;

    (void)context;
    wire_app_read(app, &release);
    json_open_array(&w);
    json_put_int(&w, release.phase);
    json_put_int(&w, release.revision);
    json_put_str(&w, release.chart_version);
    json_put_str(&w, release.stack);
    if (release.stack.len) {
        json_put_str(&w, release.stack_uid);
        json_put_str(&w, release.chart_name);
        json_put_str(&w, release.digest);
        json_put_str(&w, release.depends_on);
    }
    /* Helm's words are shown only where something is wrong or under way. */
    if (release.stack.len && release.phase != RELEASE_DEPLOYED)
        json_put_str(&w, str_shown(kept->arena, release.description, DESCRIPTION_BYTES_MAX));
    json_close_array(&w);
    return true;
}

void kept_app(struct arena *arena, struct str kept, struct observed_release *ret_release)
{
    struct json_iter it = read_kept(arena, kept);
    struct observed_release release = { .phase = (enum release_phase)next_int(&it) };

    release.revision = (uint32_t)next_int(&it);
    release.chart_version = next_str(&it);
    release.stack = next_str(&it);
    release.stack_uid = next_str(&it);
    release.chart_name = next_str(&it);
    release.digest = next_str(&it);
    release.depends_on = next_str(&it);
    release.description = next_str(&it);
    *ret_release = release;
}

bool keep_operation(void *context, struct json operation, struct strbuf *kept)
{
    struct json_writer w = json_writer(kept);
    struct observed_operation read;

    (void)context;
    if (!wire_operation_read(kept->arena, operation, &read))
        return false;
    json_open_array(&w);
    json_put_str(&w, read.release_name);
    json_put_str(&w, read.stack_uid);
    json_put_int(&w, read.uninstall);
    json_put_int(&w, read.state);
    json_put_int(&w, read.created_ms);
    json_put_str(&w, read.message);
    json_close_array(&w);
    return true;
}

void kept_operation(struct arena *arena, struct str kept,
                    struct observed_operation *ret_operation)
{
    struct json_iter it = read_kept(arena, kept);
    struct observed_operation operation = { .release_name = next_str(&it) };

    operation.stack_uid = next_str(&it);
    operation.uninstall = next_int(&it) != 0;
    operation.state = (enum operation_state)next_int(&it);
    operation.created_ms = next_int(&it);
    operation.message = next_str(&it);
    *ret_operation = operation;
}

bool keep_repo(void *context, struct json repo, struct strbuf *kept)
{
    struct json_writer w = json_writer(kept);
    struct wire_repo read;

    (void)context;
    if (!wire_repo_read(kept->arena, repo, &read))
        return false;
    json_open_array(&w);
    json_put_str(&w, read.url);
    json_put_int(&w, read.state);
    json_put_str(&w, read.message);
    json_put_str(&w, read.index_version);
    json_put_str(&w, read.downloaded);
    json_close_array(&w);
    return true;
}

void kept_repo(struct arena *arena, struct str kept, struct wire_repo *ret_repo)
{
    struct json_iter it = read_kept(arena, kept);
    struct wire_repo repo = { .url = next_str(&it) };

    repo.state = (enum repo_state)next_int(&it);
    repo.message = next_str(&it);
    repo.index_version = next_str(&it);
    repo.downloaded = next_str(&it);
    *ret_repo = repo;
}

bool keep_cluster(void *context, struct json cluster, struct strbuf *kept)
{
    struct json_writer w = json_writer(kept);
    struct wire_cluster read;

    (void)context;
    wire_cluster_read(kept->arena, cluster, &read);
    json_open_array(&w);
    json_put_str(&w, read.display_name);
    json_put_int(&w, read.internal);
    json_put_int(&w, read.disconnected);
    json_put_int(&w, read.usable);
    json_put_str(&w, read.message);
    json_put_raw(&w, json_is(read.labels, JSON_OBJECT) ? json_raw(read.labels) : STR("{}"));
    json_close_array(&w);
    return true;
}

void kept_cluster(struct arena *arena, struct str kept, struct wire_cluster *ret_cluster)
{
    struct json_iter it = read_kept(arena, kept);
    struct wire_cluster cluster = { .display_name = next_str(&it) };

    cluster.internal = next_int(&it) != 0;
    cluster.disconnected = next_int(&it) != 0;
    cluster.usable = next_int(&it) != 0;
    cluster.message = next_str(&it);
    cluster.labels = json_next(&it) ? it.value : (struct json){ NULL, 0 };
    *ret_cluster = cluster;
}
