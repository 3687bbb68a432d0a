// Command garagecloud serves Garage Cloud, the JSON service that the remote driver is
// tested against, with its sample data and until it is interrupted. Nothing is
// kept afterwards.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"frontdesk/backend/remote/remotetest"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	orders := flag.Int("orders", 120, "orders of each large tenant; the rest to scale")
	ttl := flag.Duration("ttl", 5*time.Minute, "how long a log-on holds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	service := remotetest.NewJSON(remotetest.Options{Orders: *orders, TTL: *ttl})
	if err := remotetest.Serve(ctx, *listen, "/v3", service, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "garagecloud:", err)
		os.Exit(1)
	}
}
