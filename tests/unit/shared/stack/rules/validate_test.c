/* SPDX-License-Identifier: Apache-2.0 */
/* validate_test.c: every rule on both sides: what it lets pass and what it finds. */
#include "support/rows.h"

#include "stack/model/default.h"
#include "stack/model/limits.h"
#include "support/stack_builder.h"

struct row {
    const char *says;
    const char *targets; /* NULL: one cluster id */
    const char *charts;  /* NULL: one good chart named db */
    const char *spec;    /* further members, NULL: none */
    const char *found;
    const char *message; /* part of the first finding's message or remedy; NULL: not looked at */
};

#define ONE(more) "{\"name\":\"db\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\"" more "}"
#define REPO(url) "{\"name\":\"db\",\"repo\":\"" url "\",\"version\":\"1.0.0\"}"
#define VERSION(text) "{\"name\":\"db\",\"repo\":\"https://x.io\",\"version\":\"" text "\"}"
#define NAMED(name, more)                                                                          \
    "{\"name\":\"" name "\",\"repo\":\"https://x.io\",\"version\":\"1.0.0\"" more "}"
#define LABELS(labels) "{\"selector\":{\"matchLabels\":{" labels "}}}"
#define EXPRESSION(text) "{\"selector\":{\"matchExpressions\":[" text "]}}"
#define GPU(map) ",\"values\":{\"inline\":{\"resources\":{" map "}}}"
#define LONG54 "a2345678901234567890123456789012345678901234567890123"

