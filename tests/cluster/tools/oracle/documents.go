// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	goyaml "go.yaml.in/yaml/v2"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// A document's frame has the document, Herd's error ("" if it was accepted), and the value that Herd read, as
// canonical writes it.

// Where Herd is stricter by design. Each row is what Herd says, and what must then be so of the document: an error that
// is no more than a pretext is a difference.
type stricter struct {
	says  string
	holds func(document []byte) bool
}

func always([]byte) bool { return true }

func longerThan(bytes int) func([]byte) bool {
	return func(document []byte) bool { return len(document) > bytes }
}

func has(pattern string) func([]byte) bool {
	return regexp.MustCompile(pattern).Match
}

func isNotUTF8(document []byte) bool { return !utf8.Valid(document) }

var stricterJSON = []stricter{
	{"bytes that are not UTF-8", isNotUTF8},
	{`\u0000 is not allowed`, has(`\\u0000`)},
	{"a low surrogate without the high one", has(`\\u[dD][cdefCDEF]`)},
	{"a high surrogate without the low one", has(`\\u[dD][89abAB]`)},
	{"levels of nesting", longerThan(128)},
	{"a string of more than", longerThan(1 << 20)},
	{"a number of more than", longerThan(1 << 20)},
	{"values", longerThan(200000)},
}

// agree: what is counted, or what differs. `accepted` is Kubernetes' own verdict, `value` what it read.
func agree(parts [][]byte, value any, rejected error, list []stricter) (string, error) {
	document, says, read := parts[0], string(parts[1]), parts[2]
	if says == "" && rejected != nil {
		return "", fmt.Errorf("Herd accepts what Kubernetes rejects: %v", rejected)
	}
	if says == "" {
		if want := canonical(nil, value); !bytes.Equal(read, want) {
			return "", fmt.Errorf("the values differ; Kubernetes reads %.2000q", want)
		}
		return "accepted by both", nil
	}
	if rejected != nil {
		return "rejected by both", nil
	}
	for _, row := range list {
		if strings.Contains(says, row.says) && row.holds(document) {
			return "rejected by Herd alone, by design", nil
		}
	}
	return "", errors.New("Herd rejects what Kubernetes accepts")
}

func judgeJSON(parts [][]byte) (string, error) {
	var value any
	strictErrors, err := strictjson.UnmarshalStrict(parts[0], &value)
	if err == nil && len(strictErrors) > 0 {
		err = strictErrors[0]
	}
	return agree(parts, value, err, stricterJSON)
}

// Some of these are libyaml's: it is younger than what goyaml was made of.
var stricterYAML = append([]stricter{
	{"unknown tag", has("!")},
	{"while scanning a tag", has("!")},
	{"while parsing a tag", has("!")},
	{"a '!' without a text", has("!")},
	{"!!binary has no form in JSON", has("!!binary")},
	{"is not what its tag", has("!!")},
	{"while scanning an alias", has(`\*`)},
	{"while scanning an anchor", has("&")},
	{"a '?' in plain words", has(`\?`)},
	{"found unexpected ':'", has(":")},
	{"found unknown escape character", has(`\\`)},
	{"found invalid Unicode character escape code", has(`\\u[dD]`)},
	{"is a number that JSON cannot write", has(`(?i)\.(inf|nan)`)},
	{"a key that is a number with a fraction", has(`[0-9]`)},
	{"a byte order mark that", has("\ufeff")},
	{"a key is missing or null", has("---")},
	{"a key must be a scalar", has("---")},
	{"control characters are not allowed", has(`[\x00-\x1f\x7f]|\xc2`)},
	{"duplicate key", has("<<")},
	{"a string must not hold a NUL", has(`\\(0|x00|u0000)`)},
	{"did not find expected ',' or '}'", has("\u0085|\u2028|\u2029")}, // a line's end in a string, to libyaml
	{"UTF-8 octet", isNotUTF8},
	{"anchors", longerThan(64)},
	{"levels", longerThan(64)},
}, stricterJSON...)

// A member of a mapping's own behind a merge that has it too is a duplicate to goyaml's strict mode; to YAML, to goyaml
// otherwise, and so to kubectl it is what counts.
func isOwnMember(strict error, stream []byte) bool {
	return strings.Contains(strict.Error(), "already set in map") && bytes.Contains(stream, []byte("<<"))
}

// documentsOf reads the whole stream, where sigs.k8s.io/yaml stops behind the first document.
func documentsOf(stream []byte, strict bool) (count int, err error) {
	decoder := goyaml.NewDecoder(bytes.NewReader(stream))
	decoder.SetStrict(strict)
	for {
		var value any
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			return count, nil
		} else if err != nil {
			return count, err
		}
		count++
	}
}

// readYAML: what begins with a brace is JSON to kubectl (k8s.io/apimachinery/pkg/util/yaml, GuessJSONStream), and YAML
// only if it is none.
func readYAML(stream []byte) (value any, count int, err error) {
	if bytes.HasPrefix(bytes.TrimSpace(stream), []byte("{")) {
		if strictErrors, err := strictjson.UnmarshalStrict(stream, &value); err == nil && len(strictErrors) == 0 {
			return value, 1, nil
		}
	}
	convert := yaml.YAMLToJSONStrict
	if count, err = documentsOf(stream, true); err != nil && isOwnMember(err, stream) {
		convert = yaml.YAMLToJSON
		count, err = documentsOf(stream, false)
	}
	if err != nil {
		return nil, count, err
	}
	document, err := convert(stream)
	if err == nil {
		value = nil
		_, err = strictjson.UnmarshalStrict(document, &value)
	}
	return value, count, err
}

func judgeYAML(parts [][]byte) (string, error) {
	value, count, err := readYAML(parts[0])
	if err == nil && bytes.Equal(parts[2], []byte("several")) {
		if count < 2 {
			return "", fmt.Errorf("Herd reads several documents, and Kubernetes %d", count)
		}
		return "several documents, accepted by both", nil
	}
	return agree(parts, value, err, stricterYAML)
}
