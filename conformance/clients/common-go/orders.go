// Consumers that their argument requests and that follow orders: lines of JSON in, events
// out (conformance/consumer_programs/python-programs/orders.py documents all three).
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
)

const raised = 70 // EX_SOFTWARE: the client returned an error

// requestedConsumer has topics if the process is to have one consumer that starts at once.
type requestedConsumer struct {
	Settings  map[string]any `json:"settings"`
	Assignors []string       `json:"assignors"`
	Topics    []string       `json:"topics"`
	Reports   *bool          `json:"reports"`
}

func (r requestedConsumer) text(name string) string {
	return r.Settings[name].(string)
}

// duration returns a property that is in milliseconds, or what stands for its absence.
func (r requestedConsumer) duration(name string, absent time.Duration) time.Duration {
	if ms, ok := r.Settings[name].(float64); ok {
		return time.Duration(ms) * time.Millisecond
	}
	return absent
}

func (r requestedConsumer) isAlone() bool { return r.Topics != nil }

func readRequested(argument string) requestedConsumer {
	var requested requestedConsumer
	if err := json.Unmarshal([]byte(argument), &requested); err != nil {
		panic(err)
	}
	return requested
}

type order struct {
	Do     string   `json:"do"`
	Member string   `json:"member"`
	Topics []string `json:"topics"`
}

type event struct {
	Event      string             `json:"event"`
	Member     string             `json:"member"`
	Generation int32              `json:"generation"`
	Partitions map[string][]int32 `json:"partitions,omitempty"`
	Frames     []string           `json:"frames,omitempty"`
	Reason     string             `json:"reason,omitempty"`
}

// orderedMember is a consumer; after pause, it does not join again until resume.
type orderedMember interface {
	subscribe(topics []string)
	pause()
	resume()
}

var (
	isReporting = true
	reporting   sync.Mutex
)

func report(reported event) {
	if !isReporting {
		return
	}
	line, _ := json.Marshal(reported)
	reporting.Lock()
	defer reporting.Unlock()
	_, _ = os.Stdout.Write(append(line, '\n'))
}

// failed reports an error of the client; it ends a process with one consumer.
func failed(requested requestedConsumer, member string, err error) {
	if requested.isAlone() {
		fail(err)
	}
	report(event{Event: "error", Member: member, Reason: err.Error()})
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(raised)
}

// followOrders ends the process with its input, without leaving the group.
func followOrders(
	argument string,
	create func(requested requestedConsumer, name string, topics []string) orderedMember,
) {
	requested := readRequested(argument)
	isReporting = requested.Reports == nil || *requested.Reports
	members := map[string]orderedMember{}
	if requested.isAlone() {
		members[""] = create(requested, "", requested.Topics)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var ordered order
		if err := json.Unmarshal(lines.Bytes(), &ordered); err != nil {
			panic(err)
		}
		switch ordered.Do {
		case "start":
			members[ordered.Member] = create(requested, ordered.Member, ordered.Topics)
		case "subscribe":
			members[ordered.Member].subscribe(ordered.Topics)
		case "pause":
			members[ordered.Member].pause()
		case "resume":
			members[ordered.Member].resume()
		case "where":
			report(event{Event: "where", Member: ordered.Member, Frames: busyFrames()})
		}
	}
	os.Exit(0)
}

// busyFrames returns the functions of other goroutines that run, innermost first.
func busyFrames() []string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	frames := []string{}
	for _, stack := range strings.Split(string(stacks), "\n\n")[1:] {
		head, rest, _ := strings.Cut(stack, "\n")
		if !strings.Contains(head, "[running") && !strings.Contains(head, "[runnable") {
			continue
		}
		for _, line := range strings.Split(rest, "\n") {
			if line != "" && !strings.HasPrefix(line, "\t") {
				name, _, _ := strings.Cut(line[strings.LastIndex(line, "/")+1:], "(0x")
				frames = append(frames, name)
			}
		}
	}
	return frames
}
