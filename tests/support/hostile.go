// SPDX-License-Identifier: Apache-2.0

// hostile.go: clients that mean harm, and one that does not:
//
//	hostile [good] ADDRESS SERVER-NAME CA-FILE REVIEW-FILE SECONDS
//
// The good client asks for a review 100 times a second, as an API server does: over TLS, on connections that are used
// again, and on a new one for every tenth review. It is a process of its own (good: one line for each review, its
// microseconds and what was wrong), so that it does not wait for a turn among the others. It is alone first, and then
// beside each wave of attacks. Waves go on in turn until the time is over. One line of figures for each wave; exit 1 if a
// review failed or took 5 s, as long as an API server waits, or if an attack got what it must not get. HERD_P99_MS=200: also
// if the good client's p99 passed that (or five times what it is alone, where that is more: the machine then is the slow one).
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	goodClients   = 4
	goodPerSecond = 100
	newEvery      = 10
	reviewTimeout = 5 * time.Second
	// What the server gives a request is 6 s, and a handshake 5 s: absolute (shared/base/limits.def).
	lifeMax = 12 * time.Second
	// What it may take in of one request before it hangs up, with what lies in sockets.
	sentMax = 32 << 20
	drip    = 50 * time.Millisecond
	pause   = 20 * time.Millisecond
)

var (
	address    string
	serverName string
	review     []byte
	tlsConfig  *tls.Config
)

// ---- the good client ----

type tally struct {
	took   []time.Duration
	failed []string
}

func ask(client *http.Client) error {
	answer, err := client.Post("https://"+address+"/validate", "application/json", bytes.NewReader(review))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != 200 || !bytes.Contains(body, []byte(`"allowed":true`))) {
		err = fmt.Errorf("%s: %.200s", answer.Status, body)
	}
	return err
}

func beGood(until time.Time, number int) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	transport := &http.Transport{DialContext: dialer.DialContext, TLSClientConfig: tlsConfig, MaxIdleConnsPerHost: 1}
	client := http.Client{Transport: transport, Timeout: reviewTimeout}
	every := goodClients * time.Second / goodPerSecond
	due := time.Now().Add(every * time.Duration(number) / goodClients)
	for i := 0; due.Before(until); i++ {
		time.Sleep(time.Until(due))
		if i%newEvery == 0 {
			transport.CloseIdleConnections()
		}
		began := time.Now()
		failure := ""
		if err := ask(&client); err != nil {
			failure = strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Println(time.Since(began).Microseconds(), failure)
		due = due.Add(every)
	}
	transport.CloseIdleConnections()
}

// goodAlone is the process of the good client.
func goodAlone(length time.Duration) {
	var done sync.WaitGroup
	until := time.Now().Add(length)
	for number := range goodClients {
		done.Go(func() { beGood(until, number) })
	}
	done.Wait()
}

// startGood starts it; what it returns waits for its end, and tells.
func startGood(length time.Duration) (func() (tally, error), error) {
	arguments := append([]string{"good"}, os.Args[1:5]...)
	command := exec.Command(os.Args[0], append(arguments, fmt.Sprint(length.Seconds()))...)
	command.Stderr = os.Stderr
	var lines bytes.Buffer
	command.Stdout = &lines
	if err := command.Start(); err != nil {
		return nil, err
	}
	return func() (good tally, err error) {
		err = command.Wait()
		for line := range strings.Lines(lines.String()) {
			took, failure, _ := strings.Cut(strings.TrimSpace(line), " ")
			us, _ := strconv.ParseInt(took, 10, 64)
			good.took = append(good.took, time.Duration(us)*time.Microsecond)
			if failure != "" {
				good.failed = append(good.failed, failure)
			}
		}
		return good, err
	}, nil
}

// ---- attacks ----

// An attacker has a loopback address of its own kind, as the server counts connections by address.
type attacker struct {
	from  net.IP
	until time.Time
	sent  int64
}

func (a *attacker) over() bool { return time.Now().After(a.until) }

func (a *attacker) dial() (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: a.from}, Timeout: lifeMax}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		return nil, errGone
	}
	conn.SetDeadline(a.until)
	return conn, nil
}

