/* SPDX-License-Identifier: Apache-2.0 */
/* path.c: rendering of field paths. */
#include "base/path.h"

/* Whether a name would read as more than one step. */
static bool needs_brackets(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (name.at[i] == '.' || name.at[i] == '[' || name.at[i] == ']')
            return true;
    return false;
}

static void render_field(const struct path *path, struct strbuf *buf)
{
    if (path->up)
        strbuf_char(buf, '.');
    strbuf_put(buf, path->name);
}

static void render_key(const struct path *path, struct strbuf *buf)
{
    strbuf_char(buf, '[');
    strbuf_put(buf, str_shown(buf->arena, path->name, 128));
    strbuf_char(buf, ']');
}

static void render_into(const struct path *path, struct strbuf *buf)
{
    if (!path)
        return;
    render_into(path->up, buf);
    switch (path->kind) {
    case PATH_FIELD:
        render_field(path, buf);
        break;
    case PATH_MEMBER:
        if (needs_brackets(path->name))
            render_key(path, buf);
        else
            render_field(path, buf);
        break;
    case PATH_INDEX:
        strbuf_fmt(buf, "[%u]", path->index);
        break;
    case PATH_KEY:
        render_key(path, buf);
        break;
    }
}

struct str path_render(const struct path *path, struct arena *arena)
{
    struct strbuf buf = strbuf_new(arena, 64);

    render_into(path, &buf);
    return strbuf_str(&buf);
}

static void point_into(const struct path *path, struct strbuf *buf)
{
    if (!path)
        return;
    point_into(path->up, buf);
    strbuf_char(buf, '/');
    if (path->kind == PATH_INDEX) {
        strbuf_u64(buf, path->index);
        return;
    }
    for (size_t i = 0; i < path->name.len; i++) {
        char c = path->name.at[i];

        if (c == '~')
            strbuf_lit(buf, "~0");
        else if (c == '/')
            strbuf_lit(buf, "~1");
        else
            strbuf_char(buf, c);
    }
}

struct str path_pointer(const struct path *path, struct arena *arena)
{
    struct strbuf buf = strbuf_new(arena, 64);

    point_into(path, &buf);
    return strbuf_str(&buf);
}
