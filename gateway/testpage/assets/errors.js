// Searches the errors. A message that was answered finds its reason too, since
// the placeholders of the interface match anything.
const at = (id) => document.getElementById(id);
const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const reasons = [...document.querySelectorAll(".reason")].map((element) => ({
  element,
  text: element.textContent.toLowerCase().replace(/\s+/g, " "),
  statuses: element.dataset.status.split(" "),
  messages: [...element.querySelectorAll(".rows code")].map((code) => new RegExp("^" + escape(code.textContent).replace(/<[a-z]+>/g, ".*") + "$", "is")),
}));
const all = at("found").textContent;

for (const status of [...new Set(reasons.flatMap((r) => r.statuses))].sort()) {
  at("status").append(new Option(status, status));
}

function search() {
  const typed = at("words").value.trim();
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const status = at("status").value;
  let found = 0;
  for (const r of reasons) {
    const fits = (words.every((w) => r.text.includes(w)) || r.messages.some((m) => m.test(typed))) && (!status || r.statuses.includes(status));
    r.element.hidden = !fits;
    found += fits;
  }
  at("found").textContent = words.length || status ? `${found} of ${reasons.length} reasons.` : all;
  at("nothing").hidden = found > 0;
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
