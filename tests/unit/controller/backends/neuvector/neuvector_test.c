/* SPDX-License-Identifier: Apache-2.0 */
/* neuvector_test.c: the observer as passes see it, on a scripted NeuVector: asked by its own timer,
 * answered from memory, told once when something changed. */
#include "support/rows.h"
#include "support/folder.h"
#include "support/loopback.h"
#include "support/observed_builder.h"
#include "support/scripted_api.h"

#include "controller/backends/neuvector/neuvector.h"
#include "controller/limits.h"

#include <sys/mman.h>
#include <unistd.h>

#define SERVICE "/services/https:neuvector-svc-controller-api:10443/proxy"
#define WORKLOADS(summary)                                                                         \
    "{\"workloads\":[{\"brief\":{\"id\":\"c1\",\"domain\":\"db\",\"image\":\"db:1\",\"image_id\":" \
    "\"i1\",\"service\":\"db.db\"},\"security\":{\"policy_mode\":\"Discover\",\"scan_summary\":"   \
    summary "}}]}"
#define FINISHED(high)                                                                             \
    WORKLOADS("{\"status\":\"finished\",\"critical\":0,\"high\":" high                             \
              ",\"medium\":0,\"scanned_timestamp\":5}")

struct fixture {
    struct arena *arena;
    const char *folder;
    struct scripted_api *api;
    struct loop *loop;
    struct kube_client *kube;
    struct connection *connection;
    struct neuvector *neuvector;
    struct log *log;
    int log_fd;
    const struct observer *observer;
    struct observer_events events;
    struct scene scene;
    struct observed_cluster *cluster;
    bool told;
    uint32_t times;
};

static void on_changed(void *context, struct str id)
{
    (void)context, (void)id;
}

static void on_trouble(void *context, struct str id, const struct error *error)
{
    (void)context, (void)id, (void)error;
}

static void on_stack(void *context, struct str stack)
{
    struct fixture *f = context;

    rows_expect_str("of the Stack that wants it", stack, STR("team/shop"));
    f->told = true;
    f->times++;
}

#define PODS(items, meta)                                                                          \
    "{\"metadata\":{" meta "},\"items\":[{\"metadata\":{\"name\":\"db-5d-x\",\"namespace\":\"db\","    \
    "\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"db-5d\",\"controller\":true}]},"         \
    "\"status\":{\"containerStatuses\":[" items "]}}]}"
#define REFUSED(port)                                                                              \
    "{\"kind\":\"Status\",\"message\":\"read tcp 10.0.0.1:" port ": connection refused\"}"
#define CONTAINER                                                                                  \
    "{\"containerID\":\"containerd://c1\",\"image\":\"db:1\",\"state\":{\"running\":{}}}"

static void say(struct fixture *f, const char *method, const char *piece, int status,
                const char *body)
{
    scripted_api_say(f->api, method, piece, status, body);
}

