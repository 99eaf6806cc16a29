package main

import "github.com/IBM/sarama"

// subscriptionVersion is that of the default configuration, Kafka 2.8.
const subscriptionVersion = 1

var strategies = map[string]func() sarama.BalanceStrategy{
	"range":              sarama.NewBalanceStrategyRange,
	"roundrobin":         sarama.NewBalanceStrategyRoundRobin,
	"sticky":             sarama.NewBalanceStrategySticky,
	"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky,
}

// addOwned adds what a cooperative member holds; an eager one has given it up.
func addOwned(name string, member Member, meta *sarama.ConsumerGroupMemberMetadata) {
	if name != sarama.CooperativeStickyBalanceStrategyName {
		return
	}
	meta.GenerationID = member.LastGeneration()
	for topic, partitions := range member.Owned {
		owned := &sarama.OwnedPartition{Topic: topic, Partitions: partitions}
		meta.OwnedPartitions = append(meta.OwnedPartitions, owned)
	}
}
