// The numbers of the sliders in the part of the URL behind #, so that a link and the way back keep them.
const AXIS = "x";
const last = new Map(); // name of a model → what its address had when it was left

// A hash as the page, its names and its numbers: path → value
export function parts(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [page, ...names] = path.split("/"), given = new URLSearchParams(query);
  const settings = Object.fromEntries([...given].filter(([key, value]) => key !== AXIS && value !== "" && Number.isFinite(Number(value))).map(([key, value]) => [key, Number(value)]));
  return {page, names, settings, x: given.get(AXIS)};
}

// Of a model: from its address, else as it was left before
export function begun(name) {
  const {settings, x} = parts(location.hash);
  return Object.keys(settings).length || x ? {settings, x} : last.get(name) ?? {settings: {}, x: null};
}

export function keep(name, settings, x) {
  const query = new URLSearchParams(Object.entries(settings).map(([path, value]) => [path, String(Number(value.toPrecision(6)))]));
  if (x) query.set(AXIS, x);
  last.set(name, {settings: {...settings}, x});
  const hash = location.hash.split("?")[0] + (query.size ? `?${query}` : "");
  if (hash !== location.hash) history.replaceState(null, "", hash);
}
