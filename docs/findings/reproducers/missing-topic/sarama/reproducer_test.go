// One topic that does not exist keeps all members from all topics
//
// sarama 1.61.1, assignor range: error.
// kafka server: Request was for a topic or partition that does not exist on this
// broker: gone.
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
var topics = map[string]int32{"t": 1}

// members come by id; the first leads.
var members = []member{
	{
		id: "a", topics: []string{"gone", "t"}, generation: -1,
	},
	{
		id: "b", topics: []string{"t"}, generation: -1,
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
	plan, err := sarama.NewBalanceStrategyRange().Plan(joined, partitions)
	return held(plan), err
}

// sent returns what a member sends, with the user data of its last assignment.
func sent(one member) ([]byte, error) {
	own := sarama.NewBalanceStrategyRange()
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
	defer func() {
		if reason := recover(); reason != nil {
			t.Fatalf("finding: error: panic: %v", reason)
		}
	}()
	given, err := assign(members)
	if err != nil {
		t.Fatalf("finding: error: %v", err)
	}
	return given
}

func TestMissingTopic(t *testing.T) {
	answer(t, members)
}
