// Rows as a table, and what differs between two sides.
import { el, table } from "./dom.js";
import { amount, listed, percent, value } from "./words.js";

// Columns that the summary adds to a row, and those of them that are told.
const ADDED = {
  _row: null, _weight: null, _witness: null, _nearest: null, _ratio: null, _count: null, _other: null, _known: null, _like: null,
  _share: "Stands for", _kind: "Kind",
};

// rows: objects of the same names. label: what the table is. share: what the share of a row is called.
export function rowsTable(label, rows, share = ADDED._share) {
  if (!rows.length) return el("p", { class: "note" }, "No rows.");
  const names = Object.keys(rows[0]);
  const first = names.filter((name) => ADDED[name]);
  const own = names.filter((name) => !(name in ADDED));
  const isNumber = (name) => rows.every((row) => row[name] === null || typeof row[name] === "number");
  const heads = [...first.map((name) => ({ name: name === "_share" ? share : ADDED[name], number: isNumber(name) })), ...own.map((name) => ({ name, number: isNumber(name) }))];
  const lines = rows.map((row) => [
    ...first.map((name) => (name === "_share" ? percent(row[name]) : value(row[name]))), ...own.map((name) => value(row[name])),
  ]);
  return table(label, heads, lines);
}

// What differs, column by column, those that differ most first.
export function columnsTable(label, columns, pairs) {
  const sorted = columns.slice().sort((one, other) => (one.pvalue ?? 1) - (other.pvalue ?? 1) || (other.difference ?? 0) - (one.difference ?? 0));
  const lines = sorted.map((each) => [each.name, each.what, amount(each.difference), probability(each.pvalue)]);
  const found = [table(label, [{ name: "Column" }, { name: "What changed" }, { name: "Difference", number: true }, { name: "p-value", number: true }], lines)];
  if (pairs.length) {
    found.push(el("p", { class: "note" }, "Columns that go together in another way than before: ",
      listed(pairs.map((each) => `${each.columns.join(" and ")} (rank correlation ${each.before.toFixed(2)} → ${each.after.toFixed(2)})`)), "."));
  }
  return found;
}

// One side of a change: what is said of rows like these, and the rows.
export function side(title, plain, words, rows) {
  const told = words.length ? title : plain;
  return el("div", { class: "side" }, el("h4", {}, told),
    words.length ? el("ul", { class: "said" }, words.map((each) => el("li", {}, each))) : null, rowsTable(told, rows));
}

export function probability(pvalue) {
  if (pvalue === null || pvalue === undefined) return "–";
  return pvalue < 0.0001 ? "under 0.0001" : amount(pvalue, 2);
}
