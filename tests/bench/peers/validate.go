// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stackv1 "herd.suse.com/tests/bench/peers/api/v1"
)

const (
	chartsMax      = 1000
	releaseNameMax = 53
	operationMax   = 50 * time.Minute
)

var (
	fileName     = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*$`)
	amountWords  = regexp.MustCompile(`^([0-9]{1,9}|([0-9]{1,2}|100)%)$`)
	dashboardUID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)

	protectedNamespaces = []string{"kube-system", "kube-public", "kube-node-lease", "herd-system"}
	protectedPrefixes   = []string{"cattle-", "fleet-", "cluster-fleet-", "rancher-"}
)

// validateStack is everything that can be wrong with a Stack by itself, and what is only unwise.
func validateStack(stack *stackv1.Stack) (faults field.ErrorList, warnings []string) {
	spec := &stack.Spec
	at := field.NewPath("spec")
	charts := at.Child("charts")

	faults = append(faults, validateWords(spec, at)...)
	for _, wrong := range validation.IsValidLabelValue(spec.Env) {
		faults = append(faults, field.Invalid(at.Child("env"), spec.Env, wrong))
	}
	if label := stack.Labels[envLabel]; label != "" && spec.Env != "" && label != spec.Env {
		warnings = append(warnings, "metadata.labels["+envLabel+"]: says another environment than spec.env")
	}
	if spec.Targets == nil {
		faults = append(faults, field.Required(at.Child("targets"), "say which clusters are meant"))
	} else {
		wrong, unwise := validateTargets(spec.Targets, at.Child("targets"))
		faults, warnings = append(faults, wrong...), append(warnings, unwise...)
	}
	if len(spec.Charts) == 0 {
		faults = append(faults, field.Required(charts, "there must be at least one chart"))
	}
	if len(spec.Charts) > chartsMax {
		faults = append(faults, field.TooMany(charts, len(spec.Charts), chartsMax))
	}
	for i := range spec.Charts {
		wrong, unwise := validateChart(&spec.Charts[i], charts.Index(i))
		faults, warnings = append(faults, wrong...), append(warnings, unwise...)
	}
	faults = append(faults, validateUnique(spec.Charts, charts)...)
	wrong, unwise := validateOverrides(spec, at.Child("overrides"))
	faults, warnings = append(faults, wrong...), append(warnings, unwise...)
	faults = append(faults, validateStacks(stack, at.Child("dependsOn"))...)
	faults = append(faults, validateProfiles(spec, at)...)
	faults = append(faults, validateRollout(spec, at)...)

	needs, wrong, unwise := dependencies(spec.Charts, charts)
	faults, warnings = append(faults, wrong...), append(warnings, unwise...)
	faults = append(faults, findCycles(spec.Charts, needs, charts)...)
	wrong, unwise = validateGPUs(spec, needs, at)
	return append(faults, wrong...), append(warnings, unwise...)
}

func word(value string, at *field.Path, words ...string) field.ErrorList {
	if value == "" || slices.Contains(words, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, value, words)}
}

func validateWords(spec *stackv1.StackSpec, at *field.Path) field.ErrorList {
	return slices.Concat(
		word(spec.Security, at.Child("security"), enabled, disabled),
		word(spec.Observability, at.Child("observability"), enabled, disabled),
		word(spec.Drift, at.Child("drift"), "Detect", "Correct", "Ignore"),
		word(spec.OnFailure, at.Child("onFailure"), "Retry", "Stop"),
		word(spec.DeletionPolicy, at.Child("deletionPolicy"), "Delete", "Orphan"),
	)
}

func bounded(value *int64, least, most int64, at *field.Path) field.ErrorList {
	if value == nil || (*value >= least && *value <= most) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *value, fmt.Sprintf("must be from %d to %d", least, most))}
}

func text(value string, least, most int, at *field.Path) field.ErrorList {
	switch {
	case len(value) < least:
		return field.ErrorList{field.Required(at, "must not be empty")}
	case len(value) > most:
		return field.ErrorList{field.TooLong(at, value, most)}
	}
	return nil
}

func duration(value string, least, most time.Duration, at *field.Path) field.ErrorList {
	parsed, err := time.ParseDuration(value)
	switch {
	case value == "":
		return nil
	case err != nil:
		return field.ErrorList{field.Invalid(at, value, err.Error())}
	case parsed < least || parsed > most:
		return field.ErrorList{field.Invalid(at, value, fmt.Sprintf("must be from %s to %s", least, most))}
	}
	return nil
}

func dns(value string, check func(string) []string, at *field.Path) (faults field.ErrorList) {
	for _, wrong := range check(value) {
		faults = append(faults, field.Invalid(at, value, wrong))
	}
	return faults
}

func validateChart(chart *stackv1.Chart, at *field.Path) (faults field.ErrorList, warnings []string) {
	faults = slices.Concat(
		text(chart.Name, 1, 63, at.Child("name")),
		dns(chart.Name, validation.IsDNS1123Label, at.Child("name")),
		text(chart.Chart, 0, 253, at.Child("chart")),
		validateRepo(chart.Repo, at.Child("repo")),
		validateVersion(chart.Version, at.Child("version")),
		validateNamespace(namespaceOf(chart), at.Child("namespace")),
		text(releaseNameOf(chart), 1, releaseNameMax, at.Child("releaseName")),
		dns(releaseNameOf(chart), validation.IsDNS1123Subdomain, at.Child("releaseName")),
		duration(chart.Timeout, time.Millisecond, 24*time.Hour, at.Child("timeout")),
	)
	if chart.Chart != "" && !fileName.MatchString(chart.Chart) {
		faults = append(faults, field.Invalid(at.Child("chart"), chart.Chart, "is not a valid chart name"))
	}
	if timeout, err := time.ParseDuration(chart.Timeout); err == nil && timeout > operationMax && timeout <= 24*time.Hour {
		warnings = append(warnings, at.Child("timeout").String()+": the rights of a Helm operation end after an hour")
	}
	return append(faults, validateValues(chart.Values, at.Child("values"))...), warnings
}

func validateValues(values *stackv1.ChartValues, at *field.Path) field.ErrorList {
	if values == nil {
		return nil
	}
	faults := slices.Concat(
		validateRefs(values.ConfigMapRefs, at.Child("configMapRefs")),
		validateRefs(values.SecretRefs, at.Child("secretRefs")))
	if values.Inline != nil && len(values.Inline.Raw) > 0 {
		var tree any
		if json.Unmarshal(values.Inline.Raw, &tree) == nil { // else told by gpus.read
			faults = append(faults, validatePlaceholders(tree, at.Child("inline"))...)
		}
	}
	return faults
}

// A placeholder, or with "$$" the text of one.
var placeholder = regexp.MustCompile(`\$?\$\{cluster\.[^}]*\}?`)

func isPlaceholder(written string) bool {
	inner, closed := strings.CutSuffix(strings.TrimPrefix(written, "${cluster."), "}")
	key, label := strings.CutPrefix(inner, "labels.")
	return closed && (inner == "id" || inner == "name" || label && len(validation.IsQualifiedName(key)) == 0)
}

func validatePlaceholders(value any, at *field.Path) (faults field.ErrorList) {
	switch value := value.(type) {
	case string:
		for _, written := range placeholder.FindAllString(value, -1) {
			if !strings.HasPrefix(written, "$$") && !isPlaceholder(written) {
				faults = append(faults, field.Invalid(at, written, "is not a placeholder"))
			}
		}
	case []any:
		for i := range value {
			faults = append(faults, validatePlaceholders(value[i], at.Index(i))...)
		}
	case map[string]any:
		for key := range value {
			faults = append(faults, validatePlaceholders(value[key], at.Child(key))...)
		}
	}
	return faults
}

func validateRefs(refs []stackv1.ValuesRef, at *field.Path) (faults field.ErrorList) {
	for i := range refs {
		name := strings.ReplaceAll(refs[i].Name, "${cluster.id}", "c-m-00000")
		faults = append(faults, dns(name, validation.IsDNS1123Subdomain, at.Index(i).Child("name"))...)
		if key := refs[i].Key; key != "" && !fileName.MatchString(key) {
			faults = append(faults, field.Invalid(at.Index(i).Child("key"), key, "is no data key"))
		}
	}
	return faults
}

func validateRepo(repo string, at *field.Path) field.ErrorList {
	if faults := text(repo, 1, 2048, at); faults != nil {
		return faults
	}
	parsed, err := url.Parse(repo)
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(at, "", "is not a valid URL")}
	case parsed.User != nil:
		return field.ErrorList{field.Forbidden(at, "carries a user name or password")}
	case parsed.Scheme != "https" && parsed.Scheme != "oci":
		return field.ErrorList{field.Invalid(at, repo, "does not begin with https:// or oci://")}
	case parsed.RawQuery != "" || parsed.Fragment != "" || strings.ContainsAny(repo, "?#"):
		return field.ErrorList{field.Invalid(at, repo, "has a query or fragment")}
	case parsed.Hostname() == "" || strings.ContainsAny(repo, "\"<>\\^`{}| "):
		return field.ErrorList{field.Invalid(at, repo, "is not a valid URL")}
	case isReserved(parsed.Hostname()):
		return field.ErrorList{field.Forbidden(at, "is on a loopback, link-local or metadata address")}
	}
	return nil
}

