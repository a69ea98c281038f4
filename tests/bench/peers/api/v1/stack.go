// SPDX-License-Identifier: Apache-2.0

// Package v1 has the types of Stacks, as an author of a controller in Go writes them down.
//
// Optional fields that have a default are pointers or omitted when empty, so that what is said and
// what is not can be told apart. What the fields mean: docs/fields.md.
//
// +kubebuilder:object:generate=true
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// GroupVersion of Stacks.
var GroupVersion = schema.GroupVersion{Group: "herd.suse.com", Version: "v1"}

// AddToScheme makes the types known to a decoder.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Stack{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}

// +kubebuilder:object:root=true

type Stack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   StackSpec             `json:"spec"`
	Status *runtime.RawExtension `json:"status,omitempty"`
}

type StackSpec struct {
	Env                  string                `json:"env,omitempty"`
	Security             string                `json:"security,omitempty"`
	Observability        string                `json:"observability,omitempty"`
	SecurityProfile      *SecurityProfile      `json:"securityProfile,omitempty"`
	ObservabilityProfile *ObservabilityProfile `json:"observabilityProfile,omitempty"`
	Targets              *Targets              `json:"targets,omitempty"`
	Charts               []Chart               `json:"charts,omitempty"`
	DependsOn            []NameRef             `json:"dependsOn,omitempty"`
	Overrides            []Override            `json:"overrides,omitempty"`
	Rollout              *Rollout              `json:"rollout,omitempty"`
	Drift                string                `json:"drift,omitempty"`
	Retry                *Retry                `json:"retry,omitempty"`
	OnFailure            string                `json:"onFailure,omitempty"`
	DeletionPolicy       string                `json:"deletionPolicy,omitempty"`
	Paused               *bool                 `json:"paused,omitempty"`
}

type Targets struct {
	Selector   *metav1.LabelSelector `json:"selector,omitempty"`
	ClusterIDs *[]string             `json:"clusterIds,omitempty"`
}

type Chart struct {
	Name        string       `json:"name,omitempty"`
	Chart       string       `json:"chart,omitempty"`
	Repo        string       `json:"repo,omitempty"`
	Version     string       `json:"version,omitempty"`
	Namespace   string       `json:"namespace,omitempty"`
	ReleaseName string       `json:"releaseName,omitempty"`
	Values      *ChartValues `json:"values,omitempty"`
	DependsOn   []string     `json:"dependsOn,omitempty"`
	Wait        *bool        `json:"wait,omitempty"`
	Timeout     string       `json:"timeout,omitempty"`
}

type ChartValues struct {
	ConfigMapRefs []ValuesRef           `json:"configMapRefs,omitempty"`
	SecretRefs    []ValuesRef           `json:"secretRefs,omitempty"`
	Inline        *runtime.RawExtension `json:"inline,omitempty"`
}

type ValuesRef struct {
	Name     string `json:"name,omitempty"`
	Key      string `json:"key,omitempty"`
	Optional *bool  `json:"optional,omitempty"`
}

type NameRef struct {
	Name string `json:"name,omitempty"`
}

type Override struct {
	Targets `json:",inline"`

	Charts []ChartOverride `json:"charts,omitempty"`
}

type ChartOverride struct {
	Name    string       `json:"name,omitempty"`
	Version string       `json:"version,omitempty"`
	Values  *ChartValues `json:"values,omitempty"`
	Skip    *bool        `json:"skip,omitempty"`
}

type SecurityProfile struct {
	PolicyMode string      `json:"policyMode,omitempty"`
	Thresholds *Thresholds `json:"thresholds,omitempty"`
	Compliance string      `json:"compliance,omitempty"`
	Admission  string      `json:"admission,omitempty"`
}

type Thresholds struct {
	Critical *int64 `json:"critical,omitempty"`
	High     *int64 `json:"high,omitempty"`
}

type ObservabilityProfile struct {
	ScrapeInterval string    `json:"scrapeInterval,omitempty"`
	Tracing        *Tracing  `json:"tracing,omitempty"`
	Dashboards     *[]string `json:"dashboards,omitempty"`
	Alerts         string    `json:"alerts,omitempty"`
}

type Tracing struct {
	Enabled       *bool    `json:"enabled,omitempty"`
	SamplingRatio *float64 `json:"samplingRatio,omitempty"`
}

type Rollout struct {
	MaxConcurrentClusters *int64              `json:"maxConcurrentClusters,omitempty"`
	MaxFailures           *int64              `json:"maxFailures,omitempty"`
	MaxUnavailable        *intstr.IntOrString `json:"maxUnavailable,omitempty"`
	RemovalDelay          string              `json:"removalDelay,omitempty"`
	MaxRemovals           *intstr.IntOrString `json:"maxRemovals,omitempty"`
	Waves                 []Wave              `json:"waves,omitempty"`
}

type Wave struct {
	Name     string                `json:"name,omitempty"`
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	Pause    string                `json:"pause,omitempty"`
	Approval string                `json:"approval,omitempty"`
	Scans    string                `json:"scans,omitempty"`
}

type Retry struct {
	Limit   *int64 `json:"limit,omitempty"`
	Backoff string `json:"backoff,omitempty"`
}
