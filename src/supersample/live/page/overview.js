// All streams, those that have changed first.
import { el, heading } from "./dom.js";
import { verdictOf } from "./stream.js";
import { percent } from "./words.js";

const ORDER = ["changed", "same", "learning"];

export function overview() {
  const list = el("ul", { class: "explained" });
  const section = el("section", { id: "all" }, el("h1", {}, "Streams"), heading("All streams", "/streams"), list);
  return {
    section,
    show(streams) {
      const sorted = streams.slice().sort((one, other) => ORDER.indexOf(one.verdict) - ORDER.indexOf(other.verdict) || one.name.localeCompare(other.name));
      list.replaceChildren(...sorted.map((each) => {
        const evidence = Math.max(each.evidence, each.volume_evidence);
        const meter = el("meter", { min: 0, max: 1, value: Math.min(evidence, 1), "aria-label": `Evidence: ${percent(evidence)} of the alarm line` });
        return el("li", { class: `card stream ${each.verdict}` }, el("div", { class: "body" },
          el("h3", {}, el("a", { href: `#/${each.name}` }, el("bdi", {}, each.title))), el("p", {}, verdictOf(each)), each.watching ? meter : null,
          each.trouble ? el("p", { class: "wrong" }, `Trouble: ${each.trouble}`) : null));
      }));
    },
  };
}
