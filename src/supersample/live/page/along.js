// Evidence, rows and late rows along time, with the alarms, and one block that is looked at.
import { axisOf, bars, chart, draw, inView, level, line, marks } from "./charts.js";
import { el, heading } from "./dom.js";
import { amount, count, percent, place, span, when } from "./words.js";
import { ask, streamPath } from "./service.js";

const SHOWN = [200, 1000, 5000];
const AT_FIRST = 1000;
// The evidence axis reaches beyond the alarm threshold by so much, at least and at most; what is higher is cut.
const LEAST = 1.25;
const MOST = 2;

// The latest blocks of a stream; `grow` asks for those that are new.
export class Ticks {
  constructor(name) {
    this.name = name;
    this.most = AT_FIRST;
    this.clear();
  }

  clear() {
    Object.assign(this, { every: 0, start: [], rows: [], evidence: [], volume_evidence: [], late_rows: [], at: [], counted: false });
  }

  get path() {
    return streamPath(this.name, `/ticks?limit=${this.most}`);
  }

  async grow() {
    const known = this.start.length ? `&start=${encodeURIComponent(this.start[this.start.length - 1])}` : "";
    const found = await ask(this.path + known);
    this.every = found.every;
    if (known && found.start[0] !== this.start[this.start.length - 1]) {
      this.clear(); // there were more new ones than are shown
      return this.grow();
    }
    for (const name of ["start", "rows", "evidence", "volume_evidence", "late_rows"]) {
      this[name] = this[name].concat(found[name].slice(known ? 1 : 0)).slice(-this.most);
    }
    this.at = this.start.map(place);
    this.counted = typeof this.start[0] === "number";
    return this;
  }

  // Rows that came late since the block before was closed; the service counts all of them.
  get late() {
    return this.late_rows.map((all, each) => (each ? all - this.late_rows[each - 1] : 0));
  }
}

function lane(title, svg, low = "0") {
  const high = el("span", { class: "high" });
  const cursor = el("span", { class: "cursor" });
  const plot = el("div", { class: "plot" }, high, el("span", { class: "low" }, low), svg, cursor);
  return { figure: el("figure", { class: "lane" }, el("figcaption", {}, title), plot), plot, high, cursor, svg };
}

const legend = () => el("ul", { class: "legend" }, [
  ["rule first", "evidence of other content"], ["dashed second", "of another number of rows"],
  ["dashed limit", "the alarm threshold"], ["strip", "a change, and where it may lie"],
].map(([kind, text]) => el("li", {}, el("span", { class: `mark ${kind}` }), text)));

// The section; `show(ticks, alarms)` draws what is known now.
export function along(name, choose) {
  const evidence = lane("Evidence of a change; 1 is the alarm threshold", chart("Evidence of a change along time"));
  const rows = lane("Rows", chart("Rows of each block"));
  const late = lane("Late rows, by the time when they came", chart("Late rows"));
  const lanes = [evidence, rows, late];
  const limit = el("span", { class: "at" }, "line");
  evidence.plot.prepend(limit);
  const flags = el("div", { class: "flags" });
  const axis = el("div", { class: "axis", "aria-hidden": true });
  const slider = el("input", { type: "range", id: "block", min: 0, max: 0, value: 0 });
  const read = el("output", { for: "block", id: "block-says" });
  const most = el("select", { id: "most" }, SHOWN.map((each) => el("option", { value: each, selected: each === AT_FIRST }, `the latest ${each.toLocaleString("en-US")}`)));
  const link = heading("Along time", streamPath(name, `/ticks?limit=${AT_FIRST}`));
  const section = el("section", { id: "along" }, link,
    el("div", { class: "tools" }, el("label", {}, "Blocks: ", most)), legend(),
    el("div", { class: "lanes" }, flags, lanes.map((each) => each.figure), axis),
    el("div", { class: "look" }, el("label", { for: "block" }, "Look at a block"), slider, read));
  let held = null;
  let follows = true;
  most.addEventListener("change", () => choose(Number(most.value)));
  slider.addEventListener("input", () => {
    follows = slider.value === slider.max;
    look();
  });

  function look() {
    const each = Number(slider.value);
    if (!held || !held.start.length) return;
    const told = [
      `${when(held.start[each])}: evidence ${percent(held.evidence[each])} of the alarm threshold`,
      `${percent(held.volume_evidence[each])} for the number of rows`, count(held.rows[each], "row"),
      `${held.late[each].toLocaleString("en-US")} late`,
    ];
    read.textContent = told.join(", ");
    slider.setAttribute("aria-valuetext", read.textContent);
    const scale = axisOf(held);
    for (const { cursor } of lanes) cursor.style.left = `${100 * scale.of(held.at[each] + held.every / 2)}%`;
  }

  function show(ticks, alarms) {
    held = ticks;
    section.hidden = ticks.start.length === 0;
    if (section.hidden) return;
    link.querySelector("a").href = ticks.path;
    const scale = axisOf(ticks);
    const lates = ticks.late;
    const top = Math.min(Math.max(LEAST, 1.1 * Math.max(...ticks.evidence, ...ticks.volume_evidence)), MOST);
    draw(evidence.svg, marks(alarms, scale), line("second", ticks, ticks.volume_evidence, scale, top),
      line("first", ticks, ticks.evidence, scale, top), level("limit", 1, top));
    evidence.svg.setAttribute("aria-label", `Evidence of a change along time: ${percent(ticks.evidence[ticks.evidence.length - 1])} of the alarm threshold now`);
    evidence.high.textContent = amount(top);
    limit.style.top = `${100 * (1 - 1 / top)}%`;
    const mostRows = Math.max(...ticks.rows, 1);
    draw(rows.svg, bars("all", ticks, ticks.rows, scale, mostRows), marks(alarms, scale));
    rows.svg.setAttribute("aria-label", `Rows of each block: at most ${count(mostRows, "row")}`);
    rows.high.textContent = amount(mostRows);
    rows.figure.querySelector("figcaption").textContent = ticks.counted ? "Rows of a block" : `Rows in ${span(ticks.every)}`;
    const mostLate = Math.max(...lates, 0);
    late.figure.hidden = mostLate === 0;
    draw(late.svg, bars("late", ticks, lates, scale, Math.max(mostLate, 1)));
    late.svg.setAttribute("aria-label", `Late rows: at most ${mostLate.toLocaleString("en-US")} between two blocks`);
    late.high.textContent = amount(mostLate);
    showFlags(alarms, scale);
    showAxis(ticks);
    slider.max = ticks.start.length - 1;
    if (follows || Number(slider.value) > Number(slider.max)) slider.value = slider.max;
    look();
  }

  function showFlags(alarms, scale) {
    flags.replaceChildren(...alarms.filter((each) => inView(each, scale)).map((each) => {
      const flag = el("a", {
        class: "flag", href: `#/${name}/alarm-${each.number}`, title: each.what, "aria-label": `Alarm ${each.number}: ${each.what}`,
      }, each.number);
      flag.style.left = `${100 * scale.of(place(each.change))}%`;
      return flag;
    }));
  }

  function showAxis(ticks) {
    const last = ticks.start.length - 1;
    const scale = axisOf(ticks);
    const shown = [...new Set([0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * last)))];
    axis.replaceChildren(...shown.map((each) => {
      const at = each === last && last > 0 ? 1 : scale.of(ticks.at[each]);
      const label = el("span", { class: at < 0.02 ? "start" : at > 0.98 ? "end" : "inner" }, when(ticks.start[each]));
      label.style.left = `${100 * at}%`;
      return label;
    }));
  }

  return { section, show };
}
