package main

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/segmentio/kafka-go"
)

// consume joins a group, again and again, until the input ends.
//
// The client reports the end of a generation during SyncGroup as an error, and has then
// begun to join again.
func consume(requested requestedConsumer) {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID:                requested.text("group.id"),
		Brokers:           []string{requested.text("bootstrap.servers")},
		Topics:            requested.Topics,
		GroupBalancers:    []kafka.GroupBalancer{balancer(requested.Assignors[0], nil)},
		HeartbeatInterval: requested.duration("heartbeat.interval.ms", 0),
		JoinGroupBackoff:  requested.duration("retry.backoff.ms", 0),
	})
	if err != nil {
		fail(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	for ctx.Err() == nil {
		_, err := group.Next(ctx)
		if err != nil && ctx.Err() == nil && !errors.Is(err, kafka.RebalanceInProgress) {
			fail(err)
		}
	}
	os.Exit(0)
}
