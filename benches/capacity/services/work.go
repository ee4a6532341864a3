// A service in Go: `workers` goroutines at a time hash, each request some 2 ms of CPU time.
package main

import (
	"crypto/sha256"
	"net/http"
	"os"
	"strconv"
)

func main() {
	workers, _ := strconv.Atoi(os.Args[2])
	free := make(chan struct{}, workers)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		free <- struct{}{}
		sum := sha256.Sum256([]byte("page"))
		for i := 0; i < 12000; i++ {
			sum = sha256.Sum256(sum[:])
		}
		<-free
		w.Write(sum[:4])
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
