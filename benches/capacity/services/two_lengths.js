// A service in Node: two requests at a time wait, 4 ms or, one in seven, 25 ms.
const http = require("http");
const waiting = [];
let free = 2;
const next = () => {
  while (free > 0 && waiting.length > 0) {
    free -= 1;
    const answer = waiting.shift();
    setTimeout(() => { answer.end("ok"); free += 1; next(); }, Math.random() < 1 / 7 ? 25 : 4);
  }
};
http.createServer((request, answer) => { waiting.push(answer); next(); }).listen(Number(process.argv[2]), "127.0.0.1");
