// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "cloudnative.elide.dev", Version: "v1"}

// ApplicationSpec is what the CRD in manifests/workloads/applications has, which also fills in the defaults.
type ApplicationSpec struct {
	Replicas int32             `json:"replicas,omitempty"`
	Image    string            `json:"image"`
	Strategy string            `json:"strategy,omitempty"`
	Config   map[string]string `json:"config,omitempty"`
}

// ApplicationStatus has the fields that herd-controller writes, too.
type ApplicationStatus struct {
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Children           map[string]int64   `json:"children,omitempty"`
	Phase              string             `json:"phase,omitempty"`
	Replicas           int32              `json:"replicas"`
	ReadyReplicas      int32              `json:"readyReplicas"`
	Selector           string             `json:"selector,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// Application is an image that runs on this cluster.
type Application struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ApplicationSpec   `json:"spec"`
	Status ApplicationStatus `json:"status,omitempty"`
}

// ApplicationList is a list of them.
type ApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Application `json:"items"`
}

func addToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(groupVersion, &Application{}, &ApplicationList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	return nil
}

// The rest is what controller-gen would write.

// DeepCopyInto copies it into another one.
func (a *Application) DeepCopyInto(out *Application) {
	*out = *a
	a.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Spec.Config = maps.Clone(a.Spec.Config)
	out.Status.Children = maps.Clone(a.Status.Children)
	if a.Status.Conditions != nil {
		out.Status.Conditions = make([]metav1.Condition, len(a.Status.Conditions))
		for i := range a.Status.Conditions {
			a.Status.Conditions[i].DeepCopyInto(&out.Status.Conditions[i])
		}
	}
}

// DeepCopy copies it.
func (a *Application) DeepCopy() *Application {
	out := new(Application)
	a.DeepCopyInto(out)
	return out
}

// DeepCopyObject copies it as any object.
func (a *Application) DeepCopyObject() runtime.Object { return a.DeepCopy() }

// DeepCopyObject copies all of them.
func (l *ApplicationList) DeepCopyObject() runtime.Object {
	out := &ApplicationList{TypeMeta: l.TypeMeta, Items: make([]Application, len(l.Items))}
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	for i := range l.Items {
		l.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}

func setCondition(app *Application, kind string, holds bool, reason, message string) {
	status := metav1.ConditionFalse
	if holds {
		status = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&app.Status.Conditions, metav1.Condition{
		Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: app.Generation,
	})
}
