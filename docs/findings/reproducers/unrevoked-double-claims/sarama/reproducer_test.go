// A partition with two claims is assigned while a claimant may still read it
//
// sarama 1.61.1, assignor cooperative-sticky: unrevoked.
// rule unrevoked, member b, topic t, partition 0, claimant a.
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
var topics = map[string]int32{"t": 1, "u": 1}

// members come by id; the first leads.
var members = []member{
	{
		id: "a", topics: []string{"t", "u"}, generation: 2,
		owned: map[string][]int32{"t": {0}, "u": {0}},
	},
	{
		id: "b", topics: []string{"t"}, generation: 1,
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
	plan, err := sarama.NewBalanceStrategyCooperativeSticky().Plan(joined, partitions)
	return held(plan), err
}

// sent returns what a member sends, with the user data of its last assignment.
func sent(one member) ([]byte, error) {
	own := sarama.NewBalanceStrategyCooperativeSticky()
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
	meta.GenerationID = one.generation
	for topic, numbers := range one.owned {
		owned := &sarama.OwnedPartition{Topic: topic, Partitions: numbers}
		meta.OwnedPartitions = append(meta.OwnedPartitions, owned)
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

// claims returns who claims each partition: the members with the newest claim.
func claims(members []member) map[place][]string {
	newest, claimants := map[place]int32{}, map[place][]string{}
	for _, one := range members {
		for topic, numbers := range one.owned {
			for _, n := range numbers {
				at := place{topic, n}
				then, known := newest[at]
				if !subscribes(one, topic) || n >= topics[topic] || known && one.generation < then {
					continue
				}
				if one.generation > then || !known {
					newest[at], claimants[at] = one.generation, nil
				}
				claimants[at] = append(claimants[at], one.id)
			}
		}
	}
	return claimants
}

func subscribes(one member, topic string) bool {
	for _, name := range one.topics {
		if name == topic {
			return true
		}
	}
	return false
}

// violations returns what is assigned to a member while another one holds it.
func violations(members []member, given held) []string {
	var found []string
	claimants := claims(members)
	for id, assigned := range given {
		for topic, numbers := range assigned {
			for _, n := range numbers {
				for _, other := range claimants[place{topic, n}] {
					if other != id {
						found = append(found, fmt.Sprintf("%s receives %s:%d while %s holds it", id, topic, n, other))
					}
				}
			}
		}
	}
	return found
}

// revokes returns whether a member has to give up what it holds, and joins again.
func revokes(members []member, given held) bool {
	kept, anywhere := map[string]map[place]bool{}, map[place]bool{}
	for id, assigned := range given {
		kept[id] = map[place]bool{}
		for topic, numbers := range assigned {
			for _, n := range numbers {
				kept[id][place{topic, n}] = true
				anywhere[place{topic, n}] = true
			}
		}
	}
	for _, one := range members {
		for topic, numbers := range one.owned {
			for _, n := range numbers {
				at := place{topic, n}
				if n < topics[topic] && !kept[one.id][at] && (subscribes(one, topic) || !anywhere[at]) {
					return true
				}
			}
		}
	}
	return false
}

// rejoined returns the members in the next round, with what they received as their claims.
func rejoined(members []member, given held) []member {
	generation := int32(-1)
	for _, one := range members {
		generation = max(generation, one.generation)
	}
	var next []member
	for _, one := range members {
		one.owned, one.generation = map[string][]int32{}, generation+1
		for topic, numbers := range given[one.id] {
			if len(numbers) > 0 {
				one.owned[topic] = numbers
			}
		}
		next = append(next, one)
	}
	return next
}

func TestUnrevokedDoubleClaims(t *testing.T) {
	for run := 0; run < 200; run++ { // the order of a map differs from run to run
		check(t)
	}
}

func check(t *testing.T) {
	t.Helper()
	current, given := members, held{}
	for round := 1; ; round++ { // until nobody has to revoke anything (KIP-429)
		if round > 16 {
			t.Fatal("finding: restless: members still revoke after 16 rounds")
		}
		given = answer(t, current)
		for _, violation := range violations(current, given) {
			t.Fatalf("finding: unrevoked: %s", violation)
		}
		if !revokes(current, given) {
			break
		}
		current = rejoined(current, given)
	}
}
