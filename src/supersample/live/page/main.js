// The page: who is there, what is looked at, and whether the connection holds.
import { el, say } from "./dom.js";
import { login } from "./login.js";
import { overview } from "./overview.js";
import { ask, listen } from "./service.js";
import { StreamView } from "./stream.js";

const [content, entrance, connection, nav, logout] = ["content", "entrance", "connection", "streams", "logout"].map((id) => document.getElementById(id));
const streams = new Map();
const can = { admin: false };
const all = overview();
let view = null;
let news = null;

// "#/", "#/NAME", "#/NAME/alarm-2", "#/NAME?first_start=..."
function wanted() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, rest] = path.split("/");
  const only = streams.size === 1 ? streams.keys().next().value : "";
  const alarm = /^alarm-(\d+)$/.exec(rest || "");
  return { name: name || only, alarm: alarm ? Number(alarm[1]) : null, query: query ? new URLSearchParams(query) : null };
}

function show() {
  const link = wanted();
  if (!streams.has(link.name)) {
    view = null;
    content.replaceChildren(all.section);
    all.show([...streams.values()]);
    document.title = "supersample watch";
  } else {
    if (!view || view.name !== link.name) {
      view = new StreamView(link.name, can);
      content.replaceChildren(...view.elements);
      view.take(streams.get(link.name));
    }
    if (link.alarm || link.query) view.go(link);
  }
  showNav();
}

function showNav() {
  nav.hidden = streams.size < 2;
  nav.querySelector("ul").replaceChildren(...[["", "All streams"], ...[...streams.values()].map((each) => [each.name, each.title])].map(([name, title]) => (
    el("li", {}, el("a", { href: `#/${name}`, "aria-current": (view ? view.name : "") === name ? "page" : null }, el("bdi", {}, title)))
  )));
}

function titled(status) {
  const mark = { changed: "⚠ ", same: "", learning: "" }[status.verdict];
  document.title = `${mark}${status.title} · supersample watch`;
}

const told = {
  connected: () => connected("live", "Live"),
  lost() {
    const since = new Date().toISOString().slice(11, 19);
    if (connection.dataset.state !== "lost") connected("lost", `Connection lost at ${since}. What you see may be old; trying again.`);
  },
  refused() {
    connected("", "");
    enter();
  },
  status(status) {
    const known = streams.has(status.name);
    streams.set(status.name, status);
    if (!known) show();
    else if (view === null) all.show([...streams.values()]);
    else if (view.name === status.name) view.take(status);
    if (view && view.name === status.name) titled(status);
  },
};

function connected(state, words) {
  connection.dataset.state = state;
  say(connection, words);
}

// Show the form to log in, or what the reader may see.
async function enter() {
  try {
    const { rights, login: asks } = await ask("/session");
    const reads = rights.includes("read");
    can.admin = rights.includes("admin");
    entrance.hidden = reads;
    content.hidden = !reads;
    logout.hidden = !(reads && asks);
    if (!reads) {
      document.getElementById("token").focus();
      return;
    }
    view = null;
    streams.clear();
    if (news) news();
    else news = listen(told);
  } catch {
    connected("lost", "The service does not answer. Reload the page to try again.");
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the hash says what is looked at
  document.getElementById("main").focus();
});
window.addEventListener("hashchange", show);
login(enter);
enter();
