// Shows a callback as it will arrive, signed as the service signs it.
import "./copy.js";

const at = (id) => document.getElementById(id);
const utf8 = new TextEncoder();
let id = newID();

/** An id as jobs have one: 26 letters and digits. */
function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(26)), (b) => "abcdefghijklmnopqrstuvwxyz234567"[b % 32]).join("");
}

/** The rules of webhook_url, as far as they can be judged without asking anybody. */
function judge(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    return [null, text ? "This is no address." : "webhook_url is required."];
  }
  const host = url.hostname.toLowerCase().replace(/\.$/, "");
  if (url.protocol !== "https:") return [url, "It must start with https."];
  if (url.username || url.password) return [url, "It must not hold a username or password."];
  if (text.includes("#")) return [url, "It must not have a fragment (#…)."];
  if (url.port) return [url, "The port must be 443, unless the service allows others."];
  if (url.searchParams.has("id")) return [url, "It must not have a parameter id: that is the one which is added."];
  if (!host.includes(".") && !host.startsWith("[") || /(^|\.)(localhost|local|internal)$/.test(host)) return [url, "The host must be public: localhost and intranet names are refused."];
  if (/^(10|127|0)\.|^169\.254\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\./.test(host)) return [url, "The address must be public."];
  return [url, ""];
}

/** The key that a secret stands for. */
function keyOf(secret) {
  if (!secret.startsWith("whsec_")) return utf8.encode(secret);
  const binary = atob(secret.slice("whsec_".length));
  if (!binary) throw new Error("empty");
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

async function sign(secret, text) {
  const key = await crypto.subtle.importKey("raw", keyOf(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8.encode(text)));
  return "v1," + btoa(String.fromCharCode(...mac));
}

function problem(name, text, field) {
  at(name).hidden = !text;
  at(name).textContent = text;
  field.toggleAttribute("aria-invalid", Boolean(text));
  if (text) field.setAttribute("aria-invalid", "true");
}

async function show() {
  const [url, refused] = judge(at("webhook-url").value.trim());
  problem("url-problem", refused, at("webhook-url"));
  if (refused) {
    at("request").textContent = "Nothing: this address is refused.\n";
    return;
  }
  const timestamp = Math.floor(Date.now() / 1000);
  const query = (url.search ? url.search + "&" : "?") + "id=" + encodeURIComponent(id);
  const lines = [
    `GET ${url.pathname}${query} HTTP/1.1`,
    `Host: ${url.host}`,
    `webhook-id: ${id}`,
    `webhook-timestamp: ${timestamp}`,
  ];
  const secret = at("secret").value.trim();
  let unsigned = "";
  if (secret && !crypto.subtle) {
    unsigned = "Signing works over https, or on this machine, only: browsers keep their cryptography to secure pages.";
  } else if (secret) {
    try {
      lines.push(`webhook-signature: ${await sign(secret, `${id}.${timestamp}.`)}`);
    } catch {
      unsigned = "After whsec_ comes base64 (standard alphabet, padded).";
    }
  }
  problem("secret-problem", unsigned, at("secret"));
  at("request").textContent = lines.join("\n") + "\n";
}

for (const field of ["webhook-url", "secret"]) at(field).addEventListener("input", show);
at("receiver").addEventListener("submit", (event) => event.preventDefault());
at("again").addEventListener("click", () => {
  id = newID();
  show();
});
show();
