// Two ranges of a history are compared by what the page holds of every span: counts in common classes, and mean features.
const held = JSON.parse(document.getElementById("data").textContent);
const nSpans = held.rows.length;
const ranges = held.presets[0].slice(1).map((pair) => pair.slice());
// Differences beyond these are ones that chance gives in fewer than 1 of 1,000 columns: of a share, in standard errors, and
// of cumulative shares, in the unit of Kolmogorov's law.
const CLEAR = { values: 4, numbers: 2 };
const TOLD = 3;

const features = (() => {
  const bytes = Uint8Array.from(atob(held.features.means), (mark) => mark.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 2 }, (_, place) => view.getInt16(2 * place, true) * held.features.unit);
})();

// Numbers as the rest of the page writes them.
function amount(value, digits = 3) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-4) return value.toExponential(digits - 1).replace("e+", "e");
  const places = Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return value.toLocaleString("en-US", { maximumFractionDigits: Math.min(places, 20) });
}

function percent(share) {
  if (share <= 0) return "0%";
  if (share < 0.0001) return "under 0.01%";
  if (share >= 1) return "100%";
  if (share >= 0.9995) return "over 99.9%";
  return `${(100 * share).toFixed(share < 0.001 ? 2 : 1)}%`;
}

function count(number, noun) {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}

function written(value, form) {
  if (form === "moment") return new Date(1000 * value).toISOString().slice(0, 19).replace("T", " ");
  if (form === "clock") return new Date(1000 * value).toISOString().slice(11, 19);
  return amount(value, 4) + (form === "duration" ? " s" : "");
}

// With a season, spans count if the other range has at least half of their phases.
function phasesOf(span) {
  const [first, number] = held.phases[span];
  return Array.from({ length: number }, (_, place) => (first + place) % held.season);
}

function spansOf(range) {
  return Array.from({ length: range[1] - range[0] }, (_, place) => range[0] + place);
}

function matched() {
  const sides = ranges.map(spansOf);
  if (!held.season) return sides;
  const seen = sides.map((side) => new Set(side.flatMap(phasesOf)));
  return sides.map((side, place) => side.filter((span) => {
    const own = phasesOf(span);
    return 2 * own.filter((phase) => seen[1 - place].has(phase)).length >= own.length;
  }));
}

const total = (spans, values) => spans.reduce((sum, span) => sum + values[span], 0);
const totals = (spans, rows) => rows[0].map((_, place) => spans.reduce((sum, span) => sum + rows[span][place], 0));

function meanFeatures(spans) {
  const size = held.features.size;
  const found = new Float64Array(size);
  const rows = total(spans, held.features.rows);
  for (const span of spans) {
    const share = held.features.rows[span] / Math.max(rows, 1);
    for (let place = 0; place < size; place += 1) found[place] += share * features[span * size + place];
  }
  return { mean: found, rows };
}

// The squared distance of the mean features, and what it is on average if nothing but chance is at work.
function discrepancy(sides) {
  const [first, second] = sides.map(meanFeatures);
  if (!first.rows || !second.rows) return null;
  let square = 0;
  let length = 0;
  first.mean.forEach((value, place) => {
    square += (value - second.mean[place]) ** 2;
    length += value * second.mean[place];
  });
  const spread = Math.max(0, 1 - length) * held.features.factor;
  return { mmd: Math.sqrt(square), chance: Math.sqrt(spread * (1 / first.rows + 1 / second.rows)) };
}

function shareError(first, second, rows) {
  const share = (first * rows[0] + second * rows[1]) / (rows[0] + rows[1]);
  return Math.sqrt(share * (1 - share) * held.features.factor * (1 / rows[0] + 1 / rows[1])) || Infinity;
}

const arrow = (first, second) => `${first} → ${second}`;

