// One member of a consumer group, in the Go client that the first argument names.
//
// Usage: clients franz-go|sarama BOOTSTRAP TOPIC GROUP
//
//	clients franz-go|sarama: many members, which lines of JSON open, ask and close
//
// Prints a line of JSON for every assignment ({"assigned": [0, 1]}) and every record
// ({"value": "v1"}). Commits what it printed and leaves when its standard input ends.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
)

var output sync.Mutex

func emit(key string, value any) {
	line, err := json.Marshal(map[string]any{key: value})
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(line))
}

func main() {
	if len(os.Args) == 2 {
		runHost(map[string]opener{"franz-go": openFranz, "sarama": openSarama}[os.Args[1]])
		return
	}
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: clients franz-go|sarama [BOOTSTRAP TOPIC GROUP]")
		os.Exit(2)
	}
	brokers, topic, group := strings.Split(os.Args[2], ","), os.Args[3], os.Args[4]
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		bufio.NewReader(os.Stdin).ReadString('\n')
		stop()
	}()
	run := map[string]func(context.Context, []string, string, string) error{
		"franz-go": runFranz,
		"sarama":   runSarama,
	}[os.Args[1]]
	if err := run(ctx, brokers, topic, group); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
