// Columns of the rows since the last change, and prototypes of now beside those of the reference: asked for when they are looked at.
import { el, heading } from "./dom.js";
import { ask, streamPath } from "./service.js";
import { rowsTable } from "./tables.js";
import { amount, count, percent, value, when } from "./words.js";

// Seconds after which they are asked for again, if the stream has new blocks.
const FRESH = 30;
const FIRST = 12;

// A section that fills itself while it is seen. fill: takes what the service answers, and returns elements.
function onSight(id, title, about, path, fill) {
  const body = el("div", {}, el("p", { class: "note" }, "Loading …"));
  const link = heading(title, path());
  const section = el("section", { id }, link, el("p", {}, about), body);
  let seen = false;
  let wanted = true;
  let asked = 0;
  let busy = false;
  new IntersectionObserver(([entry]) => {
    seen = entry.isIntersecting;
    load();
  }, { rootMargin: "200px" }).observe(section);

  async function load() {
    if (!seen || !wanted || busy || Date.now() - asked < 1000 * FRESH) return;
    [busy, wanted, asked] = [true, false, Date.now()];
    link.querySelector("a").href = path();
    try {
      body.replaceChildren(...fill(await ask(path())));
    } catch (error) {
      wanted = true;
      body.replaceChildren(el("p", { class: "note" }, `This cannot be shown now: ${error.message}`));
    }
    busy = false;
  }

  return {
    section,
    refresh(soon) {
      wanted = true;
      if (soon) asked = 0;
      load();
    },
  };
}

export function columnsOf(name, since) {
  const path = () => streamPath(name, since() === null ? "/profile" : `/profile?start=${encodeURIComponent(since())}`);
  const about = "Statistics of all rows since the stream has been as it is.";
  return onSight("columns", "Columns", about, path, (found) => [
    el("p", { class: "note" }, `${count(found.rows, "row")}, ${when(found.start)} to ${when(found.end)}.`),
    el("ul", { class: "columns" }, found.columns.map((each) => card(each, found.rows))),
  ]);
}

const FACTS = [
  ["missing", (column, rows) => percent(rows ? column.missing / rows : 0)],
  ["distinct", (column) => (column.distinct === null ? null : `${column.distinct_error ? "about " : ""}${column.distinct.toLocaleString("en-US")}`)],
  ["min", (column) => limit(column.min)],
  ["median", (column) => (column.role === "time" ? null : number(column.median))],
  ["mean", (column) => (column.role === "time" ? null : number(column.mean))],
  ["sd", (column) => (column.role === "time" ? null : number(column.sd))],
  ["max", (column) => limit(column.max)],
];
const number = (given) => (given === null ? null : amount(given, 4));
const limit = (given) => (given === null ? null : Number.isFinite(Number(given)) ? amount(Number(given), 4) : value(given));

function card(column, rows) {
  const facts = FACTS.map(([title, read]) => [title, read(column, rows)]).filter(([, text]) => text !== null);
  const long = (text) => (text.length > 10 ? "long" : null);
  const top = column.top.slice(0, 5);
  return el("li", { class: "card column" }, el("h3", {}, el("bdi", {}, column.name)),
    el("p", { class: "tags" }, el("span", { class: "role" }, column.role), ` ${column.type}`),
    top.length ? el("table", { class: "top" }, el("tbody", {}, top.map((each) => el("tr", {},
      el("th", { scope: "row" }, el("bdi", {}, value(each.value))), el("td", { class: "bar-cell" }, bar(each.count / rows)),
      el("td", { class: "number" }, percent(each.count / rows)))))) : null,
    el("dl", { class: "stats" }, facts.map(([title, text]) => el("div", { class: long(text) }, el("dt", {}, title), el("dd", {}, text)))));
}

function bar(share) {
  const found = el("span", { class: "bar all" });
  found.style.width = `${(100 * Math.min(share, 1)).toFixed(1)}%`;
  return found;
}

export function prototypesOf(name) {
  const about = "The rows that stand for the latest blocks, beside those that stand for the rows before them since the last change.";
  const path = () => streamPath(name, "/prototypes");
  return onSight("prototypes", "Prototypes of now and of the reference", about, path, (found) => [
    el("div", { class: "sides" }, chosen("Now", found.now), found.reference
      ? chosen("Reference", found.reference)
      : el("p", { class: "note" }, "There are no rows before now since the last change, so there is no reference yet.")),
  ]);
}

function chosen(title, found) {
  const told = `${title}: ${count(found.rows, "row")}, ${when(found.start)} to ${when(found.end)}`;
  const rows = found.prototypes.slice().sort((one, other) => other._share - one._share);
  const place = el("div", {}, rowsTable(told, rows.slice(0, FIRST)));
  const more = rows.length > FIRST ? el("button", {
    type: "button", class: "more", "aria-expanded": "false",
    onclick: () => {
      const open = more.getAttribute("aria-expanded") === "false";
      more.setAttribute("aria-expanded", String(open));
      more.textContent = open ? "Show fewer" : `Show all ${rows.length}`;
      place.replaceChildren(rowsTable(told, open ? rows : rows.slice(0, FIRST)));
    },
  }, `Show all ${rows.length}`) : null;
  const odd = found.criticisms.length ? el("details", {}, el("summary", {}, `${count(found.criticisms.length, "row")} that these do not show`),
    rowsTable(`${title}: rows that the prototypes do not show`, found.criticisms, "Rows like it")) : null;
  return el("div", { class: "side" }, el("h4", {}, told), place, more, odd);
}
