// The form of one operation: its parameters and its body, and the request that
// they make.

import { bodySchema, changes, isOpen, parametersOf } from "./description.js";
import { el } from "./dom.js";
import { object, scalar } from "./fields.js";

const operators = {
  "": "is", gte: "at least", gt: "above", lte: "at most", lt: "below", in: "is one of", null: "is empty (1), is not (0)", contains: "contains",
};
const split = (name) => /^([^[]+)(?:\[(\w+)\])?$/.exec(name)?.slice(1) ?? [name];
const exampleOf = (p) => Object.values(p.examples ?? {})[0]?.value;
const secret = (name) => name === "password";

/** Sets the filters of a list apart: they are added one by one, for there are a hundred. */
function apart(parameters) {
  const fields = new Map();
  for (const p of parameters) if (p.in === "query" && split(p.name)[1]) fields.set(split(p.name)[0], []);
  const plain = [];
  for (const p of parameters) {
    const [field] = split(p.name);
    if (p.in === "query" && !p.required && fields.has(field)) fields.get(field).push(p);
    else plain.push(p);
  }
  return { plain, filters: fields };
}

/** The form of an operation. */
export function requestForm(context, operation) {
  const { plain, filters } = apart(parametersOf(context.spec, operation));
  const controls = new Map(plain.map((p) => [`${p.in} ${p.name}`, { parameter: p, ...scalar(context,
    // What is to be changed is typed; what is read may be suggested.
    p.in === "path" && changes(operation) ? { ...p.schema, "x-references": undefined } : p.schema,
    { name: p.name, required: p.required, description: p.description, example: exampleOf(p), secret: secret(p.name) }) }]));
  const needed = plain.filter((p) => p.required).map((p) => controls.get(`${p.in} ${p.name}`).element);
  const optional = plain.filter((p) => !p.required);
  const folded = optional.filter((p) => p.in === "header" || operation.requestBody);
  const open = optional.filter((p) => !folded.includes(p));
  const element = (p) => controls.get(`${p.in} ${p.name}`).element;
  const filter = filters.size > 0 ? filterForm(context, filters) : null;
  const schema = bodySchema(context.spec, operation);
  const body = schema ? bodyForm(context, operation, schema) : null;

  return {
    elements: [
      needed.length > 0 && el("div", { className: "fields" }, needed),
      filter?.element, body?.element,
      open.length > 0 && (operation.requestBody || open.length > 7 ? null : el("div", { className: "fields pairs" }, open.map(element))),
      open.length > 7 && el("details", { className: "more" }, el("summary", { textContent: `${open.length} parameters` }), el("div", { className: "fields" }, open.map(element))),
      folded.length > 0 && el("details", { className: "more" }, el("summary", { textContent: folded.map((p) => p.name).join(", ") }), el("div", { className: "fields" }, folded.map(element))),
    ].filter(Boolean),

    /** What keeps the request from being sent, shown beside the field; "" where nothing does. */
    lack() {
      for (const { parameter, text, complain, focus } of controls.values()) {
        if (parameter.in !== "path" || text() !== "") continue;
        complain(`Type the ${parameter.name} first.`);
        focus();
        return parameter.name;
      }
      return "";
    },

    /** The request as it stands: {method, path, query, headers, body, token}. */
    read() {
      let path = operation.path;
      const query = [];
      const headers = [];
      for (const { parameter, text } of controls.values()) {
        const value = text();
        if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, value === "" ? `{${parameter.name}}` : encodeURIComponent(value));
        else if (value !== "") (parameter.in === "header" ? headers : query).push([parameter.name, value]);
      }
      query.push(...filter?.read() ?? []);
      return { method: operation.method, path, query, headers, body: body?.read(), token: !isOpen(operation) };
    },

    /** Fills in what was sent before. */
    fill(request) {
      const inPath = new RegExp(`^${operation.path.replace(/\{(\w+)\}/, "(?<$1>[^/]+)")}$`).exec(request.path)?.groups ?? {};
      const left = [...request.query];
      for (const { parameter: p, fill } of controls.values()) {
        const place = left.findIndex(([name]) => name === p.name);
        const queried = p.in === "query" && place >= 0 ? left.splice(place, 1)[0][1] : undefined;
        fill({ path: inPath[p.name] && decodeURIComponent(inPath[p.name]), query: queried, header: request.headers.find(([name]) => name === p.name)?.[1] }[p.in]);
      }
      filter?.fill(left);
      body?.fill(request.body);
    },

    /** Fills in the examples of the description; only the demo has ones to be sent. */
    exemplify() {
      for (const { parameter, fill } of controls.values()) if (parameter.required) fill(exampleOf(parameter));
      body?.exemplify();
    },

    /** Takes back what was said of fields. */
    clear() {
      for (const { complain } of controls.values()) complain("");
      body?.complain("");
    },

    /** The field that an error names: {focus, complain}. */
    locate(name) {
      if (!name) return null;
      const own = controls.get(`query ${name}`) ?? controls.get(`path ${name}`) ?? controls.get(`header ${name}`);
      return own ?? filter?.locate(name) ?? body?.locate(name.split(/[.[\]]+/).filter(Boolean)) ?? null;
    },
    body,
  };
}

