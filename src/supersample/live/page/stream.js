// One stream: the verdict first, then what it rests on.
import { alarmsOf } from "./alarms.js";
import { Ticks, along } from "./along.js";
import { columnsOf, prototypesOf } from "./columns.js";
import { compareOf } from "./compare.js";
import { asJson, el, say } from "./dom.js";
import { ask, streamPath } from "./service.js";
import { count, moment, percent, when } from "./words.js";

// The verdict as one sentence.
export function verdictOf(status) {
  if (status.verdict === "learning") return `Still learning: ${status.sentence.replace(/^learning: /, "")}.`;
  if (!status.ticks) return `${count(status.rows, "row")} so far, and no block of time is over yet.`;
  if (!status.watching) return `Too early to say: ${count(status.ticks, "block")} are too few to know what is usual.`;
  const evidence = percent(Math.max(status.evidence, status.volume_evidence));
  if (status.verdict === "changed") return `Changed at ${when(status.since)}. Evidence of another change: ${evidence} of the alarm threshold.`;
  return `Same since ${when(status.since)}. Evidence of a change: ${evidence} of the alarm threshold.`;
}

function factsOf(status, path) {
  const facts = [
    [status.rows.toLocaleString("en-US"), "rows", null],
    [status.last_row === null ? "–" : when(status.last_row), "latest row", status.last_received ? `last received at ${moment(status.last_received)}` : null],
    [status.ticks.toLocaleString("en-US"), "blocks closed", null],
    [status.late_rows.toLocaleString("en-US"), "late rows", "they came after their block was closed"],
    [status.open_alarms.toLocaleString("en-US"), "open alarms", `${count(status.alarms, "alarm")} in all`],
    [status.aside.toLocaleString("en-US"), "batches set aside", status.aside ? el("a", { href: streamPath(status.name, "/set-aside") }, "why, as JSON") : null],
  ];
  return [el("dl", { class: "facts" }, facts.map(([number, label, about]) => el("div", {},
    el("dt", {}, label), el("dd", { class: number.length > 12 ? "value long" : "value" }, number), about ? el("dd", { class: "about" }, about) : null))), asJson(path)];
}

// The view of a stream; `status` takes news, `go` a permalink.
export class StreamView {
  constructor(name, can) {
    this.name = name;
    this.status = null;
    this.alarms = [];
    this.busy = false;
    this.again = false;
    this.link = null;
    this.ticks = new Ticks(name);
    this.title = el("h1", {}, name);
    this.verdict = el("p", { class: "headline", id: "verdict-now", role: "status" });
    this.lede = el("p", { class: "lede", hidden: true });
    this.trouble = el("p", { class: "wrong", role: "alert", hidden: true });
    this.facts = el("div", {});
    const since = () => (this.status === null ? null : this.status.since);
    this.along = along(name, (most) => this.show(most));
    this.list = alarmsOf(name, can, () => this.refresh());
    this.ranges = compareOf(name);
    this.later = [prototypesOf(name), columnsOf(name, since)];
    const headline = el("section", { id: "headline", "aria-label": "In short" }, this.verdict, this.lede, this.trouble, this.facts);
    this.elements = [this.title, headline, this.along.section, this.list.section, this.ranges.section, ...this.later.map((each) => each.section)];
    this.known(false);
  }

  // Before the columns are known there is nothing to show but the verdict.
  known(yes) {
    for (const { section } of [this.along, this.list, this.ranges, ...this.later]) section.hidden = !yes;
  }

  take(status) {
    const before = this.status;
    this.status = status;
    say(this.title, status.title);
    say(this.verdict, verdictOf(status));
    this.verdict.classList.toggle("changed", status.verdict === "changed");
    say(this.trouble, status.trouble ? `Rows are not taken in or saved at the moment: ${status.trouble}` : "");
    this.trouble.hidden = !status.trouble;
    this.facts.replaceChildren(...factsOf(status, streamPath(this.name)));
    if (status.verdict === "learning") {
      this.known(false);
      return;
    }
    if (before === null || before.verdict === "learning") this.known(true);
    if (before && status.ticks < before.ticks) this.ticks.clear(); // it was restored from a backup
    const changed = before === null || ["alarms", "alarm", "since", "verdict"].some((each) => before[each] !== status[each]);
    if (before === null || before.ticks !== status.ticks) this.later.forEach((each) => each.refresh(changed));
    this.refresh();
  }

  // Ask for what is new, one question at a time however fast the news comes.
  async refresh() {
    if (this.busy) {
      this.again = true;
      return;
    }
    this.busy = true;
    do {
      this.again = false;
      try {
        const [, { alarms }] = await Promise.all([this.ticks.grow(), ask(streamPath(this.name, "/alarms"))]);
        this.alarms = alarms;
        this.tellWhat();
        this.along.show(this.ticks, alarms);
        this.list.show(alarms);
        this.ranges.show(this.ticks, alarms);
        if (this.link) this.follow();
      } catch {
        break; // the state of the connection is shown, and the next news asks again
      }
    } while (this.again);
    this.busy = false;
  }

  // What the alarm that stands says, and whether somebody deals with it.
  tellWhat() {
    const alarm = this.alarms.find((each) => each.number === this.status.alarm);
    this.lede.hidden = !alarm;
    if (!alarm) return;
    const dealt = alarm.state === "acknowledged" ? ` ${alarm.by || "Somebody"} deals with it.` : "";
    this.lede.replaceChildren(el("a", { href: `#/${this.name}/alarm-${alarm.number}` }, `Alarm ${alarm.number}`), `: ${alarm.what}.${dealt}`);
  }

  show(most) {
    this.ticks.most = most;
    this.ticks.clear();
    this.refresh();
  }

  // Follow a permalink once there is something to point to.
  go(link) {
    this.link = link;
    if (this.alarms.length || this.ticks.start.length) this.follow();
  }

  follow() {
    const { alarm, query } = this.link;
    this.link = null;
    if (alarm) this.list.open(alarm);
    if (query) {
      this.ranges.choose(query);
      this.ranges.section.scrollIntoView();
    }
  }
}
