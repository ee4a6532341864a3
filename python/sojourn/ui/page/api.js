// Questions to the workbench. What it refuses is an `error` with value, place and remedy, as the command line says it.
async function answered(response) {
  let found = null;
  try { found = await response.json(); } catch { /* no JSON: below */ }
  if (found == null) return {error: {value: `the workbench answered ${response.status}`, remedy: "look at the terminal where it runs"}};
  if (response.status === 403) found.error.remedy = "open the URL that sojourn ui printed";
  return found;
}

async function asked(path, options) {
  try {
    return await answered(await fetch(path, {credentials: "same-origin", ...options}));
  } catch (failed) {
    if (failed.name === "AbortError") throw failed;
    return {error: {value: "the workbench does not answer", remedy: "start sojourn ui again, and open the URL that it prints", lost: true}};
  }
}

export const get = path => asked(path, {});
export const post = (path, question, signal) =>
  asked(path, {method: "POST", headers: {"content-type": "application/json"}, body: JSON.stringify(question), signal});

// One question at a time, the newest next: a slider moves faster than anything is drawn.
export class Newest {
  constructor(ask, take) { this.ask = ask; this.take = take; this.waiting = null; this.busy = false; }
  put(question) { this.waiting = question; if (!this.busy) this.run(); }
  async run() {
    this.busy = true;
    while (this.waiting !== null) {
      const question = this.waiting;
      this.waiting = null;
      try { await this.take(await this.ask(question), question, this.waiting !== null); }
      catch (failed) { console.error(failed); }
    }
    this.busy = false;
  }
}
