import { ask, complain, root, session, signIn, signOut, useKey, verify, watch } from "./session.js";
import { copy } from "./copy.js";

const at = (id) => document.getElementById(id);
const field = at("api-key");
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const described = document.querySelectorAll("[data-described]");
let listed = ""; // the token whose operations are shown
let known = ""; // the api_key that the service is known to know

field.value = session().key;

function takeKey() {
  const key = field.value.trim();
  field.removeAttribute("aria-invalid");
  complain("key-problem", null);
  useKey(key);
}

/** Tells whether there is a key to work with, and says so where not. */
function needKey() {
  if (uuid.test(field.value.trim())) return true;
  field.setAttribute("aria-invalid", "true");
  complain("key-problem", new Error(field.value.trim() ? "This is no api_key: one looks like xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx." : "Enter your api_key first."));
  field.focus();
  return false;
}

watch(({ key, token }) => {
  for (const link of described) {
    const address = new URL(link.href);
    address.searchParams.set("api_key", key);
    link.href = address;
  }
  if (token !== listed) list(token);
});

field.addEventListener("input", takeKey);
at("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  if (needKey()) at("username").focus();
});
for (const link of described) {
  link.addEventListener("click", async (event) => {
    if (known && known === field.value.trim()) return;
    event.preventDefault();
    if (needKey() && await knows()) link.click();
  });
}

/** Tells whether the service knows the api_key, and says so where not, rather than leave the page for an error in JSON. */
async function knows() {
  const key = field.value.trim();
  try {
    await ask(`openapi.json?api_key=${encodeURIComponent(key)}`);
  } catch (problem) {
    complain("key-problem", problem.status === 401 ? new Error("This api_key is not known here. Was it typed in full, and is it one of this service? It may also have expired.") : problem);
    field.setAttribute("aria-invalid", "true");
    field.focus();
    return false;
  }
  known = key;
  return key === field.value.trim();
}

at("sign-in").addEventListener("submit", async (event) => {
  event.preventDefault();
  takeKey();
  if (!needKey()) return;
  const button = event.target.querySelector("button");
  button.disabled = true;
  try {
    await signIn(at("username").value, at("password").value);
    event.target.reset();
    complain("sign-in-problem", null);
    document.querySelector(".session [data-renew]").focus();
  } catch (problem) {
    complain("sign-in-problem", problem);
    at("password").focus();
  } finally {
    button.disabled = false;
  }
});

document.querySelector("[data-sign-out]").addEventListener("click", () => {
  signOut();
  complain("session-problem", null);
  at("username").focus();
});
at("copy-token").addEventListener("click", (event) => copy(event.target, session().token));

/** Shows what the key of a session may call. */
async function list(token) {
  listed = token;
  at("operations").replaceChildren();
  if (!token) return;
  try {
    const { data } = await ask("authenticate/acces", { token });
    if (token !== listed) return;
    at("key-name").textContent = data.api_key;
    const methods = new Map();
    for (const { method, path } of data.endpoints) methods.set(path, [...(methods.get(path) ?? []), method]);
    at("operations").replaceChildren(...[...methods].map(([path, all]) => {
      const line = document.createElement("li");
      const found = Object.assign(document.createElement("a"), { href: new URL(`testpage/explorer#find=${encodeURIComponent(path.replace("*", ""))}`, root), textContent: path });
      line.append(found, " ", Object.assign(document.createElement("span"), { textContent: all.join(" ") }));
      return line;
    }));
  } catch {
    at("operations").replaceChildren();
  }
}

verify();
