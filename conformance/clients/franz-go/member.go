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
	name      string
	requested requestedConsumer
	client    *kgo.Client
	topics    []string
	lock      sync.Mutex
	free      *sync.Cond
	paused    bool
}

func newMember(requested requestedConsumer, name string, topics []string) orderedMember {
	created := &member{name: name, requested: requested, topics: topics}
	created.free = sync.NewCond(&created.lock)
	options := []kgo.Opt{
		kgo.SeedBrokers(requested.text("bootstrap.servers")),
		kgo.ConsumerGroup(requested.text("group.id")),
		kgo.ConsumeTopics(topics...),
		kgo.Balancers(balancers[requested.Assignors[0]]()),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(requested.duration("session.timeout.ms", 45*time.Second)),
		kgo.RebalanceTimeout(requested.duration("max.poll.interval.ms", time.Minute)),
		kgo.HeartbeatInterval(requested.duration("heartbeat.interval.ms", 3*time.Second)),
		kgo.MetadataMinAge(requested.duration("metadata.min.age.ms", 100*time.Millisecond)),
		kgo.OnPartitionsAssigned(created.assigned),
		kgo.OnPartitionsRevoked(created.revoked),
		kgo.OnPartitionsLost(created.lost),
	}
	if name != "" {
		options = append(options, kgo.ClientID(name))
	}
	if pause := requested.duration("retry.backoff.ms", 0); pause > 0 {
		options = append(options, kgo.RetryBackoffFn(func(int) time.Duration { return pause }))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		fail(err)
	}
	created.client = client
	go created.run()
	return created
}

func (m *member) run() {
	for {
		m.client.PollFetches(context.Background()).EachError(func(_ string, _ int32, err error) {
			failed(m.requested, m.name, err)
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
