// A partition with two claims is assigned while a claimant may still read it
//
// franz-go 1.22.3, assignor cooperative-sticky: unrevoked.
// rule unrevoked, member a, topic t, partition 0, claimant b.
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
var topics = map[string]int32{"t": 1}

// members come by id; the first leads.
var members = []member{
	{
		id: "a", topics: []string{"t"}, generation: 1,
		owned: map[string][]int32{"t": {0}},
	},
	{
		id: "b", topics: []string{"t"}, generation: 1,
		owned: map[string][]int32{"t": {0}},
	},
}

var balancer = kgo.CooperativeStickyBalancer()

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
