// SPDX-License-Identifier: Apache-2.0

// oracle says whether what Herd made of outside bytes is what Kubernetes' own code makes of them.
//
// It reads frames from standard input, as tests/oracle/feed.c writes them, until that ends:
//
//	frame := kind (one byte), number of parts (one byte), { length (4 bytes, little endian), bytes }
//
// What each kind holds and asks is said in documents.go and reviews.go. Differences are printed, the first ones whole;
// then one line of figures for each kind. Exit 1 if there was a difference, 2 if the input is no row of frames.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
)

const (
	toldMax = 20
	partMax = 64 << 20
)

// figures counts what came of each frame: "accepted by both", "allowed", ...
type figures map[string]int

// A judge returns what is counted, or an error that says what differs.
type judge struct {
	name  string
	parts int
	judge func(parts [][]byte) (string, error)
}

var judges = map[byte]judge{
	'J': {"JSON documents", 3, judgeJSON},
	'Y': {"YAML documents", 3, judgeYAML},
	'R': {"reviews", 4, judgeReview},
}

func readParts(in io.Reader, count int) ([][]byte, error) {
	parts := make([][]byte, count)
	for i := range parts {
		var length uint32
		if err := binary.Read(in, binary.LittleEndian, &length); err != nil {
			return nil, err
		}
		if length > partMax {
			return nil, fmt.Errorf("a part of %d bytes", length)
		}
		parts[i] = make([]byte, length)
		if _, err := io.ReadFull(in, parts[i]); err != nil {
			return nil, err
		}
	}
	return parts, nil
}

func readFrame(in io.Reader) (judge, [][]byte, error) {
	var head [2]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return judge{}, nil, err
	}
	of, known := judges[head[0]]
	if !known || of.parts != int(head[1]) {
		return judge{}, nil, fmt.Errorf("a frame of kind %q with %d parts", head[0], head[1])
	}
	parts, err := readParts(in, of.parts)
	return of, parts, err
}

func run(in io.Reader) (differences int, err error) {
	counted := map[string]figures{}
	defer func() {
		for _, name := range slices.Sorted(maps.Keys(counted)) {
			sum := 0
			for _, count := range counted[name] {
				sum += count
			}
			fmt.Printf("%d %s:", sum, name)
			for _, what := range slices.Sorted(maps.Keys(counted[name])) {
				fmt.Printf(" %d %s;", counted[name][what], what)
			}
			fmt.Println()
		}
	}()
	for {
		of, parts, err := readFrame(in)
		if errors.Is(err, io.EOF) {
			return differences, nil
		}
		if err != nil {
			return differences, err
		}
		if counted[of.name] == nil {
			counted[of.name] = figures{}
		}
		what, err := of.judge(parts)
		if err != nil {
			what = "DIFFERENT"
			if differences++; differences <= toldMax {
				fmt.Printf("different: %v\n", err)
				for _, part := range parts {
					fmt.Printf("  %.4000q\n", part)
				}
			}
		}
		counted[of.name][what]++
	}
}

func main() {
	differences, err := run(bufio.NewReaderSize(os.Stdin, 1<<20))
	if err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(2)
	}
	if differences > 0 {
		os.Exit(1)
	}
}
