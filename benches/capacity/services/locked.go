// A service in Go: 5 ms that any number of requests wait at once, then 3 ms under a lock.
package main

import (
	"net/http"
	"os"
	"sync"
	"time"
)

func main() {
	var lock sync.Mutex
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(5 * time.Millisecond)
		lock.Lock()
		time.Sleep(3 * time.Millisecond)
		lock.Unlock()
		w.Write([]byte("ok"))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
