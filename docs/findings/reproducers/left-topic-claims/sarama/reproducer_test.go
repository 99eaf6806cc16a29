// An earlier claim on a topic that its member has left is honored, or raises an exception
//
// sarama 1.61.1, assignor sticky: invalid.
// rule unassigned, topic t, partition 0.
//
// Run it with
//
//	go test .
package reproducer

import (
	"fmt"
	"testing"

	"github.com/IBM/sarama"
)

type member struct {
	id         string
	topics     []string
	owned      map[string][]int32 // nil if it has never been assigned anything
	generation int32              // -1 if unknown
	instanceID string
	rack       string
}

// held maps members to topics to partitions.
type held map[string]map[string][]int32

// topics has the number of partitions of each topic; no other topic exists.
var topics = map[string]int32{"t": 2, "u": 1}

// members come by id; the first leads.
var members = []member{
	{
		id: "a", topics: []string{"t"}, generation: 2,
		owned: map[string][]int32{"t": {0, 1}},
	},
	{
		id: "b", topics: []string{"t"}, generation: 2,
	},
	{
		id: "c", topics: []string{"u"}, generation: 1,
		owned: map[string][]int32{"t": {0}},
	},
}

// assign does what the leader of the group does.
func assign(members []member) (held, error) {
	response, partitions := &sarama.JoinGroupResponse{}, map[string][]int32{}
	for _, one := range members {
		data, err := sent(one)
		if err != nil {
			return nil, err
		}
		response.Members = append(response.Members, sarama.GroupMember{MemberId: one.id, Metadata: data})
		for _, topic := range one.topics {
			if topics[topic] == 0 { // as the leader's client answers
				return nil, fmt.Errorf("%w: %s", sarama.ErrUnknownTopicOrPartition, topic)
			}
			partitions[topic] = nil
			for n := int32(0); n < topics[topic]; n++ {
				partitions[topic] = append(partitions[topic], n)
			}
		}
	}
	joined, err := response.GetMembers()
	if err != nil {
		return nil, err
	}
	plan, err := sarama.NewBalanceStrategySticky().Plan(joined, partitions)
	return held(plan), err
}

// sent returns what a member sends, with the user data of its last assignment.
func sent(one member) ([]byte, error) {
	own := sarama.NewBalanceStrategySticky()
	meta := &sarama.ConsumerGroupMemberMetadata{
		Version: 1, Topics: one.topics, GenerationID: -1,
	}
	if one.owned != nil || one.generation >= 0 {
		data, err := own.AssignmentData(one.id, one.owned, one.generation)
		if err != nil {
			return nil, err
		}
		meta.UserData = data
		last := &sarama.ConsumerGroupMemberAssignment{Topics: one.owned, UserData: data}
		if observer, ok := own.(interface {
			OnAssignment(*sarama.ConsumerGroupMemberAssignment, int32)
		}); ok {
			observer.OnAssignment(last, one.generation)
		}
	}
	if stateful, ok := own.(interface {
		SubscriptionUserData([]string) ([]byte, error)
	}); ok {
		data, err := stateful.SubscriptionUserData(one.topics)
		if err != nil {
			return nil, err
		}
		meta.UserData = data
	}
	request := &sarama.JoinGroupRequest{}
	if err := request.AddGroupProtocolMetadata(own.Name(), meta); err != nil {
		return nil, err
	}
	return request.OrderedGroupProtocols[0].Metadata, nil
}

// answer lets the leader assign.
func answer(t *testing.T, members []member) held {
	t.Helper()
	given, err := assign(members)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return given
}

type place struct {
	topic string
	n     int32
}

func subscribes(one member, topic string) bool {
	for _, name := range one.topics {
		if name == topic {
			return true
		}
	}
	return false
}

// violations returns what is wrong with an assignment.
func violations(members []member, given held) []string {
	var found []string
	byID, seen := map[string]member{}, map[place]bool{}
	for _, one := range members {
		byID[one.id] = one
	}
	for id, assigned := range given {
		one, known := byID[id]
		for topic, numbers := range assigned {
			for _, n := range numbers {
				switch at := (place{topic, n}); {
				case !known:
					found = append(found, id+" is not in the group")
				case n >= topics[topic]:
					found = append(found, fmt.Sprintf("%s receives %s:%d, which does not exist", id, topic, n))
				case !subscribes(one, topic):
					found = append(found, fmt.Sprintf("%s receives %s:%d, but does not subscribe to it", id, topic, n))
				case seen[at]:
					found = append(found, fmt.Sprintf("%s:%d is assigned twice", topic, n))
				}
				seen[place{topic, n}] = true
			}
		}
	}
	for _, one := range members {
		for _, topic := range one.topics {
			for n := int32(0); n < topics[topic]; n++ {
				if !seen[place{topic, n}] {
					found = append(found, fmt.Sprintf("nobody receives %s:%d", topic, n))
				}
			}
		}
	}
	return found
}

func TestLeftTopicClaims(t *testing.T) {
	for run := 0; run < 200; run++ { // the order of a map differs from run to run
		check(t)
	}
}

func check(t *testing.T) {
	t.Helper()
	given := answer(t, members)
	for _, violation := range violations(members, given) {
		t.Fatalf("finding: invalid: %s", violation)
	}
}
