// Many members of consumer groups, in the Go client that the only argument names.
//
// Usage: clients franz-go|sarama; lines of JSON open, ask and close them (host.go).
package main

import (
	"fmt"
	"os"
	"sync"
)

var output sync.Mutex

func main() {
	openers := map[string]opener{"franz-go": openFranz, "sarama": openSarama}
	if len(os.Args) != 2 || openers[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: clients franz-go|sarama")
		os.Exit(2)
	}
	runHost(openers[os.Args[1]])
}
