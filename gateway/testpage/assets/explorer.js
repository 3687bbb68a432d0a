// The API explorer: what the api_key may call, found by typing; each operation
// with its form, and the answer beside it. It is made from the OpenAPI
// description, and of one operation at a time.

import { addressOf, send, showAnswer } from "./answer.js";
import "./copy.js";
import { changes, parametersOf, read, resolve, searcher, typeOf, typesOf } from "./description.js";
import { at, el, prose } from "./dom.js";
import { remember, showHistory } from "./history.js";
import { requestForm } from "./request.js";
import { languages } from "./samples.js";
import { announce, ask, complain, root, session, verify } from "./session.js";

let api = null;
let search = null;
let open = null; // {operation, form}
let decide = () => {}; // answers whether what was asked about is to be deleted
const { environment, fill } = at("explorer").dataset;

/** The operations in groups, or those that were found, with the fields that were meant. */
function list(hits) {
  const groups = new Map();
  for (const hit of hits) groups.set(hit.operation.module, [...(groups.get(hit.operation.module) ?? []), hit]);
  at("operations").replaceChildren(...[...groups].map(([module, some]) =>
    el("section", { attr: { "aria-label": module } }, el("h3", { textContent: module }), el("ul", {}, some.map(entry)))));
}

function entry({ operation: o, meant }) {
  const said = meant.length > 0 ? `has ${meant.join(", ")}` : o.summary;
  return el("li", {}, el("a", { href: `#${o.id}`, attr: { "aria-current": open?.operation === o && "page" } },
    method(o), " ", el("code", { textContent: o.path }), el("span", { className: "what", textContent: said })));
}

const narrow = () => matchMedia("(max-width: 60rem)").matches;

const method = (o) => el("span", { className: `method ${o.method.toLowerCase()}`, textContent: o.method });

function find() {
  const text = at("words").value;
  search ??= searcher(api);
  const hits = search(text);
  list(hits);
  at("found").textContent = text.trim() ? `${hits.length} of ${api.operations.length} operations` : `${api.operations.length} operations`;
  at("nothing").hidden = hits.length > 0;
}

/** Makes arrow keys go through the operations. */
function step(event) {
  const links = [...at("operations").querySelectorAll("a")];
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || links.length === 0) return;
  const next = links.indexOf(document.activeElement) + by;
  event.preventDefault();
  (next < 0 ? at("words") : links[Math.min(next, links.length - 1)]).focus();
}

/** Opens what the address names: #createOrder, one of its answers, #createOrder/403, or a search, #find=/order. */
function route() {
  if (location.hash.startsWith("#find=")) {
    at("words").value = decodeURIComponent(location.hash.slice("#find=".length));
    find();
    return;
  }
  const [id, status] = decodeURIComponent(location.hash.slice(1)).split("/");
  const operation = api.byId.get(id);
  if (!operation && id !== "") return; // a place on the page
  if (!operation) close();
  else if (open?.operation !== operation) show(operation);
  const answer = status && at(`answers-${status}`);
  if (answer) {
    at("answers").open = answer.open = true;
    answer.querySelector("summary").focus();
  }
}

function close() {
  open = null;
  at("operation").hidden = true;
  at("welcome").hidden = false;
  document.body.removeAttribute("data-open");
  mark();
}

function mark() {
  for (const a of at("operations").querySelectorAll("a")) {
    if (open && a.hash === `#${open.operation.id}`) {
      a.setAttribute("aria-current", "page");
      if (!narrow()) reveal(a);
    } else a.removeAttribute("aria-current");
  }
}

/** Scrolls the list, and not the page, to an operation that is out of its sight. */
function reveal(link) {
  const list = link.closest(".find");
  const { top, bottom } = link.getBoundingClientRect();
  const seen = list.getBoundingClientRect();
  if (top < seen.top || bottom > seen.bottom) list.scrollTop += top - seen.top - seen.height / 3;
}

