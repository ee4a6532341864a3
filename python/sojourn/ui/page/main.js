// Which page is shown: what stands behind # in the URL.
import {get} from "./api.js";
import {el, errorPage, link, say, show} from "./dom.js";
import {parts} from "./address.js";
import {comparePage} from "./compare.js";
import {modelPage, modelsPage} from "./model.js";
import {runPage, runsPage} from "./runs.js";
import {studiesPage, studyPage} from "./studies.js";

// the token is a cookie now, which no page can read: it need not stay in the history
if (location.search) history.replaceState(null, "", location.pathname + location.hash);

const PAGES = {"": runsPage, run: runPage, compare: comparePage, models: modelsPage, model: modelPage, studies: studiesPage, study: studyPage};
let shown = 0, leave = null, folder = null;

async function route() {
  const own = ++shown;
  leave?.();
  leave = null;
  const {page, names} = parts(location.hash);
  for (const one of document.querySelectorAll("header nav a")) {
    const here = one.getAttribute("href") === `#/${{run: "", compare: "", model: "models", study: "studies"}[page] ?? page}`;
    here ? one.setAttribute("aria-current", "page") : one.removeAttribute("aria-current");
  }
  if (folder === null || page === "") folder = await get("api/folder");
  if (own !== shown) return;
  if (folder.error) { show(errorPage("No answer", folder.error)); folder = null; return; }
  document.getElementById("folder").textContent = folder.folder;
  const left = await (PAGES[page] ?? nothing)(folder, decoded(names), () => own === shown);
  if (own === shown) leave = left ?? null; else left?.();
  say(`${document.title} is shown`);
}

function decoded(names) {
  try { return names.map(decodeURIComponent); } catch { return names; } // no name that this page wrote
}

function nothing() { show(el("h1", {}, "No such page"), el("p", {}, link("#/", "Runs of this folder"))); }

const theme = document.getElementById("theme"), dark = matchMedia("(prefers-color-scheme: dark)");
function named() {
  const now = document.documentElement.dataset.theme ?? (dark.matches ? "dark" : "light");
  theme.textContent = now === "dark" ? "Light" : "Dark";
  return now;
}
theme.addEventListener("click", () => { document.documentElement.dataset.theme = named() === "dark" ? "light" : "dark"; named(); });
dark.addEventListener("change", named);
named();
addEventListener("hashchange", () => { route(); document.getElementById("main").focus({preventScroll: true}); scrollTo(0, 0); });
route();