func validateVersion(version string, at *field.Path) field.ErrorList {
	if faults := text(version, 1, 256, at); faults != nil {
		return faults
	}
	if _, err := semver.NewVersion(version); err == nil {
		return nil
	}
	if _, err := semver.NewConstraint(version); err != nil {
		return field.ErrorList{field.Invalid(at, version, "is neither an exact version nor a range")}
	}
	return nil
}

func validateNamespace(namespace string, at *field.Path) field.ErrorList {
	if faults := dns(namespace, validation.IsDNS1123Label, at); len(faults) > 0 {
		return faults
	}
	if slices.Contains(protectedNamespaces, namespace) ||
		slices.ContainsFunc(protectedPrefixes, func(p string) bool { return strings.HasPrefix(namespace, p) }) {
		return field.ErrorList{field.Forbidden(at, "belongs to the platform itself")}
	}
	return nil
}

func validateUnique(charts []stackv1.Chart, at *field.Path) (faults field.ErrorList) {
	names := make(map[string]bool, len(charts))
	releases := make(map[[2]string]bool, len(charts))
	for i := range charts {
		release := [2]string{namespaceOf(&charts[i]), releaseNameOf(&charts[i])}
		switch {
		case names[charts[i].Name]:
			faults = append(faults, field.Duplicate(at.Index(i).Child("name"), charts[i].Name))
		case releases[release]:
			faults = append(faults, field.Duplicate(at.Index(i).Child("releaseName"), release[1]))
		}
		names[charts[i].Name] = true
		releases[release] = true
	}
	return faults
}

