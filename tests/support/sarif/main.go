// SPDX-License-Identifier: Apache-2.0

// sarif: does a report follow the SARIF 2.1.0 schema of OASIS?
//
//	go run . MODULE FILE...
//
// MODULE is the folder of github.com/owenrumney/go-sarif/v3 (go list -m -f {{.Dir}}), which carries the schema
// as a constant. Says what is wrong with each FILE; exit 0 if nothing is, 1 if something is, 2 if it cannot tell.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // so that go.mod keeps it
	"github.com/xeipuuv/gojsonschema"
)

func fail(err error) {
	fmt.Fprintln(os.Stderr, "sarif:", err)
	os.Exit(2)
}

// schemaOf reads the constant "schema".
func schemaOf(module string) (string, error) {
	name := filepath.Join(module, "pkg", "report", "v210", "sarif", "schema.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		return "", err
	}
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			value, ok := spec.(*ast.ValueSpec)
			if ok && value.Names[0].Name == "schema" {
				return strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			}
		}
	}
	return "", fmt.Errorf("%s has no constant schema", name)
}

func main() {
	text, err := schemaOf(os.Args[1])
	if err != nil {
		fail(err)
	}
	schema, err := gojsonschema.NewSchema(gojsonschema.NewStringLoader(text))
	if err != nil {
		fail(err)
	}
	code := 0
	for _, name := range os.Args[2:] {
		bytes, err := os.ReadFile(name)
		if err != nil {
			fail(err)
		}
		result, err := schema.Validate(gojsonschema.NewBytesLoader(bytes))
		if err != nil {
			fail(err)
		}
		for _, wrong := range result.Errors() {
			fmt.Printf("%s: %s\n", name, wrong)
			code = 1
		}
	}
	os.Exit(code)
}
