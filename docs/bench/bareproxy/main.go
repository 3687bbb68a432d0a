// Command bareproxy is the yardstick for what frontdesk costs in front of a service: a fasthttp
// server and a fasthttp client with kept connections, and nothing else. It judges nothing and
// keeps no deadline, so it is no gateway that anybody could run.
package main

import (
	"flag"
	"log"

	"github.com/valyala/fasthttp"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "where requests are taken")
	upstream := flag.String("upstream", "127.0.0.1:8081", "where they are sent on to")
	flag.Parse()
	client := &fasthttp.HostClient{Addr: *upstream, MaxConns: 64, NoDefaultUserAgentHeader: true}
	server := &fasthttp.Server{NoDefaultServerHeader: true, Handler: func(c *fasthttp.RequestCtx) {
		c.Request.SetHost(*upstream)
		if err := client.Do(&c.Request, &c.Response); err != nil {
			c.Error(err.Error(), fasthttp.StatusBadGateway)
		}
	}}
	log.Fatal(server.ListenAndServe(*listen))
}
