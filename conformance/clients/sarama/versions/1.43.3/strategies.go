package main

import "github.com/IBM/sarama"

// subscriptionVersion is the only one that this release writes.
const subscriptionVersion = 0

var strategies = map[string]func() sarama.BalanceStrategy{
	"range":      sarama.NewBalanceStrategyRange,
	"roundrobin": sarama.NewBalanceStrategyRoundRobin,
	"sticky":     sarama.NewBalanceStrategySticky,
}

// addOwned adds nothing: all strategies of this release are eager.
func addOwned(string, Member, *sarama.ConsumerGroupMemberMetadata) {}
