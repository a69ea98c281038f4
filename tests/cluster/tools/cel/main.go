// SPDX-License-Identifier: Apache-2.0

// cel answers a table of CEL expressions as Kubernetes does: with cel-go and the environment library of the API
// server. The lab's own answers to the same table are a unit test, tests/unit/lab/cel/expressions_test.c.
//
//	cel TABLE SCHEMA OBJECT
//
// TABLE has the expressions, each on a line of its own, with the answer on the next one: "= value" of `self`, "! why" if
// it is refused, "? why" if evaluation fails; "~ ..." is what the lab answers instead. All of it is printed again, with
// Kubernetes' answers; "~" stays where the lab's answer is another.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	rules "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	apimachinery "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, "cel:", err)
		os.Exit(1)
	}
	return value
}

// show writes a value as the lab's cel_show does.
func show(value ref.Val) string {
	switch v := value.(type) {
	case types.String:
		return quote(string(v))
	case types.Bytes:
		return "b" + quote(string(v))
	case types.Uint:
		return fmt.Sprintf("%du", uint64(v))
	case types.Double:
		return fmt.Sprintf("double(%s)", v.ConvertToType(types.StringType).Value())
	case types.Timestamp, types.Duration:
		name := "timestamp"
		if _, ok := v.(types.Duration); ok {
			name = "duration"
		}
		return fmt.Sprintf("%s(%s)", name, v.ConvertToType(types.StringType).Value())
	case types.Null:
		return "null"
	case *types.Optional:
		if !v.HasValue() {
			return "optional()"
		}
		return "optional(" + show(v.GetValue()) + ")"
	case *types.Type:
		return "type(" + v.TypeName() + ")"
	case traits.Lister:
		var parts []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			parts = append(parts, show(it.Next()))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case traits.Mapper:
		var parts []string
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			parts = append(parts, show(key)+": "+show(v.Get(key)))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ", ") + "}"
	case apiservercel.Quantity:
		return "quantity(" + v.Quantity.AsDec().String() + ")"
	}
	return fmt.Sprint(value.Value())
}

func quote(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			out.WriteString("\\" + string(rune(c)))
		case c == '\n':
			out.WriteString("\\n")
		case c == '\t':
			out.WriteString("\\t")
		case c == '\r':
			out.WriteString("\\r")
		case c < 0x20 || c == 0x7f:
			fmt.Fprintf(&out, "\\x%02x", c)
		default:
			out.WriteByte(c)
		}
	}
	return out.String() + `"`
}

type world struct {
	env  *cel.Env
	self ref.Val
}

func newWorld(schemaFile, objectFile string) *world {
	var external v1.JSONSchemaProps
	var internal apiextensions.JSONSchemaProps
	var object any
	must(0, json.Unmarshal(must(os.ReadFile(schemaFile)), &external))
	must(0, v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil))
	must(0, apimachinery.Unmarshal(must(os.ReadFile(objectFile)), &object))
	schema := must(structural.NewStructural(&internal))
	declared := model.SchemaDeclType(schema, true).MaybeAssignTypeName("selfType")
	set := must(environment.MustBaseEnvSet(version.MajorMinor(1, 36)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("self", declared.CelType())},
		DeclTypes:         []*apiservercel.DeclType{declared},
	}))
	return &world{set.NewExpressionsEnv(), rules.UnstructuredToVal(object, model.WithTypeAndObjectMeta(schema))}
}

// answer gives the line behind an expression.
func (w *world) answer(expression string) string {
	ast, issues := w.env.Compile(expression)
	if issues != nil {
		return "! " + strings.TrimPrefix(strings.SplitN(issues.String(), "\n", 2)[0], "ERROR: <input>:")
	}
	program, err := w.env.Program(ast)
	if err != nil {
		return "! " + err.Error()
	}
	value, _, err := program.Eval(map[string]any{"self": w.self})
	if err != nil {
		return "? " + err.Error()
	}
	return "= " + show(value)
}

func main() {
	w := newWorld(os.Args[2], os.Args[3])
	in := bufio.NewScanner(must(os.Open(os.Args[1])))
	answer := ""
	for in.Scan() {
		line := in.Text()
		sign, said := "", ""
		if len(line) > 2 {
			sign, said = line[:2], line[2:]
		}
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
			fmt.Println(line)
		case sign == "= " || sign == "! " || sign == "? ":
		case sign == "~ ":
			if said != answer {
				fmt.Println(line)
			}
		default:
			answer = w.answer(line)
			fmt.Println(line)
			fmt.Println(strings.ReplaceAll(answer, "\n", " "))
		}
	}
	must(0, in.Err())
}
