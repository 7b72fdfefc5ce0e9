"use strict";

// The colours follow the system until the reader chooses.
const theme = document.getElementById("theme");
const system = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

function nameTheme() {
  theme.textContent = isDark() ? "Light colours" : "Dark colours";
}

theme.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  nameTheme();
});
system.addEventListener("change", nameTheme);
nameTheme();
theme.hidden = false;

// Long lists begin short; without this script all of them is shown. A list may be searched and sorted: then `matches` is set.
function shorten(list) {
  const first = Number(list.dataset.first);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "more";
  const state = { open: false, matches: null };
  state.show = () => {
    const items = Array.from(list.children);
    const found = state.matches ? items.filter(state.matches) : items;
    const shown = new Set(state.open || state.matches ? found : found.slice(0, first));
    for (const item of items) item.classList.toggle("later", !shown.has(item));
    button.hidden = Boolean(state.matches);
    button.setAttribute("aria-expanded", String(state.open));
    button.textContent = state.open ? "Show fewer" : `Show all ${items.length} ${list.dataset.what}`;
    return found.length;
  };
  button.addEventListener("click", () => {
    state.open = !state.open;
    state.show();
  });
  if (list.children.length > first) (list.closest(".scroll") || list).after(button);
  state.show();
  return state;
}

const lists = new Map();
for (const list of document.querySelectorAll("[data-first]")) lists.set(list.id, shorten(list));

// The columns can be searched by all words of a card's head, and sorted.
const tools = document.querySelector(".tools");
if (tools) {
  const cards = document.getElementById("cards");
  const find = document.getElementById("find");
  const sort = document.getElementById("sort");
  const found = document.getElementById("found");
  const head = (card) => `${card.dataset.name} ${card.querySelector(".tags").textContent}`.toLowerCase();
  const heads = new Map(Array.from(cards.children, (card) => [card, head(card)]));
  const number = (card, key) => Number(card.dataset[key]);
  const orders = {
    rank: (a, b) => number(a, "rank") - number(b, "rank"),
    name: (a, b) => a.dataset.name.localeCompare(b.dataset.name, undefined, { numeric: true }),
    missing: (a, b) => number(b, "missing") - number(a, "missing") || orders.rank(a, b),
    distinct: (a, b) => number(b, "distinct") - number(a, "distinct") || orders.rank(a, b),
  };
  const refresh = () => {
    const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const list = lists.get("cards");
    list.matches = wanted.length ? (card) => wanted.every((word) => heads.get(card).includes(word)) : null;
    const n = list.show();
    found.textContent = wanted.length ? `${n} of ${cards.children.length} columns` : "";
  };
  find.addEventListener("input", refresh);
  sort.addEventListener("change", () => {
    cards.append(...Array.from(cards.children).sort(orders[sort.value]));
    refresh();
  });
  tools.hidden = false;
  sort.value = "rank";
  find.value = "";
}

// On paper nothing can be opened.
let opened = [];
window.addEventListener("beforeprint", () => {
  opened = Array.from(document.querySelectorAll("details:not([open]):not(.on-screen)"));
  for (const details of opened) details.open = true;
});
window.addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});
