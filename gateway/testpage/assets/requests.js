// The last refusals of this tab's session.

import { at, el } from "./dom.js";
import { ask, complain, root, session, verify, watch } from "./session.js";

async function show() {
  const { token } = session();
  at("refusals").replaceChildren();
  at("found").textContent = "";
  if (!token) return;
  try {
    const { data } = await ask("testpage/requests", { token, Accept: "application/json" });
    at("found").textContent = data.length ? `${data.length} refused, the last at ${when(data[0])}.` : "Nothing was refused yet.";
    at("refusals").replaceChildren(...data.map(refusal));
    complain("problem", null);
  } catch (problem) {
    complain("problem", problem);
  }
}

const when = ({ at }) => new Date(at).toLocaleTimeString();
const named = (title, value) => value && el("div", {}, el("dt", { textContent: title }), el("dd", {}, value));
const codes = (names) => names.length > 0 && names.flatMap((n, i) => [i > 0 && ", ", el("code", { textContent: n })]).filter(Boolean);

function refusal(r) {
  const name = `refused-${r.request_id}`;
  return el("article", { className: "reason", attr: { "aria-labelledby": name } },
    el("h2", { id: name, textContent: `${r.method} ${r.endpoint || "no such endpoint"}` }),
    el("ul", { className: "rows" }, el("li", {}, el("span", { className: `status s${r.status}`, textContent: r.status }),
      el("span", {}, el("code", { textContent: r.message }), el("span", { className: "where" }, `${when(r)} · `, el("a", { href: new URL(`errors#${r.reason}`, root), textContent: r.reason }))))),
    el("dl", {}, named("Fields", codes(r.fields)), named("Query", codes(r.parameters)), named("Cause", r.cause), named("Cure", r.cure), named("Id", el("code", { textContent: r.request_id }))));
}

let shown = null;
watch(({ token }) => {
  if (token === shown) return;
  shown = token;
  show();
});
at("again").addEventListener("click", show);
verify();
