// SPDX-License-Identifier: Apache-2.0

// service is what kube-proxy makes of a Service: each new connection goes to one of its endpoints, by turns; one that
// stands stays where it is, whatever becomes of the list.
//
//	service --listen ADDRESS:PORT --endpoints FILE
//
// The file has a line address:port for each endpoint that is ready; it is read for each connection. Without
// endpoints a connection is reset. Prints "serving" when it listens.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
)

var turn atomic.Uint64

// half copies one direction, and tells the other side that no more comes.
func half(to, from *net.TCPConn) {
	_, _ = io.Copy(to, from)
	_ = to.CloseWrite()
}

func forward(client *net.TCPConn, file string) {
	defer client.Close()
	text, _ := os.ReadFile(file)
	endpoints := strings.Fields(string(text))
	if len(endpoints) == 0 {
		_ = client.SetLinger(0)
		return
	}
	server, err := net.Dial("tcp", endpoints[turn.Add(1)%uint64(len(endpoints))])
	if err != nil {
		_ = client.SetLinger(0)
		return
	}
	defer server.Close()
	done := make(chan struct{})
	go func() {
		half(server.(*net.TCPConn), client)
		close(done)
	}()
	half(client, server.(*net.TCPConn))
	// The server has said its last word: what the client still says would be lost.
	_ = client.CloseRead()
	<-done
}

func main() {
	flags := flag.NewFlagSet("service", flag.ExitOnError)
	listen := flags.String("listen", "", "address:port (required)")
	file := flags.String("endpoints", "", "file with a line for each endpoint (required)")
	_ = flags.Parse(os.Args[1:])
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		fmt.Fprintln(os.Stderr, "service:", err)
		os.Exit(1)
	}
	fmt.Println("serving")
	for {
		client, err := listener.Accept()
		if err != nil {
			fmt.Fprintln(os.Stderr, "service:", err)
			os.Exit(1)
		}
		go forward(client.(*net.TCPConn), *file)
	}
}
