/* SPDX-License-Identifier: Apache-2.0 */
/* scaling.c: see scaling.h. */
#include "workload/scaling.h"

#include "stack/model/fields_canonical.h"
#include "stack/model/fields_decode.h"
#include "stack/model/status_rows.h"
#include "text/quantity.h"

#include "workload/scaling_fields.def"

static const struct {
    struct str name, sentence;
    bool active, limited;
} reasons[SLA_REASONS] = {
#define SLA_REASON(id, name, active, limited, sentence)                                            \
    { STR_INIT(name), STR_INIT(sentence), active, limited },
#include "workload/sla_reasons.def"
#undef SLA_REASON
};

static const struct str sources[SLA_SOURCES] = {
    [SLA_UNKNOWN] = STR_INIT("Unknown"),
    [SLA_DECLARED] = STR_INIT("Declared"),
    [SLA_MEASURED] = STR_INIT("Measured"),
};

static enum sla_source source_of(struct str name)
{
    for (unsigned i = 0; i < SLA_SOURCES; i++)
        if (str_eq(sources[i], name))
            return (enum sla_source)i;
    return SLA_UNKNOWN;
}

static struct str rate_text(struct arena *arena, int64_t milli)
{
    struct strbuf text = strbuf_new(arena, 16);

    quantity_write((struct quantity){ milli }, &text);
    return strbuf_str(&text);
}

static int64_t rate_of(struct str text)
{
    struct quantity quantity = { 0 };
    struct error ignored;

    if (quantity_parse(text, &quantity, &ignored) < 0 || quantity.milli < 0)
        return 0;
    return quantity.milli < SLA_RATE_MAX ? quantity.milli : SLA_RATE_MAX;
}

/* Absent is 0 in decisions, below 0 in tables. */
static int64_t known(int64_t number)
{
    return number < 0 ? 0 : number;
}

static int64_t present(int64_t number)
{
    return number ? number : -1;
}

static enum condition_status truth(bool value)
{
    return value ? CONDITION_TRUE : CONDITION_FALSE;
}

struct scaling scaling_read(struct arena *arena, struct json object)
{
    struct scaling scaling = { .replicas = -1 };
    struct json json = json_walk(object, "status", "scaling", NULL);

    if (json_is(json, JSON_OBJECT))
        fields_read(arena, &fields_of_scaling, json, &scaling);
    return scaling;
}

void scaling_write(struct arena *arena, const struct scaling *scaling, struct json_writer *w)
{
    struct strbuf text = strbuf_new(arena, 512);

    fields_canonical(&fields_of_scaling, scaling, &text);
    json_put_key(w, STR("scaling"));
    json_put_raw(w, strbuf_str(&text));
}

static struct scaling_inputs stored(struct arena *arena, const struct sla_inputs *inputs)
{
    const struct sla_load *load = &inputs->load;

    return (struct scaling_inputs){
        .replicas = inputs->spec_replicas,
        .min_replicas = present(inputs->min_replicas),
        .max_replicas = present(inputs->max_replicas),
        .gpus_per_replica = inputs->gpus_per_replica,
        .gpu_budget = present(inputs->gpu_budget),
        .max_latency_ms = present(load->max_latency_ms),
        .permille = load->permille,
        .concurrency = load->concurrency,
        .stabilization_ms = inputs->stabilization_ms,
        .min_throughput = rate_text(arena, load->min_throughput),
        .request_rate = rate_text(arena, load->request_rate),
        .service_rate = rate_text(arena, load->service_rate),
        .request_rate_source = sources[inputs->request_rate_source],
        .service_rate_source = sources[inputs->service_rate_source],
        .has_sla = truth(inputs->has_sla),
        .metrics_lost = truth(inputs->metrics_lost),
        .unscraped = present(inputs->unscraped),
        .previous = present(inputs->previous),
        .fewer_since_ms = inputs->fewer_since_ms,
        .fewer = present(inputs->fewer),
    };
}

static int64_t bounded(int64_t number, int64_t most)
{
    return known(number) < most ? known(number) : most;
}

struct sla_inputs scaling_inputs_of(const struct scaling *scaling)
{
    const struct scaling_inputs *of = &scaling->inputs;

    return (struct sla_inputs){
        .load = { .request_rate = rate_of(of->request_rate),
                  .service_rate = rate_of(of->service_rate),
                  .concurrency = bounded(of->concurrency, SLA_CONCURRENCY_MAX),
                  .max_latency_ms = known(of->max_latency_ms),
                  .permille = known(of->permille),
                  .min_throughput = rate_of(of->min_throughput) },
        .request_rate_source = source_of(of->request_rate_source),
        .service_rate_source = source_of(of->service_rate_source),
        .has_sla = of->has_sla == CONDITION_TRUE,
        .metrics_lost = of->metrics_lost == CONDITION_TRUE,
        .unscraped = known(of->unscraped),
        .spec_replicas = bounded(of->replicas, SLA_REPLICAS_MAX),
        .min_replicas = bounded(of->min_replicas, SLA_REPLICAS_MAX),
        .max_replicas = known(of->max_replicas),
        .gpus_per_replica = known(of->gpus_per_replica),
        .gpu_budget = known(of->gpu_budget),
        .stabilization_ms = known(of->stabilization_ms),
        .now_ms = scaling->decided_ms,
        .previous = known(of->previous),
        .fewer_since_ms = of->fewer_since_ms,
        .fewer = known(of->fewer),
    };
}

struct scaling scaling_decide(struct arena *arena, const struct sla_inputs *inputs,
                              int64_t generation)
{
    struct sla_inputs whole = *inputs;
    struct sla_decision decision;

    whole.now_ms -= whole.now_ms % 1000;
    decision = sla_decide(&whole);
    return (struct scaling){
        .replicas = decision.replicas,
        .reason = reasons[decision.reason].name,
        .message = reasons[decision.reason].sentence,
        .decided_ms = whole.now_ms,
        .generation = generation,
        .fewer_since_ms = decision.fewer_since_ms,
        .fewer = present(decision.fewer),
        .inputs = stored(arena, &whole),
    };
}

bool scaling_equal(const struct scaling *a, const struct scaling *b)
{
    return a->replicas == b->replicas && a->generation == b->generation &&
           str_eq(a->reason, b->reason) && a->fewer_since_ms == b->fewer_since_ms &&
           known(a->fewer) == known(b->fewer);
}

static void set_condition(struct kube_conditions *conditions, const struct scaling *scaling,
                          const char *type, bool holds, int64_t now_ms)
{
    kube_condition_set(conditions,
                       (struct kube_condition){ .type = str_of(type),
                                                .status = holds ? CONDITION_TRUE : CONDITION_FALSE,
                                                .reason = scaling->reason,
                                                .message = scaling->message,
                                                .observed_generation = scaling->generation },
                       now_ms);
}

void scaling_set_conditions(const struct scaling *scaling, struct kube_conditions *conditions,
                            int64_t now_ms)
{
    for (int i = 0; i < SLA_REASONS; i++)
        if (str_eq(reasons[i].name, scaling->reason)) {
            set_condition(conditions, scaling, "ScalingActive", reasons[i].active, now_ms);
            set_condition(conditions, scaling, "ScalingLimited", reasons[i].limited, now_ms);
        }
}
