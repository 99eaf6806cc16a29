package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

// member calls Consume again and again, as sarama's documentation asks for.
type member struct {
	name      string
	requested requestedConsumer
	group     sarama.ConsumerGroup
	lock      sync.Mutex
	free      *sync.Cond
	topics    []string
	paused    bool
	cancel    context.CancelFunc
}

func newMember(requested requestedConsumer, name string, topics []string) orderedMember {
	opened, err := sarama.NewConsumerGroup(
		[]string{requested.text("bootstrap.servers")},
		requested.text("group.id"),
		configOf(requested, name),
	)
	if err != nil {
		fail(err)
	}
	created := &member{name: name, requested: requested, group: opened, topics: topics}
	created.free = sync.NewCond(&created.lock)
	go created.run()
	return created
}

// configOf lets a response to JoinGroup wait until all members have joined. A consumer that
// is alone has no retries of its own: Consume returns the end of a generation at once.
func configOf(requested requestedConsumer, name string) *sarama.Config {
	config := sarama.NewConfig()
	group, retry := &config.Consumer.Group, &config.Consumer.Group.Rebalance.Retry
	group.Session.Timeout = requested.duration("session.timeout.ms", group.Session.Timeout)
	group.Heartbeat.Interval = requested.duration("heartbeat.interval.ms", group.Heartbeat.Interval)
	group.Rebalance.Timeout = requested.duration("max.poll.interval.ms", group.Rebalance.Timeout)
	group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[requested.Assignors[0]]()}
	retry.Max, retry.Backoff = 100, 100*time.Millisecond
	if requested.isAlone() {
		retry.Max = 0
	}
	backoff := &config.Metadata.Retry.Backoff
	*backoff = requested.duration("retry.backoff.ms", *backoff)
	joins := requested.duration("max.poll.interval.ms", 15*time.Minute)
	config.Net.ReadTimeout = joins + 10*time.Second
	if name != "" {
		config.ClientID = name
	}
	return config
}

func (m *member) run() {
	for {
		m.lock.Lock()
		for m.paused {
			m.free.Wait()
		}
		ctx, cancel := context.WithCancel(context.Background())
		m.cancel = cancel
		topics := m.topics
		m.lock.Unlock()
		err := m.group.Consume(ctx, topics, m)
		cancel()
		if err != nil && !isExpected(err) {
			failed(m.requested, m.name, err)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

// isExpected returns whether the client only asks for another call of Consume.
func isExpected(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, sarama.ErrRebalanceInProgress)
}

func (m *member) subscribe(topics []string) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.topics = topics
	m.cancel() // ends the session; the next call of Consume has the new topics
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

// Setup is called with each new assignment.
func (m *member) Setup(session sarama.ConsumerGroupSession) error {
	report(event{
		Event:      "assign",
		Member:     m.name,
		Generation: session.GenerationID(),
		Partitions: session.Claims(),
	})
	return nil
}

// Cleanup is called at the end of a session.
func (m *member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim waits: there are no records.
func (m *member) ConsumeClaim(session sarama.ConsumerGroupSession, _ sarama.ConsumerGroupClaim) error {
	<-session.Context().Done()
	return nil
}