function filterForm(context, filters) {
  const rows = [];
  const place = el("div");
  const add = el("button", { type: "button", className: "small", textContent: "Add a filter" });
  const element = el("fieldset", { className: "filters" }, el("legend", { textContent: "Filters" }), place, add);
  const changed = () => element.dispatchEvent(new Event("input", { bubbles: true }));
  const append = (field = "", operator = "", value = undefined) => {
    const row = { control: null };
    const which = el("select", { attr: { "aria-label": "Field to filter by" } }, [...filters.keys()].map((name) => el("option", { textContent: name, value: name })));
    const how = el("select", { attr: { "aria-label": "How" } });
    const slot = el("div", { className: "grow" });
    const remove = el("button", { type: "button", className: "small", textContent: "×", attr: { "aria-label": "Remove this filter" } });
    row.element = el("div", { className: "filter" }, which, how, slot, remove);
    const choose = () => {
      const p = filters.get(which.value).find((q) => (split(q.name)[1] ?? "") === how.value);
      row.parameter = p;
      row.control = scalar(context, p.schema, { name: p.name, bare: `Value of ${p.name}` });
      slot.replaceChildren(row.control.element);
    };
    const list = () => {
      how.replaceChildren(...filters.get(which.value).map((q) => split(q.name)[1] ?? "").map((name) => el("option", { value: name, textContent: operators[name] ?? name })));
      choose();
    };
    which.addEventListener("change", list);
    how.addEventListener("change", choose);
    remove.addEventListener("click", () => {
      rows.splice(rows.indexOf(row), 1);
      row.element.remove();
      changed();
      add.focus();
    });
    which.value = field || [...filters.keys()].find((name) => name !== "id") || "id"; // which has an endpoint of its own
    list();
    if (field) {
      how.value = operator;
      choose();
      row.control.fill(value);
    }
    rows.push(row);
    place.append(row.element);
    return which;
  };
  add.addEventListener("click", () => {
    append().focus();
    changed();
  });
  return {
    element,
    read: () => rows.map((row) => [row.parameter.name, row.control.text()]).filter(([, value]) => value !== ""),
    fill(query) {
      rows.length = 0;
      place.replaceChildren();
      for (const [name, value] of query) {
        const [field, operator = ""] = split(name);
        if (filters.get(field)?.some((p) => p.name === name)) append(field, operator, value);
      }
    },
    locate: (name) => rows.find((row) => row.parameter.name === name || split(row.parameter.name)[0] === name)?.control,
  };
}

