// What was sent from this tab: kept as long as the tab and the session, without
// answers, and without what a login is made of.

import { at, el } from "./dom.js";
import { watch } from "./session.js";

const slot = "frontdesk-history";
const most = 30;
const withheld = new Set(["api_key", "password"]);
let entries = JSON.parse(sessionStorage.getItem(slot) ?? "[]");
let redo = () => {};

const keep = () => {
  sessionStorage.setItem(slot, JSON.stringify(entries));
  draw();
};

export function remember(operation, request, { status, ms }) {
  const query = request.query.filter(([name]) => !withheld.has(name));
  // Of a body that may hold a file only the beginning would be of use, so none of it is kept.
  const body = request.body?.length > 20_000 ? undefined : request.body;
  entries = [{ id: operation.id, at: Date.now(), status, ms, request: { ...request, query, body } }, ...entries].slice(0, most);
  keep();
}

/** Shows the history, and calls f(entry) for what is to be done again. */
export function showHistory(f) {
  redo = f;
  draw();
  watch(({ token }) => {
    if (token || entries.length === 0 || entries.every((e) => !e.request.token)) return;
    entries = []; // signed out: nothing of the client's is left in the tab
    keep();
  });
}

function draw() {
  at("history-none").hidden = entries.length > 0;
  at("history").replaceChildren(...entries.map((entry) => {
    const target = entry.request.path + (entry.request.query.length > 0 ? `?${decodeURIComponent(new URLSearchParams(entry.request.query))}` : "");
    return el("li", {},
      el("span", { className: `status ${entry.status < 400 ? "good" : "refused"}`, textContent: entry.status }),
      el("span", { className: "sent" }, el("code", { textContent: `${entry.request.method} ${target}` }), el("span", { className: "where", textContent: `${new Date(entry.at).toLocaleTimeString("en-GB")}, ${entry.ms} ms` })),
      el("button", { type: "button", className: "small", textContent: "Again", attr: { "aria-label": `Again: ${entry.request.method} ${target}` }, onclick: () => redo(entry) }));
  }));
}
