// Pocketbase is PocketBase as its authors give it away, one of the systems that nobody
// here wrote and that the tests put frontdesk in front of. It has a go.mod of its own, so
// that nothing of it is in the program.
package main

import (
	"log"

	"github.com/pocketbase/pocketbase"
)

func main() {
	if err := pocketbase.New().Start(); err != nil {
		log.Fatal(err)
	}
}
