// SPDX-License-Identifier: Apache-2.0

// steps is an API server on which a client takes one step at a time: each request that may write something is passed on,
// and once it took effect, before the client has its answer, a command is run. So a test sees the cluster as it would be
// if the client were cut there, and may cut it.
//
//	steps --kubeconfig FILE --write FILE --run COMMAND
//
// The second file is a kubeconfig for the client. The command gets the method and the path as arguments; if it fails, the
// client gets no answer to this request nor to any other. Prints "serving" when it listens.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

var (
	one sync.Mutex
	cut atomic.Bool
)

func writes(method string) bool {
	return method != http.MethodGet && method != http.MethodHead && method != http.MethodOptions
}

func step(command string, request *http.Request) {
	one.Lock()
	defer one.Unlock()
	run := exec.Command(command, request.Method, request.URL.Path)
	run.Stdout, run.Stderr = os.Stderr, os.Stderr
	if err := run.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "steps: cut at", request.Method, request.URL.Path+":", err)
		cut.Store(true)
	}
}

func serve(kubeconfig, write, command string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return err
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	client := clientcmdapi.NewConfig()
	client.Clusters["steps"] = &clientcmdapi.Cluster{Server: "http://" + listener.Addr().String()}
	client.Contexts["steps"] = &clientcmdapi.Context{Cluster: "steps"}
	client.CurrentContext = "steps"
	if err := clientcmd.WriteToFile(*client, write); err != nil {
		return err
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	pass.Transport = transport
	pass.FlushInterval = -1
	pass.ModifyResponse = func(response *http.Response) error {
		if writes(response.Request.Method) {
			step(command, response.Request)
		}
		return nil
	}
	fmt.Println("serving")
	return http.Serve(listener, http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if cut.Load() {
			panic(http.ErrAbortHandler)
		}
		pass.ServeHTTP(writer, request)
		if cut.Load() {
			panic(http.ErrAbortHandler)
		}
	}))
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "of the API server")
	write := flag.String("write", "", "where the client's kubeconfig goes")
	run := flag.String("run", "", "command to run after each write")
	flag.Parse()
	if err := serve(*kubeconfig, *write, *run); err != nil {
		fmt.Fprintln(os.Stderr, "steps:", err)
		os.Exit(1)
	}
}
