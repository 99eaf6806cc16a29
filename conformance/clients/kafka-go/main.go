// The group balancers of segmentio/kafka-go, called as the leader of a group calls them.
//
// Members send topics and user data only. The leader reads the partitions of all topics in
// one request: if one topic does not exist, the client's Conn.ReadPartitions returns no
// partition of any, and the leader takes that for an answer.
package main

import (
	"os"

	"github.com/segmentio/kafka-go"
)

func main() {
	if os.Args[1] == "consume" {
		consume(readRequested(os.Args[2]))
	}
	name := os.Args[1]
	run(name, func(r *Rebalance) (Held, error) { return assign(name, r) })
}

func balancer(name string, rack *string) kafka.GroupBalancer {
	switch name {
	case "range":
		return kafka.RangeGroupBalancer{}
	case "roundrobin":
		return kafka.RoundRobinGroupBalancer{}
	case "rack-affinity":
		if rack == nil {
			return kafka.RackAffinityGroupBalancer{}
		}
		return kafka.RackAffinityGroupBalancer{Rack: *rack}
	default:
		panic("no balancer " + name)
	}
}

func assign(name string, r *Rebalance) (Held, error) {
	members := make([]kafka.GroupMember, 0, len(r.Members))
	for _, id := range r.MemberIDs() {
		member := r.Members[id]
		data, err := balancer(name, member.Rack).UserData()
		if err != nil {
			return nil, err
		}
		joined := kafka.GroupMember{ID: id, Topics: member.Subscription, UserData: data}
		members = append(members, joined)
	}
	given := balancer(name, nil).AssignGroups(members, partitions(r))
	held := Held{}
	for id, topics := range given {
		held[id] = map[string][]int32{}
		for topic, numbers := range topics {
			for _, n := range numbers {
				held[id][topic] = append(held[id][topic], int32(n))
			}
		}
	}
	return held, nil
}

func partitions(r *Rebalance) []kafka.Partition {
	var found []kafka.Partition
	for _, topic := range r.SubscribedTopics() {
		about := r.Topics[topic]
		if about.Partitions == 0 {
			return nil
		}
		for n := int32(0); n < about.Partitions; n++ {
			leader := kafka.Broker{Rack: about.LeaderRack(n)}
			one := kafka.Partition{Topic: topic, ID: int(n), Leader: leader}
			found = append(found, one)
		}
	}
	return found
}
