// SPDX-License-Identifier: Apache-2.0

// registry is an image registry in memory, over TLS: where `make docker-push` is tried.
//
//	registry --listen ADDRESS:PORT --cert FILE --key FILE
//
// A module of its own: what it needs changes no other program here. Prints "serving ADDRESS:PORT" when it listens; port 0
// takes any free one.
package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	flags := flag.NewFlagSet("registry", flag.ExitOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address:port")
	certificate := flags.String("cert", "", "its certificate (required)")
	key := flags.String("key", "", "its key (required)")
	_ = flags.Parse(os.Args[1:])
	pair, err := tls.LoadX509KeyPair(*certificate, *key)
	if err != nil {
		fmt.Fprintln(os.Stderr, "registry:", err)
		os.Exit(1)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "registry:", err)
		os.Exit(1)
	}
	fmt.Println("serving", listener.Addr())
	server := &http.Server{
		Handler:   registry.New(registry.Logger(log.New(io.Discard, "", 0))),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}},
	}
	fmt.Fprintln(os.Stderr, "registry:", server.ServeTLS(listener, "", ""))
	os.Exit(1)
}
