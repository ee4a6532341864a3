// A drawing that stays while its numbers change. Compiling and parsing a specification costs more than all else that a slider's move
// needs, so what changes between two moves becomes signals of one view: rows, ends of axes, places of names beside curves.
const OF_TEXT = ["dx", "dy", "align", "color"];
const ZOOM = [["zoomed_x"], ["zoomed_y", "zoomed_low"]]; // after the fields of the layer that can be zoomed

// A specification in two parts: `template`, which is compiled once, and what is put into it
export function parted(spec) {
  const signals = {};
  const signal = (name, value) => { signals[name] = value; return {expr: name}; };
  let count = 0;
  const next = value => signal(`changing_${count++}`, value);
  const channel = (made, name) => {
    const found = {...made};
    if (typeof made.datum === "number") found.datum = next(made.datum);
    if (name !== "opacity" && ["number", "string"].includes(typeof made.value)) found.value = next(made.value);
    if (Array.isArray(made.scale?.domain) && (name === "x" || name === "y")) found.scale = {...made.scale, domain: signal(`${name}_ends`, made.scale.domain)};
    return found;
  };
  const layer = made => {
    const found = {...made};
    if (made.layer) found.layer = made.layer.map(layer);
    if (made.mark?.type === "text") found.mark = {...made.mark, ...Object.fromEntries(OF_TEXT.filter(key => key in made.mark).map(key => [key, next(made.mark[key])]))};
    if (made.encoding) found.encoding = Object.fromEntries(Object.entries(made.encoding).map(([name, one]) => [name, one.condition ? one : channel(one, name)]));
    return found;
  };
  const {padding, usermeta: _, data, ...rest} = spec;
  const template = {...rest, layer: spec.layer.map(layer)};
  return {template, key: JSON.stringify(template), signals, padding, rows: data.values};
}

export class KeptView {
  static async made(embed, parts, holder, options) {
    const params = Object.entries(parts.signals).map(([name, value]) => ({name, value}));
    const spec = {...parts.template, params, padding: parts.padding, data: {name: "rows", values: parts.rows}};
    return Object.assign(new KeptView(), {holder, embedded: await embed(holder, spec, options)});
  }

  async update({signals, padding, rows}) {
    const {view} = this.embedded;
    for (const [name, value] of Object.entries(signals)) view.signal(name, value);
    await view.padding(padding).data("rows", rows).runAsync();
  }

  // What a reader has zoomed to, by axis
  zoom() {
    const found = this.embedded.view.getState({signals: name => ZOOM.flat().includes(name), data: () => false}).signals;
    return ZOOM.map(names => names.map(name => [name, found[name]]).find(([name]) => name in found));
  }

  async zoomedAs(other) {
    const own = this.zoom(), wanted = other.zoom();
    own.forEach((one, axis) => { if (one && wanted[axis]) this.embedded.view.signal(one[0], wanted[axis][1]); });
    await this.embedded.view.runAsync();
  }

  // The cell around a point has the mark of the point as its datum
  clicked(take) {
    this.embedded.view.addEventListener("click", (_, item) => {
      const datum = item?.datum?.datum ?? item?.datum;
      if (datum?.x != null) take(datum);
    });
  }

  end() { this.embedded.finalize(); }
}
