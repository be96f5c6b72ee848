// Runs franz-go's fake cluster for the benchmark: one broker, the topic "t" with four partitions.
// Prints the address and stays until its standard input ends.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/twmb/franz-go/pkg/kfake"
)

func main() {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, "t"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer cluster.Close()
	fmt.Println(cluster.ListenAddrs()[0])
	bufio.NewReader(os.Stdin).ReadString('\n')
}