static void set_up_with(struct fixture *f, const char *pods)
{
    *f = (struct fixture){ .arena = arena_create(0) };
    f->folder = folder_create(f->arena);
    folder_put(folder_name(f->arena, f->folder, "api-key"), STR("herd:secret"), 0600);
    f->api = scripted_api_create();
    f->loop = loop_create();
    f->kube = scripted_api_client(f->api, (struct kube_client_options){ .loop = f->loop });
    f->connection = connection_create(&(struct connection_options){
        .requests = f->kube, .watches = f->kube, .id = STR("a"), .changed = on_changed,
        .trouble = on_trouble, .idle = on_changed, .context = f });
    f->log_fd = memfd_create("log", 0);
    f->log = log_create(f->log_fd, LOG_INFO, LOG_TEXT, system_clock(), "test");
    f->neuvector = neuvector_create(
        &(struct neuvector_options){ .folder = f->folder, .interval_ms = 60, .seed = 1, .log = f->log });
    f->observer = neuvector_observer(f->neuvector);
    f->events = (struct observer_events){ .stack_changed = on_stack, .context = f };
    f->observer->open(f->observer->context, f->connection, &f->events);
    f->scene = a_scene(f->arena, "db", "\"security\":\"enabled\"");
    scene_play(&f->scene, "cluster a; app db@a deployed 1");
    f->cluster = &f->scene.observed.clusters.items[0];
    f->cluster->releases.items[0].workloads = STR("Deployment/db/db ");
    f->cluster->releases.items[0].manifest_workloads = f->cluster->releases.items[0].workloads;
    say(f, "GET", "labelSelector", 200,
        "{\"items\":[{\"metadata\":{\"name\":\"nv-1\",\"namespace\":\"nv\"},\"status\":{\"conditions\":["
        "{\"type\":\"Ready\",\"status\":\"True\"}]}}]}");
    say(f, "GET", "/api/v1/namespaces/db/pods", 200, pods);
    say(f, "GET", "/v1/system/summary", 200, "{\"summary\":{\"scanners\":1}}");
    say(f, "GET", "/v1/scan/workload/c1", 200,
        "{\"report\":{\"vulnerabilities\":[{\"name\":\"CVE-1\",\"severity\":\"High\"}]}}");
    say(f, "POST", "/v1/scan/workload/c1", 200, "");
}

static void set_up(struct fixture *f)
{
    set_up_with(f, PODS(CONTAINER, ""));
}

static void tear_down(struct fixture *f)
{
    f->observer->close(f->observer->context, STR(""));
    connection_free(f->connection);
    kube_client_free(f->kube);
    neuvector_free(f->neuvector);
    loop_free(f->loop);
    scripted_api_free(f->api);
    log_free(f->log);
    close(f->log_fd);
    folder_remove(f->folder);
    arena_free(f->arena);
}

/* A pass; what it observed is in the scene. */
static void pass(struct fixture *f)
{
    f->cluster->releases.items[0].scans = (struct observed_scans){ .known = false };
    f->observer->observe(f->observer->context, STR("a"), f->arena, STR("team/shop"),
                         f->scene.stack, loop_now_ms(f->loop), f->cluster);
}

static void wait_for_news(struct fixture *f)
{
    f->told = false;
    loopback_run_until(f->loop, &f->told);
    pass(f);
}

static const struct observed_scans *scans(const struct fixture *f)
{
    return &f->cluster->releases.items[0].scans;
}

static void what_scans_find_is_observed(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    say(&f, "GET", "/v2/workload", 200, WORKLOADS("{\"status\":\"\"}"));
    say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
    pass(&f);
    rows_expect("nothing is known at once", !scans(&f)->known, "known");
    rows_expect("nor was anything asked", f.cluster->scans_starting, "starting");
    wait_for_news(&f);
    rows_expect_int("queued, and requested", scans(&f)->images.items[0].scan, IMAGE_QUEUED);
    rows_expect_int("requested", scripted_api_count(f.api, "POST", "/v1/scan/workload/c1"), 1);
    wait_for_news(&f);
    rows_expect_int("scanned", scans(&f)->images.items[0].scan, IMAGE_SCANNED);
    rows_expect_int("high", scans(&f)->images.items[0].findings.high, 2);
    rows_expect_str("the worst", scans(&f)->images.items[0].findings.worst->list.items[0].cve,
                    STR("CVE-1"));
    rows_expect_int("told twice", f.times, 2);
    scripted_api_run_until(f.api, f.loop, "GET", "/v2/workload", 5);
    rows_expect_int("and no more while nothing changes", f.times, 2);
    f.cluster->releases.items[0].revision++;
    pass(&f);
    rows_expect("of another revision nothing is known", !scans(&f)->known, "known");
    tear_down(&f);
}

