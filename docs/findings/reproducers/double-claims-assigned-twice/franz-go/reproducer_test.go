// A partition with two claims is assigned to both claimants
//
// franz-go 1.15.4, assignor sticky: invalid.
// rule assigned-twice, member a, topic t, partition 0.
//
// Run it with
//
//	go test .
package reproducer

import (
	"fmt"
	"sort"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
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
var topics = map[string]int32{"t": 1, "u": 3}

// members come by id; the first leads.
var members = []member{
	{
		id: "a", topics: []string{"t"}, generation: -1,
		owned: map[string][]int32{"t": {0}},
	},
	{
		id: "b", topics: []string{"t", "u"}, generation: 1,
		owned: map[string][]int32{"t": {0}, "u": {0}},
	},
}

var balancer = kgo.StickyBalancer()

// assign does what the leader of the group does.
func assign(members []member) (held, error) {
	sorted := append([]member(nil), members...)
	sort.SliceStable(sorted, func(i, j int) bool { return before(sorted[i], sorted[j]) })
	var joined []kmsg.JoinGroupResponseMember
	for _, one := range sorted {
		read := kmsg.NewJoinGroupResponseMember()
		read.MemberID = one.id
		if one.instanceID != "" {
			read.InstanceID = &one.instanceID
		}
		read.ProtocolMetadata = sent(one)
		joined = append(joined, read)
	}
	leader, wanted, err := balancer.MemberBalancer(joined)
	if err != nil {
		return nil, err
	}
	known := map[string]int32{}
	for topic := range wanted {
		if topics[topic] > 0 {
			known[topic] = topics[topic]
		}
	}
	var plan kgo.IntoSyncAssignment
	if fallible, ok := leader.(kgo.GroupMemberBalancerOrError); ok {
		if plan, err = fallible.BalanceOrError(known); err != nil {
			return nil, err
		}
	} else {
		plan = leader.Balance(known)
	}
	given := held{}
	for _, one := range plan.IntoSyncAssignment() {
		if given[one.MemberID], err = balancer.ParseSyncAssignment(one.MemberAssignment); err != nil {
			return nil, err
		}
	}
	return given, nil
}

// sent returns what a member sends: topics and partitions are sorted.
func sent(one member) []byte {
	topics, owned := append([]string(nil), one.topics...), map[string][]int32{}
	sort.Strings(topics)
	for topic, numbers := range one.owned {
		owned[topic] = append([]int32(nil), numbers...)
		sort.Slice(owned[topic], func(i, j int) bool { return owned[topic][i] < owned[topic][j] })
	}
	return balancer.JoinGroupMetadata(topics, owned, one.generation)
}

// before is the client's order of members: static ones first (KIP-345).
func before(l, r member) bool {
	switch {
	case l.instanceID != "" && r.instanceID != "":
		return l.instanceID < r.instanceID
	case l.instanceID != "" || r.instanceID != "":
		return l.instanceID != ""
	default:
		return l.id < r.id
	}
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

func TestDoubleClaimsAssignedTwice(t *testing.T) {
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
