// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	stackv1 "herd.suse.com/tests/bench/peers/api/v1"
)

// dependencies: for each chart the charts that it waits for, by index; what names none is a fault.
func dependencies(charts []stackv1.Chart, at *field.Path) (needs [][]int, faults field.ErrorList, warnings []string) {
	byName := make(map[string]int, len(charts))
	for i := range charts {
		if _, taken := byName[charts[i].Name]; !taken {
			byName[charts[i].Name] = i
		}
	}
	needs = make([][]int, len(charts))
	for i := range charts {
		seen := make(map[string]bool, len(charts[i].DependsOn))
		for k, name := range charts[i].DependsOn {
			entry := at.Index(i).Child("dependsOn").Index(k)
			other, known := byName[name]
			switch {
			case name == "":
				faults = append(faults, field.Required(entry, "must not be empty"))
			case name == charts[i].Name:
				faults = append(faults, field.Invalid(entry, name, "the chart waits for itself"))
			case !known:
				faults = append(faults, field.NotFound(entry, name))
			case seen[name]:
				warnings = append(warnings, entry.String()+": '"+name+"' stands twice")
			default:
				needs[i] = append(needs[i], other)
			}
			seen[name] = true
		}
	}
	return needs, faults, warnings
}

// Of a walk depth first.
const (
	unseen = iota
	onPath
	done
)

type cycles struct {
	charts []stackv1.Chart
	needs  [][]int
	state  []int
	path   []int
	at     *field.Path
	faults field.ErrorList
}

// findCycles tells each edge that closes a cycle, with the cycle's path.
func findCycles(charts []stackv1.Chart, needs [][]int, at *field.Path) field.ErrorList {
	c := &cycles{charts: charts, needs: needs, state: make([]int, len(charts)), at: at}
	for i := range charts {
		if c.state[i] == unseen {
			c.visit(i)
		}
	}
	return c.faults
}

func (c *cycles) visit(chart int) {
	c.state[chart] = onPath
	c.path = append(c.path, chart)
	for _, other := range c.needs[chart] {
		switch c.state[other] {
		case unseen:
			c.visit(other)
		case onPath:
			c.blame(chart, other)
		}
	}
	c.path = c.path[:len(c.path)-1]
	c.state[chart] = done
}

func (c *cycles) blame(from, to int) {
	begin := len(c.path) - 1
	for c.path[begin] != to {
		begin--
	}
	var names []string
	for _, chart := range c.path[begin:] {
		names = append(names, c.charts[chart].Name)
	}
	names = append(names, c.charts[to].Name)
	c.faults = append(c.faults, field.Invalid(c.at.Index(from).Child("dependsOn"), c.charts[to].Name,
		"the charts wait for one another: "+strings.Join(names, " -> ")+"; cut the edge "+
			c.charts[from].Name+" -> "+c.charts[to].Name))
}

// dependents marks what waits, directly or not, for one of `from`.
func dependents(needs [][]int, from []int) []bool {
	waiters := make([][]int, len(needs))
	for i := range needs {
		for _, other := range needs[i] {
			waiters[other] = append(waiters[other], i)
		}
	}
	marked := make([]bool, len(needs))
	queue := append([]int(nil), from...)
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, waiter := range waiters[next] {
			if !marked[waiter] {
				marked[waiter] = true
				queue = append(queue, waiter)
			}
		}
	}
	return marked
}
