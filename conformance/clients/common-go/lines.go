// Answer rebalance/1 lines with assignment/1 lines, one for one, until the input ends.
//
// A panic of the assignor ends the process, as it would end the consumer that leads.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
)

const unknownGeneration = -1

// Topic lists, per partition, the racks of its replicas, the leader's first.
type Topic struct {
	Partitions int32      `json:"partitions"`
	Racks      [][]string `json:"racks"`
}

// LeaderRack returns the rack of a partition's leader, or nothing.
func (t Topic) LeaderRack(partition int32) string {
	if t.Racks == nil || len(t.Racks[partition]) == 0 {
		return ""
	}
	return t.Racks[partition][0]
}

// Member states what one member sends as it joins.
type Member struct {
	Subscription []string           `json:"subscription"`
	Owned        map[string][]int32 `json:"owned"`
	Generation   *int32             `json:"generation"`
	Rack         *string            `json:"rack"`
	InstanceID   *string            `json:"instance_id"`
}

// LastGeneration returns the generation of the claims, or -1.
func (m Member) LastGeneration() int32 {
	if m.Generation == nil {
		return unknownGeneration
	}
	return *m.Generation
}

// HasJoinedBefore returns whether the member has had an assignment.
func (m Member) HasJoinedBefore() bool {
	return m.Owned != nil || m.LastGeneration() >= 0
}

// Rebalance is a rebalance/1 document, as far as an assignor sees it.
type Rebalance struct {
	Group   string            `json:"group"`
	Topics  map[string]Topic  `json:"topics"`
	Members map[string]Member `json:"members"`
}

// MemberIDs returns the ids in order: a coordinator's order is arbitrary.
func (r *Rebalance) MemberIDs() []string {
	ids := make([]string, 0, len(r.Members))
	for id := range r.Members {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	return ids
}

// SubscribedTopics returns the names in order, those of missing topics among them.
func (r *Rebalance) SubscribedTopics() []string {
	seen := map[string]bool{}
	names := []string{}
	for _, member := range r.Members {
		for _, topic := range member.Subscription {
			if !seen[topic] {
				seen[topic] = true
				names = append(names, topic)
			}
		}
	}
	sort.Strings(names)
	return names
}

// Held maps members to topics to partitions.
type Held map[string]map[string][]int32

type answer struct {
	Format   string `json:"format"`
	Group    string `json:"group"`
	Assignor string `json:"assignor"`
	Members  Held   `json:"members"`
}

type failure struct {
	Error string `json:"error"`
}

var errNoMembers = errors.New("no member leads a group without members")

func serve(name string, assign func(*Rebalance) (Held, error)) error {
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var rebalance Rebalance
		if err := json.Unmarshal(line, &rebalance); err != nil {
			return err
		}
		text, err := json.Marshal(respond(name, &rebalance, assign))
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func respond(name string, r *Rebalance, assign func(*Rebalance) (Held, error)) any {
	if len(r.Members) == 0 {
		return failure{errNoMembers.Error()}
	}
	given, err := assign(r)
	if err != nil {
		return failure{err.Error()}
	}
	members := Held{}
	for id := range r.Members { // a member that is left out has no partitions
		members[id] = map[string][]int32{}
	}
	for id, topics := range given {
		members[id] = map[string][]int32{}
		for topic, partitions := range topics {
			if len(partitions) > 0 {
				members[id][topic] = partitions
			}
		}
	}
	return answer{"assignment/1", r.Group, name, members}
}

func run(name string, assign func(*Rebalance) (Held, error)) {
	if err := serve(name, assign); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
