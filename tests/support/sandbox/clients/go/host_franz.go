package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type franzMember struct {
	watch  *watch
	client *kgo.Client
	done   chan struct{}
	stop   context.CancelFunc
	lock   sync.Mutex
	topics []string
	holds  map[string]map[int32]bool
	failed error
}

func openFranz(asked request) (member, error) {
	balancer, known := map[string]kgo.GroupBalancer{
		"range":              kgo.RangeBalancer(),
		"roundrobin":         kgo.RoundRobinBalancer(),
		"sticky":             kgo.StickyBalancer(),
		"cooperative-sticky": kgo.CooperativeStickyBalancer(),
		"uniform":            kgo.StickyBalancer(),
	}[asked.Strategy]
	if !known {
		return nil, fmt.Errorf("franz-go has no %q", asked.Strategy)
	}
	opened := &franzMember{done: make(chan struct{}), topics: asked.Topics, holds: map[string]map[int32]bool{}, watch: asked.Watch}
	refresh := time.Duration(asked.RefreshMs) * time.Millisecond
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(asked.Servers, ",")...),
		kgo.ClientID(asked.Client),
		kgo.ConsumerGroup(asked.Group),
		kgo.Balancers(balancer),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, got map[string][]int32) { opened.hold(got, true) }),
		kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, lost map[string][]int32) {
			if opened.watch != nil && opened.watch.Settings["enable.auto.commit"] != false {
				client.CommitUncommittedOffsets(ctx) // a listener of one's own is the place of franz-go's
			}
			opened.hold(lost, false)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) { opened.hold(lost, false) }),
	}
	if asked.Watch != nil {
		options = append(options, asked.Watch.franz()...)
		options = append(options, kgo.AdjustFetchOffsetsFn(opened.adjust))
	} else {
		options = append(options,
			kgo.DisableAutoCommit(),
			kgo.MetadataMaxAge(refresh),
			kgo.MetadataMinAge(refresh/2),
			kgo.HeartbeatInterval(time.Duration(asked.HeartbeatMs)*time.Millisecond),
			kgo.SessionTimeout(time.Duration(asked.SessionMs)*time.Millisecond),
		)
	}
	if asked.Instance != "" {
		options = append(options, kgo.InstanceID(asked.Instance))
	}
	if asked.Rack != "" {
		options = append(options, kgo.Rack(asked.Rack))
	}
	if asked.Protocol == "consumer" {
		options = append(options, kgo.ServerSideBalancer())
	}
	if asked.Pattern != "" {
		options = append(options, kgo.ConsumeRegex(), kgo.ConsumeTopics(asked.Pattern))
	} else {
		options = append(options, kgo.ConsumeTopics(asked.Topics...))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, err
	}
	opened.client = client
	ctx, stop := context.WithCancel(context.Background())
	opened.stop = stop
	go opened.poll(ctx)
	return opened, nil
}

func (m *franzMember) poll(ctx context.Context) {
	defer close(m.done)
	for ctx.Err() == nil {
		room := 0 // as many as there are
		if m.watch != nil {
			room = m.watch.Room
		}
		fetches := m.client.PollRecords(ctx, room)
		if m.watch == nil {
			continue
		}
		fetches.EachPartition(func(found kgo.FetchTopicPartition) {
			if count := len(found.Records); count > 0 {
				m.watch.read(found.Topic, found.Partition, found.Records[0].Offset, found.Records[count-1].Offset+1)
			}
		})
		if fetches.NumRecords() == 0 {
			continue
		}
		if m.watch.Sync {
			m.client.CommitUncommittedOffsets(ctx)
		} else if m.watch.Commits {
			m.client.CommitOffsets(ctx, m.client.UncommittedOffsets(), nil)
		}
	}
}

func (m *franzMember) watched() *watch {
	return m.watch
}

// adjust begins where it is kept outside Kafka, where the group does so.
func (m *franzMember) adjust(_ context.Context, found map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	for topic, partitions := range found {
		for partition := range partitions {
			if offset, kept := m.watch.stored(topic, partition); kept {
				partitions[partition] = kgo.NewOffset().At(offset)
			}
		}
	}
	return found, nil
}

// grant may be called while another goroutine polls.
func (m *franzMember) grant(wished wish) error {
	held := m.owned()
	switch wished.What {
	case "pause":
		m.client.PauseFetchPartitions(held)
	case "resume":
		m.client.ResumeFetchPartitions(m.client.PauseFetchPartitions(nil))
	case "subscribe":
		return m.subscribe(wished.Topics)
	case "seek":
		begin := map[string]map[int32]kgo.EpochOffset{}
		for topic, partitions := range held {
			begin[topic] = map[int32]kgo.EpochOffset{}
			for _, partition := range partitions {
				begin[topic][partition] = kgo.EpochOffset{Epoch: -1}
			}
		}
		m.client.SetOffsets(begin)
	default:
		return fmt.Errorf("franz-go cannot %s", wished.What)
	}
	return nil
}

// franz has the options of the settings that are given.
func (w *watch) franz() []kgo.Opt {
	options := []kgo.Opt{}
	for property, option := range map[string]func(time.Duration) kgo.Opt{
		"heartbeat.interval.ms":   func(d time.Duration) kgo.Opt { return kgo.HeartbeatInterval(d) },
		"session.timeout.ms":      func(d time.Duration) kgo.Opt { return kgo.SessionTimeout(d) },
		"metadata.max.age.ms":     func(d time.Duration) kgo.Opt { return kgo.MetadataMaxAge(d) },
		"auto.commit.interval.ms": func(d time.Duration) kgo.Opt { return kgo.AutoCommitInterval(d) },
	} {
		if ms, given := w.Settings[property].(float64); given {
			options = append(options, option(time.Duration(ms)*time.Millisecond))
		}
	}
	if w.Settings["enable.auto.commit"] == false {
		options = append(options, kgo.DisableAutoCommit())
	}
	return options
}

func (m *franzMember) hold(topics map[string][]int32, held bool) {
	if held {
		m.watch.got(topics)
	} else {
		m.watch.gave(topics)
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	for topic, partitions := range topics {
		for _, partition := range partitions {
			if m.holds[topic] == nil {
				m.holds[topic] = map[int32]bool{}
			}
			if held {
				m.holds[topic][partition] = true
			} else {
				delete(m.holds[topic], partition)
			}
		}
	}
}

func (m *franzMember) owned() map[string][]int32 {
	m.lock.Lock()
	defer m.lock.Unlock()
	found := map[string][]int32{}
	for topic, partitions := range m.holds {
		for partition := range partitions {
			found[topic] = append(found[topic], partition)
		}
	}
	return found
}

func (m *franzMember) failure() error {
	m.lock.Lock()
	defer m.lock.Unlock()
	return m.failed
}

// subscribe gives topics up, or takes more; franz-go has no call for both.
func (m *franzMember) subscribe(topics []string) error {
	m.lock.Lock()
	before := m.topics
	m.topics = topics
	m.lock.Unlock()
	var dropped, added []string
	for _, topic := range before {
		if !slices.Contains(topics, topic) {
			dropped = append(dropped, topic)
		}
	}
	for _, topic := range topics {
		if !slices.Contains(before, topic) {
			added = append(added, topic)
		}
	}
	if len(added) > 0 {
		m.client.AddConsumeTopics(added...)
	}
	if len(dropped) > 0 {
		m.client.PurgeTopicsFromConsuming(dropped...)
	}
	return nil
}

func (m *franzMember) close() error {
	m.stop()
	m.client.Close()
	<-m.done
	return nil
}
