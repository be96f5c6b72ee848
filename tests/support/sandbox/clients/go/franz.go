package main

import (
	"context"
	"sort"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

func runFranz(ctx context.Context, brokers []string, topic, group string) error {
	owned := map[int32]bool{}
	tell := func() {
		list := []int32{}
		for partition := range owned {
			list = append(list, partition)
		}
		sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
		emit("assigned", list)
	}
	drop := func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
		for _, partition := range lost[topic] {
			delete(owned, partition)
		}
		tell()
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(brokers...),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.HeartbeatInterval(200*time.Millisecond),
		kgo.SessionTimeout(6*time.Second),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, got map[string][]int32) {
			for _, partition := range got[topic] {
				owned[partition] = true
			}
			tell()
		}),
		kgo.OnPartitionsRevoked(drop),
		kgo.OnPartitionsLost(drop),
		kgo.BlockRebalanceOnPoll(),
	)
	if err != nil {
		return err
	}
	defer client.CloseAllowingRebalance()
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		fetches.EachRecord(func(record *kgo.Record) { emit("value", string(record.Value)) })
		client.AllowRebalance()
	}
	return client.CommitUncommittedOffsets(context.Background())
}
