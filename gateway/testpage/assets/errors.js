// Searches the errors, by words or by a message that was answered, and the guide
// with them.
import { at } from "./dom.js";
import { chaptersOf, fits, reasonsOf, showElsewhere } from "./find.js";

const reasons = reasonsOf(document);
const all = at("found").textContent;

for (const status of [...new Set(reasons.flatMap((r) => r.statuses))].sort()) {
  at("status").append(new Option(status, status));
}

function search() {
  const typed = at("words").value.trim();
  const status = at("status").value;
  let found = 0;
  for (const r of reasons) {
    const fit = fits(r, typed) && (!status || r.statuses.includes(status));
    r.elements[0].hidden = !fit;
    found += fit;
  }
  at("found").textContent = typed || status ? `${found} of ${reasons.length} reasons.` : all;
  at("nothing").hidden = found > 0;
  showElsewhere("guide", chaptersOf, typed);
}

function clear() {
  at("words").value = "";
  at("status").value = "";
  search();
}

at("words").addEventListener("input", search);
at("status").addEventListener("change", search);
at("search").addEventListener("submit", (event) => event.preventDefault());
at("clear").addEventListener("click", () => {
  clear();
  at("words").focus();
});
addEventListener("hashchange", () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  if (target.hidden) clear();
  target.scrollIntoView();
  target.focus({ preventScroll: true });
});
