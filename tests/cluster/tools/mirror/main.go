// SPDX-License-Identifier: Apache-2.0

// mirror copies the objects of one resource, of cluster scope and with a status subresource, from one API
// server to another, and follows their changes.
//
// The simulated Rancher of herd-lab writes Rancher's Clusters into the lab's own API server, as a real
// Rancher writes them into the cluster that it runs on. A test's real control plane gets them from here. Only
// what changes at the source is written, so labels that a test sets on a copy stay.
//
// Usage: mirror --from KUBECONFIG --to KUBECONFIG --resource PLURAL.VERSION.GROUP
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

type mirror struct {
	source cache.GenericLister
	target dynamic.ResourceInterface
	queue  workqueue.TypedRateLimitingInterface[string]
	copied map[string][]byte // what was last copied, by name
}

// bare is the object without what its API server keeps for itself.
func bare(from *unstructured.Unstructured) *unstructured.Unstructured {
	object := from.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp",
		"managedFields", "selfLink", "ownerReferences", "finalizers"} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	return object
}

// write brings the copy from `before` to `now`: a merge patch, and its status part to the subresource.
func (m *mirror) write(ctx context.Context, name string, before, now []byte) error {
	patch, err := jsonpatch.CreateMergePatch(before, now)
	if err != nil || string(patch) == "{}" {
		return err
	}
	if _, err := m.target.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	var parts struct {
		Status json.RawMessage `json:"status"`
	}
	if err := json.Unmarshal(patch, &parts); err != nil || parts.Status == nil {
		return err
	}
	status, err := json.Marshal(parts)
	if err != nil {
		return err
	}
	_, err = m.target.Patch(ctx, name, types.MergePatchType, status, metav1.PatchOptions{}, "status")
	return err
}

// sync makes the copy of one object follow its original.
func (m *mirror) sync(ctx context.Context, name string) error {
	original, err := m.source.Get(name)
	if apierrors.IsNotFound(err) {
		delete(m.copied, name)
		err = m.target.Delete(ctx, name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	object := bare(original.(*unstructured.Unstructured))
	now, err := json.Marshal(object)
	if err != nil {
		return err
	}
	before, known := m.copied[name]
	if !known {
		_, err := m.target.Create(ctx, object, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		// Creating takes no status; and in a copy of an earlier run, labels may have been changed since.
		before, err = json.Marshal(map[string]any{"apiVersion": object.GetAPIVersion(),
			"kind": object.GetKind(), "metadata": object.Object["metadata"]})
		if err != nil {
			return err
		}
	}
	if err := m.write(ctx, name, before, now); err != nil {
		if apierrors.IsNotFound(err) {
			delete(m.copied, name)
		}
		return err
	}
	m.copied[name] = now
	return nil
}

// work takes names from the queue until it is shut down. One worker: `copied` has no lock.
func (m *mirror) work(ctx context.Context) {
	for {
		name, ended := m.queue.Get()
		if ended {
			return
		}
		if err := m.sync(ctx, name); err != nil {
			klog.Warningf("%s: %v; will be tried again", name, err)
			m.queue.AddRateLimited(name)
		} else {
			m.queue.Forget(name)
		}
		m.queue.Done(name)
	}
}

func (m *mirror) add(object any) {
	name, err := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
	if err != nil {
		klog.Errorf("an object without a name: %v", err)
		return
	}
	m.queue.Add(name)
}

func client(kubeconfig string) (dynamic.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the copy of many clusters is waited for
	return dynamic.NewForConfig(config)
}

func run(ctx context.Context, from, to string, resource schema.GroupVersionResource) error {
	source, err := client(from)
	if err != nil {
		return err
	}
	target, err := client(to)
	if err != nil {
		return err
	}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(source, 0)
	informer := factory.ForResource(resource)
	m := &mirror{
		source: informer.Lister(),
		target: target.Resource(resource),
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		copied: map[string][]byte{},
	}
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    m.add,
		UpdateFunc: func(_, object any) { m.add(object) },
		DeleteFunc: m.add,
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	context.AfterFunc(ctx, m.queue.ShutDown)
	m.work(ctx)
	return nil
}

func main() {
	flags := flag.NewFlagSet("mirror", flag.ExitOnError)
	from := flags.String("from", "", "kubeconfig of the API server that is copied from (required)")
	to := flags.String("to", "", "kubeconfig of the API server that is copied to (required)")
	name := flags.String("resource", "", "what is copied: PLURAL.VERSION.GROUP, of cluster scope (required)")
	_ = flags.Parse(os.Args[1:])
	resource, _ := schema.ParseResourceArg(*name)
	var err error
	switch {
	case *from == "" || *to == "":
		err = errors.New("--from and --to are required")
	case resource == nil:
		err = fmt.Errorf("--resource is %q, not PLURAL.VERSION.GROUP", *name)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mirror:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *from, *to, *resource); err != nil {
		fmt.Fprintln(os.Stderr, "mirror:", err)
		os.Exit(1)
	}
}
