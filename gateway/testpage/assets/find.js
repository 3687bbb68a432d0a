// Searching the guide and the page of errors together: each searches itself, and
// shows what fits on the other.

import { at, el } from "./dom.js";
import { root } from "./session.js";

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
const plain = (nodes) => nodes.map((n) => n.textContent).join(" ").toLowerCase().replace(/\s+/g, " ");

/** The reasons of a page of errors. A message that was answered fits too, since the placeholders match anything. */
export const reasonsOf = (page) => [...page.querySelectorAll(".reason")].map((element) => ({
  elements: [element],
  title: element.id,
  link: `errors#${element.id}`,
  text: plain([element]),
  statuses: element.dataset.status.split(" "),
  messages: [...element.querySelectorAll(".rows code")].map((code) => new RegExp("^" + escape(code.textContent).replace(/<[a-z]+>/g, ".*") + "$", "is")),
}));

/** The chapters of a guide: each heading with what follows it. */
export function chaptersOf(page) {
  const chapters = [];
  for (const e of page.querySelectorAll("#text > *")) {
    if (/^H[2-4]$/.test(e.tagName)) chapters.push({ elements: [], title: e.textContent, link: `guide#${e.id}`, messages: [] });
    chapters.at(-1)?.elements.push(e);
  }
  for (const c of chapters) c.text = plain(c.elements);
  return chapters;
}

/** Does an entry have all words, or is it the reason of a message? */
export function fits(entry, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return words.every((w) => entry.text.includes(w)) || entry.messages.some((m) => m.test(typed));
}

let other = null;

/** Shows what fits on the other page, which is asked for at the first search. */
export async function showElsewhere(page, entriesOf, typed) {
  if (typed) other ??= fetch(new URL(page, root), { referrerPolicy: "no-referrer" }).then((a) => a.text()).then((html) => entriesOf(new DOMParser().parseFromString(html, "text/html")));
  const found = typed ? (await other).filter((entry) => fits(entry, typed)) : [];
  if (at("words").value.trim() !== typed) return; // somebody typed on
  at("elsewhere").hidden = found.length === 0;
  at("elsewhere-list").replaceChildren(...found.slice(0, 12).map(({ title, link }) => el("li", {}, el("a", { href: new URL(link, root), textContent: title }))));
}
