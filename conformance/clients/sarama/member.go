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
	name   string
	group  sarama.ConsumerGroup
	lock   sync.Mutex
	free   *sync.Cond
	topics []string
	paused bool
	cancel context.CancelFunc
}

func newMember(asked asked, name string, topics []string) orderedMember {
	config := sarama.NewConfig()
	config.ClientID = name
	group := &config.Consumer.Group
	group.Session.Timeout = time.Duration(asked.SessionMs) * time.Millisecond
	group.Heartbeat.Interval = time.Duration(asked.HeartbeatMs) * time.Millisecond
	group.Rebalance.Timeout = time.Duration(asked.JoinMs) * time.Millisecond
	group.Rebalance.Retry.Backoff = 100 * time.Millisecond
	group.Rebalance.Retry.Max = 100
	group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[asked.Assignor]()}
	config.Net.ReadTimeout = time.Duration(asked.JoinMs)*time.Millisecond + 10*time.Second
	opened, err := sarama.NewConsumerGroup([]string{asked.Address}, asked.Group, config)
	if err != nil {
		panic(err)
	}
	one := &member{name: name, group: opened, topics: topics}
	one.free = sync.NewCond(&one.lock)
	go one.run()
	return one
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
		if err != nil && !errors.Is(err, context.Canceled) {
			report(event{Event: "error", Member: m.name, Reason: err.Error()})
			time.Sleep(100 * time.Millisecond)
		}
	}
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
