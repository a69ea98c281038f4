// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	stackv1 "herd.suse.com/tests/bench/peers/api/v1"
)

const (
	enabled  = "enabled"
	disabled = "disabled"
	envLabel = "herd.suse.com/env"
)

func defaultPointer[T any](field **T, value T) {
	if *field == nil {
		*field = ptr.To(value)
	}
}

func defaultText(field *string, value string) {
	*field = cmp.Or(*field, value)
}

// setDefaults fills in what docs/fields.md says of fields that are not given; nothing within lists, whose owner may be another.
func setDefaults(stack *stackv1.Stack) {
	spec := &stack.Spec
	toggle := disabled
	if spec.Env == "prod" || spec.Env == "staging" {
		toggle = enabled
	}
	defaultText(&spec.Security, toggle)
	defaultText(&spec.Observability, toggle)
	defaultText(&spec.Drift, "Detect")
	defaultText(&spec.OnFailure, "Retry")
	defaultText(&spec.DeletionPolicy, "Delete")
	defaultPointer(&spec.Paused, false)
	setProfileDefaults(spec)
	if spec.Rollout != nil {
		defaultPointer(&spec.Rollout.MaxConcurrentClusters, 0)
		defaultPointer(&spec.Rollout.MaxFailures, -1)
		defaultPointer(&spec.Rollout.MaxUnavailable, intstr.FromString("0"))
		defaultText(&spec.Rollout.RemovalDelay, "5m")
		defaultPointer(&spec.Rollout.MaxRemovals, intstr.FromString("50%"))
	}
	if spec.Retry != nil {
		defaultPointer(&spec.Retry.Limit, -1)
		defaultText(&spec.Retry.Backoff, "30s")
	}
	if spec.Env != "" && len(validation.IsValidLabelValue(spec.Env)) == 0 {
		if stack.Labels == nil {
			stack.Labels = map[string]string{}
		}
		if _, given := stack.Labels[envLabel]; !given {
			stack.Labels[envLabel] = spec.Env
		}
	}
}

// Where a toggle is on, the document shows the whole profile.
func setProfileDefaults(spec *stackv1.StackSpec) {
	if spec.SecurityProfile == nil && spec.Security == enabled {
		spec.SecurityProfile = &stackv1.SecurityProfile{Thresholds: &stackv1.Thresholds{}}
	}
	if profile := spec.SecurityProfile; profile != nil {
		defaultText(&profile.PolicyMode, "Discover")
		defaultText(&profile.Compliance, enabled)
		if profile.Thresholds != nil {
			defaultPointer(&profile.Thresholds.Critical, 0)
			defaultPointer(&profile.Thresholds.High, -1)
		}
	}
	if spec.ObservabilityProfile == nil && spec.Observability == enabled {
		spec.ObservabilityProfile = &stackv1.ObservabilityProfile{Tracing: &stackv1.Tracing{}}
	}
	if profile := spec.ObservabilityProfile; profile != nil {
		defaultText(&profile.ScrapeInterval, "30s")
		defaultText(&profile.Alerts, enabled)
		defaultPointer(&profile.Dashboards, []string{"ai-workloads"})
		if profile.Tracing != nil {
			defaultPointer(&profile.Tracing.Enabled, true)
			defaultPointer(&profile.Tracing.SamplingRatio, 0.1)
		}
	}
}

func namespaceOf(chart *stackv1.Chart) string { return cmp.Or(chart.Namespace, chart.Name) }

func releaseNameOf(chart *stackv1.Chart) string { return cmp.Or(chart.ReleaseName, chart.Name) }
