// Which runs a fitted model is of: its file has their loads, and not their names.
import {get, post} from "./api.js";

export const known = new Map(); // name of a run → its row, as far as it was asked for
export const seriesOf = name => (name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : ".");
const NEAR = 6, MOST_RUNS = 30;

export async function rowsOf(names) {
  const missing = names.filter(name => !known.has(name));
  const found = missing.length > 0 ? await post("api/rows", {names: missing.slice(0, 200)}) : {};
  for (const row of found.rows ?? []) known.set(row.name, row);
  return names.map(name => known.get(name));
}

// The fitted models of the folder, each with the series of its runs
export async function fitsOf(folder) {
  const found = folder.fitted.length > 0 ? await get("api/fits") : {}, made = [];
  for (const one of found.fits ?? []) {
    const {series, hits} = await seriesOfFit(one.name, one.loads, folder);
    if (hits > 0) made.push({name: one.name, series});
  }
  return made;
}

// The series that a fit is probably of: with most runs at the `loads` that it was fitted to, and nearest to its file; how many those are
export async function seriesOfFit(file, loads, folder) {
  const series = [...new Set(folder.runs.map(seriesOf))];
  const parts = name => name.split("/").filter(one => one && one !== "."), own = parts(seriesOf(file));
  const far = name => { const there = parts(name), alike = there.findIndex((one, k) => one !== own[k]); return there.length + own.length - 2 * (alike < 0 ? there.length : alike); };
  const near = series.toSorted((a, b) => far(a) - far(b)).slice(0, NEAR);
  const rows = await rowsOf(near.flatMap(name => folder.runs.filter(run => seriesOf(run) === name).slice(0, MOST_RUNS)).slice(0, 200));
  const hits = name => rows.filter(row => row && seriesOf(row.name) === name && loads.some(load => Math.abs(load - row.load) <= 1e-6 * load)).length;
  const best = near.toSorted((a, b) => hits(b) - hits(a))[0];
  return {series: best, hits: best === undefined ? 0 : hits(best)};
}
