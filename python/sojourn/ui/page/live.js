// A run that is being recorded.
import {el} from "./dom.js";

export function liveView(main, name) {
  main.lastChild.remove();
  main.append(el("h1", {}, name), el("p", {}, "This run is being recorded; reload the page when it has ended."));
}
