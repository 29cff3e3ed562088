// Command load drives a Kubernetes API server over TLS and HTTP/2 and prints one line of JSON with what it measured.
// It is a program of its own, in Go, because a generator written for Node would be slower than the server under test.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

type result struct {
	Operation string  `json:"operation"`
	Requests  int     `json:"requests"`
	Errors    int     `json:"errors"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"perSecond"`
	P50Ms     float64 `json:"p50Ms"`
	P99Ms     float64 `json:"p99Ms"`
	FirstErr  string  `json:"firstError,omitempty"`
}

var (
	operation   = flag.String("op", "", "create, get, patch, list or fanout")
	url         = flag.String("url", "", "of the collection, such as https://host/apis/apps/v1/namespaces/default/deployments")
	ca          = flag.String("ca", "", "file")
	cert        = flag.String("cert", "", "file")
	key         = flag.String("key", "", "file")
	body        = flag.String("body", "", "file; NAME is replaced by the object's name")
	count       = flag.Int("n", 1000, "requests")
	objects     = flag.Int("objects", 1000, "how many objects there are, named bench-0 and on")
	connections = flag.Int("c", 32, "connections")
	watchers    = flag.Int("watchers", 500, "fanout: watches, over the connections")
)

func main() {
	flag.Parse()
	clients := make([]*http.Client, *connections)
	for i := range clients {
		clients[i] = newClient()
	}
	var r result
	switch *operation {
	case "create":
		template, err := os.ReadFile(*body)
		exitOn(err)
		r = run(clients, *count, func(c *http.Client, i int) error {
			sent := bytes.ReplaceAll(template, []byte("NAME"), []byte(name(i)))
			return call(c, "POST", *url, "application/json", sent)
		})
	case "get":
		r = run(clients, *count, func(c *http.Client, i int) error {
			return call(c, "GET", *url+"/"+name(i%*objects), "", nil)
		})
	case "patch":
		r = run(clients, *count, func(c *http.Client, i int) error {
			return call(c, "PATCH", *url+"/"+name(i%*objects), "application/merge-patch+json", annotation(i))
		})
	case "list":
		r = run(clients[:1], *count, func(c *http.Client, _ int) error { return call(c, "GET", *url, "", nil) })
	case "fanout":
		r = fanout(clients)
	default:
		exitOn(fmt.Errorf("unknown -op %q", *operation))
	}
	r.Operation = *operation
	exitOn(json.NewEncoder(os.Stdout).Encode(r))
}

func name(i int) string { return fmt.Sprintf("bench-%d", i) }

func annotation(i int) []byte {
	return []byte(fmt.Sprintf(`{"metadata":{"annotations":{"bench":"%d-%d"}}}`, time.Now().UnixNano(), i))
}

func newClient() *http.Client {
	pool := x509.NewCertPool()
	pem, err := os.ReadFile(*ca)
	exitOn(err)
	pool.AppendCertsFromPEM(pem)
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	exitOn(err)
	config := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true, DisableCompression: true}}
}

func call(c *http.Client, method, target, contentType string, sent []byte) error {
	request, err := http.NewRequest(method, target, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		text, _ := io.ReadAll(io.LimitReader(response.Body, 500))
		return fmt.Errorf("%d: %s", response.StatusCode, text)
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// run sends n requests over the clients, each of which sends its next when the last is answered.
func run(clients []*http.Client, n int, send func(*http.Client, int) error) result {
	for _, c := range clients { // Handshakes are not part of the measure.
		_ = call(c, "GET", strings.SplitN(*url, "/api", 2)[0]+"/version", "", nil)
	}
	var next atomic.Int64
	var failures atomic.Int64
	var firstErr atomic.Value
	latencies := make([]float64, n)
	started := time.Now()
	var group sync.WaitGroup
	for _, c := range clients {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				begun := time.Now()
				if err := send(c, i); err != nil {
					failures.Add(1)
					firstErr.CompareAndSwap(nil, err.Error())
				}
				latencies[i] = float64(time.Since(begun).Microseconds()) / 1000
			}
		}()
	}
	group.Wait()
	seconds := time.Since(started).Seconds()
	sort.Float64s(latencies)
	text, _ := firstErr.Load().(string)
	return result{
		Requests: n, Errors: int(failures.Load()), Seconds: seconds, PerSecond: float64(n) / seconds,
		P50Ms: latencies[n/2], P99Ms: latencies[n*99/100], FirstErr: text,
	}
}

// fanout opens the watches, patches one object n times and waits until every watcher has seen every change.
func fanout(clients []*http.Client) result {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var opened, done sync.WaitGroup
	var failures atomic.Int64
	var firstErr atomic.Value
	target := fmt.Sprintf("%s?watch=true&fieldSelector=metadata.name%%3D%s&resourceVersion=", *url, name(0))
	version := resourceVersion(clients[0])
	for i := range *watchers {
		opened.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			if err := watch(ctx, clients[i%len(clients)], target+version, opened.Done); err != nil {
				failures.Add(1)
				firstErr.CompareAndSwap(nil, err.Error())
			}
		}()
	}
	opened.Wait()
	started := time.Now()
	writes := run(clients[:min(4, len(clients))], *count, func(c *http.Client, i int) error {
		return call(c, "PATCH", *url+"/"+name(0), "application/merge-patch+json", annotation(i))
	})
	done.Wait()
	seconds := time.Since(started).Seconds()
	deliveries := *watchers * *count
	text := writes.FirstErr
	if text == "" {
		text, _ = firstErr.Load().(string)
	}
	return result{Requests: deliveries, Errors: int(failures.Load()) + writes.Errors, Seconds: seconds, PerSecond: float64(deliveries) / seconds, FirstErr: text}
}

// resourceVersion is that of the collection, as clients watch from: an object's own may be older than any server's history.
func resourceVersion(c *http.Client) string {
	response, err := c.Get(*url + "?limit=1")
	exitOn(err)
	defer response.Body.Close()
	var list struct {
		Metadata struct{ ResourceVersion string }
	}
	exitOn(json.NewDecoder(response.Body).Decode(&list))
	return list.Metadata.ResourceVersion
}

func watch(ctx context.Context, c *http.Client, target string, opened func()) error {
	request, err := http.NewRequestWithContext(ctx, "GET", target, nil)
	if err != nil {
		opened()
		return err
	}
	response, err := c.Do(request)
	opened()
	if err != nil {
		return err
	}
	defer response.Body.Close()
	buffer := make([]byte, 256<<10)
	last := ""
	for seen := 0; seen < *count; {
		read, err := response.Body.Read(buffer)
		seen += bytes.Count(buffer[:read], []byte{'\n'})
		if read > 0 {
			last = string(buffer[max(0, read-300):read])
		}
		if err != nil && seen < *count {
			return fmt.Errorf("a watch ended after %d of %d events: %w; it said %q", seen, *count, err, last)
		}
	}
	return nil
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}
