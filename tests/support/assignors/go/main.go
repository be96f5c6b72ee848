// What the strategies of franz-go and sarama answer to groups that are described on standard input.
//
// A line of JSON a group: {"client", "strategy", "times", "topics": {name: partitions}, "members":
// [{"id", "instance", "metadata": base64 of the subscription}], "leader": id, "racks": {name: [rack of each
// partition's leader]} where the application says BalanceRacks}. A line of JSON an
// answer: {"outcomes": [{"times", "members": {id: {topic: [partition]}}}]} or {"error"}. The strategy is
// asked so many times, because the order of Go's maps may decide. With "joining": {"topics", "held",
// "generation"} the answer is {"sent"}, what a member sends next, in base64. The members of franz-go are
// sorted as its leader sorts them; that function is not exported, so its order is written out here.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

type member struct {
	ID       string  `json:"id"`
	Instance *string `json:"instance"`
	Metadata []byte  `json:"metadata"`
}

type group struct {
	Client   string              `json:"client"`
	Strategy string              `json:"strategy"`
	Times    int                 `json:"times"`
	Topics   map[string]int32    `json:"topics"`
	Racks    map[string][]string `json:"racks"`
	Members  []member            `json:"members"`
	Leader   string              `json:"leader"`
	Joining  *joining            `json:"joining"`
}

type joining struct {
	Topics     []string           `json:"topics"`
	Held       map[string][]int32 `json:"held"`
	Generation int32              `json:"generation"`
}

type plan map[string]map[string][]int32

type outcome struct {
	Times   int  `json:"times"`
	Members plan `json:"members"`
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	answers := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked group
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		answer := map[string]any{}
		if asked.Joining != nil {
			answer["sent"], err = sent(asked)
			if err != nil {
				panic(err)
			}
		} else if found, err := outcomes(asked); err != nil {
			answer["error"] = err.Error()
		} else {
			answer["outcomes"] = found
		}
		if err := answers.Encode(answer); err != nil {
			panic(err)
		}
	}
}

func outcomes(asked group) ([]*outcome, error) {
	decide := decideFranz
	if asked.Client == "sarama" {
		decide = decideSarama
	}
	known := map[string]*outcome{}
	found := []*outcome{}
	for range max(1, asked.Times) {
		decided, err := decide(asked)
		if err != nil {
			return nil, err
		}
		for _, topics := range decided {
			for _, partitions := range topics {
				if asked.Times < 2 {
					continue // asked once, the order of lists is told too
				}
				sort.Slice(partitions, func(i, j int) bool { return partitions[i] < partitions[j] })
			}
		}
		text, err := json.Marshal(decided)
		if err != nil {
			return nil, err
		}
		if known[string(text)] == nil {
			known[string(text)] = &outcome{Members: decided}
			found = append(found, known[string(text)])
		}
		known[string(text)].Times++
	}
	return found, nil
}

// What a member sends that was given these partitions: the subscription of a franz-go member, the
// user data of a sarama member.
func sent(asked group) ([]byte, error) {
	now := asked.Joining
	if asked.Client == "franz-go" {
		held := now.Held
		if !franz[asked.Strategy]().IsCooperative() {
			held = nil // given up before it joins
		}
		return franz[asked.Strategy]().JoinGroupMetadata(now.Topics, held, now.Generation), nil
	}
	if asked.Strategy == "sticky" {
		return sarama.NewBalanceStrategySticky().AssignmentData("", now.Held, now.Generation)
	}
	strategy := sarama.NewBalanceStrategyCooperativeSticky()
	given := &sarama.ConsumerGroupMemberAssignment{Topics: now.Held}
	strategy.(sarama.OnAssignmentBalanceStrategy).OnAssignment(given, now.Generation)
	return strategy.(sarama.SubscriptionUserDataBalanceStrategy).SubscriptionUserData(now.Topics)
}

var franz = map[string]func() kgo.GroupBalancer{
	"range":              kgo.RangeBalancer,
	"roundrobin":         kgo.RoundRobinBalancer,
	"sticky":             kgo.StickyBalancer,
	"cooperative-sticky": kgo.CooperativeStickyBalancer,
}

func decideFranz(asked group) (plan, error) {
	strategy := franz[asked.Strategy]()
	members := make([]kmsg.JoinGroupResponseMember, 0, len(asked.Members))
	for _, each := range asked.Members {
		joined := kmsg.NewJoinGroupResponseMember()
		joined.MemberID, joined.InstanceID = each.ID, each.Instance
		joined.ProtocolMetadata = append([]byte(nil), each.Metadata...)
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
	balancer, topics, err := strategy.MemberBalancer(members)
	if err != nil {
		return nil, err
	}
	// As in balanceGroup: the leader's own topics first, then those that it has to ask for.
	own := map[string]bool{}
	for _, each := range asked.Members {
		var metadata kmsg.ConsumerMemberMetadata
		if err := metadata.ReadFrom(each.Metadata); err != nil {
			return nil, err
		}
		for _, topic := range metadata.Topics {
			own[topic] = own[topic] || each.ID == asked.Leader
		}
	}
	counts := make(map[string]int32, len(topics))
	for _, mine := range []bool{true, false} {
		for topic := range topics {
			if count, exists := asked.Topics[topic]; exists && own[topic] == mine {
				counts[topic] = count
			}
		}
	}
	if asked.Racks != nil {
		balanceRacks(balancer.(*kgo.ConsumerBalancer), counts, asked.Racks)
	}
	found := plan{}
	for _, each := range asked.Members {
		found[each.ID] = map[string][]int32{}
	}
	decided, err := balancer.(kgo.GroupMemberBalancerOrError).BalanceOrError(counts)
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

// As with BalanceRacks in balanceGroup, which tells a balancer of racks in fields that nobody else can set.
func balanceRacks(balancer *kgo.ConsumerBalancer, counts map[string]int32, led map[string][]string) {
	racks := make(map[string][]string, len(counts))
	for topic := range counts {
		racks[topic] = led[topic]
	}
	fields := reflect.ValueOf(balancer).Elem()
	*(*map[string][]string)(fields.FieldByName("partitionRacks").Addr().UnsafePointer()) = racks
	*(*bool)(fields.FieldByName("balanceRacks").Addr().UnsafePointer()) = true
}

func decideSarama(asked group) (plan, error) {
	strategy := map[string]func() sarama.BalanceStrategy{
		"range":              sarama.NewBalanceStrategyRange,
		"roundrobin":         sarama.NewBalanceStrategyRoundRobin,
		"sticky":             sarama.NewBalanceStrategySticky,
		"cooperative-sticky": sarama.NewBalanceStrategyCooperativeSticky,
	}[asked.Strategy]
	if strategy == nil {
		return nil, fmt.Errorf("sarama has no %s", asked.Strategy)
	}
	joined := sarama.JoinGroupResponse{}
	for _, each := range asked.Members {
		joined.Members = append(joined.Members, sarama.GroupMember{
			MemberId: each.ID, GroupInstanceId: each.Instance, Metadata: each.Metadata,
		})
	}
	members, err := joined.GetMembers()
	if err != nil {
		return nil, err
	}
	topics := map[string][]int32{}
	for _, each := range members {
		for _, topic := range each.Topics {
			count, exists := asked.Topics[topic]
			if _, known := topics[topic]; known || !exists {
				continue
			}
			topics[topic] = nil
			for number := int32(0); number < count; number++ {
				topics[topic] = append(topics[topic], number)
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
