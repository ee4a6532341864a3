import argparse, http.server, random, threading, time

options = argparse.ArgumentParser()
options.add_argument("--port", type=int)
options.add_argument("--workers", type=int)
options = options.parse_args()
workers = threading.BoundedSemaphore(options.workers)


class Shop(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        with workers:  # a free worker …
            time.sleep(random.expovariate(1 / 0.020))  # … waits 20 ms on average for the warehouse
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256  # connections that come at once
    daemon_threads = True


Server(("127.0.0.1", options.port), Shop).serve_forever()