function show(operation) {
  const form = requestForm({ spec: api.spec, suggest, searched, fill: fill !== undefined }, operation);
  open = { operation, form };
  document.body.dataset.open = "";
  at("welcome").hidden = true;
  at("operation").hidden = false;
  at("operation").dataset.id = operation.id;
  at("operation-name").replaceChildren(method(operation), " ", el("code", { textContent: operation.path }));
  at("operation-about").replaceChildren(el("p", { textContent: `${operation.summary}.` }), el("details", { className: "more" }, el("summary", { textContent: "What to know" }), prose(operation.description)));
  at("fields").replaceChildren(...form.elements);
  at("no-fields").hidden = form.elements.length > 0;
  at("send").textContent = `Send ${operation.method}`;
  at("send").className = operation.method === "DELETE" ? "primary danger" : "primary";
  at("send-hint").textContent = changes(operation) && operation.path !== "/authenticate" ? `This may change records in ${environment}.` : "";
  at("answer").replaceChildren(el("p", { className: "quiet", textContent: "Nothing was sent yet." }));
  at("answers-list").replaceChildren(...answers(operation));
  at("answers").open = false;
  if (fill !== undefined) form.exemplify();
  sample();
  mark();
  at("operation").focus({ preventScroll: true });
  scrollTo(0, narrow() ? 0 : Math.min(scrollY, at("explorer").offsetTop));
}

/** The answers that an operation is described to give, each with a link to it. */
function answers(operation) {
  return Object.entries(operation.responses).map(([status, response]) => {
    const r = resolve(api.spec, response);
    const reasons = r["x-reasons"] ?? [];
    const schema = resolve(api.spec, r.content?.["application/json"]?.schema);
    const says = r.description.split("\n")[0];
    return el("details", { id: `answers-${status}`, className: "more" },
      el("summary", {}, el("span", { className: `status ${status < "400" ? "good" : "refused"}`, textContent: status }), ` ${says}`),
      el("p", {}, el("a", { href: `#${operation.id}/${status}`, textContent: "Link to this answer" })),
      reasons.length > 0 && el("ul", { className: "points" }, reasons.map((reason) => el("li", {}, el("a", { href: new URL(`errors#${reason}`, root), textContent: reason })))),
      reasons.length === 0 && schema && fieldTable(schema));
  });
}

function fieldTable(schema) {
  const inner = resolve(api.spec, schema.properties?.data ?? schema);
  const shown = resolve(api.spec, inner.items ?? inner);
  return el("dl", { className: "facts" }, Object.entries(shown.properties ?? {}).map(([name, p]) => {
    const s = resolve(api.spec, p);
    return el("div", {}, el("dt", { textContent: name }), el("dd", {}, s.description ?? "", " ", el("i", { textContent: [typeOf(s), s.enum?.filter((v) => v !== null).join(", "), typesOf(s).includes("null") && "or null"].filter(Boolean).join(", ") })));
  }));
}

// What a record is known by.
const names = ["number", "name", "first_name", "last_name", "license_plate", "code", "description", "brand"];
const label = (record) => names.map((f) => record[f]).filter(Boolean).slice(0, 2).join(", ");

/** The parameters of the list of a resource that can be searched; undefined where there is none. */
function searched(resource) {
  const list = api.operations.find((o) => o.method === "GET" && o.path === `/${resource}`);
  const parameters = list && parametersOf(api.spec, list);
  return parameters?.some((p) => p.required) ? undefined : parameters;
}

/** Suggests records for a reference: their ids, with a text to know them by. The first ones, or those that have what was typed in a name. */
async function suggest(resource, typed) {
  const parameters = searched(resource);
  const { token } = session();
  if (!parameters || !token) return [];
  const within = names.map((f) => parameters.find((p) => p.name === `${f}[contains]`)).filter((p) => p && typed.length >= p.schema.minLength).slice(0, 3);
  const searches = typed ? within.map((p) => ({ [p.name]: typed, page_size: 20 })) : [{ page_size: 100 }];
  try {
    const pages = await Promise.all(searches.map((query) => ask(`${resource}?${new URLSearchParams(query)}`, { token })));
    const found = new Map(pages.flatMap(({ data }) => data).map((record) => [record.id, record]));
    return [...found.values()].map((record) => el("option", { value: record.id, textContent: label(record) }));
  } catch {
    return []; // without suggestions the id is typed
  }
}