/* It is not held, and what is cut off or too large is no news. */
static void a_report_that_is_cut_off_changes_no_number(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
    say(&f, "GET", "/v2/workload", 200, FINISHED("3"));
    say(&f, "GET", "/v1/scan/workload/c1", 200,
        "{\"report\":{\"vulnerabilities\":[{\"name\":\"CVE-2\",\"severity\":\"Critical\"},");
    pass(&f);
    wait_for_news(&f);
    rows_expect_int("counted", scans(&f)->images.items[0].findings.high, 2);
    wait_for_news(&f);
    rows_expect_int("counted anew", scans(&f)->images.items[0].findings.high, 3);
    rows_expect_int("and nothing of what was cut off", scans(&f)->images.items[0].findings.critical,
                    0);
    rows_expect_int("which is told", scans(&f)->images.items[0].findings.report, REPORT_UNREADABLE);
    rows_expect_str("the list of before stands",
                    scans(&f)->images.items[0].findings.worst->list.items[0].cve, STR("CVE-1"));
    rows_expect_str("the Stack says so", f.cluster->scan_reason, STR("NeuVectorUnexpectedResponse"));
    tear_down(&f);
}

#define CHECKS "/compliance"
#define FAILS(number)                                                                              \
    "{\"run_timestamp\":1,\"items\":[{\"test_number\":\"" number "\",\"level\":\"WARN\"}]}"
#define DENIED "{\"code\":25,\"error\":\"Object access denied\",\"message\":\"Object access denied\"}"

