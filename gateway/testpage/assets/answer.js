// An answer, and what is to be said of it: status, time, headers, and of an
// error its cause and cure, which are those of the page of errors.

import { at, el } from "./dom.js";
import { root } from "./session.js";

/** Sends a request of this tab. The answer's text is read, or its bytes where it is a file. */
export async function send(request, token) {
  const headers = new Headers(request.headers);
  if (request.token && token) headers.set("token", token);
  if (request.body !== undefined) headers.set("Content-Type", "application/json");
  const started = performance.now();
  const answer = await fetch(addressOf(request, root.href), { method: request.method, headers, body: request.body, cache: "no-store", referrerPolicy: "no-referrer" });
  const type = answer.headers.get("Content-Type") ?? "";
  const blob = await answer.blob();
  return {
    status: answer.status, ms: Math.round(performance.now() - started), headers: [...answer.headers], size: blob.size,
    text: /json|text/.test(type) ? await blob.text() : null, blob, type,
    name: /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "")?.[1] ?? "answer",
  };
}

/** The address of a request below a base address. */
export function addressOf(request, base) {
  const query = new URLSearchParams(request.query).toString();
  return base.replace(/\/$/, "") + request.path + (query ? `?${query}` : "");
}

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const sized = (n) => n < 1024 ? `${n} bytes` : `${(n / 1024).toFixed(1)} KiB`;

/** Causes and cures by reason, out of the page of errors; asked for at the first error. */
let causes = null;
async function explain(reason) {
  causes ??= fetch(new URL("errors", root), { referrerPolicy: "no-referrer" }).then((a) => a.text()).then((html) => new DOMParser().parseFromString(html, "text/html"));
  const [cause, cure] = (await causes).getElementById(reason)?.querySelectorAll("dd") ?? [];
  return cause && { cause: cause.textContent, cure: cure.textContent };
}

/** Shows an answer. locate finds the field of an error, body is the form of the body, follow sends the query of the next page. */
export function showAnswer(answer, { locate, body, follow }) {
  const json = answer.text === null ? undefined : parsed(answer.text);
  const good = answer.status < 400 && !json?.errorCode;
  const errors = json?.errorCode ? json.errors ?? [json] : [];
  const pretty = json === undefined ? answer.text : JSON.stringify(json, null, 2);
  at("answer").replaceChildren(
    el("p", { className: "outcome" }, el("span", { className: `status s${answer.status} ${good ? "good" : "refused"}`, textContent: answer.status }), ` ${answer.ms} ms, ${sized(answer.size)}`),
    ...[...Map.groupBy(errors, (error) => error.reason)].map(([reason, some]) => refusal(reason, some, { locate, body })),
    el("div", { className: "row tools" },
      json?.next && el("button", { type: "button", className: "small", id: "next-page", textContent: "Next page", onclick: () => follow(new URL(json.next, root).searchParams) }),
      answer.text === null && answer.size > 0 && el("a", { className: "button small", href: URL.createObjectURL(answer.blob), download: answer.name, textContent: `Save ${answer.name}` })),
    pretty ? el("div", { className: "code" }, el("button", { type: "button", className: "small", data: { copy: "answer-body" }, textContent: "Copy" }),
      el("pre", { id: "answer-body", tabIndex: 0, attr: { role: "group", "aria-label": "Body of the answer" }, textContent: pretty })) : null,
    el("details", { className: "more" }, el("summary", { textContent: "Headers of the answer" }),
      el("pre", { tabIndex: 0, attr: { role: "group", "aria-label": "Headers of the answer" }, textContent: answer.headers.map(([n, v]) => `${n}: ${v}`).join("\n") })));
  for (const e of [...at("answer").children]) if (!e.hasChildNodes()) e.remove();
  return errors;
}

/** What was refused for one reason: each message with the way to its field, then cause and cure. */
function refusal(reason, errors, { locate, body }) {
  const why = el("dl", { className: "why" });
  explain(reason).then((help) => {
    if (!help) return;
    why.replaceChildren(el("div", {}, el("dt", { textContent: "Cause" }), el("dd", { textContent: help.cause })), el("div", {}, el("dt", { textContent: "Cure" }), el("dd", { textContent: help.cure })));
  });
  return el("div", { className: "refusal" }, errors.map((error) => problemOf(error, { locate, body })), why,
    el("p", {}, el("a", { href: new URL(`errors#${reason}`, root), textContent: reason })));
}

function problemOf(error, { locate, body }) {
  const field = locate(error.field);
  if (field) field.complain(error.message);
  const go = (text, onclick) => el("button", { type: "button", className: "small", textContent: text, onclick });
  return el("p", { className: "row tools" }, el("strong", { textContent: error.message }),
    field && go(`Go to ${error.field}`, () => field.focus()),
    error.position && body && go(`Go to line ${error.position.line}, column ${error.position.column}`, () => body.go(error.position)));
}
