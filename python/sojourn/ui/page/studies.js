// The studies of the folder.
import {el, show} from "./dom.js";

export function studiesPage(folder) {
  document.title = "Studies · sojourn";
  show(el("h1", {}, "Studies"), folder.studies.length === 0
    ? el("p", {}, "There is no study in this folder. ", el("code", {}, "sojourn study workers --quick"), " makes one.")
    : el("ul", {}, folder.studies.map(name => el("li", {}, name))));
}
