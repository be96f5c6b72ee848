package main

import (
	"errors"
	"strings"
	"sync"

	"github.com/IBM/sarama"
)

// saramaByHand reads partitions that it has named itself, and only stores offsets in its group.
type saramaByHand struct {
	watch   *watch
	client  sarama.Client
	manager sarama.OffsetManager
	claims  map[string][]int32
	readers []sarama.PartitionConsumer
	stored  []sarama.PartitionOffsetManager
	reading sync.WaitGroup
}

func openSaramaByHand(asked request, config *sarama.Config) (member, error) {
	client, err := sarama.NewClient(strings.Split(asked.Servers, ","), config)
	if err != nil {
		return nil, err
	}
	manager, err := sarama.NewOffsetManagerFromClient(asked.Group, client)
	if err != nil {
		return nil, err
	}
	consumer, err := sarama.NewConsumerFromClient(client)
	if err != nil {
		return nil, err
	}
	opened := &saramaByHand{watch: asked.Watch, client: client, manager: manager, claims: map[string][]int32{}}
	for _, each := range asked.Assigned {
		stored, err := manager.ManagePartition(each.topic, each.partition)
		if err != nil {
			return nil, err
		}
		offset, _ := stored.NextOffset()
		reader, err := consumer.ConsumePartition(each.topic, each.partition, offset)
		if err != nil {
			return nil, err
		}
		opened.claims[each.topic] = append(opened.claims[each.topic], each.partition)
		opened.readers, opened.stored = append(opened.readers, reader), append(opened.stored, stored)
		opened.reading.Add(1)
		go opened.read(reader, stored)
	}
	opened.watch.got(opened.claims)
	return opened, nil
}

func (m *saramaByHand) read(reader sarama.PartitionConsumer, stored sarama.PartitionOffsetManager) {
	defer m.reading.Done()
	for record := range reader.Messages() {
		m.watch.read(record.Topic, record.Partition, record.Offset, record.Offset+1)
		stored.MarkOffset(record.Offset+1, "")
	}
}

func (m *saramaByHand) owned() map[string][]int32 {
	return m.claims
}

func (m *saramaByHand) failure() error {
	return nil
}

func (m *saramaByHand) watched() *watch {
	return m.watch
}

func (m *saramaByHand) subscribe([]string) error {
	return errors.New("it has named its partitions")
}

func (m *saramaByHand) grant(wish) error {
	return errors.New("it has named its partitions")
}

func (m *saramaByHand) close() error {
	for _, reader := range m.readers {
		reader.AsyncClose()
	}
	m.reading.Wait()
	for _, stored := range m.stored {
		stored.AsyncClose()
	}
	return errors.Join(m.manager.Close(), m.client.Close())
}