static const struct row shape_rows[] = {
    { "a good Stack", NULL, NULL, NULL, "", NULL },
    { "an env", NULL, NULL, "\"env\":\"pre-prod.2\"", "", NULL },
    { "an env that is no label value", NULL, NULL, "\"env\":\"a b\"", "!shape.env spec.env", "\"a b\": must be empty or" },
    { "an oci repository with a port", NULL, REPO("oci://registry.local:5000/charts"), NULL, "", NULL },
    { "a repository on an IPv6 address", NULL, REPO("https://[fd00::1]:8443/x"), NULL, "", NULL },
    { "a repository on loopback", NULL, REPO("https://127.0.0.1:8443/x"), NULL, "!shape.repo-host spec.charts[0].repo",
      "Forbidden: \"127.0.0.1\" is a loopback address; use an address that clusters reach over the network; an administrator may allow a host with allowRepoHosts" },
    { "written as one number", NULL, REPO("oci://2130706433/x"), NULL, "!shape.repo-host spec.charts[0].repo", "\"2130706433\"" },
    { "as IPv6", NULL, REPO("https://[::ffff:127.0.0.1]"), NULL, "!shape.repo-host spec.charts[0].repo", "loopback" },
    { "by name", NULL, REPO("https://charts.localhost."), NULL, "!shape.repo-host spec.charts[0].repo", "loopback" },
    { "on the metadata service of a cloud", NULL, REPO("https://169.254.169.254/latest"), NULL, "!shape.repo-host spec.charts[0].repo",
      "the metadata service of a cloud" },
    { "also of another scheme", NULL, REPO("ftp://localhost"), NULL, "!shape.repo spec.charts[0].repo; !shape.repo-host spec.charts[0].repo", NULL },
    { "a bracket around no address", NULL, REPO("https://[x]/x"), NULL, "!shape.repo spec.charts[0].repo", "must be a URL with a host" },
    { "plain http", NULL, REPO("http://x.io"), NULL, "!shape.repo spec.charts[0].repo", "not encrypted" },
    { "another scheme", NULL, REPO("ftp://x.io"), NULL, "!shape.repo spec.charts[0].repo", "must begin with https:// or oci://" },
    { "no scheme", NULL, REPO("x.io/charts"), NULL, "!shape.repo spec.charts[0].repo", "must begin with https:// or oci://" },
    { "a scheme in capitals", NULL, REPO("HTTPS://x.io"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "no host", NULL, REPO("https://"), NULL, "!shape.repo spec.charts[0].repo", "must be a URL with a host" },
    { "only a path", NULL, REPO("https:///x"), NULL, "!shape.repo spec.charts[0].repo", "must be a URL with a host" },
    { "a port that is none", NULL, REPO("https://x.io:99999"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "port zero", NULL, REPO("https://x.io:0"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "an empty port", NULL, REPO("https://x.io:"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "a bracket that does not close", NULL, REPO("https://[fd00::1"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "an empty bracket", NULL, REPO("https://[]/x"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "something behind the bracket", NULL, REPO("https://[::1]x/y"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "a host with an underscore", NULL, REPO("https://a_b.io"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "a host that begins with a dot", NULL, REPO("https://.io"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "a backslash in the path", NULL, REPO("https://x.io/a\\\\b"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "a host that begins with a dash", NULL, REPO("https://-x.io"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "a blank in the path", NULL, REPO("https://x.io/a b"), NULL, "!shape.repo spec.charts[0].repo", NULL },
    { "a query", NULL, REPO("https://x.io/?token=1"), NULL, "!shape.repo spec.charts[0].repo", "query" },
    { "a fragment", NULL, REPO("https://x.io/#a"), NULL, "!shape.repo spec.charts[0].repo", "fragment" },
    { "a password", NULL, REPO("https://u:p@x.io"), NULL, "!shape.repo-credentials spec.charts[0].repo", "user name" },
    { "a password hides no host", NULL, REPO("https://u:p@q@169.254.169.254/x"), NULL,
      "!shape.repo-credentials spec.charts[0].repo; !shape.repo-host spec.charts[0].repo", "user name" },
    { "an '@' in the path is no password", NULL, REPO("https://x.io/@scope"), NULL, "", NULL },
    { "a version with v", NULL, VERSION("v1.2.3-rc.1+b"), NULL, "", NULL },
    { "a range", NULL, VERSION(">=1.2, <2 || 3.x"), NULL, "", NULL },
    { "a range with nothing in it", NULL, VERSION(">2, <1"), NULL, "!shape.empty-range spec.charts[0].version", "\">2, <1\": must include at least one version" },
    { "one that has something in its second half", NULL, VERSION(">2, <1 || 3.x"), NULL, "", NULL },
    { "no version", NULL, VERSION("latest"), NULL, "!shape.version spec.charts[0].version", "\"latest\"" },
    { "capitals in a name; what follows is not told", NULL, NAMED("DB", ""), NULL, "!shape.chart-name spec.charts[0].name", "\"DB\"" },
    { "a chart's name in its repository", NULL, ONE(",\"chart\":\"Qdrant_2.x\""), NULL, "", NULL },
    { "a path for a chart's name", NULL, ONE(",\"chart\":\"../x\""), NULL, "!shape.chart-name spec.charts[0].chart", "alone" },
    { "one name twice; its release is not told", NULL, ONE("") "," ONE(""), NULL, "!shape.duplicate-chart spec.charts[1].name", "\"db\"" },
    { "a namespace with a dot", NULL, ONE(",\"namespace\":\"a.b\""), NULL, "!shape.namespace spec.charts[0].namespace", "\"a.b\"" },
    { "a namespace of the system", NULL, ONE(",\"namespace\":\"kube-system\""), NULL, "!shape.protected-namespace spec.charts[0].namespace", NULL },
    { "a namespace of Rancher", NULL, ONE(",\"namespace\":\"cattle-anything\""), NULL, "!shape.protected-namespace spec.charts[0].namespace", NULL },
    { "Herd's own namespace", NULL, ONE(",\"namespace\":\"herd-system\""), NULL, "!shape.protected-namespace spec.charts[0].namespace", NULL },
    { "a namespace that only sounds like it", NULL, ONE(",\"namespace\":\"kube-systems\""), NULL, "", NULL },
    { "a namespace by the chart's name", NULL, NAMED("kube-system", ""), NULL, "!shape.protected-namespace spec.charts[0].namespace", NULL },
    { "an empty namespace is told by decode alone", NULL, ONE(",\"namespace\":\"\""), NULL, "!shape.required spec.charts[0].namespace", NULL },
    { "an empty release name too", NULL, ONE(",\"releaseName\":\"\""), NULL, "!shape.required spec.charts[0].releaseName", NULL },
    { "a bad name with a namespace of its own", NULL, NAMED("DB", ",\"namespace\":\"a.b\",\"releaseName\":\"R\""), NULL,
      "!shape.chart-name spec.charts[0].name; !shape.namespace spec.charts[0].namespace; !shape.release-name spec.charts[0].releaseName", NULL },
    { "a release name", NULL, ONE(",\"releaseName\":\"a.b-c\""), NULL, "", NULL },
    { "a release name with capitals", NULL, ONE(",\"releaseName\":\"Db\""), NULL, "!shape.release-name spec.charts[0].releaseName", "\"Db\"" },
    { "a chart's name of 53 as release name", NULL, NAMED(LONG54, ""), NULL, "", NULL },
    { "one more", NULL, NAMED(LONG54 "x", ""), NULL, "!shape.release-name spec.charts[0].releaseName", "must have at most 53 bytes, not 54" },
    { "one release twice", NULL, NAMED("a", ",\"namespace\":\"n\",\"releaseName\":\"r\"") "," NAMED("b", ",\"namespace\":\"n\",\"releaseName\":\"r\""), NULL,
      "!shape.duplicate-release spec.charts[1].releaseName", "Duplicate value: \"n/r\": the charts a and b have the same release" },
    { "one release name in two namespaces", NULL, NAMED("a", ",\"releaseName\":\"r\"") "," NAMED("b", ",\"releaseName\":\"r\""), NULL, "", NULL },
    { "50 minutes", NULL, ONE(",\"timeout\":\"50m\""), NULL, "", NULL },
    { "a little more only warns", NULL, ONE(",\"timeout\":\"50m1s\""), NULL, "shape.long-timeout spec.charts[0].timeout", "\"50m1s\": must be at most 50m, because Rancher revokes the rights of a Helm operation after an hour" },
    { "more than can be is rejected, and not warned about as well", NULL, ONE(",\"timeout\":\"30h\""), NULL, "!shape.duration spec.charts[0].timeout", NULL },
    { "a ConfigMap's name", NULL, ONE(",\"values\":{\"configMapRefs\":[{\"name\":\"../x\"}]}"), NULL, "!shape.reference spec.charts[0].values.configMapRefs[0].name", NULL },
    { "a ConfigMap of each cluster", NULL, ONE(",\"values\":{\"configMapRefs\":[{\"name\":\"db-${cluster.id}\"}]}"), NULL, "", NULL },
    { "a name that is none beside the id", NULL, ONE(",\"values\":{\"configMapRefs\":[{\"name\":\"Db.${cluster.id}\"}]}"), NULL, "!shape.reference spec.charts[0].values.configMapRefs[0].name", NULL },
    { "an escape is no part of a name", NULL, ONE(",\"values\":{\"configMapRefs\":[{\"name\":\"db-$${cluster.id}\"}]}"), NULL, "!shape.reference spec.charts[0].values.configMapRefs[0].name", NULL },
    { "a label in a name", NULL, ONE(",\"values\":{\"secretRefs\":[{\"name\":\"db-${cluster.labels.env}\"}]}"), NULL, "!shape.placeholder spec.charts[0].values.secretRefs[0].name", "must not have a placeholder other than ${cluster.id}" },
    { "placeholders", NULL, ONE(",\"values\":{\"inline\":{\"a\":[\"${cluster.id} ${cluster.name} ${cluster.labels.a.b/c}\"]}}"), NULL, "", NULL },
    { "other shell text", NULL, ONE(",\"values\":{\"inline\":{\"a\":\"${HOME} ${cluster} $${cluster.x} $${1}\",\"${cluster.x}\":1}}"), NULL, "", NULL },
    { "one that stands for nothing", NULL, ONE(",\"values\":{\"inline\":{\"a\":{\"b.c\":[1,\"${cluster.x}\"]}}}"), NULL, "!shape.placeholder spec.charts[0].values.inline.a[b.c][1]", "\"${cluster.x}\": supported values: \"${cluster.id}\"" },
    { "one without an end", NULL, ONE(",\"values\":{\"inline\":{\"a\":\"x ${cluster.id\"}}"), NULL, "!shape.placeholder spec.charts[0].values.inline.a", "\"${cluster.id\"" },
    { "a label key that is none", NULL, ONE(",\"values\":{\"inline\":{\"a\":\"${cluster.labels.a b}\"}}"), NULL, "!shape.placeholder spec.charts[0].values.inline.a", NULL },
    { "in an override", NULL, ONE(""), "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"a\":\"${cluster.}\"},"
      "\"configMapRefs\":[{\"name\":\"../x\"}]}}]}]", "!shape.reference spec.overrides[0].charts[0].values.configMapRefs[0].name; "
      "!shape.placeholder spec.overrides[0].charts[0].values.inline.a", NULL },
    { "free values in an override are not taken any more", NULL, ONE(""), "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"db\",\"values\":{\"replicas\":3}}]}]",
      "!shape.unknown-field spec.overrides[0].charts[0].values.replicas", "put the chart's own values under values.inline" },
    { "a Secret's key", NULL, ONE(",\"values\":{\"secretRefs\":[{\"name\":\"x\",\"key\":\"a/b\"}]}"), NULL, "!shape.reference spec.charts[0].values.secretRefs[0].key", "a valid config key must" },
    { "good references", NULL, ONE(",\"values\":{\"secretRefs\":[{\"name\":\"x\",\"key\":\"a.yaml\"}]}"), NULL, "", NULL },
    { "dashboards", NULL, NULL, "\"observabilityProfile\":{\"dashboards\":[\"a/b\",\"herd-gpu\",\"herd-gpu\"]}",
      "!shape.dashboard spec.observabilityProfile.dashboards[0]; !shape.dashboard spec.observabilityProfile.dashboards[2]", NULL },
    { "dashboards that Herd has", NULL, NULL, "\"observabilityProfile\":{\"dashboards\":[\"ai-workloads\",\"herd-gpu\",\"herd-inference\",\"herd-platform\",\"herd-vector-db\"]}", "", NULL },
    { "one that it does not have", NULL, NULL, "\"observabilityProfile\":{\"dashboards\":[\"herd-gpus\"]}", "shape.unknown-dashboard spec.observabilityProfile.dashboards[0]", "(did you mean \"herd-gpu\"?)" },
    { "an override", NULL, NULL, "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"db\",\"version\":\"2.0.0\"}]}]", "", NULL },
    { "an override of no chart", NULL, NULL, "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"dB\"}]}]", "!shape.override-chart spec.overrides[0].charts[0].name", "did you mean \"db\"?" },
    { "an override of one chart twice", NULL, NULL, "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"db\"},{\"name\":\"db\"}]}]", "!shape.override-chart spec.overrides[0].charts[1].name", "Duplicate value: \"db\";" },
    { "an override without a name", NULL, NULL, "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"skip\":true}]}]", "!shape.required spec.overrides[0].charts[0].name", NULL },
    { "a reference without a name", NULL, ONE(",\"values\":{\"configMapRefs\":[{}]}"), NULL, "!shape.required spec.charts[0].values.configMapRefs[0].name", NULL },
    { "an empty dashboard is told by decode alone", NULL, NULL, "\"observabilityProfile\":{\"dashboards\":[\"ai-workloads\",\"\"]}", "!shape.required spec.observabilityProfile.dashboards[1]", NULL },
    { "an override's version", NULL, NULL, "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"db\",\"version\":\"new\"}]}]", "!shape.version spec.overrides[0].charts[0].version", NULL },
    { "a wave's name", NULL, NULL, "\"rollout\":{\"waves\":[{\"name\":\"A\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}]}", "!shape.wave spec.rollout.waves[0].name", NULL },
    { "scans of what nothing scans", NULL, NULL, "\"rollout\":{\"waves\":[{\"name\":\"a\",\"scans\":\"Required\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}]}", "!shape.scans spec.rollout.waves[0].scans", "requires spec.security to be enabled" },
    { "scans", NULL, NULL, "\"security\":\"enabled\",\"rollout\":{\"waves\":[{\"name\":\"a\",\"scans\":\"Required\",\"selector\":{\"matchLabels\":{\"a\":\"b\"}}}]}", "", NULL },
    { "a number and a percentage", NULL, NULL, "\"rollout\":{\"maxUnavailable\":3,\"maxRemovals\":\"100%\"}", "", NULL },
    { "neither", NULL, NULL, "\"rollout\":{\"maxUnavailable\":\"10 %\",\"maxRemovals\":\"101%\"}", "!shape.share spec.rollout.maxRemovals; !shape.share spec.rollout.maxUnavailable", NULL },
};

static const struct row graph_rows[] = {
    { "a chain", NULL, NAMED("a", "") "," NAMED("b", ",\"dependsOn\":[\"a\"]"), NULL, "", NULL },
    { "an unknown name", NULL, ONE(",\"dependsOn\":[\"bd\"]"), NULL, "!graph.unknown spec.charts[0].dependsOn[0]", "did you mean \"db\"?" },
    { "an empty entry is told by decode alone", NULL, ONE(",\"dependsOn\":[\"\"]"), NULL, "!shape.required spec.charts[0].dependsOn[0]", NULL },
    { "itself", NULL, ONE(",\"dependsOn\":[\"db\"]"), NULL, "!graph.itself spec.charts[0].dependsOn[0]", NULL },
    { "twice only warns", NULL, NAMED("a", "") "," NAMED("b", ",\"dependsOn\":[\"a\",\"a\"]"), NULL, "graph.repeated spec.charts[1].dependsOn[1]", NULL },
    { "a cycle", NULL, NAMED("a", ",\"dependsOn\":[\"b\"]") "," NAMED("b", ",\"dependsOn\":[\"a\"]"), NULL, "!graph.cycle spec.charts[1].dependsOn", "a -> b -> a" },
    { "a name of one letter resembles none", NULL, NAMED("a", "") "," NAMED("b", ",\"dependsOn\":[\"x\"]"), NULL, "!graph.unknown spec.charts[1].dependsOn[0]", "\"x\": no chart of this Stack has that name; name a chart" },
    { "two cycles with one chart in common are two", NULL, NAMED("a", ",\"dependsOn\":[\"b\"]") "," NAMED("b", ",\"dependsOn\":[\"a\",\"c\"]") "," NAMED("c", ",\"dependsOn\":[\"b\"]"), NULL,
      "!graph.cycle spec.charts[1].dependsOn; !graph.cycle spec.charts[1].dependsOn", "a -> b -> a; remove one edge, for example b -> a" },
    { "another Stack", NULL, NULL, "\"dependsOn\":[{\"name\":\"base\"}]", "", NULL },
    { "the Stack itself", NULL, NULL, "\"dependsOn\":[{\"name\":\"shop\"}]", "!graph.stack spec.dependsOn[0].name", "itself" },
    { "a Stack twice", NULL, NULL, "\"dependsOn\":[{\"name\":\"a\"},{\"name\":\"a\"}]", "!graph.stack spec.dependsOn[1].name", "Duplicate value: \"a\";" },
    { "no name of a Stack", NULL, NULL, "\"dependsOn\":[{\"name\":\"a/b\"}]", "!graph.stack spec.dependsOn[0].name", "the name of a Stack must" },
};

static const struct row target_rows[] = {
    { "a selector", LABELS("\"env\":\"prod\""), NULL, NULL, "", NULL },
    { "neither", "{}", NULL, NULL, "!targets.one-of spec.targets", "selector or clusterIds must be set" },
    { "both", "{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"clusterIds\":[\"c-1\"]}", NULL, NULL, "!targets.one-of spec.targets", "both" },
    { "an empty selector", "{\"selector\":{}}", NULL, NULL, "!targets.empty spec.targets.selector", "every cluster" },
    { "an empty list", "{\"clusterIds\":[]}", NULL, NULL, "!targets.empty spec.targets.clusterIds", NULL },
    { "a label key", LABELS("\"a b\":\"c\""), NULL, NULL, "!targets.label spec.targets.selector.matchLabels[a b]", NULL },
    { "a label value", LABELS("\"a\":\"b c\""), NULL, NULL, "!targets.label spec.targets.selector.matchLabels[a]", NULL },
    { "all operators", EXPRESSION("{\"key\":\"a\",\"operator\":\"In\",\"values\":[\"x\"]},{\"key\":\"b\",\"operator\":\"NotIn\",\"values\":[\"y\"]},{\"key\":\"c\",\"operator\":\"Exists\"},{\"key\":\"d\",\"operator\":\"DoesNotExist\"}"), NULL, NULL, "", NULL },
    { "no operator of ours", EXPRESSION("{\"key\":\"a\",\"operator\":\"Gt\",\"values\":[\"1\"]}"), NULL, NULL, "!targets.expression spec.targets.selector.matchExpressions[0].operator", "\"Gt\": supported values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\"" },
    { "In without values", EXPRESSION("{\"key\":\"a\",\"operator\":\"In\"}"), NULL, NULL, "!targets.expression spec.targets.selector.matchExpressions[0].values", "Required value: must be specified when operator is In" },
    { "Exists with values", EXPRESSION("{\"key\":\"a\",\"operator\":\"Exists\",\"values\":[\"x\"]}"), NULL, NULL, "!targets.expression spec.targets.selector.matchExpressions[0].values", "Forbidden: may not be specified when operator is Exists" },
    { "a bad key and a bad value of an expression", EXPRESSION("{\"key\":\"a b\",\"operator\":\"In\",\"values\":[\"x y\"]}"), NULL, NULL,
      "!targets.label spec.targets.selector.matchExpressions[0].key; !targets.label spec.targets.selector.matchExpressions[0].values[0]", NULL },
    { "requirements that exclude one another", "{\"selector\":{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"DoesNotExist\"}]}}", NULL, NULL, "!targets.contradiction spec.targets.selector", NULL },
    { "requirements that are no objects, or lack a key", EXPRESSION("5,{\"operator\":\"Exists\"},{\"key\":\"a\"}"), NULL, NULL,
      "!shape.type spec.targets.selector.matchExpressions[0]; !shape.required spec.targets.selector.matchExpressions[1].key; !shape.required spec.targets.selector.matchExpressions[2].operator", NULL },
    { "a label that is no string beside an expression", "{\"selector\":{\"matchLabels\":{\"a\":1},\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"Exists\"}]}}", NULL, NULL, "!shape.type spec.targets.selector.matchLabels[a]", NULL },
    { "a selector that is no object", "{\"selector\":[]}", NULL, NULL, "!shape.type spec.targets.selector", NULL },
    { "an empty id is told by decode alone", "{\"clusterIds\":[\"\"]}", NULL, NULL, "!shape.required spec.targets.clusterIds[0]", NULL },
    { "cluster ids", "{\"clusterIds\":[\"c-m-1\",\"c-abcde\"]}", NULL, NULL, "", NULL },
    { "local", "{\"clusterIds\":[\"local\"]}", NULL, NULL, "!targets.local spec.targets.clusterIds[0]", NULL },
    { "a remedy of the path", "{\"clusterIds\":[\"../local\",\"%2e%2e\",\"c-1/x?y\",\"C-1\",\".\"]}", NULL, NULL,
      "!targets.cluster-id spec.targets.clusterIds[0]; !targets.cluster-id spec.targets.clusterIds[1]; !targets.cluster-id spec.targets.clusterIds[2]; !targets.cluster-id spec.targets.clusterIds[3]; !targets.cluster-id spec.targets.clusterIds[4]", NULL },
    { "an id twice only warns", "{\"clusterIds\":[\"c-1\",\"c-1\"]}", NULL, NULL, "targets.repeated spec.targets.clusterIds[1]", NULL },
    { "local in an override", NULL, NULL, "\"overrides\":[{\"clusterIds\":[\"local\"],\"charts\":[]}]", "!targets.local spec.overrides[0].clusterIds[0]", NULL },
    { "an override for nobody", NULL, NULL, "\"overrides\":[{\"charts\":[]}]", "!targets.one-of spec.overrides[0]", NULL },
    { "a wave of everything", NULL, NULL, "\"rollout\":{\"waves\":[{\"name\":\"a\",\"selector\":{}}]}", "!targets.empty spec.rollout.waves[0].selector", NULL },
};

static const struct row gpu_rows[] = {
    { "a provider that is awaited", NULL, NAMED("gpu-operator", "") "," NAMED("x", ",\"dependsOn\":[\"gpu-operator\"]" GPU("\"limits\":{\"nvidia.com/gpu\":1}")), NULL, "", NULL },
    { "one that is awaited through another", NULL, NAMED("gpu-operator", "") "," NAMED("m", ",\"dependsOn\":[\"gpu-operator\"]") "," NAMED("x", ",\"dependsOn\":[\"m\"]" GPU("\"limits\":{\"nvidia.com/gpu\":\"1\"}")), NULL, "", NULL },
    { "one by its name in the repository", NULL, NAMED("drivers", ",\"chart\":\"nvidia-device-plugin\"") "," NAMED("x", ",\"dependsOn\":[\"drivers\"]" GPU("\"limits\":{\"nvidia.com/mig-1g.5gb\":1}")), NULL, "", NULL },
    { "one that is not awaited", NULL, NAMED("gpu-operator", "") "," NAMED("x", GPU("\"limits\":{\"nvidia.com/gpu\":1}")), NULL, "!gpu.not-awaited spec.charts[1].dependsOn", "add gpu-operator to the dependsOn of x" },
    { "each vendor at its own place, in whatever order they stand", NULL, ONE(GPU("\"limits\":{\"nvidia.com/gpu\":1,\"gpu.intel.com/i915\":1,\"amd.com/gpu\":1}")), NULL,
      "gpu.no-provider spec.charts[0].values.inline.resources.limits[amd.com/gpu]; gpu.no-provider spec.charts[0].values.inline.resources.limits[gpu.intel.com/i915]; "
      "gpu.no-provider spec.charts[0].values.inline.resources.limits[nvidia.com/gpu]", NULL },
    { "of one vendor the first by the alphabet", NULL, ONE(GPU("\"limits\":{\"nvidia.com/mig-1g.5gb\":1,\"nvidia.com/gpu\":1}")), NULL, "gpu.no-provider spec.charts[0].values.inline.resources.limits[nvidia.com/gpu]", NULL },
    { "none at all only warns", NULL, ONE(GPU("\"limits\":{\"nvidia.com/gpu\":1}")), NULL, "gpu.no-provider spec.charts[0].values.inline.resources.limits[nvidia.com/gpu]", NULL },
    { "another vendor's does not count", NULL, NAMED("gpu-operator", "") "," NAMED("x", ",\"dependsOn\":[\"gpu-operator\"]" GPU("\"limits\":{\"amd.com/gpu\":1}")), NULL, "gpu.no-provider spec.charts[1].values.inline.resources.limits[amd.com/gpu]", "AMD" },
    { "the provider needs none itself", NULL, NAMED("gpu-operator", GPU("\"limits\":{\"nvidia.com/gpu\":1}")), NULL, "", NULL },
    { "no GPU under another name", NULL, ONE(",\"values\":{\"inline\":{\"labels\":{\"nvidia.com/gpu\":\"x\"},\"limits\":\"none\",\"requests\":[1]}}"), NULL, "", NULL },
    { "deep in a list", NULL, ONE(",\"values\":{\"inline\":{\"pods\":[{\"resources\":{\"limits\":{\"gpu.intel.com/i915\":0}}}]}}"), NULL,
      "gpu.no-provider spec.charts[0].values.inline.pods[0].resources.limits[gpu.intel.com/i915]; !gpu.quantity spec.charts[0].values.inline.pods[0].resources.limits[gpu.intel.com/i915]", NULL },
    { "null deletes", NULL, ONE(GPU("\"limits\":{\"nvidia.com/gpu\":null}")), NULL, "", NULL },
    { "as many as a label says", NULL, NAMED("gpu-operator", GPU("\"limits\":{\"nvidia.com/gpu\":\"${cluster.labels.gpus}\"}")), NULL, "", NULL },
    { "half a GPU", NULL, NAMED("gpu-operator", GPU("\"limits\":{\"nvidia.com/gpu\":0.5}")), NULL, "!gpu.quantity spec.charts[0].values.inline.resources.limits[nvidia.com/gpu]", "0.5: must be" },
    { "more than can be counted", NULL, NAMED("gpu-operator", GPU("\"limits\":{\"nvidia.com/gpu\":1180591620717411303424}")), NULL, "!gpu.quantity spec.charts[0].values.inline.resources.limits[nvidia.com/gpu]", "must be a quantity that Kubernetes can represent; ask" },
    { "less than none", NULL, NAMED("gpu-operator", GPU("\"limits\":{\"nvidia.com/gpu\":-1}")), NULL, "!gpu.quantity spec.charts[0].values.inline.resources.limits[nvidia.com/gpu]", NULL },
    { "no quantity", NULL, NAMED("gpu-operator", GPU("\"limits\":{\"nvidia.com/gpu\":\"all\"}")), NULL, "!gpu.quantity spec.charts[0].values.inline.resources.limits[nvidia.com/gpu]", NULL },
    { "a map for a quantity", NULL, NAMED("gpu-operator", GPU("\"limits\":{\"nvidia.com/gpu\":{}}")), NULL, "!gpu.quantity spec.charts[0].values.inline.resources.limits[nvidia.com/gpu]", NULL },
    { "equal by value", NULL, NAMED("gpu-operator", GPU("\"requests\":{\"nvidia.com/gpu\":1},\"limits\":{\"nvidia.com/gpu\":\"1000m\"}")), NULL, "", NULL },
    { "requests that differ", NULL, NAMED("gpu-operator", GPU("\"requests\":{\"nvidia.com/gpu\":1},\"limits\":{\"nvidia.com/gpu\":2}")), NULL, "!gpu.requests-limits spec.charts[0].values.inline.resources.requests[nvidia.com/gpu]", "Invalid value: 1: must be equal to nvidia.com/gpu limit of 2" },
    { "requests alone only warn", NULL, NAMED("gpu-operator", GPU("\"requests\":{\"nvidia.com/gpu\":1}")), NULL, "gpu.limits-missing spec.charts[0].values.inline.resources.requests[nvidia.com/gpu]", NULL },
    { "an override may need one too", NULL, NAMED("gpu-operator", "") "," NAMED("x", ""), "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"x\",\"values\":{\"inline\":{\"limits\":{\"nvidia.com/gpu\":1}}}}]}]", "!gpu.not-awaited spec.charts[1].dependsOn", NULL },
    { "an override of nobody needs none", NULL, NULL, "\"overrides\":[{\"clusterIds\":[\"c-1\"],\"charts\":[{\"name\":\"xyzzy\",\"values\":{\"inline\":{\"limits\":{\"nvidia.com/gpu\":1}}}}]}]", "!shape.override-chart spec.overrides[0].charts[0].name", NULL },
    { "GPU clusters for nothing", LABELS("\"gpu\":\"true\""), NULL, NULL, "!gpu.missing-resources spec.targets.selector", NULL },
    { "GPU clusters by expression", EXPRESSION("{\"key\":\"nvidia.com/gpu.present\",\"operator\":\"In\",\"values\":[\"true\"]}"), NULL, NULL, "!gpu.missing-resources spec.targets.selector", NULL },
    { "GPU clusters by presence", EXPRESSION("{\"key\":\"gpu\",\"operator\":\"Exists\"}"), NULL, NULL, "!gpu.missing-resources spec.targets.selector", NULL },
    { "clusters without GPUs", LABELS("\"gpu\":\"false\""), NULL, NULL, "", NULL },
    { "true or false", EXPRESSION("{\"key\":\"gpu\",\"operator\":\"In\",\"values\":[\"true\",\"false\"]}"), NULL, NULL, "", NULL },
    { "GPU clusters for a provider", LABELS("\"gpu\":\"true\""), NAMED("gpu-operator", ""), NULL, "", NULL },
    { "GPU clusters for a request", LABELS("\"gpu\":\"true\""), ONE(GPU("\"limits\":{\"nvidia.com/gpu\":1}")), NULL, "gpu.no-provider spec.charts[0].values.inline.resources.limits[nvidia.com/gpu]", NULL },
    { "values that are not seen only warn", LABELS("\"gpu\":\"true\""), ONE(",\"values\":{\"configMapRefs\":[{\"name\":\"x\"}]}"), NULL, "gpu.unseen-resources spec.targets.selector", NULL },
};

static void check(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder b = a_stack(arena);

        if (rows[i].targets)
            with_targets(&b, rows[i].targets);
        with_raw_chart(&b, rows[i].charts ? rows[i].charts : ONE(""));
        if (rows[i].spec)
            with_spec(&b, rows[i].spec);

        struct verdict verdict = validate_json(arena, stack_json(&b));

        rows_expect_str(rows[i].says, findings_text(arena, &verdict.problems), str_of(rows[i].found));
        rows_expect(rows[i].says, verdict.allowed == (verdict.problems.denied == 0), "it is consistent");
        if (rows[i].message) {
            const struct problem *first = &verdict.problems.list.items[0];
            struct str text = str_fmt(arena, "%.*s; %.*s", STR_ARG(first->message), STR_ARG(first->remedy));

            rows_expect(text.at, str_find(text, str_of(rows[i].message), 0) >= 0, rows[i].message);
            rows_expect(rows[i].says, first->remedy.len > 0, "there is a remedy");
        }
    }
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))

static const struct {
    const char *says, *metadata, *found, *message;
} metadata_rows[] = {
    { "a name", "\"name\":\"a.b-c\"", "", NULL },
    { "none", "\"namespace\":\"n\"", "!shape.metadata metadata.name", "Required value: name or generateName is required; set it" },
    { "a number for a name", "\"name\":12", "!shape.metadata metadata.name", "in quotes" },
    { "a name that is none", "\"name\":\"Bad_Name\"", "!shape.metadata metadata.name", "\"Bad_Name\": must consist of lower case letters" },
    { "a name that is to be made", "\"generateName\":\"app-\"", "", NULL },
    { "one that can only be none", "\"generateName\":\"App-\"", "!shape.metadata metadata.generateName", "\"App-\": must" },
    { "one whose end alone is wrong", "\"generateName\":\"a.-\"", "!shape.metadata metadata.generateName", NULL },
    { "which is nothing to a name that is there", "\"name\":\"a\",\"generateName\":\"a.-\"", "", NULL },
    { "a namespace that is none", "\"name\":\"a\",\"namespace\":\"a.b\"", "!shape.metadata metadata.namespace", "\"a.b\"" },
    { "labels", "\"name\":\"a\",\"labels\":{\"x.io/A_b\":\"\",\"c\":null}", "", NULL },
    { "a label's key", "\"name\":\"a\",\"labels\":{\"a b\":\"c d\"}", "!shape.metadata metadata.labels[a b]", "\"a b\": the label key must consist of" },
    { "a label's value", "\"name\":\"a\",\"labels\":{\"a\":\"c d\"}", "!shape.metadata metadata.labels[a]", "\"c d\": the label value must be empty or" },
    { "a label that is no text", "\"name\":\"a\",\"labels\":{\"a\":true}", "!shape.metadata metadata.labels[a]", "must be a string, not boolean; write it in quotes" },
    { "annotations", "\"name\":\"a\",\"annotations\":{\"X.io/A\":\"c d\"}", "", NULL },
    { "an annotation's key", "\"name\":\"a\",\"annotations\":{\"a b\":\"\"}", "!shape.metadata metadata.annotations[a b]", "\"a b\": the annotation key" },
    { "an annotation that is no text", "\"name\":\"a\",\"annotations\":{\"a\":1}", "!shape.metadata metadata.annotations[a]", "not number" },
};

static void metadata(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(metadata_rows) / sizeof(metadata_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct str text = str_fmt(arena, "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{%s},"
                                         "\"spec\":{\"targets\":{\"clusterIds\":[\"c-1\"]},\"charts\":[" ONE("") "]}}",
                                  metadata_rows[i].metadata);
        struct verdict verdict = validate_json(arena, test_json(arena, text));

        rows_expect_str(metadata_rows[i].says, findings_text(arena, &verdict.problems), str_of(metadata_rows[i].found));
        if (metadata_rows[i].message)
            rows_expect(str_z(arena, verdict.message),
                        str_find(verdict.message, str_of(metadata_rows[i].message), 0) >= 0, metadata_rows[i].message);
    }
}

static void shape(void **state) { (void)state; CHECK(shape_rows); }
static void graph(void **state) { (void)state; CHECK(graph_rows); }
static void targets(void **state) { (void)state; CHECK(target_rows); }
static void gpu(void **state) { (void)state; CHECK(gpu_rows); }

static const struct {
    const char *says, *targets;
    bool known, http;
    const char *found, *remedy; /* and what the first finding says there; NULL: not looked at */
} fact_rows[] = {
    { "unknown clusters are not validated", LABELS("\"env\":\"x\""), false, false, "!shape.repo spec.charts[0].repo", NULL },
    { "plain http where it is allowed", LABELS("\"env\":\"x\""), false, true, "", NULL },
    { "a selector that matches", LABELS("\"env\":\"prod\""), true, true, "", NULL },
    { "one that matches nothing today", LABELS("\"env\":\"x\""), true, true, "targets.no-match spec.targets.selector", NULL },
    { "one that Rancher's own cluster alone would match, which no selector picks", LABELS("\"own\":\"yes\""), true, true,
      "targets.no-match spec.targets.selector", "Not found: none of Rancher's 1 downstream clusters matches today" },
    { "a known id", "{\"clusterIds\":[\"c-m-gpu01\"]}", true, true, "", NULL },
    { "an unknown id with a near one", "{\"clusterIds\":[\"c-m-gpu03\"]}", true, true, "targets.unknown-cluster spec.targets.clusterIds[0]", "Not found: \"c-m-gpu03\": Rancher has no cluster with that id today (did you mean \"c-m-gpu01\"?)" },
    { "a display name in place of an id", "{\"clusterIds\":[\"frankfurt\"]}", true, true, "targets.unknown-cluster spec.targets.clusterIds[0]", "Not found: \"frankfurt\": Rancher has no cluster with that id today (did you mean \"c-m-gpu01\"?)" },
    { "a bad id is told once", "{\"clusterIds\":[\"../x\"]}", true, true, "!targets.cluster-id spec.targets.clusterIds[0]", NULL },
    { "a selector with faults is not asked", LABELS("\"a b\":\"x\""), true, true, "!targets.label spec.targets.selector.matchLabels[a b]", NULL },
};

static void facts_of_today(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(fact_rows) / sizeof(fact_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder b = a_stack(arena);
        struct facts facts = { .clusters_known = fact_rows[i].known, .clusters = fact_clusters_new(arena, 1),
                               .plain_http_allowed = fact_rows[i].http };
        struct rule_severities severities = rule_severities_default();

        fact_clusters_push(&facts.clusters, (struct fact_cluster){
            .id = STR("c-m-gpu01"), .display_name = STR("frankfurt"), .ready = true,
            .labels = test_json(arena, STR("{\"env\":\"prod\"}")) });
        fact_clusters_push(&facts.clusters, (struct fact_cluster){
            .id = STR("local"), .ready = true, .internal = true,
            .labels = test_json(arena, STR("{\"own\":\"yes\"}")) });
        with_targets(&b, fact_rows[i].targets);
        with_raw_chart(&b, REPO("http://x.io"));

        struct verdict verdict = stack_admit(arena, stack_json(&b), (struct json){ NULL, 0 }, &facts, &severities);

        rows_expect_str(fact_rows[i].says, findings_text(arena, &verdict.problems), str_of(fact_rows[i].found));
        if (fact_rows[i].remedy) {
            const struct problem *first = &verdict.problems.list.items[0];

            rows_expect(fact_rows[i].says,
                        str_eq(first->remedy, str_of(fact_rows[i].remedy)) ||
                            str_eq(first->message, str_of(fact_rows[i].remedy)),
                        first->message.at);
        }
    }
}

/* --- annotations --- */

#define ABANDON(ids) "\"herd.suse.com/abandon-clusters\":\"" ids "\""
#define ADOPT(releases) "\"herd.suse.com/adopt\":\"" releases "\""
#define ADOPTED "!shape.annotation metadata.annotations[herd.suse.com/adopt]"
#define APPROVE(waves) "\"herd.suse.com/approve\":\"" waves "\""
#define CONFIRM(token) "\"herd.suse.com/confirm-removal\":\"" token "\""
#define CONFIRMED "!shape.annotation metadata.annotations[herd.suse.com/confirm-removal]"
#define TRACED(text) "\"herd.suse.com/traceparent\":\"" text "\""
#define APPROVED "!shape.annotation metadata.annotations[herd.suse.com/approve]"
#define ABANDONED "!targets.abandoned metadata.annotations[herd.suse.com/abandon-clusters]"
#define UNREADABLE "!shape.annotation metadata.annotations[herd.suse.com/abandon-clusters]"

/* The Stack names c-1, its status c-2 and c-3, and Rancher, where it is asked, c-m-gpu01. */
static const struct {
    const char *says, *annotations;
    bool known;
    const char *found, *message;
} annotation_rows[] = {
    { "annotations of others", "\"a\":\"b\",\"x.io/abandon-clusters\":\"c 1\",\"lab.herd.suse.com/x\":\"y\"", true, "", NULL },
    { "each that there is", "\"herd.suse.com/last-applied-by\":\"ann\",\"herd.suse.com/last-applied-by-groups\":\"dev,ops\",\"herd.suse.com/confirm-removal\":\"5f2a5f2a5f2a5f2a\"", true, "", NULL },
    { "one that nobody has", "\"herd.suse.com/abandon-cluster\":\"c-1\"", true, "!shape.annotation metadata.annotations[herd.suse.com/abandon-cluster]",
      "Unsupported value: \"herd.suse.com/abandon-cluster\": Herd has no annotation with that name (did you mean \"herd.suse.com/abandon-clusters\"?)" },
    { "one that is near none", "\"herd.suse.com/x\":\"\"", false, "!shape.annotation metadata.annotations[herd.suse.com/x]", "docs/fields.md" },
    { "a cluster of the targets", ABANDON("c-1"), true, "", NULL },
    { "clusters of the status", ABANDON(" c-2 ,c-3"), true, "", NULL },
    { "a cluster of Rancher's", ABANDON("c-m-gpu01"), true, "", NULL },
    { "all of them", ABANDON("*"), true, "", NULL },
    { "one that nobody knows", ABANDON("c-1,c-m-gpu1"), true, ABANDONED, "Not found: \"c-m-gpu1\": neither this Stack nor Rancher has a cluster with that id (did you mean \"c-m-gpu01\"?)" },
    { "one that only the status is near to", ABANDON("c-m-store-o7"), true, ABANDONED, "did you mean \"c-m-store-07\"?" },
    { "a display name", ABANDON("frankfurt"), true, ABANDONED, "did you mean \"c-m-gpu01\"?" },
    { "one that is near none", ABANDON("elsewhere"), true, ABANDONED, "status.heldClusters" },
    { "where Rancher's clusters are not known", ABANDON("c-m-gpu1"), false, "", NULL },
    { "an empty part", ABANDON("c-1,"), false, UNREADABLE, "Invalid value: \"\": a cluster id must not be empty; write the ids" },
    { "nothing", ABANDON(""), false, UNREADABLE, "remove the annotation" },
    { "a space between ids", ABANDON("c-1 c-2"), true, UNREADABLE, "\"c-1 c-2\"" },
    { "a list", ABANDON("[c-1]"), true, UNREADABLE, NULL },
    { "a release of the Stack's", ADOPT("db/db"), true, "", NULL },
    { "on one cluster, and spaces between", ADOPT("c-1:db/db , db/db"), true, "", NULL },
    { "one that no chart has", ADOPT("a/b"), true, ADOPTED, "Not found: \"a/b\": no chart of this Stack has that release; write NAMESPACE/RELEASE" },
    { "one without a namespace", ADOPT("a"), true, ADOPTED, "\"a\"" },
    { "no release", ADOPT(""), true, ADOPTED, "remove the annotation" },
    { "approvals", APPROVE("canary@33de4852, rest@0"), true, "", NULL },
    { "one without a change", APPROVE("canary"), true, APPROVED, "Invalid value: \"canary\": must be WAVE@CHANGE, several between commas; status.message shows" },
    { "one without a wave", APPROVE("@33de4852"), true, APPROVED, NULL },
    { "one whose change is missing", APPROVE("canary@"), true, APPROVED, NULL },
    { "a token", CONFIRM("0123456789abcdef"), true, "", NULL },
    { "yes is none", CONFIRM("yes"), true, CONFIRMED, "Invalid value: \"yes\": must be the token of a removal, 16 hexadecimal digits; status.message shows" },
    { "nor one more digit", CONFIRM("0123456789abcdef0"), true, CONFIRMED, NULL },
    { "nor another letter", CONFIRM("0123456789abcdeF"), true, CONFIRMED, NULL },
    { "nor none", CONFIRM(""), true, CONFIRMED, "remove the annotation" },
    { "a traceparent", TRACED("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), true, "", NULL },
    { "one of another version", TRACED("01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"), true, "!shape.annotation metadata.annotations[herd.suse.com/traceparent]", "must be 00-TRACE-SPAN-FLAGS" },
    { "one that is no text", "\"herd.suse.com/abandon-clusters\":1", true, "!shape.metadata metadata.annotations[herd.suse.com/abandon-clusters]", NULL },
};

#define ANNOTATED \
    "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":\"a\"," \
    "\"annotations\":{%s}},\"spec\":{\"targets\":{\"clusterIds\":[\"c-1\"]},\"charts\":[" ONE("") "]}," \
    "\"status\":{\"observedGeneration\":1,\"targetClusters\":[%s],\"heldClusters\":[\"c-3\",\"c-m-store-07\"]}}"

static void annotations(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(annotation_rows) / sizeof(annotation_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts facts = { .clusters_known = annotation_rows[i].known, .clusters = fact_clusters_new(arena, 1) };
        struct rule_severities severities = rule_severities_default();
        struct json old = test_json(arena, str_fmt(arena, ANNOTATED, "", "\"c-2\""));
        struct json now = test_json(arena, str_fmt(arena, ANNOTATED, annotation_rows[i].annotations, "\"elsewhere\""));

        fact_clusters_push(&facts.clusters, (struct fact_cluster){ .id = STR("c-m-gpu01"), .display_name = STR("frankfurt") });
        fact_clusters_push(&facts.clusters, (struct fact_cluster){ .id = STR("c-1") });

        struct verdict verdict = stack_admit(arena, now, old, &facts, &severities);

        rows_expect_str(annotation_rows[i].says, findings_text(arena, &verdict.problems), str_of(annotation_rows[i].found));
        if (annotation_rows[i].message)
            rows_expect(str_z(arena, verdict.message),
                        str_find(verdict.message, str_of(annotation_rows[i].message), 0) >= 0, annotation_rows[i].message);
    }
}

/* An annotation may have 256 KiB. */
static void many_slips_in_an_annotation_cost_little(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    AUTO(arena_free) struct arena *used = arena_create(0);
    struct strbuf ids = strbuf_new(arena, 1 << 18);
    struct facts facts = { .clusters_known = true };
    struct rule_severities severities = rule_severities_default();

    (void)state;
    for (int i = 0; i < 1 << 16; i++)
        strbuf_put(&ids, i % 2 ? STR("a b,") : STR("c-9,"));

    struct str text = str_fmt(arena, ANNOTATED, str_fmt(arena, ABANDON("%.*s"), STR_ARG(strbuf_str(&ids))).at, "");
    struct verdict verdict = stack_admit(used, test_json(arena, text), (struct json){ NULL, 0 }, &facts, &severities);

    rows_expect("they are told", verdict.problems.list.count > 50 && verdict.problems.list.count <= 210, "a few of them");
    rows_expect("in little memory", arena_used(used) < 1 << 20, "1 MiB");
}

static const struct {
    const char *says, *values, *overrides, *found, *message;
} label_rows[] = {
    { "a label that all have", "{\"a\":\"${cluster.labels.env}\"}", "", "", NULL },
    { "one that some lack", "{\"a\":\"${cluster.labels.gpu}\"}", "", "targets.label-used spec.charts[0].values.inline",
      "Not found: uses the label \"gpu\", which c-2 and 1 more do not have today" },
    { "one that an override replaces there", "{\"a\":\"${cluster.labels.gpu}\"}",
      "{\"clusterIds\":[\"c-2\",\"c-3\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"a\":\"no\"}}}]}", "", NULL },
    { "one where the chart is skipped", "{\"a\":\"${cluster.labels.gpu}\"}",
      "{\"clusterIds\":[\"c-2\",\"c-3\"],\"charts\":[{\"name\":\"db\",\"skip\":true}]}", "", NULL },
    { "one that an override brings in", "{}",
      "{\"clusterIds\":[\"c-3\"],\"charts\":[{\"name\":\"db\",\"values\":{\"inline\":{\"a\":\"${cluster.labels.gpu}\"}}}]}",
      "targets.label-used spec.charts[0].values.inline", "Not found: uses the label \"gpu\", which c-3 does not have today" },
};

static void labels_that_values_use(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(label_rows) / sizeof(label_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct stack_builder b = a_stack(arena);
        struct facts facts = { .clusters_known = true, .clusters = fact_clusters_new(arena, 3) };
        struct rule_severities severities = rule_severities_default();

        for (int k = 1; k <= 3; k++)
            fact_clusters_push(&facts.clusters, (struct fact_cluster){
                .id = str_fmt(arena, "c-%d", k), .ready = true,
                .labels = test_json(arena, k == 1 ? STR("{\"env\":\"prod\",\"gpu\":\"a\"}")
                                                  : STR("{\"env\":\"prod\"}")) });
        with_targets(&b, LABELS("\"env\":\"prod\""));
        with_raw_chart(&b, str_fmt(arena, ONE(",\"values\":{\"inline\":%s}"), label_rows[i].values).at);
        with_spec(&b, str_fmt(arena, "\"overrides\":[%s]", label_rows[i].overrides).at);

        struct verdict verdict = stack_admit(arena, stack_json(&b), (struct json){ NULL, 0 }, &facts, &severities);

        rows_expect_str(label_rows[i].says, findings_text(arena, &verdict.problems), str_of(label_rows[i].found));
        if (label_rows[i].message)
            rows_expect_str(label_rows[i].says, verdict.problems.list.items[0].message, str_of(label_rows[i].message));
    }
}

/* --- other Stacks --- */

/* Stacks as they are stored in the namespace "default": "a:b,c b: c:". */
static bool stored_get(void *context, struct arena *arena, struct str namespace_, struct str name,
                       struct fact_stack *ret_stack)
{
    struct str rest = str_of(context);
    struct str one;

    if (!str_eq(namespace_, STR("default")))
        return false;
    while (str_split(&rest, ' ', &one)) {
        ptrdiff_t colon = str_find_char(one, ':', 0);
        struct str needs = str_slice(one, (size_t)colon + 1, one.len);
        struct str need;

        if (!str_eq(str_slice(one, 0, (size_t)colon), name))
            continue;
        *ret_stack = (struct fact_stack){ .known = true, .depends_on = str_list_new(arena, 2) };
        while (needs.len && str_split(&needs, ',', &need))
            str_list_push(&ret_stack->depends_on, need);
        return true;
    }
    return false;
}

static const struct {
    const char *says;
    const char *stored; /* NULL: nothing is known of Stacks */
    const char *now;    /* what the Stack "shop" names, ',' between */
    const char *old;    /* and named before; NULL: it is new */
    const char *found;
    const char *message; /* part of the first finding; NULL: not looked at */
} stack_rows[] = {
    { "nothing is said where nothing is known", NULL, "db", NULL, "", NULL },
    { "a Stack that is there", "db:", "db", NULL, "", NULL },
    { "one that is not there yet only warns", "db:", "bd", NULL,
      "graph.unknown-stack spec.dependsOn[0].name",
      "\"bd\": no Stack of the namespace \"default\" has that name today; create it" },
    { "a cycle of two", "db:shop", "db", NULL, "!graph.stack-cycle spec.dependsOn[0].name",
      "Invalid value: dependency cycle: shop -> db -> shop; remove one edge, for example shop -> db" },
    { "a cycle of many, on its shortest way", "a:b,x x:y y:c b:c c:shop", "a", NULL,
      "!graph.stack-cycle spec.dependsOn[0].name", "shop -> a -> b -> c -> shop; remove one edge, for example shop -> a" },
    { "each entry that closes one is told", "a:shop b:a,c c:", "c,b,a", NULL,
      "!graph.stack-cycle spec.dependsOn[1].name; !graph.stack-cycle spec.dependsOn[2].name",
      "shop -> b -> a -> shop" },
    { "what is stored of the Stack itself does not count", "shop:db db:", "db", NULL, "", NULL },
    { "a cycle of others is theirs", "a:b b:a", "a", NULL, "", NULL },
    { "a Stack that others wait for and that is not there", "a:gone", "a", NULL, "", NULL },
    { "a name that can be none is told once", "db:", "D/b", NULL,
      "!graph.stack spec.dependsOn[0].name", NULL },
    { "a name twice is told once", "db:shop", "db,db", NULL,
      "!graph.stack-cycle spec.dependsOn[0].name; !graph.stack spec.dependsOn[1].name", NULL },
    { "a cycle that an update does not touch only warns", "db:shop c:", "db,c", "db",
      "graph.stack-cycle spec.dependsOn[0].name", NULL },
    { "one that it brings is rejected", "db:shop c:", "c,db", "c",
      "!graph.stack-cycle spec.dependsOn[1].name", NULL },
    { "one that it fixes is not told", "db:shop c:", "c", "c,db", "", NULL },
};

static struct json waiting(struct arena *arena, const char *names, const char *paused)
{
    struct strbuf list = strbuf_new(arena, 64);
    struct str rest = str_of(names);
    struct str name;

    while (str_split(&rest, ',', &name))
        strbuf_fmt(&list, "%s{\"name\":\"%.*s\"}", list.len ? "," : "", STR_ARG(name));
    return test_json(
        arena,
        str_fmt(arena,
                "{\"apiVersion\":\"herd.suse.com/v1\",\"kind\":\"Stack\",\"metadata\":{\"name\":"
                "\"shop\",\"namespace\":\"default\"},\"spec\":{\"paused\":%s,\"targets\":{"
                "\"clusterIds\":[\"c-1\"]},\"charts\":[%s],\"dependsOn\":[%.*s]}}",
                paused, ONE(""), STR_ARG(strbuf_str(&list))));
}

static void other_stacks(void **state)
{
    struct rule_severities severities = rule_severities_default();

    (void)state;
    for (size_t i = 0; i < sizeof(stack_rows) / sizeof(stack_rows[0]); i++) {
        AUTO(arena_free) struct arena *arena = arena_create(0);
        struct facts facts = { .stacks = { .get = stored_get, .context = (void *)(uintptr_t)stack_rows[i].stored } };
        struct json old = { NULL, 0 };

        if (!stack_rows[i].stored)
            facts.stacks.get = NULL;
        if (stack_rows[i].old)
            old = waiting(arena, stack_rows[i].old, "false");

        struct verdict verdict = stack_admit(arena, waiting(arena, stack_rows[i].now, "true"), old,
                                             &facts, &severities);

        rows_expect_str(stack_rows[i].says, findings_text(arena, &verdict.problems),
                        str_of(stack_rows[i].found));
        if (!stack_rows[i].message)
            continue;

        const struct problem *first = &verdict.problems.list.items[0];

        rows_expect(stack_rows[i].says,
                    str_find(str_fmt(arena, "%.*s; %.*s", STR_ARG(first->message),
                                     STR_ARG(first->remedy)),
                             str_of(stack_rows[i].message), 0) >= 0,
                    stack_rows[i].message);
    }
}

/* An endless builder: "n" waits for "nx", and so on. */
static bool endless_get(void *context, struct arena *arena, struct str namespace_, struct str name,
                        struct fact_stack *ret_stack)
{
    uint32_t *asked = context;

    (void)namespace_;
    (*asked)++;
    *ret_stack = (struct fact_stack){ .known = true, .depends_on = str_list_new(arena, 1) };
    str_list_push(&ret_stack->depends_on, str_fmt(arena, "n%u", *asked));
    (void)name;
    return true;
}

static void a_walk_over_stacks_ends(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct rule_severities severities = rule_severities_default();
    uint32_t asked = 0;
    struct facts facts = { .stacks = { .get = endless_get, .context = &asked } };
    struct verdict verdict = stack_admit(arena, waiting(arena, "n0", "false"),
                                         (struct json){ NULL, 0 }, &facts, &severities);

    (void)state;
    rows_expect("nothing is said of what lies beyond", verdict.allowed, "allowed");
    rows_expect_int("bounded", asked, LIMIT_STACK_WALK - 1);
}

/* A cycle of many charts is shown by its ends. */
static void long_cycles_are_cut(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder b = a_stack(arena);

    (void)state;
    for (int i = 0; i < 30; i++)
        with_chart(&b, str_fmt(arena, "c%d", i).at, str_fmt(arena, "c%d", (i + 1) % 30).at);

    struct verdict verdict = validate_json(arena, stack_json(&b));

    rows_expect_str("the message", verdict.message,
                    STR("spec.charts[29].dependsOn: Invalid value: dependency cycle: c0 -> c1 -> c2 -> "
                        "c3 -> c4 -> c5 -> c6 -> c7 -> c8 -> c9 -> c10 -> c11 -> (6 more) -> c18 -> c19 "
                        "-> c20 -> c21 -> c22 -> c23 -> c24 -> c25 -> c26 -> c27 -> c28 -> c29 -> c0; "
                        "remove one edge, for example c29 -> c0"));
}

/* stack_validate validates a Stack that was decoded and defaulted elsewhere. */
static void validating_alone(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct stack_builder b = a_stack(arena);
    struct facts facts = { 0 };
    struct rule_severities severities = rule_severities_default();
    struct problems decoded = problems_new(arena);

    (void)state;
    with_raw_chart(&b, VERSION("latest"));

    const struct stack *stack =
        stack_default(arena, stack_decode(arena, stack_json(&b), &decoded), NULL);
    struct problems fresh = problems_new(arena);
    struct problems kept = problems_new(arena);

    stack_validate(stack, NULL, &facts, &severities, &fresh);
    rows_expect_str("created", findings_text(arena, &fresh), STR("!shape.version spec.charts[0].version"));
    stack_validate(stack, stack, &facts, &severities, &kept);
    rows_expect_str("updated", findings_text(arena, &kept), STR("shape.version spec.charts[0].version"));
    rows_expect_int("nothing is denied", kept.denied, 0);
}

/* Not a place where every finding of the table is met: that each rule has a row here. */
static void every_rule_has_a_row(void **state)
{
    AUTO(arena_free) struct arena *arena = arena_create(0);
    struct strbuf met = strbuf_new(arena, 4096);

    (void)state;
#define COLLECT(rows)                                                                              \
    for (size_t i = 0; i < sizeof(rows) / sizeof((rows)[0]); i++)                                  \
        strbuf_fmt(&met, "%s ", (rows)[i].found);
    COLLECT(shape_rows) COLLECT(graph_rows) COLLECT(target_rows) COLLECT(gpu_rows) COLLECT(fact_rows)
    COLLECT(stack_rows) COLLECT(metadata_rows) COLLECT(annotation_rows)
    COLLECT(label_rows)
    for (int i = 0; i < RULE_COUNT; i++) {
        const char *name = rule_of((enum rule_id)i)->name;
        static const char *const elsewhere[] = { /* decode_test.c, admit_test.c for the label,
                                                  * what cannot be decoded and what takes too much work,
                                                  * overlap_test.c, fit_test.c */
            "shape.undecodable", "shape.work", "shape.kind", "shape.required", "shape.type", "shape.unknown-field", "shape.enum",
            "shape.bounds", "shape.duration", "shape.env-label",
            "overlap.today", "overlap.possible", "gpu.fit", "gpu.busy", "gpu.unknown", "gpu.not-offered" };
        const char *area = rule_of((enum rule_id)i)->area;
        /* policy_test.c, record_test.c and admit_workload_test.c have those of their areas */
        bool known = strcmp(area, "policy") == 0 || strcmp(area, "who") == 0 ||
                     strcmp(area, "workload") == 0;

        for (size_t k = 0; k < sizeof(elsewhere) / sizeof(elsewhere[0]); k++)
            known = known || strcmp(name, elsewhere[k]) == 0;
        rows_expect(name, known || str_find(strbuf_str(&met), str_of(name), 0) >= 0, "a row finds it");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata),
        cmocka_unit_test(shape),
        cmocka_unit_test(graph),
        cmocka_unit_test(targets),
        cmocka_unit_test(gpu),
        cmocka_unit_test(facts_of_today),
        cmocka_unit_test(annotations),
        cmocka_unit_test(many_slips_in_an_annotation_cost_little),
        cmocka_unit_test(labels_that_values_use),
        cmocka_unit_test(other_stacks),
        cmocka_unit_test(a_walk_over_stacks_ends),
        cmocka_unit_test(long_cycles_are_cut),
        cmocka_unit_test(validating_alone),
        cmocka_unit_test(every_rule_has_a_row),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
