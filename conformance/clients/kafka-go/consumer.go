package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/segmentio/kafka-go"
)

const raised = 70 // EX_SOFTWARE: the client returned an error

// consume joins a group, again and again, until the input ends.
//
// Arguments: address, group, topic, assignor.
//
// The client reports the end of a generation during SyncGroup as an error, and has then
// begun to join again.
func consume(arguments []string) {
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID:                arguments[1],
		Brokers:           []string{arguments[0]},
		Topics:            []string{arguments[2]},
		GroupBalancers:    []kafka.GroupBalancer{balancer(arguments[3], nil)},
		HeartbeatInterval: 100 * time.Millisecond,
		JoinGroupBackoff:  time.Millisecond,
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

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(raised)
}
