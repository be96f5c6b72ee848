package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
)

type saramaMember struct {
	watch   *watch
	group   sarama.ConsumerGroup
	done    chan struct{}
	stop    context.CancelFunc
	lock    sync.Mutex
	topics  []string
	session sarama.ConsumerGroupSession
	again   context.CancelFunc
	failed  error
}

func openSarama(asked request) (member, error) {
	config := sarama.NewConfig()
	config.ClientID = asked.Client
	config.Version = sarama.V2_8_0_0
	if asked.Version != "" {
		version, err := sarama.ParseKafkaVersion(asked.Version)
		if err != nil {
			return nil, err
		}
		config.Version = version
	}
	config.RackID = asked.Rack
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Group.InstanceId = asked.Instance
	if asked.Watch != nil {
		asked.Watch.sarama(config)
	} else {
		config.Consumer.Offsets.AutoCommit.Enable = false
		config.Consumer.Group.Session.Timeout = time.Duration(asked.SessionMs) * time.Millisecond
		config.Consumer.Group.Heartbeat.Interval = time.Duration(asked.HeartbeatMs) * time.Millisecond
		config.Metadata.RefreshFrequency = time.Duration(asked.RefreshMs) * time.Millisecond
	}
	strategy, known := map[string]sarama.BalanceStrategy{
		"range":              sarama.NewBalanceStrategyRange(),
		"roundrobin":         sarama.NewBalanceStrategyRoundRobin(),
		"sticky":             sarama.NewBalanceStrategySticky(),
		"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky(),
	}[asked.Strategy]
	if !known {
		return nil, fmt.Errorf("sarama has no %q", asked.Strategy)
	}
	config.Consumer.Group.Rebalance.GroupStrategies = []sarama.BalanceStrategy{strategy}
	if len(asked.Assigned) > 0 {
		return openSaramaByHand(asked, config)
	}
	group, err := sarama.NewConsumerGroup(strings.Split(asked.Servers, ","), asked.Group, config)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	opened := &saramaMember{group: group, done: make(chan struct{}), stop: stop, topics: asked.Topics, watch: asked.Watch}
	go opened.consume(ctx)
	return opened, nil
}

func (m *saramaMember) consume(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		session, again := context.WithCancel(ctx)
		m.lock.Lock()
		topics := m.topics
		m.again = again
		m.lock.Unlock()
		err := m.group.Consume(session, topics, m)
		again()
		if m.watch != nil && err != nil {
			time.Sleep(100 * time.Millisecond) // applications go on
			continue
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			m.lock.Lock()
			m.failed = err
			m.lock.Unlock()
			return
		}
	}
}

func (m *saramaMember) hold(session sarama.ConsumerGroupSession) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.session = session
}

func (m *saramaMember) Setup(session sarama.ConsumerGroupSession) error {
	for topic, partitions := range session.Claims() {
		for _, partition := range partitions {
			if offset, kept := m.watch.stored(topic, partition); kept {
				session.MarkOffset(topic, partition, offset, "")
			}
		}
	}
	m.hold(session)
	return nil
}

func (m *saramaMember) watched() *watch {
	return m.watch
}

// sarama sets what is given.
func (w *watch) sarama(config *sarama.Config) {
	w.duration("session.timeout.ms", &config.Consumer.Group.Session.Timeout)
	w.duration("heartbeat.interval.ms", &config.Consumer.Group.Heartbeat.Interval)
	w.duration("metadata.max.age.ms", &config.Metadata.RefreshFrequency)
	w.duration("auto.commit.interval.ms", &config.Consumer.Offsets.AutoCommit.Interval)
	config.Consumer.Offsets.AutoCommit.Enable = w.Settings["enable.auto.commit"] != false
}

func (m *saramaMember) Cleanup(sarama.ConsumerGroupSession) error {
	m.hold(nil)
	return nil
}

func (m *saramaMember) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	own := map[string][]int32{claim.Topic(): {claim.Partition()}}
	m.watch.got(own)
	defer m.watch.gave(own)
	for {
		select {
		case record, open := <-claim.Messages():
			if !open {
				return nil
			}
			if m.watch != nil {
				m.watch.read(record.Topic, record.Partition, record.Offset, record.Offset+1)
				session.MarkMessage(record, "")
				if m.watch.Commits {
					session.Commit()
				}
			}
		case <-session.Context().Done():
			return nil
		}
	}
}

// grant may be called while other goroutines read.
func (m *saramaMember) grant(wished wish) error {
	switch wished.What {
	case "pause":
		m.group.PauseAll()
	case "resume":
		m.group.ResumeAll()
	case "subscribe":
		return m.subscribe(wished.Topics)
	default:
		return fmt.Errorf("sarama cannot %s", wished.What)
	}
	return nil
}

func (m *saramaMember) owned() map[string][]int32 {
	m.lock.Lock()
	defer m.lock.Unlock()
	if m.session == nil {
		return nil
	}
	return m.session.Claims()
}

func (m *saramaMember) failure() error {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.failed
}

func (m *saramaMember) subscribe(topics []string) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.topics = topics
	m.again()
	return nil
}

func (m *saramaMember) close() error {
	m.stop()
	err := m.group.Close()
	<-m.done
	return err
}
