// The balance strategies of sarama, called as the leader of a consumer group calls them.
//
// Members' metadata goes through the client's own requests and responses, in the version
// of its default configuration. The leader asks its client for the partitions of every
// subscribed topic and fails if one of them does not exist.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/IBM/sarama"
)

// statefulUserData is implemented by strategies that write user data of their own.
type statefulUserData interface {
	SubscriptionUserData(topics []string) ([]byte, error)
}

// assignmentObserver is implemented by strategies that remember their last assignment.
type assignmentObserver interface {
	OnAssignment(assignment *sarama.ConsumerGroupMemberAssignment, generation int32)
}

func main() {
	sarama.Logger = log.New(io.Discard, "", 0)
	if os.Args[1] == "consume" {
		followOrders(os.Args[2], newMember)
	}
	name := os.Args[1]
	run(name, func(r *Rebalance) (Held, error) { return assign(name, r) })
}

func assign(name string, r *Rebalance) (Held, error) {
	members, err := joined(name, r)
	if err != nil {
		return nil, err
	}
	topics := map[string][]int32{}
	for _, topic := range r.SubscribedTopics() {
		count := r.Topics[topic].Partitions
		if count == 0 {
			return nil, fmt.Errorf("%w: %s", sarama.ErrUnknownTopicOrPartition, topic)
		}
		for n := int32(0); n < count; n++ {
			topics[topic] = append(topics[topic], n)
		}
	}
	plan, err := strategies[name]().Plan(members, topics)
	return Held(plan), err
}

// joined returns the members as the leader decodes them.
func joined(name string, r *Rebalance) (map[string]sarama.ConsumerGroupMemberMetadata, error) {
	response := &sarama.JoinGroupResponse{}
	for _, id := range r.MemberIDs() {
		member := r.Members[id]
		meta, err := metadata(name, id, member)
		if err != nil {
			return nil, err
		}
		request := &sarama.JoinGroupRequest{}
		if err := request.AddGroupProtocolMetadata(name, meta); err != nil {
			return nil, err
		}
		response.Members = append(response.Members, sarama.GroupMember{
			MemberId:        id,
			GroupInstanceId: member.InstanceID,
			Metadata:        request.OrderedGroupProtocols[0].Metadata,
		})
	}
	return response.GetMembers()
}

// metadata is what a member sends: the user data of its last assignment, which the leader
// of then wrote, or its strategy's own.
func metadata(name, id string, member Member) (*sarama.ConsumerGroupMemberMetadata, error) {
	own := strategies[name]()
	meta := &sarama.ConsumerGroupMemberMetadata{
		Version:      subscriptionVersion,
		Topics:       member.Subscription,
		GenerationID: unknownGeneration,
	}
	if member.HasJoinedBefore() {
		data, err := own.AssignmentData(id, member.Owned, member.LastGeneration())
		if err != nil {
			return nil, err
		}
		meta.UserData = data
		if observer, ok := own.(assignmentObserver); ok {
			last := &sarama.ConsumerGroupMemberAssignment{Topics: member.Owned, UserData: data}
			observer.OnAssignment(last, member.LastGeneration())
		}
	}
	addOwned(name, member, meta)
	if stateful, ok := own.(statefulUserData); ok {
		data, err := stateful.SubscriptionUserData(member.Subscription)
		if err != nil {
			return nil, err
		}
		meta.UserData = data
	}
	return meta, nil
}
