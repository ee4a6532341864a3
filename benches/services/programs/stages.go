// A service in Go in two stages: three at a time wait for something behind, exponentially, 8 ms on average; then one at a time hashes for
// some 1 ms.
package main

import (
	"crypto/sha256"
	"math/rand"
	"net/http"
	"os"
	"time"
)

func main() {
	pool, one := make(chan struct{}, 3), make(chan struct{}, 1)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		pool <- struct{}{}
		time.Sleep(time.Duration(rand.ExpFloat64() * 8e6))
		<-pool
		one <- struct{}{}
		sum := sha256.Sum256([]byte("page"))
		for i := 0; i < 9000; i++ {
			sum = sha256.Sum256(sum[:])
		}
		<-one
		w.Write(sum[:4])
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
