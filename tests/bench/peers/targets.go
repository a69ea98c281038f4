// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stackv1 "herd.suse.com/tests/bench/peers/api/v1"
)

// validateTargets: exactly one of selector and cluster ids.
func validateTargets(targets *stackv1.Targets, at *field.Path) (faults field.ErrorList, warnings []string) {
	if (targets.Selector == nil) == (targets.ClusterIDs == nil) {
		faults = append(faults, field.Invalid(at, "", "there must be exactly one of selector and clusterIds"))
	}
	if targets.Selector != nil {
		faults = append(faults, validateSelector(targets.Selector, at.Child("selector"))...)
	}
	if targets.ClusterIDs == nil {
		return faults, warnings
	}
	ids := at.Child("clusterIds")
	if len(*targets.ClusterIDs) == 0 {
		faults = append(faults, field.Required(ids, "name at least one cluster"))
	}
	seen := make(map[string]bool, len(*targets.ClusterIDs))
	for i, id := range *targets.ClusterIDs {
		for _, wrong := range validation.IsDNS1123Subdomain(id) {
			faults = append(faults, field.Invalid(ids.Index(i), id, wrong))
		}
		if id == "local" {
			faults = append(faults, field.Forbidden(ids.Index(i), "is the cluster that Rancher itself runs on"))
		}
		if seen[id] {
			warnings = append(warnings, ids.Index(i).String()+": '"+id+"' stands twice")
		}
		seen[id] = true
	}
	return faults, warnings
}

func validateSelector(selector *metav1.LabelSelector, at *field.Path) field.ErrorList {
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		return field.ErrorList{field.Required(at, "must not be empty: it would mean every cluster")}
	}
	faults := metav1validation.ValidateLabelSelector(selector, metav1validation.LabelSelectorValidationOptions{}, at)
	for key, value := range selector.MatchLabels {
		for _, wrong := range validation.IsValidLabelValue(value) {
			faults = append(faults, field.Invalid(at.Child("matchLabels").Key(key), value, wrong))
		}
	}
	if len(faults) == 0 && contradicts(selector) {
		faults = append(faults, field.Invalid(at, "", "nothing can ever match: the requirements exclude one another"))
	}
	return faults
}

// What all requirements on one key leave.
type label struct {
	named   bool // only `values` will do
	values  []string
	not     []string
	present bool
	absent  bool
}

func (l *label) only(values []string) {
	if !l.named {
		l.named, l.values = true, values
		return
	}
	l.values = slices.DeleteFunc(slices.Clone(l.values), func(v string) bool { return !slices.Contains(values, v) })
}

func (l *label) impossible() bool {
	if l.absent {
		return l.present || l.named
	}
	return l.named && !slices.ContainsFunc(l.values, func(v string) bool { return !slices.Contains(l.not, v) })
}

func contradicts(selector *metav1.LabelSelector) bool {
	if len(selector.MatchExpressions) == 0 {
		return false
	}
	labels := map[string]*label{}
	of := func(key string) *label {
		if labels[key] == nil {
			labels[key] = &label{}
		}
		return labels[key]
	}
	for key, value := range selector.MatchLabels {
		of(key).only([]string{value})
	}
	for _, one := range selector.MatchExpressions {
		l := of(one.Key)
		switch one.Operator {
		case metav1.LabelSelectorOpIn:
			l.only(one.Values)
		case metav1.LabelSelectorOpNotIn:
			l.not = append(l.not, one.Values...)
		case metav1.LabelSelectorOpExists:
			l.present = true
		case metav1.LabelSelectorOpDoesNotExist:
			l.absent = true
		}
	}
	for _, l := range labels {
		if l.impossible() {
			return true
		}
	}
	return false
}
