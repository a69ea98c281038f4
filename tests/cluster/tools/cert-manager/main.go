// SPDX-License-Identifier: Apache-2.0

// cert-manager runs the parts of cert-manager that Herd's certificates need, from its library: the
// controllers of Issuers, Certificates and CertificateRequests, and the cainjector. One process instead
// of three, no leader election, no webhook of its own: for a test's control plane, not for clusters.
//
// Usage: cert-manager --kubeconfig FILE [--workers N]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	requestsca "github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	"github.com/cert-manager/cert-manager/pkg/util"

	// The kinds of issuer that there are: each registers itself.
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
)

// The controllers register themselves when their packages are imported, and some import others:
// only these are run.
var wanted = []string{
	issuers.ControllerName,
	clusterissuers.ControllerName,
	trigger.ControllerName,
	issuing.ControllerName,
	keymanager.ControllerName,
	readiness.ControllerName,
	requestmanager.ControllerName,
	revisionmanager.ControllerName,
	approver.ControllerName,
	selfsigned.CRControllerName,
	requestsca.CRControllerName,
}

type options struct {
	kubeconfig string
	workers    int
	namespace  string
}

// parse reads the flags into a set of their own: controller-runtime puts a -kubeconfig into the global one.
func parse(arguments []string) (options, error) {
	var o options
	flags := flag.NewFlagSet("cert-manager", flag.ContinueOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (required)")
	flags.IntVar(&o.workers, "workers", 2, "objects of a kind that are worked on at a time")
	flags.StringVar(&o.namespace, "cluster-resource-namespace", "cert-manager",
		"namespace of the Secrets of ClusterIssuers")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("%q is not a flag", flags.Arg(0))
	case o.kubeconfig == "":
		return o, errors.New("--kubeconfig is required")
	case o.workers < 1:
		return o, fmt.Errorf("--workers is %d, but must be at least 1", o.workers)
	}
	return o, nil
}

// addControllers starts each wanted controller in the group. Their informers are shared, and start
// when all have said what they follow.
func addControllers(ctx context.Context, group *errgroup.Group, o options) error {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig:         o.kubeconfig,
		KubernetesAPIQPS:   100,
		KubernetesAPIBurst: 200,
		IssuerOptions:      controller.IssuerOptions{ClusterResourceNamespace: o.namespace},
		CertificateOptions: controller.CertificateOptions{
			CopiedAnnotationPrefixes:                 []string{"*", "-kubectl.kubernetes.io/"},
			CertificateRequestMinimumBackoffDuration: time.Hour,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
	})
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	known := controller.Known()
	for _, name := range wanted {
		construct, ok := known[name]
		if !ok {
			return fmt.Errorf("cert-manager has no controller %q", name)
		}
		one, err := construct(factory)
		if err != nil {
			return fmt.Errorf("controller %s: %w", name, err)
		}
		group.Go(func() error {
			if err := one.Run(o.workers, ctx); err != nil && ctx.Err() == nil {
				return fmt.Errorf("controller %s: %w", name, err)
			}
			return nil
		})
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	return nil
}

// newScheme knows what the cainjector reads and writes.
func newScheme() (*runtime.Scheme, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		scheme.AddToScheme, certmanager.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme,
	} {
		if err := add(known); err != nil {
			return nil, err
		}
	}
	return known, nil
}

// addInjector starts the cainjector: it writes the CA of a Certificate into what asks for it.
func addInjector(ctx context.Context, group *errgroup.Group, config *rest.Config) error {
	known, err := newScheme()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(util.RestConfigWithUserAgent(config, "cainjector"), ctrl.Options{
		Scheme:  known,
		Metrics: server.Options{BindAddress: "0"},
		// Secrets are followed by their metadata, and read when one is needed.
		Client: client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	})
	if err != nil {
		return fmt.Errorf("cainjector: %w", err)
	}
	kinds := []string{
		cainjector.MutatingWebhookConfigurationName,
		cainjector.ValidatingWebhookConfigurationName,
		cainjector.APIServiceName,
		cainjector.CustomResourceDefinitionName,
	}
	enabled := map[string]bool{}
	for kind := range slices.Values(kinds) {
		enabled[kind] = true
	}
	if err := cainjector.RegisterAllInjectors(ctx, manager, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor:        enabled,
	}); err != nil {
		return fmt.Errorf("cainjector: %w", err)
	}
	group.Go(func() error { return manager.Start(ctx) })
	return nil
}

func run(ctx context.Context, o options) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	if err := addControllers(ctx, group, o); err != nil {
		return err
	}
	if err := addInjector(ctx, group, config); err != nil {
		return err
	}
	return group.Wait()
}

func main() {
	o, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(2)
	}
	ctrl.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}