func (a *attacker) dialTLS() (net.Conn, error) {
	conn, err := a.dial()
	if err != nil {
		return nil, err
	}
	secure := tls.Client(conn, tlsConfig)
	if secure.Handshake() != nil {
		conn.Close()
		return nil, errGone
	}
	return secure, nil
}

// errGone: the server hung up, or the wave is over. That is how an attack ends well.
var errGone = errors.New("gone")

func (a *attacker) write(conn net.Conn, text string) error {
	n, err := io.WriteString(conn, text)
	a.sent += int64(n)
	if err != nil {
		return errGone
	}
	return nil
}

func request(method, path string, headers ...string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: " + serverName + "\r\n" + strings.Join(headers, "")
}

const chunked = "Transfer-Encoding: chunked\r\n"

// dripOn sends `text` again and again, a byte at a time. The server must end that.
func dripOn(conn net.Conn, a *attacker, text string) error {
	for began, i := time.Now(), 0; !a.over(); i++ {
		if time.Since(began) > lifeMax {
			return fmt.Errorf("a connection that drips lives for more than %v", lifeMax)
		}
		if err := a.write(conn, text[i%len(text):i%len(text)+1]); err != nil {
			return err
		}
		time.Sleep(drip)
	}
	return errGone
}

func dripping(before, text string) func(*attacker) error {
	return func(a *attacker) error {
		conn, err := a.dialTLS()
		if err != nil {
			return err
		}
		defer conn.Close()
		if err := a.write(conn, before); err != nil {
			return err
		}
		return dripOn(conn, a, text)
	}
}

// A slow conn sends what TLS writes a byte at a time.
type slowConn struct {
	net.Conn
	a *attacker
}

func (s slowConn) Write(text []byte) (int, error) {
	for i := range text {
		if err := s.a.write(s.Conn, string(text[i:i+1])); err != nil {
			return i, err
		}
		time.Sleep(drip)
	}
	return len(text), nil
}

func dripHandshake(a *attacker) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	began := time.Now()
	if tls.Client(slowConn{conn, a}, tlsConfig).Handshake(); time.Since(began) > lifeMax {
		return fmt.Errorf("a handshake lives for more than %v", lifeMax)
	}
	return errGone
}

// deaf asks and asks, and reads no answer.
func deaf(a *attacker) error {
	conn, err := a.dialTLS()
	if err != nil {
		return err
	}
	defer conn.Close()
	one := request("POST", "/validate", fmt.Sprintf("Content-Length: %d\r\n\r\n", len(review))) + string(review)
	for began := time.Now(); !a.over(); {
		if err := a.write(conn, one); err != nil {
			return err
		}
		if time.Since(began) > 2*lifeMax {
			return fmt.Errorf("who reads no answers may ask for more than %v", 2*lifeMax)
		}
	}
	return errGone
}

// silent connects, and says nothing.
func silent(a *attacker) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	began := time.Now()
	if io.Copy(io.Discard, conn); time.Since(began) > lifeMax {
		return fmt.Errorf("a connection without a handshake lives for more than %v", lifeMax)
	}
	return errGone
}

// flood sends `piece` without end. The server must hang up, and nothing of it is answered with 200.
func flood(before, piece string) func(*attacker) error {
	return func(a *attacker) error {
		conn, err := a.dialTLS()
		if err != nil {
			return err
		}
		defer conn.Close()
		answered := make(chan string, 1)
		go func() {
			line, _ := bufio.NewReader(conn).ReadString('\n')
			answered <- line
		}()
		began := a.sent
		for err = a.write(conn, before); err == nil; err = a.write(conn, piece) {
			if a.sent-began > sentMax {
				return fmt.Errorf("the server takes more than %d bytes of one request", sentMax)
			}
		}
		conn.Close()
		if line := <-answered; strings.Contains(line, " 200 ") {
			return fmt.Errorf("what has no end is answered: %s", line)
		}
		return err
	}
}

