// Elements are made here, and nowhere from markup: whatever a row holds, it becomes text.

// el("p", { class: "note", onclick: f }, "text", other, [more]): strings are text, null and undefined are left out.
export function el(tag, given = {}, ...children) {
  const found = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) found.addEventListener(name.slice(2), value);
    else found.setAttribute(name, value === true ? "" : String(value));
  }
  found.append(...children.flat(3).filter((each) => each !== null && each !== undefined));
  return found;
}

// A table that scrolls in itself. heads: { name, number }; lines: cells, of text or elements.
export function table(label, heads, lines) {
  const head = el("tr", {}, heads.map((each) => el("th", { scope: "col", class: each.number ? "number" : null }, el("bdi", {}, each.name))));
  const body = lines.map((cells) => el("tr", {}, cells.map((cell, place) => (
    el("td", { class: heads[place].number ? "number" : null }, el("bdi", {}, cell))
  ))));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, (
    el("table", {}, el("thead", {}, head), el("tbody", {}, body))
  ));
}

// What is shown, as JSON.
export function asJson(path) {
  return el("a", { class: "json", href: path }, "as JSON");
}

export function heading(text, path, level = "h2") {
  return el("div", { class: "heading" }, el(level, {}, text), path ? asJson(path) : null);
}

// Replace what an element says, if it says something else, so that a screen reader does not hear it twice.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
