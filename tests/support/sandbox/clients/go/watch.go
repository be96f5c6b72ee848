package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
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
	Sync       bool           `json:"sync"`
	Store      string         `json:"store"`
	Room       int            `json:"room"`
	name       string
	slowMs     atomic.Int64
	// A member processes one record after the other, whatever its library hands out at once.
	working sync.Mutex
}

// wish is what an application does with its consumer before it polls again.
type wish struct {
	What   string   `json:"what"`
	Topics []string `json:"topics"`
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
	w.working.Lock()
	defer w.working.Unlock()
	w.tell("read", [][]any{{topic, partition, begin, end}})
	takes := (end-begin)*w.RecordMs + w.slowMs.Swap(0)
	time.Sleep(time.Duration(takes) * time.Millisecond)
	w.keep(topic, partition, end)
}

func (w *watch) file(topic string, partition int32) string {
	return filepath.Join(w.Store, fmt.Sprintf("%s-%d", topic, partition))
}

// keep stores the next offset outside Kafka, where the group does so.
func (w *watch) keep(topic string, partition int32, offset int64) {
	if w.Store == "" {
		return
	}
	place := w.file(topic, partition)
	fresh := place + "." + strings.ReplaceAll(w.name, "/", "-")
	if err := os.WriteFile(fresh, []byte(strconv.FormatInt(offset, 10)), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(fresh, place); err != nil {
		panic(err)
	}
}

// stored is the next offset by what is kept outside Kafka, if anything is.
func (w *watch) stored(topic string, partition int32) (int64, bool) {
	if w == nil || w.Store == "" {
		return 0, false
	}
	text, err := os.ReadFile(w.file(topic, partition))
	if err != nil {
		return 0, false
	}
	offset, err := strconv.ParseInt(string(text), 10, 64)
	return offset, err == nil
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
