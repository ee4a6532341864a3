// Terms of a plan, explained where they stand: on hover, and in a list for whoever has no pointer.
import {el} from "./dom.js";

const WORDS = {
  draws: "sets of numbers of the model that agree with the measurements. A configuration that meets the objective in 90 % of them meets it with a probability of 90 %, as far as the model is right",
  regret: "what a choice costs more than the best one would, on average over the draws or at most. A missed objective counts as a cost, too",
  erlangs: "the mean number of servers that are busy: arrivals per second times seconds of service",
  binds: "the comparison of the objective that is nearest to its limit, and the station that is busiest there",
  "validated range": "the least to the most of each number that was measured. Beyond it nothing has checked the model",
};
const FOUND = new RegExp(`\\b(${Object.keys(WORDS).join("|")})\\b`);

// A line with its terms explained; `used` gets them
export function explained(line, used) {
  return line.split(FOUND).map(part => {
    if (!(part in WORDS)) return part;
    used.add(part);
    return el("abbr", {title: WORDS[part]}, part);
  });
}

export const listed = used => used.size > 0 && el("details", {class: "words-list"}, el("summary", {}, "What the words mean"),
  el("dl", {class: "facts"}, [...used].map(word => el("div", {}, el("dt", {}, word), el("dd", {}, WORDS[word])))));
