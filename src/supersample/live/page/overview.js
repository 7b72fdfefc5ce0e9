// All streams, those that have changed first.
import { asJson, el } from "./dom.js";
import { verdictOf } from "./stream.js";
import { percent } from "./words.js";

const ORDER = ["changed", "same", "learning"];

export function overview() {
  const list = el("ul", { class: "explained" });
  const section = el("section", { id: "all" }, el("div", { class: "heading" }, el("h1", {}, "Streams"), asJson("/streams")), list);
  return {
    section,
    show(streams) {
      const sorted = streams.slice().sort((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict) || one.name.localeCompare(other.name));
      list.replaceChildren(...sorted.map((each) => {
        const bar = el("span", { class: "bar" });
        bar.style.width = percent(Math.min(Math.max(each.evidence, each.volume_evidence), 1));
        return el("li", { class: `card stream ${each.verdict}` }, el("div", { class: "body" },
          el("h3", {}, el("a", { href: `#/${each.name}` }, el("bdi", {}, each.title))), el("p", {}, verdictOf(each)), each.watching ? el("div", { class: "level", "aria-hidden": true }, bar) : null,
          each.trouble ? el("p", { class: "wrong" }, `Trouble: ${each.trouble}`) : null));
      }));
    },
  };
}
