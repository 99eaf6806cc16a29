package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const raised = 70 // EX_SOFTWARE: the client returned an error

// consume joins a group and polls until the input ends.
//
// Arguments: address, group, topic, assignor.
func consume(arguments []string) {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(arguments[0]),
		kgo.ConsumerGroup(arguments[1]),
		kgo.ConsumeTopics(arguments[2]),
		kgo.Balancers(balancers[arguments[3]]()),
		kgo.DisableAutoCommit(),
		kgo.HeartbeatInterval(100*time.Millisecond),
		kgo.MetadataMinAge(10*time.Millisecond),
		kgo.RetryBackoffFn(func(int) time.Duration { return time.Millisecond }),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(raised)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	for ctx.Err() == nil {
		client.PollFetches(ctx).EachError(func(_ string, _ int32, err error) {
			if ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(raised)
			}
		})
	}
	os.Exit(0)
}
