package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// member polls; while it is paused, its callback of a revocation does not return.
type member struct {
	name   string
	client *kgo.Client
	topics []string
	lock   sync.Mutex
	free   *sync.Cond
	paused bool
}

func newMember(asked asked, name string, topics []string) orderedMember {
	one := &member{name: name, topics: topics}
	one.free = sync.NewCond(&one.lock)
	client, err := kgo.NewClient(
		kgo.SeedBrokers(asked.Address),
		kgo.ClientID(name),
		kgo.ConsumerGroup(asked.Group),
		kgo.ConsumeTopics(topics...),
		kgo.Balancers(balancers[asked.Assignor]()),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(time.Duration(asked.SessionMs)*time.Millisecond),
		kgo.RebalanceTimeout(time.Duration(asked.JoinMs)*time.Millisecond),
		kgo.HeartbeatInterval(time.Duration(asked.HeartbeatMs)*time.Millisecond),
		kgo.MetadataMinAge(100*time.Millisecond),
		kgo.OnPartitionsAssigned(one.assigned),
		kgo.OnPartitionsRevoked(one.revoked),
		kgo.OnPartitionsLost(one.lost),
	)
	if err != nil {
		panic(err)
	}
	one.client = client
	go one.run()
	return one
}

func (m *member) run() {
	for {
		m.client.PollFetches(context.Background()).EachError(func(_ string, _ int32, err error) {
			report(event{Event: "error", Member: m.name, Reason: err.Error()})
		})
	}
}

func (m *member) assigned(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	_, generation := m.client.GroupMetadata()
	report(event{Event: "assign", Member: m.name, Generation: generation, Partitions: partitions})
}

func (m *member) revoked(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	_, generation := m.client.GroupMetadata()
	report(event{Event: "revoke", Member: m.name, Generation: generation, Partitions: partitions})
	m.lock.Lock()
	defer m.lock.Unlock()
	for m.paused {
		m.free.Wait()
	}
}

func (m *member) lost(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
	report(event{Event: "lost", Member: m.name, Generation: -1, Partitions: partitions})
}

func (m *member) subscribe(topics []string) {
	left := slices.DeleteFunc(slices.Clone(m.topics), func(topic string) bool {
		return slices.Contains(topics, topic)
	})
	m.topics = topics
	m.client.AddConsumeTopics(topics...)
	go m.client.PurgeTopicsFromClient(left...) // waits for callbacks
}

func (m *member) pause() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.paused = true
}

func (m *member) resume() {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.paused = false
	m.free.Broadcast()
}
