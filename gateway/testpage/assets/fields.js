// Form fields for the schemas of the description. Every field can be read,
// filled in, told that something is wrong with it, and focused. Examples are
// placeholders: nothing is in a field that nobody put there.

import { isNullable, resolve, typeOf } from "./description.js";
import { el } from "./dom.js";

let last = 0;
const fresh = () => `field-${++last}`;

const isTime = (s) => s.format === "date-time" || (s.pattern ?? "").startsWith("^\\d{4}-\\d{2}-\\d{2}(T");
const isBinary = (s) => s.contentEncoding === "base64" || s.format === "byte";
const isNumber = (s) => ["integer", "number"].includes(typeOf(s));
const choicesOf = (s) => s.enum?.filter((v) => v !== null) ?? (typeOf(s) === "integer" && s.minimum === 0 && s.maximum === 1 ? [0, 1] : []);
const exampleOf = (s) => s.examples?.[0] ?? s.example;

/** What a value looks like, in a few words. */
export function kindOf(s) {
  if (choicesOf(s).length > 0) return "";
  if (isTime(s)) return "time with zone, or a date";
  if (isBinary(s)) return "base64";
  const bounds = s.minimum !== undefined && s.maximum !== undefined ? ` from ${s.minimum} to ${s.maximum}` : "";
  switch (typeOf(s)) {
    case "integer": return `integer${bounds}`;
    case "number": return `number${bounds}`;
    case "array": return "several, with commas between";
    default: return s.maxLength && s.maxLength < 65535 ? `text, at most ${s.maxLength}` : "text";
  }
}

