// A service in Go that makes garbage: each request fills a map of some thousand texts; on all cores, as many at a time as come.
package main

import (
	"net/http"
	"os"
	"strconv"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		found := map[string][]byte{}
		for i := 0; i < 4000; i++ {
			found[strconv.Itoa(i*7919)] = make([]byte, 64)
		}
		w.Write([]byte(strconv.Itoa(len(found))))
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
