// SPDX-License-Identifier: Apache-2.0

// The peer: an admission webhook for Stacks on controller-runtime, as one writes it in Go.
//
// It does what herd-webhook does at /mutate and /validate: decode, fill in defaults as a JSON
// patch, record the author, judge, refuse with every fault. `make bench` measures both in one run.
package main

import (
	"crypto/tls"
	"flag"
	"log"
	"net"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager/signals"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/go-logr/logr"

	stackv1 "herd.suse.com/tests/bench/peers/api/v1"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:9443", "address to serve on")
	certificates := flag.String("tls-cert-dir", "", "folder of tls.crt and tls.key")
	flag.Parse()

	host, portText, err := net.SplitHostPort(*listen)
	if err != nil {
		log.Fatal(err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		log.Fatal(err)
	}

	scheme := runtime.NewScheme()
	if err := stackv1.AddToScheme(scheme); err != nil {
		log.Fatal(err)
	}
	ctrllog.SetLogger(logr.Discard())

	server := webhook.NewServer(webhook.Options{
		Host:    host,
		Port:    port,
		CertDir: *certificates,
		// As kubebuilder's main.go has it: no HTTP/2, and an API server speaks HTTP/1.1 then.
		TLSOpts: []func(*tls.Config){func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }},
	})
	server.Register("/mutate", admission.WithDefaulter[*stackv1.Stack](scheme, defaulter{}))
	server.Register("/validate", admission.WithValidator[*stackv1.Stack](scheme, validator{}))
	if err := server.Start(signals.SetupSignalHandler()); err != nil {
		log.Fatal(err)
	}
}
