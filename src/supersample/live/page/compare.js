// Two ranges are chosen by mouse, touch or keyboard, and compared by the service.
import { axisOf, bars, chart, draw, marks } from "./charts.js";
import { el, heading, say } from "./dom.js";
import { ask, streamPath } from "./service.js";
import { columnsTable, probability, side } from "./tables.js";
import { amount, place, timeOf, when } from "./words.js";

const NAMES = ["first_start", "first_end", "second_start", "second_end"];
const LEVEL = 0.05;

// The section; `show(ticks, alarms)` follows the stream, `choose(given)` takes the ranges of a permalink and compares them.
export function compareOf(name) {
  const svg = chart("Rows of each block, over which ranges are chosen");
  const boxes = [0, 1].map((each) => el("span", { class: "chosen", id: `box-${each}` }));
  const track = el("div", { id: "track" }, svg, boxes);
  const sliders = [0, 1].map((each) => ["from", "to"].map((end) => el("input", { type: "range", id: `${end}-${each}`, min: 0, max: 1, value: 0 })));
  const outputs = sliders.map((pair) => pair.map((each) => el("output", { for: each.id })));
  const presets = el("div", { class: "presets", role: "group", "aria-label": "Ranges that are worth a look" });
  const button = el("button", { type: "button", id: "compare", onclick: () => compare() }, "Compare");
  const link = el("a", { class: "small-note", hidden: true }, "Permalink");
  const verdict = el("p", { class: "result", id: "verdict", role: "status" });
  const result = el("div", { id: "result" });
  const choosers = ["First range", "Second range"].map((title, each) => el("fieldset", { class: `range range-${each}` },
    el("legend", {}, el("span", { class: "mark square" }), title),
    sliders[each].map((slider, end) => el("label", {}, el("span", {}, end ? "to" : "from"), slider, outputs[each][end]))));
  const section = el("section", { id: "ranges" }, heading("Compare two ranges"),
    el("p", {}, "Drag over the chart to choose a range, or move an end of it; the sliders do the same. Then press Compare."),
    presets, el("div", { class: "lanes" }, el("div", { class: "plot track" }, track)), el("div", { class: "choosers" }, choosers),
    el("p", { class: "go" }, button, " ", link), verdict, result);
  let ticks = null;
  let ranges = null; // as times, so that they stay where they are while the stream goes on
  let asked = 0;

  const bounds = () => [...ticks.at, ticks.at[ticks.at.length - 1] + ticks.every];
  const nearest = (time) => bounds().reduce((best, each, index, all) => (Math.abs(each - time) < Math.abs(all[best] - time) ? index : best), 0);
  const said = (time) => when(timeOf(time, ticks.counted));

  function show(given, alarms) {
    ticks = given;
    section.hidden = ticks.start.length < 2;
    if (section.hidden) return;
    const axis = axisOf(ticks);
    draw(svg, bars("all", ticks, ticks.rows, axis, Math.max(...ticks.rows, 1)), marks(alarms, axis));
    offer(alarms);
    if (!ranges) [, ranges] = suggestions(alarms)[0];
    paint();
  }

  // What is worth a look, the first one first: [words, ranges].
  function suggestions(alarms) {
    const all = bounds();
    const [low, middle, late, high] = [0, 0.5, 0.75, 1].map((share) => all[Math.round(share * (all.length - 1))]);
    const halves = [["First and second half", [[low, middle], [middle, high]]], ["The latest quarter, and before", [[low, late], [late, high]]]];
    const seen = alarms.filter((each) => place(each.change) > low && place(each.change) < high).slice(-3).reverse();
    return [...seen.map((each) => {
      const before = alarms.filter((other) => place(other.change) < place(each.change)).map((other) => place(other.change));
      const after = alarms.filter((other) => place(other.change) > place(each.change)).map((other) => place(other.change));
      const change = place(each.change);
      return [`Before and after alarm ${each.number}`, [[Math.max(low, ...before), change], [change, Math.min(high, ...after)]]];
    }), ...halves];
  }

  function offer(alarms) {
    const found = suggestions(alarms);
    if (presets.children.length === found.length) {
      found.forEach(([words], index) => say(presets.children[index], words));
      return;
    }
    presets.replaceChildren(...found.map(([words], index) => el("button", {
      type: "button",
      onclick: () => {
        [, ranges] = suggestions(alarms)[index];
        paint();
        compare();
      },
    }, words)));
  }

  function paint() {
    const axis = axisOf(ticks);
    ranges.forEach((range, each) => {
      range.forEach((time, end) => {
        const slider = sliders[each][end];
        slider.min = end;
        slider.max = ticks.start.length - 1 + end;
        slider.value = nearest(time);
        slider.setAttribute("aria-valuetext", said(time));
        outputs[each][end].textContent = said(time);
      });
      boxes[each].style.left = `${100 * axis.of(range[0])}%`;
      boxes[each].style.width = `${100 * (axis.of(range[1]) - axis.of(range[0]))}%`;
    });
  }

  sliders.forEach((pair, each) => pair.forEach((slider, end) => slider.addEventListener("input", () => {
    const all = bounds();
    const value = Number(slider.value);
    const other = nearest(ranges[each][1 - end]);
    // One end moves the other along, so that a range never is empty.
    ranges[each] = end ? [all[Math.min(other, value - 1)], all[value]] : [all[value], all[Math.max(other, value + 1)]];
    paint();
  })));

  // A drag from an end of a range moves this end; elsewhere it makes a new range, of both in turn.
  let drag = null;
  let next = 0;
  const timeAt = (event) => {
    const box = track.getBoundingClientRect();
    const axis = axisOf(ticks);
    return axis.low + (axis.high - axis.low) * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  };
  const blockAt = (event) => {
    const time = timeAt(event);
    return Math.max(0, ticks.at.findLastIndex((each) => each <= time));
  };

  function endNear(event) {
    const axis = axisOf(ticks);
    const reach = ((event.pointerType === "touch" ? 16 : 7) / track.getBoundingClientRect().width) * (axis.high - axis.low);
    const ends = ranges.flatMap((range, each) => range.map((time, end) => ({ each, end, distance: Math.abs(time - timeAt(event)) })));
    const best = ends.reduce((one, other) => (other.distance < one.distance ? other : one));
    return best.distance <= reach ? best : null;
  }

  track.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    const near = endNear(event);
    const block = blockAt(event);
    drag = near
      ? { each: near.each, fixed: nearest(ranges[near.each][1 - near.end]) - (near.end ? 0 : 1) }
      : { each: next, fixed: block };
    if (!near) next = 1 - next;
    track.setPointerCapture(event.pointerId);
    move(block);
  });

  function move(block) {
    const all = bounds();
    ranges[drag.each] = [all[Math.min(drag.fixed, block)], all[Math.max(drag.fixed, block) + 1]];
    paint();
  }

  track.addEventListener("pointermove", (event) => { if (drag) move(blockAt(event)); });
  for (const kind of ["pointerup", "pointercancel"]) track.addEventListener(kind, () => { drag = null; });

  function choose(given) {
    if (!ticks || !NAMES.every((each) => given.has(each))) return;
    const times = NAMES.map((each) => place(ticks.counted ? Number(given.get(each)) : given.get(each)));
    if (times.some((each) => !Number.isFinite(each))) return;
    ranges = [times.slice(0, 2), times.slice(2)];
    paint();
    compare();
  }

  async function compare() {
    const now = ++asked;
    const texts = ranges.flat().map((each) => timeOf(each, ticks.counted));
    const query = new URLSearchParams(NAMES.map((each, index) => [each, texts[index]]));
    const path = streamPath(name, `/compare?${query}`);
    link.href = `#/${name}?${query}`;
    link.hidden = false;
    verdict.textContent = "Comparing …";
    result.replaceChildren();
    try {
      const found = await ask(path);
      if (now === asked) tell(found, path);
    } catch (error) {
      if (now === asked) verdict.textContent = `These cannot be compared: ${error.message}`;
    }
  }

  function tell(found, path) {
    const differ = found.pvalue <= LEVEL;
    const words = differ ? "The two differ" : "No difference is found";
    verdict.textContent = `${words}: p-value ${probability(found.pvalue)}, MMD ${amount(found.mmd)}.`;
    const shown = el("div", { class: "sides" },
      side("Rows that are more common in the first range", "First range", found.first_words, found.first_rows),
      side("Rows that are more common in the second range", "Second range", found.second_words, found.second_rows));
    result.replaceChildren(heading("Column by column", path, "h3"),
      ...columnsTable("Columns by how clearly the two ranges differ", found.columns, found.pairs.filter((each) => each.pvalue <= LEVEL)),
      ...(found.first_rows.length || found.second_rows.length ? [shown] : []),
      el("p", { class: "note" }, "The p-values allow for the number of columns. Ranges that were chosen because they look different are no test. "
        + "Old blocks are joined to longer ones; a range takes those that have at least half of their span in it."));
  }

  return { section, show, choose };
}
