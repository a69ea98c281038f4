// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// canonical writes a value so that equal values are equal bytes: strings by length, whole numbers that fit 64 bits as
// such, other numbers by the bits of the nearest float64, members by the bytes of their keys. tests/oracle/feed.c
// writes the same form.
func canonical(out []byte, value any) []byte {
	switch of := value.(type) {
	case nil:
		return append(out, 'n')
	case bool:
		if of {
			return append(out, 't')
		}
		return append(out, 'f')
	case string:
		return text(out, of)
	case int64:
		return append(strconv.AppendInt(append(out, 'i'), of, 10), ';')
	case float64:
		return fmt.Appendf(out, "d%016x;", math.Float64bits(of))
	case []any:
		out = append(out, '[')
		for _, element := range of {
			out = canonical(out, element)
		}
		return append(out, ']')
	case map[string]any:
		keys := make([]string, 0, len(of))
		for key := range of {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		out = append(out, '{')
		for _, key := range keys {
			out = canonical(text(out, key), of[key])
		}
		return append(out, '}')
	default:
		return fmt.Appendf(out, "?%T", value)
	}
}

func text(out []byte, value string) []byte {
	out = append(strconv.AppendInt(append(out, 's'), int64(len(value)), 10), ':')
	return append(out, value...)
}