// Each kind of column tells how much it differs, whether clearly, and what changed.
const kinds = {
  none: () => ({ difference: 0, clear: false, told: [] }),
  values(column, sides, rows) {
    const counts = sides.map((side) => totals(side, column.counts));
    const found = column.labels.map((label, place) => {
      const [first, second] = counts.map((each, side) => each[place] / rows[side]);
      const difference = Math.abs(second - first);
      const clear = difference / shareError(first, second, rows) > CLEAR.values;
      return { difference, clear, text: `${label} ${arrow(percent(first), percent(second))}` };
    });
    found.sort((a, b) => b.difference - a.difference);
    const shown = found.filter((each) => each.clear);
    return {
      difference: found.length ? found[0].difference : 0,
      clear: shown.length > 0,
      told: (shown.length ? shown : found.slice(0, 1)).slice(0, TOLD).map((each) => each.text),
    };
  },
  numbers(column, sides) {
    const counts = sides.map((side) => totals(side, column.counts));
    const numbers = counts.map((each) => each.reduce((a, b) => a + b, 0));
    if (!numbers[0] || !numbers[1]) return kinds.none();
    let difference = 0;
    const run = [0, 0];
    counts[0].forEach((_, place) => {
      counts.forEach((each, side) => { run[side] += each[place] / numbers[side]; });
      difference = Math.max(difference, Math.abs(run[0] - run[1]));
    });
    const root = Math.sqrt((numbers[0] * numbers[1]) / (numbers[0] + numbers[1]) / held.features.factor);
    const middle = counts.map((each, side) => written(median(each, numbers[side], column.edges), column.form));
    const means = sides.map((side) => {
      const of = side.filter((span) => column.means[span] !== null);
      return of.reduce((sum, span) => sum + column.means[span] * column.finite[span], 0) / total(of, column.finite);
    });
    const told = [`median ${arrow(...middle)}`, `mean ${arrow(...means.map((each) => written(each, column.form)))}`];
    return { difference, clear: difference * root > CLEAR.numbers, told };
  },
  lengths(column, sides) {
    const means = sides.map((side) => {
      const of = side.filter((span) => column.means[span] !== null);
      return of.length ? of.reduce((sum, span) => sum + column.means[span] * column.numbers[span], 0) / total(of, column.numbers) : null;
    });
    if (means.includes(null)) return kinds.none();
    return { difference: null, clear: false, told: [`mean ${column.unit} ${arrow(...means.map((each) => amount(each)))}`] };
  },
};

function median(counts, number, edges) {
  let before = 0;
  for (let place = 0; place < counts.length; place += 1) {
    if (counts[place] && before + counts[place] >= number / 2) {
      const share = (number / 2 - before) / counts[place];
      return edges[place] + share * (edges[place + 1] - edges[place]);
    }
    before += counts[place];
  }
  return edges[edges.length - 1];
}

function compared(column, sides, rows) {
  const found = kinds[column.kind](column, sides, rows);
  const [first, second] = sides.map((side, place) => total(side, column.absent) / rows[place]);
  const difference = Math.abs(second - first);
  const clear = difference / shareError(first, second, rows) > CLEAR.values;
  if (!clear && !(column.kind === "none" && difference)) return found;
  const missing = `missing ${arrow(percent(first), percent(second))}`;
  const told = found.clear ? [...found.told, missing] : [missing, ...found.told];
  return { difference: Math.max(found.difference || 0, difference), clear: found.clear || clear, told };
}

const [verdict, meaning, differences, line] = ["verdict", "meaning", "differences", "line"].map((id) => document.getElementById(id));

function tableRow(name, found) {
  const row = document.createElement("tr");
  row.classList.toggle("clear", found.clear);
  const head = document.createElement("th");
  head.scope = "row";
  const number = document.createElement("td");
  number.className = "number";
  const told = document.createElement("td");
  const cells = [[head, name], [number, found.difference === null ? "" : percent(found.difference)], [told, found.told.join("; ")]];
  for (const [cell, text] of cells) {
    const inner = document.createElement("bdi");
    inner.textContent = text;
    cell.append(inner);
    row.append(cell);
  }
  return row;
}

function says(sides, rows) {
  const found = discrepancy(sides);
  const all = ranges.map((range) => total(spansOf(range), held.rows));
  const phases = held.season && (all[0] !== rows[0] || all[1] !== rows[1])
    ? ` Only blocks of phases that both have are compared: ${count(rows[0], "row")} and ${count(rows[1], "row")}.` : "";
  const overlap = ranges[0][0] < ranges[1][1] && ranges[1][0] < ranges[0][1]
    ? " The ranges overlap: rows of both count on both sides, so that they look more alike." : "";
  meaning.textContent = `${count(all[0], "row")} in the first range, ${count(all[1], "row")} in the second.${phases}${overlap}`;
  if (found === null) {
    verdict.textContent = "There are no rows to compare.";
    return;
  }
  // Whatever the kernel, chance exceeds twice this in fewer than 1 of 20 comparisons.
  const differ = found.mmd > 2 * found.chance;
  verdict.textContent = differ
    ? `The two differ: MMD ${amount(found.mmd)}, ${amount(found.mmd / found.chance, 2)} times what chance alone gives.`
    : `No clear difference: MMD ${amount(found.mmd)}, and chance alone gives about ${amount(found.chance)}.`;
}