/** A time as the field of a calendar has it, with the zone of this browser. */
function zoned(local) {
  const minutes = -new Date(local).getTimezoneOffset();
  const two = (n) => String(Math.trunc(Math.abs(n))).padStart(2, "0");
  return `${local.length === 16 ? `${local}:00` : local}${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
}

/** What stands beside a field and helps to fill it in. */
function aids(context, s, name, input) {
  const put = (value) => {
    input.value = value;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  if (isTime(s)) {
    const calendar = el("input", { type: "datetime-local", className: "calendar", step: 1, tabIndex: -1, attr: { "aria-label": `${name}, calendar` } });
    calendar.addEventListener("change", () => {
      if (calendar.value) put(zoned(calendar.value));
      input.focus();
    });
    const open = el("button", { type: "button", className: "small aid", textContent: "Pick", attr: { "aria-label": `Pick ${name} from a calendar` } });
    open.addEventListener("click", () => calendar.showPicker());
    return [open, calendar];
  }
  if (isBinary(s)) {
    const file = el("input", { type: "file", className: "file", attr: { "aria-label": `${name}, from a file` } });
    file.addEventListener("change", () => {
      const reader = new FileReader();
      reader.onload = () => put(String(reader.result).split(",")[1] ?? "");
      if (file.files[0]) reader.readAsDataURL(file.files[0]);
    });
    return [file];
  }
  const resource = s["x-references"];
  if (resource && context.suggest) {
    const list = el("datalist", { id: fresh() });
    input.setAttribute("list", list.id);
    const suggest = async (typed) => {
      const options = await context.suggest(resource, typed);
      if (options.length > 0 && (!typed || input.value === typed)) list.replaceChildren(...options);
    };
    let soon = 0;
    input.addEventListener("focus", () => suggest(""), { once: true });
    input.addEventListener("input", () => {
      clearTimeout(soon);
      if (!/^\d*$/.test(input.value)) soon = setTimeout(suggest, 200, input.value);
    });
    return [list];
  }
  return [];
}

function control(s, o) {
  const choices = choicesOf(s);
  if (choices.length > 0) {
    const options = o.nullable ? [...choices, null] : choices;
    return el("select", {}, el("option", { value: "", textContent: "" }), options.map((v) => el("option", { value: JSON.stringify(v), textContent: v === null ? "null (empty it)" : String(v) })));
  }
  const example = o.example ?? exampleOf(s) ?? s.default;
  const placeholder = example === undefined || example === null ? "" : [example].flat().join(",").slice(0, 80);
  if (s.maxLength > 1000 && !isBinary(s)) return el("textarea", { rows: 2, placeholder });
  return el("input", {
    type: o.secret ? "password" : "text", placeholder, autocomplete: "off", spellcheck: false, autocapitalize: "off",
    inputMode: typeOf(s) === "integer" ? "numeric" : typeOf(s) === "number" ? "decimal" : "text",
  });
}

/** One value. o: name, required, example, secret, update (null can be sent), bare (no label of its own). */
export function scalar(context, schema, o) {
  const s = resolve(context.spec, schema) ?? {};
  const id = fresh();
  const nullable = Boolean(o.update) && isNullable(s);
  const input = Object.assign(control(s, { ...o, nullable }), { id });
  input.classList.add("mono");
  const problem = el("p", { id: `${id}-problem`, className: "problem", hidden: true });
  const description = (o.description ?? s.description ?? "").trim();
  const kind = context.searched(s["x-references"]) ? "id; type a name to search" : kindOf(s);
  const hint = el("p", { id: `${id}-hint`, className: "hint" }, description, description && kind ? " " : "", kind && el("i", { textContent: kind }));
  input.setAttribute("aria-describedby", `${problem.id} ${hint.id}`);
  if (o.required) input.setAttribute("aria-required", "true");
  if (o.bare) input.setAttribute("aria-label", o.bare);
  const empty = nullable && input.tagName !== "SELECT" && el("input", { type: "checkbox", attr: { "aria-label": `Send null for ${o.name}` } });
  empty && empty.addEventListener("change", () => input.disabled = empty.checked);
  const element = el("div", { className: "field" },
    !o.bare && el("div", { className: "name" },
      el("label", { htmlFor: id }, el("code", { textContent: o.name }), o.required && el("span", { className: "needed", textContent: " required" })),
      empty && el("label", { className: "null" }, empty, "null")),
    el("div", { className: "value" }, input, aids(context, s, o.name, input)), problem, !o.bare && hint);

  const text = () => input.tagName === "SELECT" && input.value ? String(JSON.parse(input.value)) : input.value;
  return {
    element, text,
    focus: () => input.focus(),
    locate: () => ({ focus: () => input.focus(), complain }),
    complain,
    read() {
      if (empty && empty.checked) return null;
      if (input.value === "") return undefined;
      if (input.tagName === "SELECT") return JSON.parse(input.value);
      if (typeOf(s) === "array") return input.value.split(",");
      return isNumber(s) && /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(input.value) && Number.isFinite(Number(input.value)) ? Number(input.value) : input.value;
    },
    fill(value) {
      if (empty) {
        empty.checked = value === null;
        input.disabled = value === null;
      }
      if (input.tagName === "SELECT") {
        const choice = [...input.options].find((option) => option.value && String(JSON.parse(option.value)) === String(value));
        input.value = choice?.value ?? "";
      } else {
        input.value = value === undefined || value === null ? "" : [value].flat().join(",");
      }
    },
  };
  function complain(message) {
    problem.textContent = message;
    problem.hidden = !message;
    if (message) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  }
}

function member(context, schema, o) {
  const s = resolve(context.spec, schema) ?? {};
  if (typeOf(s) === "object") return object(context, s, o);
  if (typeOf(s) === "array" && typeOf(resolve(context.spec, s.items)) === "object") return list(context, s, o);
  return scalar(context, s, o);
}

/** An object: what it requires first, what else it may have folded away. */
export function object(context, schema, o = {}) {
  const s = resolve(context.spec, schema);
  const required = new Set(s.required ?? []);
  const members = new Map(Object.entries(s.properties ?? {}).map(([name, property]) =>
    [name, member(context, property, { name, required: required.has(name), update: o.update })]));
  const pick = (wanted) => [...members].filter(([name]) => required.has(name) === wanted).map(([, m]) => m.element);
  const [first, rest] = [pick(true), pick(false)];
  const folded = rest.length > 3 && (first.length > 0 || o.name)
    ? el("details", { className: "more" }, el("summary", { textContent: `${rest.length} more fields` }), el("div", { className: "fields" }, rest)) : null;
  const inner = [el("div", { className: "fields" }, first, folded ? [] : rest), folded];
  const element = o.name ? el("fieldset", { className: "inner" }, el("legend", {}, el("code", { textContent: o.name }), o.remove), inner) : el("div", {}, inner);
  return {
    element,
    focus: () => element.querySelector("input, select, textarea")?.focus(),
    complain: (message) => members.forEach((m) => m.complain(message)),
    locate([name, ...below]) {
      const found = members.get(name)?.locate(below);
      return found && { ...found, focus: () => {
        if (folded && !required.has(name)) folded.open = true;
        found.focus();
      } };
    },
    read() {
      const value = {};
      for (const [name, m] of members) {
        const v = m.read();
        if (v !== undefined) value[name] = v;
      }
      return o.name && Object.keys(value).length === 0 ? undefined : value;
    },
    /** Fills the fields in; returns the names of those that there are none for. */
    fill(value) {
      const unknown = Object.keys(value ?? {}).filter((name) => !members.has(name));
      for (const [name, m] of members) {
        unknown.push(...(m.fill(value?.[name]) ?? []));
        if (folded && !required.has(name) && value?.[name] !== undefined) folded.open = true;
      }
      return unknown;
    },
  };
}

/** An array of objects, to which more can be added. */
function list(context, schema, o) {
  const items = [];
  const place = el("div");
  const add = el("button", { type: "button", className: "small", textContent: `Add one to ${o.name}` });
  const description = schema.description ? el("p", { className: "hint", textContent: schema.description }) : null;
  const element = el("fieldset", { className: "inner" }, el("legend", {}, el("code", { textContent: o.name }), o.required && el("span", { className: "needed", textContent: " required" })), description, place, add);
  const changed = () => element.dispatchEvent(new Event("input", { bubbles: true }));
  const draw = () => place.replaceChildren(...items.map((item) => item.element));
  const append = () => {
    const remove = el("button", { type: "button", className: "small", textContent: "Remove" });
    const item = object(context, schema.items, { name: `${o.name}[]`, remove, update: o.update });
    remove.addEventListener("click", () => {
      items.splice(items.indexOf(item), 1);
      number();
      changed();
      add.focus();
    });
    item.label = item.element.querySelector("legend code");
    remove.setAttribute("aria-label", "Remove this one");
    items.push(item);
    number();
    return item;
  };
  const example = context.element?.(o.name);
  const number = () => {
    items.forEach((item, i) => item.label.textContent = `${o.name}[${i}]`);
    draw();
  };
  add.addEventListener("click", () => {
    const item = append();
    if (example) item.fill(example);
    item.focus();
    changed();
  });
  return {
    element,
    focus: () => add.focus(),
    complain: (message) => items.forEach((item) => item.complain(message)),
    locate: ([index, ...below]) => items[index]?.locate(below) ?? { focus: () => add.focus(), complain() {} },
    read: () => items.length > 0 ? items.map((item) => item.read() ?? {}) : undefined,
    fill(value) {
      items.length = 0;
      draw();
      const unknown = (Array.isArray(value) ? value : []).flatMap((v) => append().fill(v));
      return unknown;
    },
  };
}
