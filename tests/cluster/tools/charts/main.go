// SPDX-License-Identifier: Apache-2.0

// charts serves a folder of Helm charts with its index.yaml on a free port of loopback, and prints the address.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
)

func main() {
	folder := flag.String("folder", ".", "what to serve")
	flag.Parse()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	log.Fatal(http.Serve(listener, http.FileServer(http.Dir(*folder))))
}
