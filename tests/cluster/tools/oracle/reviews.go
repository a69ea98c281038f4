// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/request"
	strictjson "sigs.k8s.io/json"
)

// A review's frame has the body, the route ("mutate" or "validate"), the answer ("" if there was an error), and the
// object as Herd's own patch leaves it.

// The API server drops warnings beyond this (k8s.io/apiserver/pkg/endpoints/filters/warning.go).
const warningBytes = 4096

func readReview(from []byte, strict bool) (*admissionv1.AdmissionReview, error) {
	review := &admissionv1.AdmissionReview{}
	strictErrors, err := strictjson.UnmarshalStrict(from, review)
	if err == nil && strict && len(strictErrors) > 0 {
		err = strictErrors[0]
	}
	return review, err
}

func judgeRejection(response *request.AdmissionResponse) error {
	switch result := response.Result; {
	case result == nil:
		return errors.New("a rejection without a status")
	case result.Code < 400 || result.Code > 599:
		return fmt.Errorf("a rejection with code %d", result.Code)
	case result.Status != "Failure" || result.Reason == "" || result.Message == "":
		return errors.New("a rejection without reason or message")
	case len(response.Patch) > 0:
		return errors.New("a rejection with a patch")
	}
	return nil
}

func judgeWarnings(warnings []string) error {
	sum := 0
	for _, warning := range warnings {
		sum += len(warning)
		if strings.ContainsFunc(warning, unicode.IsControl) {
			return fmt.Errorf("a warning with control characters: %q", warning)
		}
	}
	if sum > warningBytes {
		return fmt.Errorf("warnings of %d bytes", sum)
	}
	return nil
}

func valueOf(document []byte) ([]byte, error) {
	var value any
	err := strictjson.UnmarshalCaseSensitivePreserveInts(document, &value)
	return canonical(nil, value), err
}

// judgePatch: the patch applies, and comes to what Herd took it to come to.
func judgePatch(object, patch, patched []byte) error {
	operations, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return fmt.Errorf("the patch is none: %w", err)
	}
	if len(operations) == 0 {
		return errors.New("a patch of nothing")
	}
	after, err := operations.Apply(object)
	if err != nil {
		return fmt.Errorf("the patch does not apply: %w", err)
	}
	got, err := valueOf(after)
	if err != nil {
		return fmt.Errorf("the patched object cannot be read: %w", err)
	}
	want, err := valueOf(patched)
	if err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("the patched objects differ: %.2000s", after)
	}
	return nil
}

// judgeUndecodable: of what cannot be read, too, the uid is found and answered, and never with a yes.
func judgeUndecodable(body []byte, review *admissionv1.AdmissionReview) error {
	if review.Response == nil || review.Response.UID == "" || !bytes.Contains(body, []byte(review.Response.UID)) {
		return errors.New("an answer without the uid of what cannot be read")
	}
	response, err := request.VerifyAdmissionResponse(review.Response.UID, false, review)
	if err != nil {
		return err
	}
	if response.Allowed {
		return errors.New("what cannot be read was allowed")
	}
	return judgeRejection(response)
}

func judgeReview(parts [][]byte) (string, error) {
	body, mutates, answer, patched := parts[0], string(parts[1]) == "mutate", parts[2], parts[3]
	if len(answer) == 0 {
		return "errors", nil
	}
	review, err := readReview(answer, true)
	if err != nil {
		return "", fmt.Errorf("the answer cannot be read: %w", err)
	}
	asked, err := readReview(body, false)
	if err != nil || asked.Request == nil {
		return "rejected, cannot be decoded", judgeUndecodable(body, review)
	}
	response, err := request.VerifyAdmissionResponse(asked.Request.UID, mutates, review)
	if err != nil {
		return "", err
	}
	if err := judgeWarnings(response.Warnings); err != nil {
		return "", err
	}
	if !response.Allowed {
		return "rejected", judgeRejection(response)
	}
	if len(response.Patch) == 0 {
		return "allowed", nil
	}
	if response.PatchType != admissionv1.PatchTypeJSONPatch {
		return "", fmt.Errorf("a patch of type %s", response.PatchType)
	}
	return "allowed and patched", judgePatch(asked.Request.Object.Raw, response.Patch, patched)
}
