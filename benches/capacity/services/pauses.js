// A service in Node: one event loop, some 1 ms of CPU time a request, and a pause of 40 ms after every 200 requests.
const http = require("http");
const crypto = require("crypto");
let served = 0;
const busy = (ms) => { const end = process.hrtime.bigint() + BigInt(ms * 1e6); while (process.hrtime.bigint() < end); };
http.createServer((request, answer) => {
  crypto.pbkdf2Sync("page", "salt", 1500, 32, "sha256");
  if (++served % 200 === 0) busy(40);
  answer.end("ok");
}).listen(Number(process.argv[2]), "127.0.0.1");
