// SPDX-License-Identifier: Apache-2.0

// The peer for workloads: a controller for Applications on controller-runtime, as one writes it in Go.
//
// It does what herd-controller does with the Applications of tests/bench/workloads.sh: a ConfigMap and a
// Deployment for each, applied on the server's side, and a status from how the Deployment fares.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"log"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	apps "k8s.io/client-go/applyconfigurations/apps/v1"
	core "k8s.io/client-go/applyconfigurations/core/v1"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

const fieldOwner = client.FieldOwner("application-controller")

type reconciler struct {
	client.Client
	// Apply only what differs from the cache; else everything at each reconcile, as most controllers do.
	compare bool
}

func selectorOf(app *Application) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "application", "app.kubernetes.io/instance": app.Name}
}

// labelsOf is also herd-controller's: both must leave the same objects.
func labelsOf(app *Application) map[string]string {
	labels := selectorOf(app)
	labels["app.kubernetes.io/managed-by"] = "Herd"
	labels["cloudnative.elide.dev/application"] = app.Name
	return labels
}

func ownerOf(app *Application) *metaapply.OwnerReferenceApplyConfiguration {
	return metaapply.OwnerReference().
		WithAPIVersion(groupVersion.String()).WithKind("Application").WithName(app.Name).WithUID(app.UID).
		WithController(true).WithBlockOwnerDeletion(true)
}

func configMapOf(app *Application) *core.ConfigMapApplyConfiguration {
	return core.ConfigMap(app.Name, app.Namespace).
		WithLabels(labelsOf(app)).WithOwnerReferences(ownerOf(app)).WithData(app.Spec.Config)
}

// strategyOf names the bounds of a rolling update, which are not allowed beside Recreate: fields that are applied
// go when they are no longer.
func strategyOf(app *Application) *apps.DeploymentStrategyApplyConfiguration {
	strategy := apps.DeploymentStrategy().WithType(appsv1.DeploymentStrategyType(app.Spec.Strategy))
	if app.Spec.Strategy == string(appsv1.RollingUpdateDeploymentStrategyType) {
		bound := intstr.FromString("25%")
		strategy.WithRollingUpdate(apps.RollingUpdateDeployment().WithMaxSurge(bound).WithMaxUnavailable(bound))
	}
	return strategy
}

func deploymentOf(app *Application) (*apps.DeploymentApplyConfiguration, error) {
	config, err := json.Marshal(app.Spec.Config)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(config)
	template := core.PodTemplateSpec().
		WithLabels(labelsOf(app)).
		WithAnnotations(map[string]string{"herd.suse.com/config-digest": hex.EncodeToString(digest[:])}).
		WithSpec(core.PodSpec().WithContainers(core.Container().
			WithName("application").WithImage(app.Spec.Image).
			WithEnvFrom(core.EnvFromSource().WithConfigMapRef(core.ConfigMapEnvSource().WithName(app.Name)))))
	return apps.Deployment(app.Name, app.Namespace).
		WithLabels(labelsOf(app)).WithOwnerReferences(ownerOf(app)).
		WithSpec(apps.DeploymentSpec().
			WithReplicas(app.Spec.Replicas).
			WithSelector(metaapply.LabelSelector().WithMatchLabels(selectorOf(app))).
			WithStrategy(strategyOf(app)).
			WithTemplate(template)), nil
}

// isRolledOut is what `kubectl rollout status` waits for.
func isRolledOut(live *appsv1.Deployment, want int32) bool {
	return live.Status.ObservedGeneration >= live.Generation && live.Status.UpdatedReplicas == want &&
		live.Status.Replicas == want && live.Status.AvailableReplicas == want
}

