// Rebalancing does not end when a partition goes back and forth between two members
//
// sarama 1.61.1, assignor sticky: hang.
// no answer in 10 s.
//
// Run it with
//
//	go test .
package reproducer

import (
	"fmt"
	"testing"
	"time"

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
var topics = map[string]int32{"t1": 3, "t2": 9}

// members come by id; the first leads.
var members = []member{
	{
		id: "m1", topics: []string{"t1", "t2"}, generation: -1,
	},
	{
		id: "m2", topics: []string{"t1", "t2"}, generation: -1,
		owned: map[string][]int32{"t1": {0}},
	},
	{
		id: "m3", topics: []string{"t2"}, generation: -1,
		owned: map[string][]int32{"t2": {0, 1, 2, 3, 4, 5, 6, 7, 8}},
	},
	{
		id: "m4", topics: []string{"t1"}, generation: -1,
		owned: map[string][]int32{"t1": {1, 2}},
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

// answer lets the leader assign, in a goroutine that may never end.
func answer(t *testing.T, members []member) held {
	t.Helper()
	type result struct {
		given held
		err   error
	}
	done := make(chan result, 1)
	go func() {
		given, err := assign(members)
		done <- result{given, err}
	}()
	select {
	case found := <-done:
		if found.err != nil {
			t.Fatal(found.err)
		}
		return found.given
	case <-time.After(10 * time.Second):
		t.Fatal("finding: hang: no answer within 10 s")
		return nil
	}
}

func TestStickyEndless(t *testing.T) {
	for run := 0; run < 200; run++ { // the order of a map differs from run to run
		check(t)
	}
}

func check(t *testing.T) {
	t.Helper()
	answer(t, members)
}
