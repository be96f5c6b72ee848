package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"sync"
)

// request is what a host is asked to do with one of its members, or with several.
type request struct {
	Number      int      `json:"number"`
	Op          string   `json:"op"`
	Name        string   `json:"name"`
	Names       []string `json:"names"`
	Servers     string   `json:"servers"`
	Group       string   `json:"group"`
	Client      string   `json:"client"`
	Instance    string   `json:"instance"`
	Rack        string   `json:"rack"`
	Strategy    string   `json:"strategy"`
	Protocol    string   `json:"protocol"`
	Version     string   `json:"version"`
	Topics      []string `json:"topics"`
	Pattern     string   `json:"pattern"`
	SessionMs   int      `json:"session_ms"`
	HeartbeatMs int      `json:"heartbeat_ms"`
	RefreshMs   int      `json:"refresh_ms"`
	Ms          int      `json:"ms"`
	Watch       *watch   `json:"watch"`
	Wish        wish     `json:"wish"`
	Assigned    []place  `json:"assigned"`
}

// place is a partition: a topic and a number.
type place struct {
	topic     string
	partition int32
}

func (p *place) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&p.topic, &p.partition})
}

// member is one consumer of a host.
type member interface {
	owned() map[string][]int32
	failure() error
	subscribe(topics []string) error
	watched() *watch
	grant(wish) error
	close() error
}

type opener func(request) (member, error)

// runHost serves requests, a line of JSON each, until standard input ends; answers carry the
// request's number: {"number", "ok"} or {"number", "error"}, with "owned" and "failed" where asked.
func runHost(open opener) {
	members := map[string]member{}
	var lock sync.Mutex
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		go func() {
			answer := map[string]any{"number": asked.Number, "ok": true}
			if err := act(asked, open, members, &lock, answer); err != nil {
				answer["error"] = err.Error()
			}
			line, _ := json.Marshal(answer)
			output.Lock()
			defer output.Unlock()
			fmt.Println(string(line))
		}()
	}
}

func act(asked request, open opener, members map[string]member, lock *sync.Mutex, answer map[string]any) error {
	lock.Lock()
	known := members[asked.Name]
	lock.Unlock()
	switch asked.Op {
	case "open":
		if asked.Watch != nil {
			asked.Watch.name = asked.Name
		}
		opened, err := open(asked)
		if err != nil {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		members[asked.Name] = opened
	case "close":
		lock.Lock()
		delete(members, asked.Name)
		lock.Unlock()
		return known.close()
	case "subscribe":
		return known.subscribe(asked.Topics)
	case "wish":
		return known.grant(asked.Wish)
	case "slow":
		known.watched().slowMs.Store(int64(asked.Ms))
	case "owned":
		owned, failed := map[string][][2]any{}, map[string]string{}
		lock.Lock()
		defer lock.Unlock()
		for _, name := range asked.Names {
			owned[name] = pairs(members[name].owned())
			if err := members[name].failure(); err != nil {
				failed[name] = err.Error()
			}
		}
		answer["owned"], answer["failed"] = owned, failed
	default:
		return fmt.Errorf("unknown op %q", asked.Op)
	}
	return nil
}

func pairs(topics map[string][]int32) [][2]any {
	found := [][2]any{}
	for topic, partitions := range topics {
		for _, partition := range partitions {
			found = append(found, [2]any{topic, partition})
		}
	}
	sort.Slice(found, func(i, j int) bool { return fmt.Sprint(found[i]) < fmt.Sprint(found[j]) })
	return found
}