// What two servers may read in two ways; behind each comes a second request, which must not be answered.
var pairs = []string{
	request("POST", "/validate", "Content-Length: 3\r\n", chunked) + "\r\n0\r\n\r\n",
	request("POST", "/validate", chunked, "Content-Length: 3\r\n") + "\r\n0\r\n\r\n",
	request("POST", "/validate", "Content-Length: 0\r\n", "Content-Length: 3\r\n") + "\r\nabc",
	request("POST", "/validate", "Content-Length: 3, 3\r\n") + "\r\nabc",
	request("POST", "/validate", "Content-Length: +3\r\n") + "\r\nabc",
	request("POST", "/validate", "Content-Length : 3\r\n") + "\r\nabc",
	request("POST", "/validate", "Transfer-Encoding: \vchunked\r\n") + "\r\n0\r\n\r\n",
	request("POST", "/validate", "Transfer-Encoding: gzip, chunked\r\n") + "\r\n0\r\n\r\n",
	request("POST", "/validate", "Transfer-Encoding: identity\r\n", chunked) + "\r\n0\r\n\r\n",
	request("POST", "/validate", chunked) + "\r\nzz\r\nabc\r\n0\r\n\r\n",
	request("POST", "/validate", "Host: another\r\n", "Content-Length: 0\r\n") + "\r\n",
	request("POST", "/validate", "Content-Length: 99999999999999999999\r\n") + "\r\n",
}

func smuggle(a *attacker) error {
	for _, pair := range pairs {
		conn, err := a.dialTLS()
		if err != nil {
			return err
		}
		if err := a.write(conn, pair+request("GET", "/healthz")+"\r\n"); err != nil {
			conn.Close()
			continue
		}
		answer, _ := io.ReadAll(conn)
		conn.Close()
		if bytes.Contains(answer, []byte("HTTP/1.1 200")) {
			return fmt.Errorf("behind %q a second request is answered: %.300q", pair, answer)
		}
	}
	return errGone
}