function compareRanges() {
  const sides = matched();
  const rows = sides.map((side) => total(side, held.rows));
  const [first, second] = ranges.map((range) => `(${held.literals[range[0]][0]}, ${held.literals[range[1] - 1][1]})`);
  line.textContent = `history.compare(${first}, ${second})`;
  if (!rows[0] || !rows[1]) {
    verdict.textContent = "The two ranges have no phase of the season in common: choose longer ones.";
    meaning.textContent = "";
    differences.replaceChildren();
    return;
  }
  says(sides, rows);
  const found = held.columns.map((column) => [column.name, compared(column, sides, rows)]).filter(([, each]) => each.told.length);
  found.sort(([, a], [, b]) => b.clear - a.clear || (b.difference || 0) - (a.difference || 0));
  differences.replaceChildren(...found.map(([name, each]) => tableRow(name, each)));
}

// Sliders, boxes over the chart, and what they say follow the ranges.
const sliders = [0, 1].map((side) => ["from", "to"].map((end) => document.getElementById(`${end}-${side}`)));
const boxes = [0, 1].map((side) => document.getElementById(`box-${side}`));
const track = document.getElementById("track");
let asked = 0;

function show() {
  ranges.forEach(([first, last], side) => {
    const said = [held.starts[first], held.ends[last - 1]];
    sliders[side].forEach((slider, end) => {
      slider.value = ranges[side][end];
      slider.setAttribute("aria-valuetext", said[end]);
      slider.nextElementSibling.textContent = said[end];
    });
    const [low, high] = [held.places[first][0], held.places[last - 1][1]];
    boxes[side].style.left = `${100 * low}%`;
    boxes[side].style.width = `${100 * (high - low)}%`;
  });
  cancelAnimationFrame(asked);
  asked = requestAnimationFrame(compareRanges);
}

sliders.forEach((pair, side) => pair.forEach((slider, end) => {
  slider.addEventListener("input", () => {
    const value = Number(slider.value);
    ranges[side][end] = value;
    // One end moves the other along, so that a range never is empty.
    if (end === 0) ranges[side][1] = Math.max(ranges[side][1], value + 1);
    else ranges[side][0] = Math.min(ranges[side][0], value - 1);
    show();
  });
}));

// A drag from an end of a range moves this end; elsewhere it makes a new range, of both in turn.
let drag = null;
let next = 0;
const placeOf = (event) => {
  const box = track.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
};
const spanAt = (place) => {
  const found = held.places.findIndex(([, high]) => place < high);
  return found < 0 ? nSpans - 1 : found;
};

function nearestEnd(event) {
  const reach = (event.pointerType === "touch" ? 16 : 7) / track.getBoundingClientRect().width;
  const place = placeOf(event);
  const ends = ranges.flatMap(([first, last], side) => [
    { side, end: 0, distance: Math.abs(place - held.places[first][0]) },
    { side, end: 1, distance: Math.abs(place - held.places[last - 1][1]) },
  ]);
  const best = ends.reduce((a, b) => (b.distance < a.distance ? b : a));
  return best.distance <= reach ? best : null;
}

track.addEventListener("pointerdown", (event) => {
  if (event.button > 0) return;
  const near = nearestEnd(event);
  const span = spanAt(placeOf(event));
  drag = near ? { side: near.side, fixed: near.end ? ranges[near.side][0] : ranges[near.side][1] - 1 } : { side: next, fixed: span };
  if (!near) {
    ranges[next] = [span, span + 1];
    next = 1 - next;
    show();
  }
  track.setPointerCapture(event.pointerId);
});
track.addEventListener("pointermove", (event) => {
  if (drag === null) return;
  const span = spanAt(placeOf(event));
  ranges[drag.side] = [Math.min(drag.fixed, span), Math.max(drag.fixed, span) + 1];
  show();
});
for (const name of ["pointerup", "pointercancel"]) track.addEventListener(name, () => { drag = null; });

for (const [name, ...pair] of held.presets) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = name;
  button.addEventListener("click", () => {
    pair.forEach((range, side) => { ranges[side] = range.slice(); });
    show();
  });
  document.getElementById("presets").append(button);
}

document.getElementById("choose").hidden = false;
document.getElementById("no-script").hidden = true;
show();
