// One topic that does not exist keeps all members from all topics
//
// kafka-go 0.4.51, assignor range: invalid.
// rule unassigned, topic t, partition 0.
//
// Run it with
//
//	go test .
package reproducer

import (
	"fmt"
	"sort"
	"testing"

	"github.com/segmentio/kafka-go"
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
	var joined []kafka.GroupMember
	for _, one := range members {
		data, err := kafka.RangeGroupBalancer{}.UserData()
		if err != nil {
			return nil, err
		}
		joined = append(joined, kafka.GroupMember{ID: one.id, Topics: one.topics, UserData: data})
	}
	given := held{}
	for id, assigned := range (kafka.RangeGroupBalancer{}).AssignGroups(joined, partitions(members)) {
		given[id] = map[string][]int32{}
		for topic, numbers := range assigned {
			for _, n := range numbers {
				given[id][topic] = append(given[id][topic], int32(n))
			}
		}
	}
	return given, nil
}

// partitions returns what Conn.ReadPartitions returns for the group's topics: nothing if
// one of them does not exist.
func partitions(members []member) []kafka.Partition {
	wanted := map[string]bool{}
	for _, one := range members {
		for _, topic := range one.topics {
			wanted[topic] = true
		}
	}
	var names []string
	for topic := range wanted {
		names = append(names, topic)
	}
	sort.Strings(names)
	var found []kafka.Partition
	for _, topic := range names {
		if topics[topic] == 0 {
			return nil
		}
		for n := 0; n < int(topics[topic]); n++ {
			one := kafka.Partition{Topic: topic, ID: n}
			found = append(found, one)
		}
	}
	return found
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

func TestMissingTopic(t *testing.T) {
	given := answer(t, members)
	for _, violation := range violations(members, given) {
		t.Fatalf("finding: invalid: %s", violation)
	}
}
