/* tables.c: each .def is included with a macro that keeps what a walker looks at. */
#include "support/tables.h"

#include "base/limits.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- flags --- */

#define FLAG(id, word, kind, ...) { .name = word, .type = FLAG_##kind, __VA_ARGS__ },
static const struct flag_row webhook_flags[] = {
#include "webhook/flags.def"
};
static const struct flag_row offline_flags[] = {
#include "webhook/offline/flags.def"
};
static const struct flag_row controller_flags[] = {
#include "controller/flags.def"
};
static const struct flag_row lab_flags[] = {
#include "lab/flags.def"
};
static const struct flag_row certs_flags[] = {
#include "certs/flags.def"
};
#undef FLAG

const struct flag_table flag_tables[] = {
    { "herd-webhook serve", webhook_flags, COUNT(webhook_flags) },
    { "herd-webhook review", offline_flags, COUNT(offline_flags) },
    { "herd-controller", controller_flags, COUNT(controller_flags) },
    { "herd-lab", lab_flags, COUNT(lab_flags) },
    { "herd-devca", certs_flags, COUNT(certs_flags) },
};
const uint32_t flag_table_count = COUNT(flag_tables);

/* --- metrics --- */

#define METRIC(id, kind, name, a, b, c, buckets, help)                                             \
    { { METRIC_##kind, name, { a, b, c }, NULL, help }, #buckets },
static const struct metric_entry of_webhook[] = {
#include "webhook/metrics.def"
};
static const struct metric_entry of_controller[] = {
#include "controller/metrics.def"
};
static const struct metric_entry of_lab[] = {
#include "lab/metrics.def"
};
#undef METRIC

const struct metric_table metric_tables[] = {
    { "herd-webhook", "herd_webhook_", of_webhook, COUNT(of_webhook) },
    { "herd-controller", "herd_controller_", of_controller, COUNT(of_controller) },
    { "herd-lab", "herd_lab_", of_lab, COUNT(of_lab) },
};
const uint32_t metric_table_count = COUNT(metric_tables);

/* --- limits --- */

const struct limit_entry limit_entries[] = {
#define LIMIT(name, value, unit, source) { #name, value, #unit, source },
#include "base/limits.def"
#undef LIMIT
};
const uint32_t limit_entry_count = COUNT(limit_entries);

/* --- all others --- */

const struct table_entry table_entries[] = {
#define ERROR_ROW(code, reason, http_status, course) { "errors.def", reason, NULL, false },
#include "base/errors.def"
#undef ERROR_ROW
#define RULE(id, name, area, severity, field, sentence, way_out)                                   \
    { "rules.def", name, sentence, true },
#include "stack/rules.def"
#undef RULE
#define ACTION(kind, name, changes, sentence) { "actions.def", name, sentence, false },
#include "stack/actions.def"
#undef ACTION
#define GPU_VENDOR(id, name) { "gpu vendors", name, NULL, false },
#define GPU_RESOURCE(vendor, name) { "gpu resources", name, NULL, false },
#define GPU_MEASURE(name) { "gpu measures", name, NULL, false },
#define GPU_PROVIDER(vendor, chart) { "gpu providers", chart, NULL, false },
#define GPU_LABEL(key) { "gpu labels", key, NULL, false },
#include "stack/gpu_providers.def"
#undef GPU_VENDOR
#undef GPU_RESOURCE
#undef GPU_MEASURE
#undef GPU_PROVIDER
#undef GPU_LABEL
#define ROUTE(method, path, body_max, handler, label)                                              \
    { "routes.def", method " " path, NULL, false }, { "labels of routes.def", label, NULL, false },
#include "webhook/routes.def"
#undef ROUTE
#define KIND(group, version, plural, singular, kind, short_names, categories, scope, traits, type) \
    { "kinds.def", plural "." group, NULL, false },
#include "lab/apiserver/kinds.def"
#undef KIND
#define FAULT(id, name, stage, release, end, exit_code, text, help)                                \
    { "the lab's faults.def", name, help, false },
#include "lab/estate/rancher/faults.def"
#undef FAULT
#define FAULT(name, per_mille, sentence) { "the simulation's faults.def", #name, sentence, false },
#include "sim/faults.def"
#undef FAULT
};
const uint32_t table_entry_count = COUNT(table_entries);
