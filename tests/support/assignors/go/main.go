// What the strategies of franz-go and sarama answer to groups that are described on standard input.
//
// A line of JSON a group: {"client", "strategy", "topics": {name: partitions}, "members": [{"id",
// "instance", "topics", "metadata": base64 of the subscription}]}. A line of JSON an answer:
// {"members": {id: {topic: [partition]}}} or {"error"}. The members of franz-go are sorted as its
// leader sorts them; that function is not exported, so its order is written out here.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type member struct {
	ID       string   `json:"id"`
	Instance *string  `json:"instance"`
	Topics   []string `json:"topics"`
	Metadata []byte   `json:"metadata"`
}

type group struct {
	Client   string           `json:"client"`
	Strategy string           `json:"strategy"`
	Topics   map[string]int32 `json:"topics"`
	Members  []member         `json:"members"`
}

type plan map[string]map[string][]int32

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<26)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked group
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		answer := map[string]any{}
		if found, err := decide(asked); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["members"] = found
		}
		if err := answers.Encode(answer); err != nil {
			panic(err)
		}
	}
}

func decide(asked group) (plan, error) {
	if asked.Client == "sarama" {
		return decideSarama(asked)
	}
	return decideFranz(asked)
}

func decideFranz(asked group) (plan, error) {
	strategy := map[string]func() kgo.GroupBalancer{
		"range":              kgo.RangeBalancer,
		"roundrobin":         kgo.RoundRobinBalancer,
		"sticky":             kgo.StickyBalancer,
		"cooperative-sticky": kgo.CooperativeStickyBalancer,
	}[asked.Strategy]()
	members := make([]kmsg.JoinGroupResponseMember, 0, len(asked.Members))
	for _, each := range asked.Members {
		joined := kmsg.NewJoinGroupResponseMember()
		joined.MemberID, joined.InstanceID = each.ID, each.Instance
		joined.ProtocolMetadata = each.Metadata
		members = append(members, joined)
	}
	sort.Slice(members, func(i, j int) bool {
		left, right := members[i], members[j]
		if (left.InstanceID == nil) != (right.InstanceID == nil) {
			return left.InstanceID != nil
		}
		if left.InstanceID != nil {
			return *left.InstanceID < *right.InstanceID
		}
		return left.MemberID < right.MemberID
	})
	balancer, _, err := strategy.MemberBalancer(members)
	if err != nil {
		return nil, err
	}
	found := plan{}
	for _, each := range asked.Members {
		found[each.ID] = map[string][]int32{}
	}
	decided, err := balancer.(kgo.GroupMemberBalancerOrError).BalanceOrError(asked.Topics)
	if err != nil {
		return nil, err
	}
	for _, given := range decided.IntoSyncAssignment() {
		topics, err := strategy.ParseSyncAssignment(given.MemberAssignment)
		if err != nil {
			return nil, err
		}
		found[given.MemberID] = topics
	}
	return found, nil
}

func decideSarama(asked group) (plan, error) {
	strategy := map[string]func() sarama.BalanceStrategy{
		"range":      sarama.NewBalanceStrategyRange,
		"roundrobin": sarama.NewBalanceStrategyRoundRobin,
		"sticky":     sarama.NewBalanceStrategySticky,
	}[asked.Strategy]
	if strategy == nil {
		return nil, fmt.Errorf("sarama has no %s", asked.Strategy)
	}
	members := map[string]sarama.ConsumerGroupMemberMetadata{}
	topics := map[string][]int32{}
	for _, each := range asked.Members {
		members[each.ID] = sarama.ConsumerGroupMemberMetadata{Topics: each.Topics}
		for _, topic := range each.Topics {
			if _, known := topics[topic]; !known {
				for number := int32(0); number < asked.Topics[topic]; number++ {
					topics[topic] = append(topics[topic], number)
				}
			}
		}
	}
	given, err := strategy().Plan(members, topics)
	if err != nil {
		return nil, err
	}
	found := plan{}
	for _, each := range asked.Members {
		found[each.ID] = map[string][]int32{}
	}
	for id, topics := range given {
		found[id] = topics
	}
	return found, nil
}
