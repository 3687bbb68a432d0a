// The api_key and the session of this tab. They live in sessionStorage, which
// ends with the tab; nothing is ever put into a cookie, localStorage or the
// address of a page.

/** The base address of the interface, with a slash at the end. */
export const root = new URL("../../", import.meta.url);

const ttl = Number(document.documentElement.dataset.ttl) * 1000;
const slot = "frontdesk";
const none = { key: "", username: "", password: "", token: "", expires: 0 };
const listeners = new Set();
const spoken = [5, 1].map((minutes) => minutes * 60_000).filter((ms) => ms < ttl);
let announced = Infinity; // how much was left when it was last announced
let shown = "";

let state = { ...none, ...JSON.parse(sessionStorage.getItem(slot) ?? "{}") };

/** A refusal of the service, with its status and reason. */
export class Refusal extends Error {
  constructor(status, body) {
    super(body?.message ?? `The service answered ${status}`);
    this.status = status;
    this.reason = body?.reason ?? "";
  }
}

/** Asks the service for JSON. */
export async function ask(path, headers = {}) {
  let answer;
  try {
    answer = await fetch(new URL(path, root), { headers, cache: "no-store", referrerPolicy: "no-referrer" });
  } catch {
    throw new Error("The service does not answer. Is it running, and are you online?");
  }
  const body = await answer.json().catch(() => null);
  if (!answer.ok || body?.errorCode) throw new Refusal(answer.status, body);
  return body;
}

export const session = () => state;

/** "none", "live", "ending" (the last five minutes) or "expired". */
export function phase() {
  if (!state.token) return "none";
  const left = remaining();
  if (left <= 0) return "expired";
  return left <= Math.min(5 * 60_000, ttl / 3) ? "ending" : "live";
}

export const remaining = () => Math.max(0, state.expires - Date.now());
export const share = () => remaining() / ttl;

function keep(change) {
  state = { ...state, ...change };
  sessionStorage.setItem(slot, JSON.stringify(state));
  for (const f of listeners) f(state);
  paint();
}

/** Calls f whenever the key or the session changes. */
export function watch(f) {
  listeners.add(f);
  f(state);
}

/** Takes another api_key. A session belongs to its key, so it ends. */
export function useKey(key) {
  if (key === state.key) return;
  const { token } = state;
  keep({ ...none, key });
  if (token) end(token);
}

async function open(username, password) {
  const asked = Date.now(); // the token is no younger than this
  const query = new URLSearchParams({ api_key: state.key, organization_name: "", username, password });
  const { token } = await ask(`authenticate?${query}`);
  announced = Infinity;
  keep({ username, password, token, expires: asked + ttl });
}

export async function signIn(username, password) {
  await open(username, password);
  announce(`Signed in as ${username}. ${minutes(ttl)} left.`);
}

/** Signs in again; the old token is ended, not left lying about. */
export async function renew() {
  const { token, username, password } = state;
  await open(username, password);
  end(token);
  announce(`Renewed. ${minutes(ttl)} left.`);
}

export function signOut() {
  const { token, key } = state;
  keep({ ...none, key });
  if (token) end(token);
  announce("Signed out.");
}

const end = (token) => ask("authenticate/logout", { token }).catch(() => {});

/** Asks the service whether a token that this tab remembers still lives. */
export async function verify() {
  if (!state.token || remaining() <= 0) return;
  try {
    await ask("authenticate", { token: state.token });
  } catch (problem) {
    if (problem.status === 401) keep({ expires: 0 });
  }
}

export function announce(text) {
  document.getElementById("announcer").textContent = text;
}

function minutes(ms) {
  const n = Math.round(ms / 60_000);
  return n < 1 ? `${Math.round(ms / 1000)} seconds` : `${n} minute${n === 1 ? "" : "s"}`;
}

/** Words what is left: 29:41. */
export function clock(ms) {
  const s = Math.ceil(ms / 1000);
  return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
}

/** Shows a refusal beside the form it came from; nothing takes it away again. */
export function complain(id, problem) {
  const place = document.getElementById(id);
  place.hidden = !problem;
  place.textContent = problem ? problem.message : "";
  if (problem?.reason) {
    const more = Object.assign(document.createElement("a"), { href: new URL(`errors#${problem.reason}`, root), textContent: "What does that mean?" });
    place.append(` (${problem.status}) `, more);
  }
}

/** Keeps what the page tells of the session up to date. */
function paint() {
  const now = phase();
  document.body.dataset.state = now;
  for (const e of document.querySelectorAll("[data-when]")) e.hidden = !e.dataset.when.split(" ").includes(now);
  for (const e of document.querySelectorAll("[data-user]")) e.textContent = state.username;
  for (const e of document.querySelectorAll("[data-token]")) e.textContent = state.token;
  for (const e of document.querySelectorAll("[data-left]")) e.textContent = clock(remaining());
  for (const e of document.querySelectorAll("[data-progress]")) e.value = share();
  if (now !== "none") speak(now);
  shown = now;
}

function speak(now) {
  const left = remaining();
  if (now === "expired") {
    if (shown && shown !== "expired") announce("The session has expired. Renew it to go on.");
    return;
  }
  for (const mark of spoken) {
    if (left <= mark && announced > mark) {
      announced = mark;
      announce(`${minutes(left)} of the session left.`);
    }
  }
}

for (const button of document.querySelectorAll("[data-renew]")) {
  button.addEventListener("click", async () => {
    const place = document.getElementById("session-problem") ? "session-problem" : "explorer-problem";
    button.disabled = true;
    try {
      await renew();
      complain(place, null);
    } catch (problem) {
      complain(place, problem);
    } finally {
      button.disabled = false;
      button.focus();
    }
  });
}

paint();
setInterval(paint, 1000);
document.addEventListener("visibilitychange", paint); // timers rest in hidden tabs
