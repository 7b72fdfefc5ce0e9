// Charts along time: coordinates run from 0 to 1000 along time and from 0 to 100 upwards, and lines keep their width.
import { place } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1000;
const HEIGHT = 100;
// The least width of the interval in which a change lies.
const NARROW = 3;

function shape(tag, values) {
  const found = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(values)) found.setAttribute(name, value);
  return found;
}

// An empty chart; `draw` fills it. label: what it is, for those who do not see it.
export function chart(label) {
  const found = shape("svg", { class: "chart along", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
  found.setAttribute("aria-label", label);
  return found;
}

export function draw(svg, ...shapes) {
  svg.replaceChildren(...shapes.flat());
}

// Where times stand from 0 to 1. ticks: as the service gives them, with `at`, their times as numbers.
export function axisOf(ticks) {
  const low = ticks.at[0];
  const high = ticks.at[ticks.at.length - 1] + ticks.every;
  return { low, high, of: (time) => Math.min(1, Math.max(0, (time - low) / (high - low))) };
}

const x = (axis, time) => (WIDTH * axis.of(time)).toFixed(1);
const y = (value, top) => (HEIGHT * (1 - Math.min(Math.max(value, 0) / top, 1))).toFixed(1);

// A line through the ends of blocks, where their evidence is known.
export function line(kind, ticks, values, axis, top) {
  const points = ticks.at.map((time, each) => `${x(axis, time + ticks.every)} ${y(values[each], top)}`);
  return shape("path", { class: kind, d: points.length ? `M${x(axis, ticks.at[0])} ${y(values[0], top)}L${points.join("L")}` : "" });
}

// An area of one bar for each block.
export function bars(kind, ticks, values, axis, top) {
  const parts = ticks.at.map((time, each) => (
    `M${x(axis, time)} ${HEIGHT}V${y(values[each], top)}H${x(axis, time + ticks.every)}V${HEIGHT}Z`
  ));
  return shape("path", { class: kind, d: parts.join("") });
}

export function level(kind, value, top) {
  return shape("path", { class: kind, d: `M0 ${y(value, top)}H${WIDTH}` });
}

// The changes of alarms, and where they may lie.
export function marks(alarms, axis) {
  return alarms.filter((each) => inView(each, axis)).flatMap((each) => {
    const [low, high] = each.between.map((time) => WIDTH * axis.of(place(time)));
    const wide = Math.max(high - low, NARROW);
    return [
      shape("rect", { class: each.kind, x: low.toFixed(1), y: 0, width: wide.toFixed(1), height: HEIGHT }),
      shape("path", { class: each.kind, d: `M${x(axis, place(each.change))} 0V${HEIGHT}` }),
    ];
  });
}

export function inView(alarm, axis) {
  return place(alarm.between[1]) > axis.low && place(alarm.change) < axis.high;
}