/** The examples of a body, by name: those of many records are one of the operation on one. */
function examplesOf(spec, operation) {
  const one = operation.method === "POST" && spec.paths[operation.path.replace(/\/bulk$/, "")]?.post;
  const many = one && one.operationId !== operation.id;
  const examples = (many ? one : operation).requestBody?.content["application/json"].examples ?? {};
  return Object.entries(examples).map(([name, { value }]) => [name.replaceAll("_", " "), many ? { records: [value] } : value]);
}

/** A body as a form, or as JSON that is typed: what was done in the one goes along to the other. */
function bodyForm(context, operation, schema) {
  const examples = examplesOf(context.spec, operation);
  const form = object({ ...context, element: (name) => context.fill && examples.map(([, value]) => value[name]?.[0]).find(Boolean) }, schema, { update: operation.method === "PUT" });
  const text = el("textarea", { className: "mono json", rows: 12, spellcheck: false, id: "body-json", attr: { "aria-describedby": "body-problem" } });
  const asForm = el("input", { type: "radio", name: "body-as", id: "body-as-form", checked: true });
  const asText = el("input", { type: "radio", name: "body-as", id: "body-as-json" });
  const problem = el("p", { className: "problem", id: "body-problem", hidden: true, attr: { role: "alert" } });
  const typed = el("div", { hidden: true }, el("label", { htmlFor: text.id, className: "unseen", textContent: "Body as JSON" }), text);
  const say = (message) => {
    problem.textContent = message;
    problem.hidden = !message;
  };
  const pretty = (value) => JSON.stringify(value, null, 2);
  const show = (json) => {
    typed.hidden = !json;
    form.element.hidden = json;
    asText.checked = json;
    asForm.checked = !json;
    say("");
  };
  asText.addEventListener("change", () => {
    text.value = pretty(form.read());
    show(true);
  });
  asForm.addEventListener("change", () => {
    let value;
    try {
      value = text.value.trim() ? JSON.parse(text.value) : {};
    } catch {
      show(true);
      say("This is not valid JSON yet, so it has no form.");
      return;
    }
    const unknown = form.fill(value);
    show(unknown.length > 0);
    if (unknown.length > 0) say(`The form has no field ${unknown.join(", ")}.`);
  });
  const choice = el("select", { attr: { "aria-label": "Fill in an example" } }, ["no example", ...examples.map(([name]) => name)].map((name, i) => el("option", { value: i || "", textContent: name })));
  choice.addEventListener("change", () => fill(examples[choice.value - 1]?.[1] ?? {}));
  const element = el("fieldset", { className: "body" }, el("legend", { textContent: "Body" }),
    el("div", { className: "tabs as" }, examples.length > 0 && choice, asForm, el("label", { htmlFor: asForm.id, textContent: "Form" }), asText, el("label", { htmlFor: asText.id, textContent: "JSON" })),
    form.element, typed, problem);
  const fill = (value) => {
    const unknown = form.fill(value);
    text.value = pretty(value);
    show(unknown.length > 0);
  };
  return {
    element,
    read() {
      const json = asText.checked ? text.value : pretty(form.read());
      return operation.requestBody.required || !["", "{}"].includes(json.trim()) ? json : undefined;
    },
    fill(json) {
      try {
        fill(JSON.parse(json));
      } catch {
        text.value = json ?? "";
        show(Boolean(json));
      }
    },
    /** The example that has most: that with the lines. */
    exemplify() {
      const most = examples.reduce((best, [, value], i) => JSON.stringify(value).length > JSON.stringify(examples[best]?.[1] ?? "").length ? i : best, 0);
      choice.value = examples.length > 0 ? most + 1 : "";
      choice.dispatchEvent(new Event("change"));
    },
    complain: (message) => form.complain(message),
    locate: (path) => asText.checked ? { focus: () => text.focus(), complain() {} } : form.locate(path),
    /** Shows a position in the JSON that was typed. */
    go({ line, column }) {
      const from = text.value.split("\n").slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0) + column - 1;
      text.focus();
      text.setSelectionRange(from, from + 1);
    },
  };
}