static void checks_that_cannot_be_read_take_nothing_away(void **state)
{
    static const struct {
        const char *row;
        int status;
        const char *body, *reason;
    } rows[] = {
        { "the role may not", 403, DENIED, "NeuVectorPermissionDenied" },
        { "an answer that is none", 200, "{}", "NeuVectorUnexpectedResponse" },
        { "one that is cut off", 200, "{\"run_timestamp\":2,\"items\":[", "NeuVectorUnexpectedResponse" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up(&f);
        say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
        say(&f, "GET", CHECKS, 200, FAILS("D.1"));
        say(&f, "GET", CHECKS, rows[i].status, rows[i].body);
        pass(&f);
        wait_for_news(&f);
        rows_expect_str("read", scans(&f)->images.items[0].failed_checks->list.items[0].number, STR("D.1"));
        wait_for_news(&f);
        rows_expect_str(rows[i].row, f.cluster->checks_reason, str_of(rows[i].reason));
        rows_expect_str("nothing is wrong with scans", f.cluster->scan_reason, STR(""));
        rows_expect_int("what was read stands", scans(&f)->images.items[0].failed_checks->list.count, 1);
        rows_expect_int("and what scans found", scans(&f)->images.items[0].findings.high, 2);
        scripted_api_run_until(f.api, f.loop, "GET", CHECKS, 5);
        rows_expect_int("told once", f.times, 2);
        tear_down(&f);
    }
}

/* Looks come sooner while something is awaited: the others are asked for then, and none twice. */
static void a_look_asks_for_the_checks_of_few(void **state)
{
    enum { CONTAINERS = 30, OF_ONE_LOOK = 20 };
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf pods = strbuf_new(arena, 4096), workloads = strbuf_new(arena, 4096);
    struct fixture f;

    (void)state;
    for (int i = 0; i < CONTAINERS; i++) {
        strbuf_fmt(&pods, "%s{\"containerID\":\"containerd://c%d\",\"image\":\"db:1\",\"state\":{\"running\":{}}}",
                   i ? "," : "", i);
        strbuf_fmt(&workloads,
                   "%s{\"brief\":{\"id\":\"c%d\",\"domain\":\"db\",\"image\":\"db:1\",\"image_id\":\"i%d\"},"
                   "\"security\":{\"scan_summary\":{\"status\":\"finished\",\"critical\":0,\"high\":0,"
                   "\"medium\":0,\"scanned_timestamp\":5}}}",
                   i ? "," : "", i, i);
    }
    set_up_with(&f, str_fmt(arena, PODS("%.*s", ""), STR_ARG(strbuf_str(&pods))).at);
    say(&f, "GET", "/v2/workload", 200,
        str_fmt(arena, "{\"workloads\":[%.*s]}", STR_ARG(strbuf_str(&workloads))).at);
    say(&f, "GET", CHECKS, 200, FAILS("D.1"));
    pass(&f);
    wait_for_news(&f);
    rows_expect_int("one look", scripted_api_count(f.api, "GET", CHECKS), OF_ONE_LOOK);
    rows_expect("the others", scans(&f)->images.items[CONTAINERS - 1].checks_pending ||
                                  scans(&f)->images.items[9].checks_pending, "are awaited");
    wait_for_news(&f);
    for (int i = 0; i < CONTAINERS; i++)
        rows_expect("all were asked", scans(&f)->images.items[i].failed_checks != NULL, "and told");
    tear_down(&f);
}

#define NO_RULES "{\"rules\":[]}"
#define STATE(enable) "{\"state\":{\"enable\":" enable ",\"mode\":\"monitor\"}}"
#define OURS                                                                                       \
    "{\"rules\":[{\"id\":1001,\"comment\":\"herd:uid-1\",\"cfg_type\":\"user_created\",\"rule_type\":"   \
    "\"deny\",\"rule_mode\":\"monitor\",\"criteria\":[{\"name\":\"namespace\",\"op\":\"containsAny\","     \
    "\"value\":\"db\"},{\"name\":\"cveCriticalCount\",\"op\":\">=\",\"value\":\"1\"}]}]}"

static void wants_admission(struct fixture *f, struct stack *stack)
{
    *stack = *f->scene.stack;
    stack->spec.security_profile.admission = ADMISSION_MODE_MONITOR;
    f->scene.stack = stack;
    say(f, "GET", "/v2/workload", 200, FINISHED("2"));
    say(f, "GET", "/v1/response/rule", 200, NO_RULES);
    say(f, "POST", "/v1/admission/rule", 200, "{\"rule\":{\"id\":1001}}");
    say(f, "DELETE", "/v1/admission/rule", 200, "");
}

static void rules_are_made_and_deleted_with_the_stack(void **state)
{
    struct fixture f;
    struct stack stack;

    (void)state;
    set_up(&f);
    wants_admission(&f, &stack);
    say(&f, "GET", "/v1/admission/state", 200, STATE("true"));
    say(&f, "GET", "/v1/admission/rules", 200, "{\"rules\":[]}");
    say(&f, "GET", "/v1/admission/rules", 200, OURS);
    pass(&f);
    wait_for_news(&f);
    rows_expect_str("all is well", f.cluster->rules_reason, STR(""));
    scripted_api_run_until(f.api, f.loop, "GET", "/v1/admission/rules", 4);
    rows_expect_int("made once", scripted_api_count(f.api, "POST", "/v1/admission/rule"), 1);
    rows_expect_str("it does not leave", f.cluster->left_message, STR(""));
    stack.meta.deletion_timestamp = STR("2026-11-23T10:00:00Z");
    pass(&f);
    rows_expect("the Stack waits",
                str_starts(f.cluster->left_message,
                           STR("deleting the Stack's rules in NeuVector on cluster a")),
                f.cluster->left_message.at);
    scripted_api_run_until(f.api, f.loop, "DELETE", "/v1/admission/rule/1001", 1);
    say(&f, "GET", "/v1/admission/rules", 200, "{\"rules\":[]}");
    wait_for_news(&f);
    f.cluster->left_reason = STR("");
    pass(&f);
    rows_expect_str("until none is there", f.cluster->left_reason, STR(""));
    tear_down(&f);
}

static void trouble_with_rules_is_no_trouble_with_scans(void **state)
{
    static const struct {
        const char *row;
        int state_status, list_status;
        const char *state, *reason, *says;
    } rows[] = {
        { "switched off", 200, 200, STATE("false"), "NeuVectorAdmissionDisabled", "Herd does not switch it on" },
        { "the role may not", 403, 200, DENIED, "NeuVectorPermissionDenied", "admctrl (read)" },
        { "a document of something else", 200, 200, "{}", "NeuVectorUnexpectedResponse", "whether admission control is enabled" },
        { "the list may not be read", 200, 403, STATE("true"), "NeuVectorPermissionDenied", "admctrl (read)" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct stack stack;

        set_up(&f);
        wants_admission(&f, &stack);
        say(&f, "GET", "/v1/admission/state", rows[i].state_status, rows[i].state);
        say(&f, "GET", "/v1/admission/rules", rows[i].list_status, rows[i].list_status == 200 ? "{\"rules\":[]}" : DENIED);
        pass(&f);
        wait_for_news(&f);
        rows_expect_str(rows[i].row, f.cluster->rules_reason, str_of(rows[i].reason));
        rows_expect(rows[i].row, str_find(f.cluster->rules_message, str_of(rows[i].says), 0) >= 0, f.cluster->rules_message.at);
        rows_expect_str("nothing is wrong with scans", f.cluster->scan_reason, STR(""));
        rows_expect_int("and what they found is there", scans(&f)->images.items[0].findings.high, 2);
        tear_down(&f);
    }
}

#define RESPONSE_RULE "/v1/response/rule"
#define DISABLED                                                                                   \
    "{\"rules\":[{\"id\":8,\"event\":\"security-event\",\"comment\":\"herd:uid-1\",\"group\":"     \
    "\"nv.db.db\",\"conditions\":[{\"type\":\"level\",\"value\":\"Critical\"}],\"actions\":["      \
    "\"quarantine\"],\"webhooks\":[],\"disable\":true,\"cfg_type\":\"user_created\"}]}"

/* The group is that of the service that NeuVector says the container is of. */
static void what_response_rules_come_to_is_told(void **state)
{
    static const struct {
        const char *row;
        int list_status, insert_status;
        const char *list, *inserted, *reason, *says;
        int inserts;
    } rows[] = {
        { "made", 200, 200, NO_RULES, "", "", "", 2 },
        { "refused, and the next one is tried all the same", 200, 400, NO_RULES,
          "{\"code\":6,\"error\":\"Request in wrong format\",\"message\":\"Group nv.db.db is not "
          "found\"}",
          "NeuVectorRuleRejected",
          "rejects one of the Stack's response rules: Group nv.db.db is not found", 2 },
        { "somebody disabled one", 200, 200, DISABLED, "", "NeuVectorRuleDisabled",
          "Herd does not enable it", 1 },
        { "the role may not read them", 403, 200, DENIED, "", "NeuVectorPermissionDenied",
          "rt_policy (read)", 0 },
        { "or not make them", 200, 403, NO_RULES, DENIED, "NeuVectorPermissionDenied",
          "rt_policy (write)", 1 },
        { "a document of something else", 200, 200, "{}", "", "NeuVectorUnexpectedResponse",
          "no list of response rules", 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct stack stack;

        set_up(&f);
        stack = *f.scene.stack;
        stack.spec.security_profile.response.quarantine = TOGGLE_ENABLED;
        f.scene.stack = &stack;
        say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
        say(&f, "GET", "/v1/admission/rules", 200, NO_RULES);
        say(&f, "GET", RESPONSE_RULE, rows[i].list_status, rows[i].list);
        say(&f, "PATCH", RESPONSE_RULE, rows[i].insert_status, rows[i].inserted);
        pass(&f);
        wait_for_news(&f);
        rows_expect_str(rows[i].row, f.cluster->rules_reason, str_of(rows[i].reason));
        rows_expect(rows[i].row, str_find(f.cluster->rules_message, str_of(rows[i].says), 0) >= 0,
                    f.cluster->rules_message.at);
        rows_expect_int(rows[i].row, scripted_api_count(f.api, "PATCH", RESPONSE_RULE),
                        rows[i].inserts);
        rows_expect_int("the switch of admission rules is nobody's question",
                        scripted_api_count(f.api, "GET", "/v1/admission/state"), 0);
        rows_expect_str("nothing is wrong with scans", f.cluster->scan_reason, STR(""));
        tear_down(&f);
    }
}

static void without_compliance_no_checks_are_asked_for(void **state)
{
    struct fixture f;
    struct stack stack;

    (void)state;
    set_up(&f);
    stack = *f.scene.stack;
    stack.spec.security_profile.compliance = TOGGLE_DISABLED;
    f.scene.stack = &stack;
    say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
    say(&f, "GET", CHECKS, 200, FAILS("D.1"));
    pass(&f);
    wait_for_news(&f);
    scripted_api_run_until(f.api, f.loop, "GET", "/v2/workload", 4);
    rows_expect_int("in no look", scripted_api_count(f.api, "GET", CHECKS), 0);
    rows_expect("nothing is known", !scans(&f)->images.items[0].failed_checks, "of them");
    stack.spec.security_profile.compliance = TOGGLE_ENABLED;
    pass(&f);
    wait_for_news(&f);
    rows_expect("enabled", scans(&f)->images.items[0].failed_checks != NULL, "they are");
    tear_down(&f);
}

static void one_lost_answer_is_no_news(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
    say(&f, "GET", "/v2/workload", 200, "{\"workloads\":[");
    say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
    say(&f, "GET", "/v2/workload", 200, "{\"workloads\":[");
    say(&f, "GET", "/v2/workload", 200, "{\"workloads\":[");
    pass(&f);
    wait_for_news(&f);
    rows_expect_int("scanned", scans(&f)->images.items[0].findings.high, 2);
    wait_for_news(&f);
    rows_expect("all answers until then were asked for",
                scripted_api_count(f.api, "GET", "/v2/workload") >= 5, "five");
    rows_expect_str("two in a row are", f.cluster->scan_reason,
                    STR("NeuVectorUnexpectedResponse"));
    rows_expect("it does not answer", !f.cluster->scanner_answers, "answers");
    rows_expect_int("and the number stands", scans(&f)->images.items[0].findings.high, 2);
    tear_down(&f);
}

static void a_trouble_is_told_once_whatever_port_it_names(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    say(&f, "GET", "/v2/workload", 503, REFUSED("40001"));
    say(&f, "GET", "/v2/workload", 503, REFUSED("40002"));
    say(&f, "GET", "/v2/workload", 503, REFUSED("40003"));
    say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
    pass(&f);
    wait_for_news(&f);
    rows_expect("the first words", str_find(f.cluster->scan_message, STR("40001"), 0) >= 0,
                f.cluster->scan_message.at);
    wait_for_news(&f);
    rows_expect_str("until it answers", f.cluster->scan_reason, STR(""));
    rows_expect_int("told twice", f.times, 2);
    tear_down(&f);
}

/* How often the log has these words. */
static uint32_t logged(int fd, const char *words)
{
    static char text[65536];
    ssize_t len = pread(fd, text, sizeof(text), 0);
    struct str rest = str_make(text, len > 0 ? (size_t)len : 0);
    uint32_t count = 0;

    for (ptrdiff_t at; (at = str_find(rest, str_of(words), 0)) >= 0; count++)
        rest = str_slice(rest, (size_t)at + 1, rest.len);
    return count;
}

static void trouble_is_logged_when_it_begins_and_ends(void **state)
{
    struct fixture f;

    (void)state;
    set_up(&f);
    say(&f, "GET", "/v2/workload", 503, REFUSED("40001"));
    say(&f, "GET", "/v2/workload", 503, REFUSED("40002"));
    say(&f, "GET", "/v2/workload", 503, REFUSED("40003"));
    say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
    pass(&f);
    wait_for_news(&f);
    wait_for_news(&f);
    rows_expect_str("it is over", f.cluster->scan_reason, STR(""));
    rows_expect_int("it began", logged(f.log_fd, "scans of a cluster are not known"), 1);
    rows_expect_int("there", logged(f.log_fd, "cluster=a reason=NeuVectorUnreachable"), 1);
    rows_expect_int("and ended", logged(f.log_fd, "scans of a cluster are known again"), 1);
    tear_down(&f);
    set_up(&f);
    say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
    pass(&f);
    wait_for_news(&f);
    rows_expect_int("all is well", logged(f.log_fd, "scans of a cluster"), 0);
    tear_down(&f);
}

static void a_folder_that_is_none_is_logged(void **state)
{
    static const struct {
        const char *row, *folder; /* in that of the test; NULL = none is named */
        const char *says;
    } rows[] = {
        { "it is not there", "missing", "there is no folder" },
        { "it is a file", "api-key", "is no folder" },
        { "it is there", "", "" },
        { "none is wanted", NULL, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        struct neuvector *other;

        set_up(&f);
        other = neuvector_create(&(struct neuvector_options){
            .folder = rows[i].folder ? folder_name(f.arena, f.folder, rows[i].folder) : "",
            .interval_ms = 60, .log = f.log });
        rows_expect_int(rows[i].row, logged(f.log_fd, "credentials for NeuVector not read"), rows[i].says[0] != 0);
        if (rows[i].says[0])
            rows_expect_int("as what it is", logged(f.log_fd, rows[i].says), 1);
        neuvector_free(other);
        tear_down(&f);
    }
}

static void a_look_is_bounded(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf many = strbuf_new(arena, 4096);
    const char *rows[][2] = {
        { "pages without end", PODS(CONTAINER, "\"continue\":\"more\"") },
        { "containers without end", NULL },
    };

    (void)state;
    for (int i = 0; i < LIMIT_SCAN_CONTAINERS; i++)
        strbuf_lit(&many, CONTAINER ",");
    rows[1][1] = str_fmt(arena, PODS("%.*s" CONTAINER, ""), STR_ARG(strbuf_str(&many))).at;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;

        set_up_with(&f, rows[i][1]);
        say(&f, "GET", "/v2/workload", 200, FINISHED("2"));
        pass(&f);
        wait_for_news(&f);
        rows_expect_str(rows[i][0], f.cluster->scan_reason, STR("NeuVectorUnexpectedResponse"));
        rows_expect("it says what there is too much of",
                    str_find(f.cluster->scan_message, STR("than Herd reads"), 0) >= 0,
                    f.cluster->scan_message.at);
        tear_down(&f);
    }
}

static void stop(void *context)
{
    loop_stop(context);
}

static void who_wants_nothing_is_asked_nothing(void **state)
{
    struct fixture f;
    uint32_t asked;

    (void)state;
    set_up(&f);
    say(&f, "GET", "/v2/workload", 200, FINISHED("0"));
    pass(&f);
    wait_for_news(&f);
    f.observer->forget(f.observer->context, STR("team/shop"));
    asked = scripted_api_count(f.api, "GET", "/");

    struct loop_timer *timer = loop_timer_create(f.loop, stop, f.loop);

    loop_timer_set(timer, 300);
    loop_run(f.loop);
    loop_timer_free(timer);
    rows_expect_int("no request in five intervals", scripted_api_count(f.api, "GET", "/"), asked);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_scans_find_is_observed),
        cmocka_unit_test(a_report_that_is_cut_off_changes_no_number),
        cmocka_unit_test(checks_that_cannot_be_read_take_nothing_away),
        cmocka_unit_test(a_look_asks_for_the_checks_of_few),
        cmocka_unit_test(rules_are_made_and_deleted_with_the_stack),
        cmocka_unit_test(trouble_with_rules_is_no_trouble_with_scans),
        cmocka_unit_test(what_response_rules_come_to_is_told),
        cmocka_unit_test(without_compliance_no_checks_are_asked_for),
        cmocka_unit_test(one_lost_answer_is_no_news),
        cmocka_unit_test(a_trouble_is_told_once_whatever_port_it_names),
        cmocka_unit_test(trouble_is_logged_when_it_begins_and_ends),
        cmocka_unit_test(a_folder_that_is_none_is_logged),
        cmocka_unit_test(a_look_is_bounded),
        cmocka_unit_test(who_wants_nothing_is_asked_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
