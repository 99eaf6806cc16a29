// Members of a real group that follow orders: lines of JSON in, events out
// (studies.confirmation documents both).
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"runtime"
	"strings"
	"sync"
)

type asked struct {
	Address     string `json:"address"`
	Group       string `json:"group"`
	Assignor    string `json:"assignor"`
	SessionMs   int    `json:"session_ms"`
	JoinMs      int    `json:"join_ms"`
	HeartbeatMs int    `json:"heartbeat_ms"`
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

var reporting sync.Mutex

func report(one event) {
	line, _ := json.Marshal(one)
	reporting.Lock()
	defer reporting.Unlock()
	_, _ = os.Stdout.Write(append(line, '\n'))
}

// followOrders ends the process with its input, without leaving the group.
func followOrders(
	argument string, create func(asked asked, name string, topics []string) orderedMember,
) {
	var settings asked
	if err := json.Unmarshal([]byte(argument), &settings); err != nil {
		panic(err)
	}
	members := map[string]orderedMember{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var one order
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		switch one.Do {
		case "start":
			members[one.Member] = create(settings, one.Member, one.Topics)
		case "subscribe":
			members[one.Member].subscribe(one.Topics)
		case "pause":
			members[one.Member].pause()
		case "resume":
			members[one.Member].resume()
		case "where":
			report(event{Event: "where", Member: one.Member, Frames: busyFrames()})
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