/** Shows the request as code, in the language that was chosen. */
function sample() {
  if (!open) return;
  const request = open.form.read();
  request.query = request.query.map(([name, value]) => [name, name === "password" ? "…" : value]);
  const [, write] = languages[at("language").selectedIndex];
  at("sample").textContent = write({ ...request, url: addressOf(request, api.base) });
}

async function submit(event) {
  event?.preventDefault();
  const { operation, form } = open;
  form.clear();
  if (form.lack()) return;
  const request = form.read();
  if (operation.method === "DELETE" && !await confirmed(request)) return;
  const button = at("send");
  button.setAttribute("aria-disabled", "true"); // disabled it would lose the focus
  at("answer").setAttribute("aria-busy", "true");
  try {
    const answer = await send(request, session().token);
    if (open.operation !== operation) return;
    const errors = showAnswer(answer, {
      locate: form.locate, body: form.body,
      follow(query) {
        form.fill({ ...request, query: [...query] });
        sample();
        submit();
        button.focus();
      },
    });
    remember(operation, request, answer);
    const { top } = at("answer").parentElement.getBoundingClientRect();
    if (narrow() || top < 0 || top > innerHeight / 2) at("answer").parentElement.scrollIntoView();
    announce(errors.length > 0 ? `${answer.status}: ${errors[0].message}` : `${answer.status}, after ${answer.ms} ms`);
    if (answer.status === 401 || operation.path === "/authenticate/logout") verify();
  } catch {
    at("answer").replaceChildren(el("p", { className: "problem", textContent: "The service does not answer. Is it running, and are you online?" }));
    announce("The service does not answer.");
  } finally {
    button.removeAttribute("aria-disabled");
    at("answer").removeAttribute("aria-busy");
  }
}

/** Asks before something is deleted. */
function confirmed(request) {
  const dialog = at("confirm");
  decide(false); // the time before, of which the page may not have been told yet
  at("confirm-what").textContent = `${request.path.slice(1).replace("/", " ")}, in ${environment}`;
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((answer) => decide = answer);
}

/** Fills in a request of the history; what only reads is sent at once. */
function again({ id, request }) {
  const operation = api.byId.get(id);
  if (!operation) return;
  if (open?.operation !== operation) {
    history.pushState(null, "", `#${id}`);
    show(operation);
  }
  open.form.fill(request);
  sample();
  at("send").focus();
  if (!changes(operation)) submit();
}

async function start() {
  const { key } = session();
  at("no-key").hidden = Boolean(key);
  if (!key) return;
  at("loading").hidden = false;
  try {
    api = read(await ask(`openapi.json?api_key=${encodeURIComponent(key)}`));
  } catch (problem) {
    complain("explorer-problem", problem);
    return;
  } finally {
    at("loading").hidden = true;
  }
  at("explorer").hidden = false;
  list(api.operations.map((operation) => ({ operation, meant: [] })));
  at("found").textContent = `${api.operations.length} operations`;
  at("language").replaceChildren(...languages.map(([name]) => el("option", { textContent: name })));
  at("language").value = sessionStorage.getItem("frontdesk-language") ?? "curl";
  listen();
  showHistory(again);
  route();
}

function listen() {
  at("words").addEventListener("input", find);
  at("find").addEventListener("keydown", step);
  at("search").addEventListener("submit", (event) => {
    event.preventDefault();
    at("operations").querySelector("a")?.click();
  });
  at("form").addEventListener("submit", submit);
  at("confirm").addEventListener("close", ({ target }) => target.open || decide(target.returnValue === "delete"));
  let due = 0;
  at("form").addEventListener("input", () => due ||= requestAnimationFrame(() => {
    due = 0;
    sample();
  }));
  at("language").addEventListener("change", () => {
    sessionStorage.setItem("frontdesk-language", at("language").value);
    sample();
  });
  at("all").addEventListener("click", () => at("words").focus());
  addEventListener("hashchange", route);
}

verify();
start();
