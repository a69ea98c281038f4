// SPDX-License-Identifier: Apache-2.0

// writers writes Stacks through an API server, many at a time, and says how long it took and what failed.
//
//	writers --kubeconfig FILE --stack FILE [--mode update|create|dry] [--writers N] [--rate PER-SECOND]
//	        [--seconds S | --count N] [--token TOKEN] [--namespace NAME] [--prefix NAME]
//
// update: each writer has a Stack of its own (made first, if it is not there: PREFIX-0, PREFIX-1, ...) and changes its
// spec again and again. create: each write makes a new Stack. dry: the same, as a dry run, which admission judges and
// nothing stores.
// It says "writing" when it begins. A write that fails is counted, and the next one follows. At the end there is a line
// "failed N: WORDS" for each kind of failure, then one of key=value pairs; the exit code is 1 when a write failed.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

var stacks = schema.GroupVersionResource{Group: "herd.suse.com", Version: "v1", Resource: "stacks"}

// addresses tell one connection from another, and no failure from another.
var addresses = regexp.MustCompile(`\d+\.\d+\.\d+\.\d+:\d+`)

// requestTime is longer than both webhooks may take, and than any queue of the API server.
const requestTime = 60 * time.Second

type load struct {
	client   dynamic.ResourceInterface
	stack    string // JSON
	prefix   string
	mode     string
	writers  int
	count    int64 // 0: until the time is over
	interval time.Duration

	begun  atomic.Int64
	failed atomic.Int64
	lock   sync.Mutex
	took   []time.Duration
	words  map[string]int
}

// named is the Stack under this name, which also stands for each $NAME in it.
func (l *load) named(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(l.stack, "$NAME", name)), &object.Object); err != nil {
		fmt.Fprintln(os.Stderr, "writers: --stack:", err)
		os.Exit(2)
	}
	object.SetName(name)
	object.SetNamespace("")
	return object
}

// prepare makes the Stacks that are to be changed.
func (l *load) prepare(ctx context.Context) error {
	for i := 0; i < l.writers && l.mode == "update"; i++ {
		_, err := l.client.Create(ctx, l.named(fmt.Sprintf("%s-%d", l.prefix, i)), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// write is one of them: number n of all, by writer i.
func (l *load) write(ctx context.Context, i int, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	if l.mode != "update" {
		options := metav1.CreateOptions{}
		if l.mode == "dry" {
			options.DryRun = []string{metav1.DryRunAll}
		}
		_, err := l.client.Create(ctx, l.named(fmt.Sprintf("%s-%d", l.prefix, n)), options)
		return err
	}
	patch := fmt.Sprintf(`{"spec":{"retry":{"backoff":"%ds"}}}`, 1+n%3000)
	_, err := l.client.Patch(ctx, fmt.Sprintf("%s-%d", l.prefix, i), types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func (l *load) note(took time.Duration, err error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.took = append(l.took, took)
	if err == nil {
		return
	}
	l.failed.Add(1)
	l.words[addresses.ReplaceAllString(err.Error(), "ADDRESS")]++
}

// work is one writer. With a rate, write n is due at its own time, whoever takes it.
func (l *load) work(ctx context.Context, i int, began time.Time) {
	for {
		n := l.begun.Add(1) - 1
		if l.count > 0 && n >= l.count {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(began.Add(time.Duration(n) * l.interval))):
		}
		at := time.Now()
		// What has begun ends, also when the time is over.
		err := l.write(context.Background(), i, n)
		l.note(time.Since(at), err)
	}
}

func (l *load) run(seconds float64) time.Duration {
	ctx, cancel := context.Background(), func() {}
	if l.count == 0 {
		ctx, cancel = context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
	}
	defer cancel()
	began := time.Now()
	var all sync.WaitGroup
	for i := range l.writers {
		all.Add(1)
		go func() {
			defer all.Done()
			l.work(ctx, i, began)
		}()
	}
	all.Wait()
	return time.Since(began)
}

func (l *load) report(took time.Duration) {
	for _, text := range slices.Sorted(maps.Keys(l.words)) {
		fmt.Printf("failed %d: %s\n", l.words[text], text)
	}
	slices.Sort(l.took)
	at := func(part float64) float64 {
		if len(l.took) == 0 {
			return 0
		}
		return float64(l.took[int(part*float64(len(l.took)-1))].Microseconds()) / 1000
	}
	fmt.Printf("writes=%d failed=%d writes_per_s=%.1f p50_ms=%.1f p99_ms=%.1f max_ms=%.1f seconds=%.1f\n",
		len(l.took), l.failed.Load(), float64(len(l.took))/took.Seconds(), at(0.5), at(0.99), at(1), took.Seconds())
}

func main() {
	flags := flag.NewFlagSet("writers", flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "kubeconfig of the API server (required)")
	file := flags.String("stack", "", "a Stack as JSON (required)")
	mode := flags.String("mode", "update", "update, create or dry")
	writers := flags.Int("writers", 1, "how many write at a time")
	rate := flags.Float64("rate", 0, "writes a second by all of them; 0 for as many as can be")
	seconds := flags.Float64("seconds", 5, "how long")
	count := flags.Int64("count", 0, "end after so many writes instead")
	token := flags.String("token", "", "who writes, if not the kubeconfig's user")
	namespace := flags.String("namespace", "default", "where")
	prefix := flags.String("prefix", "writer", "how the Stacks' names begin")
	_ = flags.Parse(os.Args[1:])
	l := &load{prefix: *prefix, mode: *mode, writers: *writers, count: *count, words: map[string]int{}}
	if *rate > 0 {
		l.interval = time.Duration(float64(time.Second) / *rate)
	}
	if err := l.open(*kubeconfig, *token, *file, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "writers:", err)
		os.Exit(2)
	}
	if !slices.Contains([]string{"update", "create", "dry"}, *mode) || *writers < 1 {
		fmt.Fprintln(os.Stderr, "writers: --mode is update, create or dry, --writers at least 1")
		os.Exit(2)
	}
	if err := l.prepare(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "writers:", err)
		os.Exit(2)
	}
	fmt.Println("writing")
	l.report(l.run(*seconds))
	if l.failed.Load() > 0 {
		os.Exit(1)
	}
}

// open reads the Stack and makes the client. No limit of its own: the API server's are what counts.
func (l *load) open(kubeconfig, token, file, namespace string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	// What the webhook tells authors is of no use here.
	config.WarningHandler = rest.NoWarnings{}
	if token != "" {
		config.BearerToken = strings.TrimSpace(token)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	l.client = client.Resource(stacks).Namespace(namespace)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	l.stack = string(text)
	return nil
}