// pipeline sends many requests at once; each is answered, in turn.
func pipeline(a *attacker) error {
	const count = 50
	conn, err := a.dialTLS()
	if err != nil {
		return err
	}
	defer conn.Close()
	one := request("POST", "/validate", fmt.Sprintf("Content-Length: %d\r\n\r\n", len(review))) + string(review)
	if err := a.write(conn, strings.Repeat(one, count)); err != nil {
		return err
	}
	in := bufio.NewReader(conn)
	for i := range count {
		answer, err := http.ReadResponse(in, nil)
		if err != nil && a.over() {
			return errGone
		}
		if err != nil {
			return fmt.Errorf("of %d requests sent at once %d are answered: %w", count, i, err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		if answer.StatusCode != 200 {
			return fmt.Errorf("a request among others is answered %s", answer.Status)
		}
	}
	return errGone
}

func garbage(a *attacker) error {
	conn, err := a.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := a.write(conn, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc"+strings.Repeat("\xff", 600)); err != nil {
		return err
	}
	io.Copy(io.Discard, conn)
	return errGone
}

// reset ends connections in the middle of a body, without a good-bye.
func reset(a *attacker) error {
	conn, err := a.dialTLS()
	if err != nil {
		return err
	}
	err = a.write(conn, request("POST", "/validate", "Content-Length: 4000\r\n\r\n")+"{")
	conn.(*tls.Conn).NetConn().(*net.TCPConn).SetLinger(0)
	conn.(*tls.Conn).NetConn().Close()
	return err
}

// handshakes completes one after the other, and asks nothing.
func handshakes(a *attacker) error {
	conn, err := a.dialTLS()
	if err != nil {
		return err
	}
	return conn.Close()
}

type attack struct {
	name    string
	workers int
	once    func(*attacker) error
}

// Waves: what goes on at one time. Together an attack's workers have one address.
var waves = []struct {
	name    string
	seconds float64 // of 30
	attacks []attack
}{
	{"dripping", 14, []attack{
		{"handshake", 60, dripHandshake},
		{"headers", 60, dripping(request("GET", "/healthz")+"X: ", "a")},
		{"body", 60, dripping(request("POST", "/validate", "Content-Length: 400000\r\n\r\n"), "{")},
		{"chunks", 60, dripping(request("POST", "/validate", chunked)+"\r\n", "1\r\na\r\n")},
		{"deaf", 8, deaf},
	}},
	{"flooding", 6, []attack{
		{"2,000 silent connections", 2000, silent},
		{"a body of 100 MB", 8, flood(request("POST", "/validate", "Content-Length: 100000000\r\n\r\n"), strings.Repeat("x", 16384))},
		{"endless chunks", 8, flood(request("POST", "/validate", chunked)+"\r\n", "4000\r\n"+strings.Repeat("x", 16384)+"\r\n")},
		{"100,000 headers", 8, flood(request("GET", "/healthz"), strings.Repeat("a: b\r\n", 1000))},
	}},
	{"shaking", 5, []attack{
		{"handshakes", 100, handshakes},
	}},
	{"tricking", 5, []attack{
		{"smuggling", 8, smuggle},
		{"pipelining", 8, pipeline},
		{"no TLS", 16, garbage},
		{"reset", 16, reset},
	}},
}

// ---- waves ----

type outcome struct {
	connections, sent atomic.Int64
	broken            sync.Map // sentence: struct{}
}

func (o *outcome) run(of attack, number int, until time.Time, done *sync.WaitGroup) {
	for range of.workers {
		done.Go(func() {
			a := &attacker{from: net.IPv4(127, 0, 1, byte(number+1)), until: until}
			for !a.over() {
				o.connections.Add(1)
				if err := of.once(a); !errors.Is(err, errGone) && err != nil {
					o.broken.Store(of.name+": "+err.Error(), struct{}{})
				}
				time.Sleep(pause)
			}
			o.sent.Add(a.sent)
		})
	}
}

func percentile(took []time.Duration, of float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	return took[min(len(took)-1, int(float64(len(took))*of))]
}

// wave returns the good client's p99, and whether all was well but for that.
func wave(name string, attacks []attack, length time.Duration) (time.Duration, bool) {
	var done sync.WaitGroup
	var bad outcome
	until := time.Now().Add(length)
	endOfGood, err := startGood(length)
	if err != nil {
		fmt.Println("  the good client does not start:", err)
		return 0, false
	}
	for number, of := range attacks {
		bad.run(of, number, until, &done)
	}
	done.Wait()
	good, err := endOfGood()
	slices.Sort(good.took)
	p99 := percentile(good.took, 0.99)
	fmt.Printf("%-9s %6d reviews, %d failed, p50 %.1f ms, p99 %.1f ms, worst %.1f ms; %d hostile connections, %d KiB\n", name,
		len(good.took), len(good.failed), ms(percentile(good.took, 0.5)), ms(p99), ms(percentile(good.took, 1)),
		bad.connections.Load(), bad.sent.Load()>>10)
	well := err == nil && len(good.failed) == 0 && len(good.took) > 0
	for _, failure := range good.failed[:min(5, len(good.failed))] {
		fmt.Println("  a good review failed:", failure)
	}
	bad.broken.Range(func(sentence, _ any) bool {
		fmt.Println("  not held:", sentence)
		well = false
		return true
	})
	return p99, well
}

func ms(of time.Duration) float64 { return float64(of.Microseconds()) / 1000 }

func run(seconds float64) bool {
	until := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	alone, well := wave("alone", nil, 3*time.Second)
	most := time.Duration(math.MaxInt64)
	if limit, err := strconv.Atoi(os.Getenv("HERD_P99_MS")); err == nil {
		most = max(time.Duration(limit)*time.Millisecond, 5*alone)
	}
	for first := true; first || time.Now().Before(until); first = false {
		for _, of := range waves {
			p99, held := wave(of.name, of.attacks, time.Duration(of.seconds*float64(time.Second)))
			if p99 > most {
				fmt.Printf("  the good client's p99 is above %v\n", most)
			}
			well = well && held && p99 <= most
		}
	}
	return well
}

func read(caFile, reviewFile string) error {
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%s holds no certificate", caFile)
	}
	tlsConfig = &tls.Config{RootCAs: roots, ServerName: serverName}
	review, err = os.ReadFile(reviewFile)
	return err
}

func main() {
	arguments := os.Args[1:]
	isGood := len(arguments) > 0 && arguments[0] == "good"
	if isGood {
		arguments = arguments[1:]
	}
	if len(arguments) != 5 {
		fmt.Fprintln(os.Stderr, "usage: hostile [good] ADDRESS SERVER-NAME CA-FILE REVIEW-FILE SECONDS")
		os.Exit(2)
	}
	address, serverName = arguments[0], arguments[1]
	seconds, err := strconv.ParseFloat(arguments[4], 64)
	if err == nil {
		err = read(arguments[2], arguments[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(2)
	}
	if isGood {
		goodAlone(time.Duration(seconds * float64(time.Second)))
	} else if !run(seconds) {
		os.Exit(1)
	}
}
