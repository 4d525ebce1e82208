// Holds the network of a Pod: waits until it is told to end.
package main

import (
	"context"
	"os/signal"
	"syscall"
)

func main() {
	end, _ := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	<-end.Done()
}