func validateOverrides(spec *stackv1.StackSpec, at *field.Path) (faults field.ErrorList, warnings []string) {
	if len(spec.Overrides) == 0 {
		return nil, nil
	}
	names := make(map[string]bool, len(spec.Charts))
	for i := range spec.Charts {
		names[spec.Charts[i].Name] = true
	}
	for i := range spec.Overrides {
		override := &spec.Overrides[i]
		wrong, unwise := validateTargets(&override.Targets, at.Index(i))
		faults, warnings = append(faults, wrong...), append(warnings, unwise...)
		seen := make(map[string]bool, len(override.Charts))
		for k := range override.Charts {
			one := &override.Charts[k]
			name := at.Index(i).Child("charts").Index(k).Child("name")
			if !names[one.Name] {
				faults = append(faults, field.NotFound(name, one.Name))
			} else if seen[one.Name] {
				faults = append(faults, field.Duplicate(name, one.Name))
			}
			seen[one.Name] = true
			if one.Version != "" {
				faults = append(faults, validateVersion(one.Version, at.Index(i).Child("charts").Index(k).Child("version"))...)
			}
			faults = append(faults, validateValues(one.Values, at.Index(i).Child("charts").Index(k).Child("values"))...)
		}
	}
	return faults, warnings
}

func validateStacks(stack *stackv1.Stack, at *field.Path) (faults field.ErrorList) {
	seen := map[string]bool{}
	for i, other := range stack.Spec.DependsOn {
		name := at.Index(i).Child("name")
		faults = append(faults, dns(other.Name, validation.IsDNS1123Subdomain, name)...)
		if other.Name == stack.Name {
			faults = append(faults, field.Invalid(name, other.Name, "the Stack waits for itself"))
		}
		if seen[other.Name] {
			faults = append(faults, field.Duplicate(name, other.Name))
		}
		seen[other.Name] = true
	}
	return faults
}

