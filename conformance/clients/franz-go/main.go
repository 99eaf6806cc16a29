// The balancers of franz-go (package kgo), called as the leader of a group calls them.
//
// Every member's metadata is encoded by the client's own balancer. BalanceRacks, which is
// off by default, needs a running client, so no balancer sees racks of partitions.
package main

import (
	"os"
	"sort"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

var balancers = map[string]func() kgo.GroupBalancer{
	"range":              kgo.RangeBalancer,
	"roundrobin":         kgo.RoundRobinBalancer,
	"sticky":             kgo.StickyBalancer,
	"cooperative-sticky": kgo.CooperativeStickyBalancer,
}

func main() {
	if os.Args[1] == "consume" {
		followOrders(os.Args[2], newMember)
	}
	name := os.Args[1]
	balancer := balancers[name]()
	run(name, func(r *Rebalance) (Held, error) { return assign(balancer, r) })
}

func assign(balancer kgo.GroupBalancer, r *Rebalance) (Held, error) {
	joined := join(balancer, r)
	member, topics, err := balancer.MemberBalancer(joined)
	if err != nil {
		return nil, err
	}
	plan, err := balance(member, counts(r, topics))
	if err != nil {
		return nil, err
	}
	held := Held{}
	for _, one := range plan.IntoSyncAssignment() {
		if held[one.MemberID], err = balancer.ParseSyncAssignment(one.MemberAssignment); err != nil {
			return nil, err
		}
	}
	return held, nil
}

func balance(member kgo.GroupMemberBalancer, topics map[string]int32) (kgo.IntoSyncAssignment, error) {
	if fallible, ok := member.(kgo.GroupMemberBalancerOrError); ok {
		return fallible.BalanceOrError(topics)
	}
	return member.Balance(topics), nil
}

// counts returns the partitions of the topics that exist.
func counts(r *Rebalance, topics map[string]struct{}) map[string]int32 {
	known := map[string]int32{}
	for topic := range topics {
		if about := r.Topics[topic]; about.Partitions > 0 {
			known[topic] = about.Partitions
		}
	}
	return known
}

// join returns the members in the client's order: static ones first.
func join(balancer kgo.GroupBalancer, r *Rebalance) []kmsg.JoinGroupResponseMember {
	joined := make([]kmsg.JoinGroupResponseMember, 0, len(r.Members))
	for _, id := range r.MemberIDs() {
		member := r.Members[id]
		one := kmsg.NewJoinGroupResponseMember()
		one.MemberID = id
		one.InstanceID = member.InstanceID
		one.ProtocolMetadata = metadata(balancer, member)
		joined = append(joined, one)
	}
	sort.SliceStable(joined, func(i, j int) bool { return before(joined[i], joined[j]) })
	return joined
}

// before is the client's own order of members (KIP-345), which it does not export.
func before(l, r kmsg.JoinGroupResponseMember) bool {
	switch {
	case l.InstanceID != nil && r.InstanceID != nil:
		return *l.InstanceID < *r.InstanceID
	case l.InstanceID != nil || r.InstanceID != nil:
		return l.InstanceID != nil
	default:
		return l.MemberID < r.MemberID
	}
}

func metadata(balancer kgo.GroupBalancer, member Member) []byte {
	topics := append([]string(nil), member.Subscription...)
	sort.Strings(topics) // the client guarantees this to balancers
	owned := map[string][]int32{}
	for topic, partitions := range member.Owned {
		sorted := append([]int32(nil), partitions...)
		sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
		owned[topic] = sorted
	}
	encoded := balancer.JoinGroupMetadata(topics, owned, member.LastGeneration())
	return withRack(encoded, member.Rack)
}

// withRack adds the rack as the client does when it joins (KIP-881).
func withRack(encoded []byte, rack *string) []byte {
	if rack == nil {
		return encoded
	}
	var meta kmsg.ConsumerMemberMetadata
	if err := meta.ReadFrom(encoded); err != nil || meta.Rack != nil {
		return encoded
	}
	meta.Rack = rack
	if meta.Version < 3 {
		meta.Version = 3
	}
	return meta.AppendTo(nil)
}
