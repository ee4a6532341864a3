// A service in Go: each request appends 4 KiB to a file and waits until the disk has it, one after the other.
package main

import (
	"net/http"
	"os"
	"sync"
)

func main() {
	var lock sync.Mutex
	file, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	page := make([]byte, 4096)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		lock.Lock()
		defer lock.Unlock()
		if _, err := file.Write(page); err != nil || file.Sync() != nil {
			w.WriteHeader(500)
			return
		}
		w.Write([]byte("ok"))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
