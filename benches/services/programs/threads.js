// A service in Node whose work is done by its pool of four threads, on as many cores as there are: some 3 ms of CPU time a request.
const http = require("http");
const crypto = require("crypto");
http.createServer((request, answer) => {
  crypto.pbkdf2("page", "salt", 5000, 32, "sha256", () => answer.end("ok"));
}).listen(Number(process.argv[2]), "127.0.0.1");
