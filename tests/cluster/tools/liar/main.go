// SPDX-License-Identifier: Apache-2.0

// liar is an admission webhook that answers wrong in the way that a file says, for as long as it says so.
//
//	liar --listen ADDRESS:PORT --cert FILE --key FILE --mode FILE
//
// The file holds one word: error (500), garbage (200 and no JSON), half (half of a body, then the end of the
// connection), empty (200 without a body), stranger (allowed, under the uid of another request), mute (allowed is not said),
// reset (the connection ends without an answer). Prints "serving" when it listens.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q%s}}`

func uidOf(body []byte) string {
	var asked struct {
		Request struct {
			UID string `json:"uid"`
		} `json:"request"`
	}
	_ = json.Unmarshal(body, &asked)
	return asked.Request.UID
}

// cut sends what it is given as the beginning of an answer, and ends the connection.
func cut(w http.ResponseWriter, text string) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_, _ = io.WriteString(connection, text)
	if tcp, ok := connection.(interface{ NetConn() net.Conn }); ok && text == "" {
		_ = tcp.NetConn().(*net.TCPConn).SetLinger(0)
	}
	_ = connection.Close()
}

func lie(w http.ResponseWriter, mode, uid string) {
	w.Header().Set("Content-Type", "application/json")
	allowed := fmt.Sprintf(review, uid, `,"allowed":true`)
	switch mode {
	case "error":
		http.Error(w, "no verdict today", http.StatusInternalServerError)
	case "garbage":
		_, _ = io.WriteString(w, "<html>all is well</html>")
	case "half":
		cut(w, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			len(allowed), allowed[:len(allowed)/2]))
	case "empty":
		w.WriteHeader(http.StatusOK)
	case "stranger":
		_, _ = fmt.Fprintf(w, review, "00000000-0000-0000-0000-000000000000", `,"allowed":true`)
	case "mute":
		_, _ = fmt.Fprintf(w, review, uid, "")
	case "reset":
		cut(w, "")
	default:
		http.Error(w, "the file of the mode says "+mode, http.StatusNotImplemented)
	}
}

func main() {
	flags := flag.NewFlagSet("liar", flag.ExitOnError)
	listen := flags.String("listen", "", "address:port (required)")
	cert := flags.String("cert", "", "certificate (required)")
	key := flags.String("key", "", "its key (required)")
	mode := flags.String("mode", "", "file with the mode (required)")
	_ = flags.Parse(os.Args[1:])
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		word, err := os.ReadFile(*mode)
		if err != nil {
			word = []byte(err.Error())
		}
		lie(w, strings.TrimSpace(string(word)), uidOf(body))
	})
	listener, err := net.Listen("tcp", *listen)
	if err == nil {
		fmt.Println("serving")
		err = (&http.Server{Handler: handler}).ServeTLS(listener, *cert, *key)
	}
	fmt.Fprintln(os.Stderr, "liar:", err)
	os.Exit(1)
}
