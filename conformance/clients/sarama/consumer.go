package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/IBM/sarama"
)

const raised = 70 // EX_SOFTWARE: the client returned an error

// consume joins a group, again and again, until the input ends.
//
// Arguments: address, group, topic, assignor.
//
// Without retries of its own, the client returns the end of a generation during SyncGroup
// as an error, after which its documentation asks for another call.
func consume(arguments []string) {
	group, err := sarama.NewConsumerGroup(
		[]string{arguments[0]}, arguments[1], consumeConfig(arguments[3]),
	)
	if err != nil {
		fail(err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		err := group.Consume(context.Background(), []string{arguments[2]}, idle{})
		if err != nil && !errors.Is(err, sarama.ErrRebalanceInProgress) {
			fail(err)
		}
	}
}

func consumeConfig(assignor string) *sarama.Config {
	config := sarama.NewConfig()
	group := &config.Consumer.Group
	group.Heartbeat.Interval = 100 * time.Millisecond
	group.Rebalance.Retry.Max = 0
	group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategies[assignor]()}
	config.Metadata.Retry.Backoff = time.Millisecond
	config.Net.ReadTimeout = 15 * time.Minute // a response to JoinGroup can wait
	return config
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(raised)
}

// idle waits for the end of each session: there are no records.
type idle struct{}

// Setup is called with each new assignment.
func (idle) Setup(sarama.ConsumerGroupSession) error { return nil }

// Cleanup is called at the end of a session.
func (idle) Cleanup(sarama.ConsumerGroupSession) error { return nil }

// ConsumeClaim waits.
func (idle) ConsumeClaim(session sarama.ConsumerGroupSession, _ sarama.ConsumerGroupClaim) error {
	<-session.Context().Done()
	return nil
}