func summarize(app *Application, live *appsv1.Deployment) {
	ready := live.UID != "" && isRolledOut(live, app.Spec.Replicas)
	app.Status.ObservedGeneration = app.Generation
	app.Status.Children = map[string]int64{"desired": 2, "applied": 2}
	app.Status.Replicas = live.Status.Replicas
	app.Status.ReadyReplicas = live.Status.ReadyReplicas
	app.Status.Selector = fmt.Sprintf("app.kubernetes.io/instance=%s,app.kubernetes.io/name=application", app.Name)
	setCondition(app, "Accepted", true, "Valid", "")
	setCondition(app, "Applied", true, "Applied", "2 of 2 objects applied")
	if ready {
		app.Status.Phase = "Running"
		setCondition(app, "Ready", true, "ReconciliationSucceeded", "")
		setCondition(app, "Progressing", false, "Complete", "")
		return
	}
	message := fmt.Sprintf("%d of %d pods are ready", live.Status.ReadyReplicas, app.Spec.Replicas)
	// A Running that changes is Running, as herd-controller has it.
	if app.Status.Phase != "Running" {
		app.Status.Phase = "Pending"
	}
	setCondition(app, "Ready", false, "PodsNotReady", message)
	setCondition(app, "Progressing", true, "PodsNotReady", message)
}

// changed is what of the children is not yet as wanted: of a live one the fields count that this controller applied.
func (r *reconciler) changed(ctx context.Context, configMap *core.ConfigMapApplyConfiguration,
	deployment *apps.DeploymentApplyConfiguration) ([]runtime.ApplyConfiguration, error) {
	if !r.compare {
		return []runtime.ApplyConfiguration{configMap, deployment}, nil
	}
	var children []runtime.ApplyConfiguration
	var liveMap corev1.ConfigMap
	var live appsv1.Deployment
	key := client.ObjectKey{Namespace: *deployment.Namespace, Name: *deployment.Name}
	if err := r.Get(ctx, key, &liveMap); client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if applied, err := core.ExtractConfigMap(&liveMap, string(fieldOwner)); err != nil {
		return nil, err
	} else if !equality.Semantic.DeepEqual(applied, configMap) {
		children = append(children, configMap)
	}
	if err := r.Get(ctx, key, &live); client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if applied, err := apps.ExtractDeployment(&live, string(fieldOwner)); err != nil {
		return nil, err
	} else if !equality.Semantic.DeepEqual(applied, deployment) {
		children = append(children, deployment)
	}
	return children, nil
}

func (r *reconciler) applyChildren(ctx context.Context, app *Application) error {
	deployment, err := deploymentOf(app)
	if err != nil {
		return err
	}
	children, err := r.changed(ctx, configMapOf(app), deployment)
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := r.Apply(ctx, child, fieldOwner, client.ForceOwnership); err != nil {
			return err
		}
	}
	return nil
}

func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var app Application
	if err := r.Get(ctx, req.NamespacedName, &app); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !app.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	if err := r.applyChildren(ctx, &app); err != nil {
		return ctrl.Result{}, err
	}
	var live appsv1.Deployment
	if err := r.Get(ctx, req.NamespacedName, &live); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	before := app.DeepCopy()
	summarize(&app, &live)
	if equality.Semantic.DeepEqual(before.Status, app.Status) {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.Status().Patch(ctx, &app, client.MergeFrom(before))
}

func (r *reconciler) setup(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&Application{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
}

func main() {
	// controller-runtime itself declares --kubeconfig.
	compare := flag.Bool("compare", false, "apply only the children that differ from the cache")
	flag.Parse()
	logger := textlogger.NewLogger(textlogger.NewConfig())
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, addToScheme} {
		if err := add(scheme); err != nil {
			log.Fatal(err)
		}
	}
	config := ctrl.GetConfigOrDie()
	config.QPS = 200
	config.Burst = 400
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 metricsserver.Options{BindAddress: "127.0.0.1:0"},
		LeaderElection:          true,
		LeaderElectionID:        "applications.cloudnative.elide.dev",
		LeaderElectionNamespace: "default",
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := (&reconciler{mgr.GetClient(), *compare}).setup(mgr); err != nil {
		log.Fatal(err)
	}
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}
