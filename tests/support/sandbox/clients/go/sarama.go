package main

import (
	"context"
	"sort"
	"time"

	"github.com/IBM/sarama"
)

type handler struct{ topic string }

func (h handler) Setup(session sarama.ConsumerGroupSession) error {
	list := append([]int32{}, session.Claims()[h.topic]...)
	sort.Slice(list, func(i, j int) bool { return list[i] < list[j] })
	emit("assigned", list)
	return nil
}

func (h handler) Cleanup(sarama.ConsumerGroupSession) error {
	emit("assigned", []int32{})
	return nil
}

func (h handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for {
		select {
		case message, open := <-claim.Messages():
			if !open {
				return nil
			}
			emit("value", string(message.Value))
			session.MarkMessage(message, "")
		case <-session.Context().Done():
			return nil
		}
	}
}

func runSarama(ctx context.Context, brokers []string, topic, group string) error {
	config := sarama.NewConfig()
	config.Version = sarama.V2_8_0_0
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.Heartbeat.Interval = 200 * time.Millisecond
	config.Consumer.Group.Session.Timeout = 6 * time.Second
	client, err := sarama.NewConsumerGroup(brokers, group, config)
	if err != nil {
		return err
	}
	defer client.Close()
	for ctx.Err() == nil {
		if err := client.Consume(ctx, []string{topic}, handler{topic}); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