func validateProfiles(spec *stackv1.StackSpec, at *field.Path) (faults field.ErrorList) {
	if profile := spec.SecurityProfile; profile != nil {
		here := at.Child("securityProfile")
		faults = append(faults, word(profile.PolicyMode, here.Child("policyMode"), "Discover", "Monitor", "Protect")...)
		faults = append(faults, word(profile.Compliance, here.Child("compliance"), enabled, disabled)...)
		faults = append(faults, word(profile.Admission, here.Child("admission"), "Disabled", "Monitor", "Protect")...)
		if profile.Thresholds != nil {
			faults = append(faults, bounded(profile.Thresholds.Critical, -1, 1000000, here.Child("thresholds", "critical"))...)
			faults = append(faults, bounded(profile.Thresholds.High, -1, 1000000, here.Child("thresholds", "high"))...)
		}
	}
	profile := spec.ObservabilityProfile
	if profile == nil {
		return faults
	}
	here := at.Child("observabilityProfile")
	faults = append(faults, duration(profile.ScrapeInterval, time.Second, time.Hour, here.Child("scrapeInterval"))...)
	faults = append(faults, word(profile.Alerts, here.Child("alerts"), enabled, disabled)...)
	if profile.Tracing != nil && profile.Tracing.SamplingRatio != nil &&
		(*profile.Tracing.SamplingRatio < 0 || *profile.Tracing.SamplingRatio > 1) {
		faults = append(faults, field.Invalid(here.Child("tracing", "samplingRatio"), *profile.Tracing.SamplingRatio,
			"must be from 0 to 1"))
	}
	if profile.Dashboards == nil {
		return faults
	}
	seen := map[string]bool{}
	for i, uid := range *profile.Dashboards {
		if !dashboardUID.MatchString(uid) {
			faults = append(faults, field.Invalid(here.Child("dashboards").Index(i), uid, "is no dashboard's uid"))
		} else if seen[uid] {
			faults = append(faults, field.Duplicate(here.Child("dashboards").Index(i), uid))
		}
		seen[uid] = true
	}
	return faults
}

// countOrPercent checks a count or a percentage, as maxUnavailable of a Deployment is one.
func countOrPercent(value *intstr.IntOrString, at *field.Path) field.ErrorList {
	if value == nil {
		return nil
	}
	if value.Type == intstr.Int {
		count := int64(value.IntVal)
		return bounded(&count, 0, math.MaxInt32, at)
	}
	if !amountWords.MatchString(value.StrVal) {
		return field.ErrorList{field.Invalid(at, value.StrVal, "must be a number, or a percentage up to 100%")}
	}
	return nil
}

func validateRollout(spec *stackv1.StackSpec, at *field.Path) (faults field.ErrorList) {
	if retry := spec.Retry; retry != nil {
		faults = append(faults, bounded(retry.Limit, -1, 1000, at.Child("retry", "limit"))...)
		faults = append(faults, duration(retry.Backoff, time.Second, 24*time.Hour, at.Child("retry", "backoff"))...)
	}
	rollout := spec.Rollout
	if rollout == nil {
		return faults
	}
	here := at.Child("rollout")
	faults = append(faults, bounded(rollout.MaxConcurrentClusters, 0, 100000, here.Child("maxConcurrentClusters"))...)
	faults = append(faults, bounded(rollout.MaxFailures, -1, 100000, here.Child("maxFailures"))...)
	faults = append(faults, countOrPercent(rollout.MaxUnavailable, here.Child("maxUnavailable"))...)
	faults = append(faults, countOrPercent(rollout.MaxRemovals, here.Child("maxRemovals"))...)
	faults = append(faults, duration(rollout.RemovalDelay, 0, 168*time.Hour, here.Child("removalDelay"))...)
	seen := map[string]bool{}
	for i := range rollout.Waves {
		wave := &rollout.Waves[i]
		one := here.Child("waves").Index(i)
		faults = append(faults, dns(wave.Name, validation.IsDNS1123Label, one.Child("name"))...)
		faults = append(faults, duration(wave.Pause, 0, 168*time.Hour, one.Child("pause"))...)
		faults = append(faults, word(wave.Approval, one.Child("approval"), "Automatic", "Manual")...)
		faults = append(faults, word(wave.Scans, one.Child("scans"), "Ignored", "Required")...)
		if wave.Scans == "Required" && spec.Security != "enabled" {
			faults = append(faults, field.Invalid(one.Child("scans"), wave.Scans, "requires spec.security to be enabled"))
		}
		if seen[wave.Name] {
			faults = append(faults, field.Duplicate(one.Child("name"), wave.Name))
		}
		seen[wave.Name] = true
		if wave.Selector == nil {
			faults = append(faults, field.Required(one.Child("selector"), "say which clusters are meant"))
		} else {
			faults = append(faults, validateSelector(wave.Selector, one.Child("selector"))...)
		}
	}
	return faults
}
