// The guide: searched together with the errors, with the api_key of this tab in
// its examples, and what that key may call.

import { read } from "./description.js";
import { at, el } from "./dom.js";
import { chaptersOf, fits, reasonsOf, showElsewhere } from "./find.js";
import { ask, root, session, verify } from "./session.js";

const chapters = chaptersOf(document);
const before = [...at("text").children].filter((e) => !chapters.some((c) => c.elements.includes(e)));

function search() {
  const typed = at("words").value.trim();
  let found = 0;
  let above = []; // the headings that a chapter stands under
  for (const chapter of chapters) {
    const fit = fits(chapter, typed);
    const [heading] = chapter.elements;
    for (const e of chapter.elements) e.hidden = !fit;
    above = [...above.filter((h) => h.tagName < heading.tagName), heading];
    if (fit) for (const h of above) h.hidden = false;
    found += fit;
  }
  for (const e of before) e.hidden = Boolean(typed);
  at("found").textContent = typed ? `${found} of ${chapters.length} chapters` : "";
  for (const a of at("chapters").querySelectorAll("a")) a.parentElement.hidden = at(a.hash.slice(1))?.hidden ?? false;
  showElsewhere("errors", reasonsOf, typed);
}

async function showKey({ key }) {
  if (!key) return;
  for (const { firstChild: text } of at("text").querySelectorAll("pre code")) {
    const [example] = /(?<=export API_KEY=)\S+/.exec(text?.data) ?? [];
    if (!example) continue;
    const given = text.splitText(text.data.indexOf(example));
    given.splitText(example.length);
    given.replaceWith(el("span", { className: "secret", textContent: key }));
  }
  try {
    const { operations } = read(await ask(`openapi.json?api_key=${encodeURIComponent(key)}`));
    at("yours-none").hidden = true;
    at("yours").replaceChildren(...operations.map((o) => el("li", {}, el("a", { href: new URL(`testpage/explorer#${o.id}`, root), textContent: `${o.method} ${o.path}` }))));
  } catch {
    at("yours-none").textContent = "The api_key of this tab is not known here.";
  }
}

at("words").addEventListener("input", search);
at("search").addEventListener("submit", (event) => event.preventDefault());
at("chapters").addEventListener("click", (event) => {
  if (!event.target.hash || !at("words").value) return;
  at("words").value = "";
  search();
});
verify();
showKey(session());
