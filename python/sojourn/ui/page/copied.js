// What a page shows, as a command line and as lines of Python that give the same.
import {quoted} from "./compare.js";

const number = value => String(Number(Number(value).toPrecision(6)));

function axisOf(page) {
  const axis = page.model.numbers.find(one => one.path === page.x);
  const now = page.settings[page.x] ?? axis.value;
  const step = Math.max(axis.whole ? 1 : now / 10, 1e-9);
  return {axis, now, low: axis.whole ? 1 : number(now / 10), high: number(axis.whole ? Math.max(2 * now, now + 4) : 2 * now), step: number(axis.whole ? Math.max(1, Math.round(now / 10)) : step)};
}

// What `predict` calls a number: the load of a single class is the factor that the runs had
export function factorOf(page, path) {
  const [part, , field] = path.split(".");
  const classes = new Set(page.model.numbers.filter(one => one.path.startsWith("classes.")).map(one => one.path.split(".")[1]));
  const load = page.model.fitted && part === "classes" && classes.size === 1 ? {rate_per_s: "rate_per_s", population: "users"}[field] : null;
  return load ?? path;
}

const others = page => Object.entries(page.settings).filter(([path]) => path !== page.x).map(([path, value]) => [factorOf(page, path), value]);
const name = page => quoted(page.name);

export function commandOf(page) {
  const {axis, now, low, high, step} = axisOf(page);
  const fitted = page.model.fitted;
  const values = axis.load ? number(now) : `${low}..${high}:${step}`; // of a load that of the slider
  const load = fitted && axis.load ? `--rate ${values}` : `--vary ${quoted(page.x)}=${values}`;
  const users = fitted && axis.path.endsWith(".population") ? `--vary users=${values}` : load;
  if (fitted) {
    const set = others(page).map(([path, value]) => `${path}=${number(value)}`).join(",");
    return `sojourn predict ${name(page)}${set ? ` --set ${quoted(set)}` : ""} ${users}`;
  }
  return ["sojourn solve", name(page), ...others(page).map(([path, value]) => `--vary ${quoted(`${path}=${number(value)}`)}`), load].join(" ");
}

// A file that holds its numbers
export const solveOf = file => `sojourn solve ${quoted(file)}`;

export function pythonOf(page) {
  const {now, low, high, step, axis} = axisOf(page);
  const values = axis.load ? `[${number(now)}]` : axis.whole ? `range(${low}, ${Number(high) + 1}, ${step})` : `[${low} + ${step} * k for k in range(20)]`;
  const file = JSON.stringify(page.name);
  const set = others(page).map(([path, value]) => `    ${JSON.stringify(path)}: [${number(value)}],`);
  if (page.model.fitted) {
    const key = axis.path.endsWith(".population") ? "users" : axis.load ? "rate_per_s" : axis.path;
    return ["import sojourn as sj", "", `fitted = sj.FittedModel.read(${file})`, "told = fitted.predict({", ...set, `    ${JSON.stringify(key)}: ${values},`, "})", "print(told)"].join("\n");
  }
  return ["import sojourn as sj", "", `told = sj.sweep(${file}, {`, ...set, `    ${JSON.stringify(axis.path)}: ${values},`, "})", "print(told)"].join("\n");
}
