// Alarms: what changed, rows of before and after, and what is decided.
import { el, heading, say } from "./dom.js";
import { ask, decide, streamPath } from "./service.js";
import { columnsTable, side } from "./tables.js";
import { amount, count, listed, moment, percent, when } from "./words.js";

// A column or a pair is said to have changed if its p-value is at most this.
const LEVEL = 0.01;
const HOURS = [[1, "1 hour"], [8, "8 hours"], [24, "1 day"], [168, "7 days"]];
const NAME = "supersample.name";

const STATES = {
  open: () => "open",
  acknowledged: () => "somebody deals with it",
  normal: () => "the new normal",
  snoozed: (alarm) => (1000 * alarm.until > Date.now() ? `snoozed until ${moment(alarm.until)}` : "open again"),
};

// The section; `show(alarms)` draws the list, `open(number)` one alarm. can: the rights of the reader.
export function alarmsOf(name, can, changed) {
  const told = el("p", { id: "told", role: "status", class: "note" });
  const about = el("p", {});
  const list = el("ul", { class: "alarms" });
  const section = el("section", { id: "alarms" }, heading("What changed", streamPath(name, "/alarms")), about, told, list);
  const cards = new Map();

  function show(alarms) {
    about.textContent = alarms.length
      ? "The latest alarm first. The times are those of the rows."
      : "No alarm was raised, so there is nothing to show here.";
    for (const [number, card] of cards) {
      if (!alarms.some((each) => each.number === number)) {
        card.element.remove();
        cards.delete(number);
      }
    }
    for (const alarm of alarms) {
      if (!cards.has(alarm.number)) {
        cards.set(alarm.number, cardOf(name, can, alarm, decided));
        list.prepend(cards.get(alarm.number).element);
      }
      cards.get(alarm.number).show(alarm);
    }
  }

  function decided(alarm, words) {
    say(told, `Alarm ${alarm.number}: ${words}.`);
    changed();
  }

  return { section, show, open: (number) => cards.get(number)?.open() };
}

function cardOf(name, can, first, decided) {
  const path = streamPath(name, `/alarms/${first.number}`);
  const state = el("span", { class: "kind" });
  const said = el("p", { class: "small-note" });
  const rows = el("div", {});
  const more = el("details", {}, el("summary", {}, "Columns, and rows of before and after"), rows);
  const buttons = can.admin ? decisions(path, first.number, decided) : null;
  const [low, high] = first.between.map(when);
  const evidence = `When it was raised, the evidence was ${percent(first.evidence)} of the alarm threshold${first.kind === "content" ? `; MMD ${amount(first.mmd)}` : ""}.`;
  const element = el("li", { class: `card alarm ${first.kind}`, id: `alarm-${first.number}` },
    el("div", { class: "heading" }, el("h3", {}, el("a", { class: "number-flag", href: `#/${name}/alarm-${first.number}`, "aria-label": `Alarm ${first.number}` }, first.number),
      ` Changed at ${when(first.change)} `, state), el("a", { class: "json", href: path }, "as JSON")),
    el("p", { class: "what" }, first.what),
    el("p", {}, `The change lies between ${low} and ${high}; it was noticed at ${when(first.at)}. ${evidence}`),
    said, buttons?.element, more);
  let loaded = false;
  more.addEventListener("toggle", () => { if (more.open) load(); });

  async function load() {
    if (loaded) return;
    loaded = true;
    rows.textContent = "Loading …";
    try {
      rows.replaceChildren(...details(await ask(path)));
    } catch (error) {
      loaded = false;
      rows.textContent = `This cannot be shown now: ${error.message}`;
    }
  }

  function show(alarm) {
    state.textContent = STATES[alarm.state](alarm);
    element.classList.toggle("settled", alarm.state === "normal");
    const by = alarm.by ? ` by ${alarm.by}` : "";
    const note = alarm.note ? `: ${alarm.note}` : "";
    said.textContent = alarm.updated ? `Last decided at ${moment(alarm.updated)}${by}${note}` : "";
    said.hidden = !alarm.updated;
    buttons?.show(alarm);
  }

  function open() {
    more.open = true;
    element.scrollIntoView();
    element.querySelector("h3 a").focus({ preventScroll: true });
  }

  return { element, show, open };
}

// What is known of an alarm beside its line.
function details(alarm) {
  if (alarm.kind === "volume") return [el("p", {}, "It is the number of rows that changed, so there are no columns and rows to show.")];
  const clear = alarm.columns.filter((each) => each.pvalue <= LEVEL);
  const found = [
    el("p", {}, clear.length
      ? `${count(clear.length, "column shows", "columns show")} it by ${clear.length === 1 ? "itself" : "themselves"}: ${listed(clear.map((each) => each.name))}.`
      : "No column shows it by itself yet: all of them together do."),
    ...columnsTable("Columns before and after", alarm.columns, alarm.pairs.filter((each) => each.pvalue <= LEVEL)),
    el("p", { class: "note" }, "The p-values say where to look. They are no second test, since the rows are those that raised the alarm."),
  ];
  if (alarm.before.length || alarm.after.length) {
    found.push(el("div", { class: "sides" },
      side("Before: rows that are rarer since", "Before: some rows, of which none stand out", alarm.before_words, alarm.before),
      side("After: rows that are more common since", "After: some rows, of which none stand out", alarm.after_words, alarm.after)));
  }
  return found;
}

// The buttons by which an alarm is decided, with a name and a note.
function decisions(path, number, decided) {
  const by = el("input", { name: "by", id: `by-${number}`, maxlength: 200, autocomplete: "name" });
  const note = el("input", { name: "note", id: `note-${number}`, maxlength: 2000 });
  const hours = el("select", { "aria-label": "Snooze for" }, HOURS.map(([value, text]) => el("option", { value }, text)));
  const wrong = el("p", { role: "alert", class: "wrong" });
  const button = (word, text, more = () => ({})) => el("button", { type: "button", onclick: () => send(word, more()) }, text);
  const acknowledge = button("acknowledge", "Acknowledge");
  const normal = button("normal", "This is the new normal");
  const snooze = el("span", { class: "together" }, button("snooze", "Snooze for", () => ({ hours: Number(hours.value) })), hours);
  const reopen = button("reopen", "Open again");
  const element = el("form", { class: "decide", "aria-label": `Decide about alarm ${number}`, onsubmit: (event) => event.preventDefault() },
    el("div", { class: "fields" }, el("label", {}, "Your name ", by), el("label", {}, "Note ", note)),
    el("div", { class: "buttons" }, acknowledge, normal, snooze, reopen), wrong);
  by.value = remembered();

  async function send(word, more) {
    wrong.textContent = "";
    try {
      remember(by.value);
      const alarm = await decide(`${path}/${word}`, { ...more, by: by.value, note: note.value });
      note.value = "";
      decided(alarm, STATES[alarm.state](alarm));
    } catch (error) {
      wrong.textContent = `This was not done: ${error.message}`;
    }
  }

  function show(alarm) {
    acknowledge.hidden = alarm.state === "acknowledged" || alarm.state === "normal";
    normal.hidden = alarm.state === "normal";
    snooze.hidden = alarm.state === "normal";
    reopen.hidden = alarm.state === "open";
  }

  return { element, show };
}

// A browser may refuse to remember anything.
function remembered() {
  try {
    return localStorage.getItem(NAME) || "";
  } catch {
    return "";
  }
}

function remember(name) {
  try {
    localStorage.setItem(NAME, name);
  } catch {
    // the name is asked for again
  }
}
