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

// Long lists begin short; without this script all of them is shown.
for (const list of document.querySelectorAll("[data-first]")) {
  const later = Array.from(list.children).slice(Number(list.dataset.first));
  if (later.length === 0) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "more";
  const show = (open) => {
    for (const item of later) item.classList.toggle("later", !open);
    button.setAttribute("aria-expanded", String(open));
    button.textContent = open ? "Show fewer" : `Show all ${list.children.length} ${list.dataset.what}`;
  };
  button.addEventListener("click", () => show(button.getAttribute("aria-expanded") !== "true"));
  show(false);
  (list.closest(".scroll") || list).after(button);
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
