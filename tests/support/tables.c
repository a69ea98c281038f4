/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c: each .def is included with a macro that keeps what a walker looks at. */
#include "support/tables.h"

#include "text/limits.h"
#include "webhook/limits.h"

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
static const struct flag_row report_flags[] = {
#include "controller/report/flags.def"
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
    { "herd-controller report", report_flags, COUNT(report_flags) },
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
static const struct metric_entry of_process[] = {
#include "io/metrics.def"
};
static const struct metric_entry of_lab[] = {
#include "lab/metrics.def"
};
#undef METRIC

const struct metric_table metric_tables[] = {
    { "herd-webhook", "herd_webhook_", of_webhook, COUNT(of_webhook) },
    { "herd-controller", "herd_controller_", of_controller, COUNT(of_controller) },
    { "herd-lab", "herd_lab_", of_lab, COUNT(of_lab) },
    { "Every program, of its process", "process_", of_process, COUNT(of_process) },
};
const uint32_t metric_table_count = COUNT(metric_tables);

/* --- limits --- */

const struct limit_entry limit_entries[] = {
#define LIMIT(name, value, unit, source) { TABLE, #name, value, #unit, source },
#define TABLE "shared/base"
#include "base/limits.def"
#undef TABLE
#define TABLE "shared/text"
#include "text/limits.def"
#undef TABLE
#define TABLE "shared/kube"
#include "kube/limits.def"
#undef TABLE
#define TABLE "shared/stack/model"
#include "stack/model/limits.def"
#undef TABLE
#define TABLE "shared/io"
#include "io/limits.def"
#undef TABLE
#define TABLE "shared/runtime"
#include "runtime/limits.def"
#undef TABLE
#define TABLE "webhook"
#include "webhook/limits.def"
#undef TABLE
#define TABLE "controller"
#include "controller/limits.def"
#undef TABLE
#define TABLE "lab"
#include "lab/limits.def"
#undef TABLE
#undef LIMIT
};
const uint32_t limit_entry_count = COUNT(limit_entries);

/* --- all others --- */

const struct table_entry table_entries[] = {
#define ERROR_ROW(code, reason, http_status, course, sentence, remedy)                             \
    { "errors.def", reason, sentence, true },
#include "base/errors.def"
#undef ERROR_ROW
#define REASON_ROW(id, name, news, where, sentence, remedy) { "reasons.def", name, sentence, true },
#include "stack/model/reasons.def"
#undef REASON_ROW
#define CONTROLLER_REASON(id, name, event, about, sentence, remedy)                                \
    { "controller/reasons.def", name, sentence, true },
#include "controller/reasons.def"
#undef CONTROLLER_REASON
#define CHILD_REASON(id, name, condition, warning, sentence, remedy) { "child_reasons.def", name, sentence, true },
#include "kube/child_reasons.def"
#undef CHILD_REASON
#define WORKLOAD_REASON(name, where, warning, sentence, remedy) { "workload_reasons.def", name, sentence, true },
#include "workload/workload_reasons.def"
#undef WORKLOAD_REASON
#define RULE(id, name, area, severity, field, sentence, remedy)                                   \
    { "rules.def", name, sentence, true },
#include "stack/model/rules.def"
#undef RULE
#define ACTION(kind, name, changes, sentence) { "actions.def", name, sentence, false },
#include "stack/plan/actions.def"
#undef ACTION
#define GPU_VENDOR(id, name) { "gpu vendors", name, NULL, false },
#define GPU_RESOURCE(vendor, name) { "gpu resources", name, NULL, false },
#define GPU_MEASURE(name) { "gpu measures", name, NULL, false },
#define GPU_PROVIDER(vendor, chart) { "gpu providers", chart, NULL, false },
#define GPU_LABEL(key) { "gpu labels", key, NULL, false },
#include "stack/gpu/gpu_providers.def"
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
#define FAULT(id, name, stage, runs, release, end, exit_code, text, help)                              \
    { "the lab's faults.def", name, help, false },
#include "lab/rancher/faults.def"
#undef FAULT
#define FAULT(name, per_mille, sentence) { "the simulation's faults.def", #name, sentence, false },
#include "sim/faults.def"
#undef FAULT
};
const uint32_t table_entry_count = COUNT(table_entries);
