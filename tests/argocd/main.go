// SPDX-License-Identifier: Apache-2.0

// health: what Argo CD and kstatus (Flux, kpt, Helm 4) make of Stacks.
//
//	health manifests/argocd/health.lua tests/argocd/snapshots tests/argocd/expected.tsv
//	herd-feed status 10000 | health status      whether shared/kube/object_status.h sees objects as kstatus does
//
// The snapshots are what `kubectl get stack -o json` said at the stages of Stacks' lives (record.sh). Each is a line of
// expected.tsv: its name, Argo CD's health, kstatus' status, and words of Argo CD's message ("-" = any). What no recording
// shows is a snapshot changed: "NAME without FIELD", "NAME with FIELD VALUE". The script runs as Argo CD runs it: on
// gopher-lua, for a second at most, with the base, table and package libraries alone.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// toLua is what Argo CD makes of an object's fields.
func toLua(l *lua.LState, value any) lua.LValue {
	switch of := value.(type) {
	case bool:
		return lua.LBool(of)
	case int64:
		return lua.LNumber(of)
	case float64:
		return lua.LNumber(of)
	case string:
		return lua.LString(of)
	case []any:
		table := l.CreateTable(len(of), 0)
		for _, item := range of {
			table.Append(toLua(l, item))
		}
		return table
	case map[string]any:
		table := l.CreateTable(0, len(of))
		for key, item := range of {
			table.RawSetString(key, toLua(l, item))
		}
		return table
	}
	return lua.LNil
}

// newState has the libraries that Argo CD opens for scripts without useOpenLibs. Its `os` has but time and date.
func newState() (*lua.LState, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{{lua.LoadLibName, lua.OpenPackage}, {lua.BaseLibName, lua.OpenBase}, {lua.TabLibName, lua.OpenTable}} {
		err := l.CallByParam(lua.P{Fn: l.NewFunction(library.open), Protect: true}, lua.LString(library.name))
		if err != nil {
			return nil, err
		}
	}
	return l, nil
}

func argoHealth(script string, object map[string]any) (string, string, error) {
	l, err := newState()
	if err != nil {
		return "", "", err
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	l.SetContext(ctx)
	l.SetGlobal("obj", toLua(l, object))
	if err := l.DoString(script); err != nil {
		return "", "", err
	}
	table, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return "", "", fmt.Errorf("the script returns no table")
	}
	return lua.LVAsString(table.RawGetString("status")), lua.LVAsString(table.RawGetString("message")), nil
}

func kstatus(object map[string]any) (string, string, error) {
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		return "", "", err
	}
	return result.Status.String(), result.Message, nil
}

type row struct{ name, argo, kstatus, words string }

func readRows(path string) ([]row, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var rows []row
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if lines.Text() == "" || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) != 4 {
			return nil, fmt.Errorf("%s: not four cells: %q", path, lines.Text())
		}
		rows = append(rows, row{cells[0], cells[1], cells[2], cells[3]})
	}
	return rows, lines.Err()
}

// change executes what stands behind the snapshot's name in a row.
func change(object map[string]any, words []string) error {
	switch {
	case len(words) == 0:
		return nil
	case len(words) == 2 && words[0] == "without":
		unstructured.RemoveNestedField(object, strings.Split(words[1], ".")...)
		return nil
	case len(words) == 3 && words[0] == "with":
		return unstructured.SetNestedField(object, words[2], strings.Split(words[1], ".")...)
	}
	return fmt.Errorf("not 'without FIELD' or 'with FIELD VALUE': %q", words)
}

func readObject(folder, name string) (map[string]any, error) {
	words := strings.Fields(name)
	text, err := os.ReadFile(filepath.Join(folder, words[0]+".json"))
	if err != nil {
		return nil, err
	}
	var object unstructured.Unstructured
	// Whole numbers become int64, as for every client of the API server.
	if err := object.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	return object.Object, change(object.Object, words[1:])
}

// check says what is wrong with one row.
func check(script, folder string, want row) []string {
	var wrong []string
	object, err := readObject(folder, want.name)
	if err != nil {
		return []string{err.Error()}
	}
	for _, by := range []struct {
		who, want string
		of        func(map[string]any) (string, string, error)
	}{
		{"Argo CD", want.argo, func(o map[string]any) (string, string, error) { return argoHealth(script, o) }},
		{"kstatus", want.kstatus, kstatus},
	} {
		health, message, err := by.of(object)
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("%s: %s: %v", want.name, by.who, err))
			continue
		}
		if health != by.want {
			wrong = append(wrong, fmt.Sprintf("%s: %s says %s (%s), not %s", want.name, by.who, health, message, by.want))
		}
		if by.who == "Argo CD" && want.words != "-" && !strings.Contains(message, want.words) {
			wrong = append(wrong, fmt.Sprintf("%s: %s says %q, without %q", want.name, by.who, message, want.words))
		}
	}
	return wrong
}

func run(scriptPath, folder, expected string) ([]string, int, error) {
	script, err := os.ReadFile(scriptPath)
	if err != nil {
		return nil, 0, err
	}
	rows, err := readRows(expected)
	if err != nil {
		return nil, 0, err
	}
	named := map[string]bool{}
	var wrong []string
	for _, want := range rows {
		named[want.name] = true
		wrong = append(wrong, check(string(script), folder, want)...)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, 0, err
	}
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".json"); !named[name] {
			wrong = append(wrong, name+": no row says what it should be")
		}
	}
	return wrong, len(rows), nil
}

// compare says how many lines "STATE\tOBJECT" of the input there are, and prints those that kstatus sees otherwise.
func compare(in *bufio.Scanner) (count, wrong int) {
	for in.Scan() {
		state, text, _ := strings.Cut(in.Text(), "\t")
		var object unstructured.Unstructured
		err := object.UnmarshalJSON([]byte(text))
		var want, message string
		if err == nil {
			want, message, err = kstatus(object.Object)
		}
		count++
		if err != nil || want != state {
			wrong++
			fmt.Printf("Herd says %s, kstatus %s (%s, %v): %s\n", state, want, message, err, text)
		}
	}
	return count, wrong
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "status" {
		count, wrong := compare(bufio.NewScanner(os.Stdin))
		fmt.Printf("%d objects, %d wrong\n", count, wrong)
		if wrong > 0 || count == 0 {
			os.Exit(1)
		}
		return
	}
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: health SCRIPT FOLDER EXPECTED; health status <LINES")
		os.Exit(2)
	}
	wrong, count, err := run(os.Args[1], os.Args[2], os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, line := range wrong {
		fmt.Println(line)
	}
	fmt.Printf("%d snapshots, %d wrong\n", count, len(wrong))
	if len(wrong) > 0 || count == 0 {
		os.Exit(1)
	}
}
