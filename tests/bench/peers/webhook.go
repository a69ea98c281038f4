// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	stackv1 "herd.suse.com/tests/bench/peers/api/v1"
)

const (
	lastAppliedBy       = "herd.suse.com/last-applied-by"
	lastAppliedByGroups = lastAppliedBy + "-groups"
)

var stackKind = stackv1.GroupVersion.WithKind("Stack").GroupKind()

// refusal is nil where nothing is wrong.
func refusal(stack *stackv1.Stack, faults field.ErrorList) error {
	if len(faults) == 0 {
		return nil
	}
	return apierrors.NewInvalid(stackKind, stack.Name, faults)
}

type defaulter struct{}

// Default refuses too: so the author is told everything before the API server looks at the schema.
func (defaulter) Default(ctx context.Context, stack *stackv1.Stack) error {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return err
	}
	setDefaults(stack)
	if faults, _ := validateStack(stack); len(faults) > 0 {
		return refusal(stack, faults)
	}
	return recordAuthor(stack, &request)
}

// recordAuthor: whoever changes the spec is its author; other updates leave the annotations alone.
func recordAuthor(stack *stackv1.Stack, request *admission.Request) error {
	author := map[string]string{
		lastAppliedBy:       request.UserInfo.Username,
		lastAppliedByGroups: strings.Join(request.UserInfo.Groups, ","),
	}
	if request.Operation == admissionv1.Update {
		old := &stackv1.Stack{}
		if err := oldStacks.DecodeRaw(request.OldObject, old); err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		setDefaults(old)
		if equality.Semantic.DeepEqual(stack.Spec, old.Spec) {
			author = old.Annotations
		}
	}
	if stack.Annotations == nil {
		stack.Annotations = map[string]string{}
	}
	for _, key := range []string{lastAppliedBy, lastAppliedByGroups} {
		if author[key] == "" {
			delete(stack.Annotations, key)
		} else {
			stack.Annotations[key] = author[key]
		}
	}
	return nil
}

var oldStacks = func() admission.Decoder {
	scheme := runtime.NewScheme()
	if err := stackv1.AddToScheme(scheme); err != nil {
		panic(err)
	}
	return admission.NewDecoder(scheme)
}()

type validator struct{}

func (validator) ValidateCreate(_ context.Context, stack *stackv1.Stack) (admission.Warnings, error) {
	setDefaults(stack)
	faults, warnings := validateStack(stack)
	return warnings, refusal(stack, faults)
}

// ValidateUpdate: what was wrong before, in the same words about the same value, only warns, so that
// a stricter webhook locks no Stack that runs.
func (validator) ValidateUpdate(_ context.Context, old, stack *stackv1.Stack) (admission.Warnings, error) {
	if old.DeletionTimestamp != nil {
		return nil, nil
	}
	setDefaults(stack)
	setDefaults(old)
	faults, warnings := validateStack(stack)
	if len(faults) > 0 {
		before, _ := validateStack(old)
		var excused []string
		faults, excused = excuse(faults, before)
		warnings = append(warnings, excused...)
	}
	return warnings, refusal(stack, faults)
}

func (validator) ValidateDelete(context.Context, *stackv1.Stack) (admission.Warnings, error) {
	return nil, nil
}

func excuse(faults, before field.ErrorList) (left field.ErrorList, warnings []string) {
	known := map[string]int{}
	for _, fault := range before {
		known[fault.Error()]++
	}
	for _, fault := range faults {
		text := fault.Error()
		if known[text] == 0 {
			left = append(left, fault)
			continue
		}
		known[text]--
		warnings = append(warnings, text)
	}
	return left, warnings
}
