package main

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"
)

// watch tells of what a member gets, gives up and reads as it happens, and takes the time for it.
// Its settings go by the names of Java's properties; what is not among them is the library's default.
type watch struct {
	Settings   map[string]any `json:"settings"`
	RecordMs   int64          `json:"record_ms"`
	ListenerMs int64          `json:"listener_ms"`
	Commits    bool           `json:"commits"`
	name       string
	slowMs     atomic.Int64
}

// duration sets a field from a property in ms, where it is given.
func (w *watch) duration(property string, field *time.Duration) {
	if ms, given := w.Settings[property].(float64); given {
		*field = time.Duration(ms) * time.Millisecond
	}
}

func (w *watch) tell(event string, rows [][]any) {
	if w == nil {
		return
	}
	told := map[string]any{"event": event, "name": w.name, "at": time.Now().UnixMilli(), "partitions": rows}
	line, _ := json.Marshal(told)
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(line))
}

// got and gave tell of partitions, and take the listener's time where there are some.
func (w *watch) got(topics map[string][]int32) {
	w.tell("got", rowsOf(topics))
	w.listen(topics)
}

func (w *watch) gave(topics map[string][]int32) {
	w.listen(topics)
	w.tell("gave", rowsOf(topics))
}

func (w *watch) listen(topics map[string][]int32) {
	if w != nil && len(topics) > 0 {
		time.Sleep(time.Duration(w.ListenerMs) * time.Millisecond)
	}
}

// read tells of records of one partition, and processes them.
func (w *watch) read(topic string, partition int32, begin, end int64) {
	w.tell("read", [][]any{{topic, partition, begin, end}})
	takes := (end-begin)*w.RecordMs + w.slowMs.Swap(0)
	time.Sleep(time.Duration(takes) * time.Millisecond)
}

func rowsOf(topics map[string][]int32) [][]any {
	rows := [][]any{}
	for topic, partitions := range topics {
		for _, partition := range partitions {
			rows = append(rows, []any{topic, partition})
		}
	}
	return rows
}
