// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	stackv1 "herd.suse.com/tests/bench/peers/api/v1"
)

// A vendor's charts make its GPUs available.
type vendor struct {
	name     string
	exact    []string // resources
	prefixes []string
	charts   []string
}

var vendors = []vendor{
	{"NVIDIA", []string{"nvidia.com/gpu"}, []string{"nvidia.com/gpu.", "nvidia.com/mig-"},
		[]string{"gpu-operator", "nvidia-gpu-operator", "nvidia-device-plugin", "hami"}},
	{"AMD", []string{"amd.com/gpu"}, nil, []string{"amd-gpu", "amd-gpu-operator", "gpu-operator-charts"}},
	{"Intel", nil, []string{"gpu.intel.com/"},
		[]string{"intel-device-plugins-gpu", "intel-device-plugins-operator", "intel-gpu-plugin"}},
}

var gpuLabels = []string{"gpu", "nvidia.com/gpu.present", "amd.com/gpu", "intel.feature.node.kubernetes.io/gpu"}

// vendorOf a resource, or -1.
func vendorOf(name string) int {
	for i := range vendors {
		if slices.Contains(vendors[i].exact, name) ||
			slices.ContainsFunc(vendors[i].prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			return i
		}
	}
	return -1
}

type gpus struct {
	needs    []map[int]bool // of each chart, by vendor
	faults   field.ErrorList
	warnings []string
}

// read the values, which nobody but the chart understands, for GPUs in requests and limits.
func (g *gpus) read(values *runtime.RawExtension, chart int, at *field.Path) {
	if values == nil || len(values.Raw) == 0 {
		return
	}
	var tree any
	if err := json.Unmarshal(values.Raw, &tree); err != nil {
		g.faults = append(g.faults, field.Invalid(at, string(values.Raw), err.Error()))
		return
	}
	g.walk(tree, chart, at)
}

func (g *gpus) walk(value any, chart int, at *field.Path) {
	switch value := value.(type) {
	case []any:
		for i := range value {
			g.walk(value[i], chart, at.Index(i))
		}
	case map[string]any:
		requests, _ := value["requests"].(map[string]any)
		limits, _ := value["limits"].(map[string]any)
		g.readAmounts(requests, chart, at.Child("requests"))
		g.readAmounts(limits, chart, at.Child("limits"))
		g.compare(requests, limits, at)
		for key, member := range value {
			g.walk(member, chart, at.Child(key))
		}
	}
}

func amount(value any) (resource.Quantity, error) {
	return resource.ParseQuantity(fmt.Sprint(value))
}

func isWhole(quantity resource.Quantity) bool {
	return quantity.Sign() > 0 && quantity.MilliValue()%1000 == 0
}

func (g *gpus) readAmounts(amounts map[string]any, chart int, at *field.Path) {
	for name, value := range amounts {
		vendor := vendorOf(name)
		if vendor < 0 || value == nil {
			continue
		}
		if chart >= 0 {
			g.need(chart, vendor)
		}
		if quantity, err := amount(value); err != nil || !isWhole(quantity) {
			g.faults = append(g.faults, field.Invalid(at.Key(name), value, "is not a positive whole number of GPUs"))
		}
	}
}

func (g *gpus) need(chart, vendor int) {
	if g.needs[chart] == nil {
		g.needs[chart] = map[int]bool{}
	}
	g.needs[chart][vendor] = true
}

func (g *gpus) compare(requests, limits map[string]any, at *field.Path) {
	for name, value := range requests {
		if vendorOf(name) < 0 || value == nil {
			continue
		}
		limit, limited := limits[name]
		if !limited {
			g.warnings = append(g.warnings, at.Child("requests").Key(name).String()+": is requested without a limit")
			continue
		}
		asked, err := amount(value)
		most, errMost := amount(limit)
		if err == nil && errMost == nil && asked.Cmp(most) != 0 {
			g.faults = append(g.faults, field.Invalid(at.Child("requests").Key(name), value,
				fmt.Sprintf("limits say %v; GPUs cannot be overcommitted", limit)))
		}
	}
}

func provides(chart *stackv1.Chart, v *vendor) bool {
	return slices.Contains(v.charts, chart.Name) || slices.Contains(v.charts, chart.Chart)
}

func demandsGPUs(targets *stackv1.Targets) bool {
	if targets == nil || targets.Selector == nil {
		return false
	}
	for key, value := range targets.Selector.MatchLabels {
		if value == "true" && slices.Contains(gpuLabels, key) {
			return true
		}
	}
	for _, one := range targets.Selector.MatchExpressions {
		onlyTrue := one.Operator == metav1.LabelSelectorOpIn && len(one.Values) == 1 && one.Values[0] == "true"
		if slices.Contains(gpuLabels, one.Key) && (onlyTrue || one.Operator == metav1.LabelSelectorOpExists) {
			return true
		}
	}
	return false
}

func validateGPUs(spec *stackv1.StackSpec, needs [][]int, at *field.Path) (field.ErrorList, []string) {
	g := &gpus{needs: make([]map[int]bool, len(spec.Charts))}
	byName := make(map[string]int, len(spec.Charts))
	charts := at.Child("charts")
	any, hidden := false, false
	for i := range spec.Charts {
		byName[spec.Charts[i].Name] = i
		if values := spec.Charts[i].Values; values != nil {
			hidden = hidden || len(values.ConfigMapRefs)+len(values.SecretRefs) > 0
			g.read(values.Inline, i, charts.Index(i).Child("values", "inline"))
		}
	}
	for i := range spec.Overrides {
		list := at.Child("overrides").Index(i).Child("charts")
		for k := range spec.Overrides[i].Charts {
			one := &spec.Overrides[i].Charts[k]
			chart, known := byName[one.Name]
			if !known {
				chart = -1
			}
			if one.Values != nil {
				g.read(one.Values.Inline, chart, list.Index(k).Child("values", "inline"))
			}
		}
	}
	for v := range vendors {
		any = g.checkVendor(spec.Charts, needs, v, charts) || any
	}
	for i := range g.needs {
		any = any || len(g.needs[i]) > 0
	}
	if !any && len(spec.Charts) > 0 && demandsGPUs(spec.Targets) {
		selector := at.Child("targets", "selector")
		if hidden {
			g.warnings = append(g.warnings, selector.String()+": demands GPUs, but no chart visibly requests them")
		} else {
			g.faults = append(g.faults, field.Invalid(selector, "", "demands GPUs, but no chart requests or provides one"))
		}
	}
	return g.faults, g.warnings
}

// checkVendor: true if a chart provides the vendor's GPUs.
func (g *gpus) checkVendor(charts []stackv1.Chart, needs [][]int, v int, at *field.Path) bool {
	var providers []int
	for i := range charts {
		if provides(&charts[i], &vendors[v]) {
			providers = append(providers, i)
		}
	}
	var awaits []bool
	for i := range charts {
		if !g.needs[i][v] || slices.Contains(providers, i) {
			continue
		}
		if len(providers) == 0 {
			g.warnings = append(g.warnings, at.Index(i).String()+": needs "+vendors[v].name+
				" GPUs, and no chart of this Stack provides them")
			continue
		}
		if awaits == nil {
			awaits = dependents(needs, providers)
		}
		if !awaits[i] {
			g.faults = append(g.faults, field.Required(at.Index(i).Child("dependsOn"),
				"needs "+vendors[v].name+" GPUs; add "+charts[providers[0]].Name))
		}
	}
	return len(providers) > 0
}
