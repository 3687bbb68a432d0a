// Swagger UI over the description of the tab's api_key. What is asked of it is
// little: operations only, no storage, the token filled in.
import { ask, complain, root, session, verify, watch } from "./session.js";

const at = (id) => document.getElementById(id);
/** The name of the security scheme that is the header token. */
const schemeOf = (spec) => Object.entries(spec.components?.securitySchemes ?? {}).find(([, s]) => s.in === "header" && s.name.toLowerCase() === "token")?.[0];

/** A part of a description with what it refers to put in its place. */
function inline(spec, part, open = []) {
  if (Array.isArray(part)) return part.map((p) => inline(spec, p, open));
  if (part === null || typeof part !== "object") return part;
  const { $ref, ...rest } = part;
  if (typeof $ref !== "string" || !$ref.startsWith("#/")) {
    return Object.fromEntries(Object.entries(part).map(([name, p]) => [name, inline(spec, p, open)]));
  }
  if (open.includes($ref)) return rest; // it refers to itself
  const names = $ref.slice(2).split("/").map((n) => decodeURIComponent(n).replaceAll("~1", "/").replaceAll("~0", "~"));
  const target = names.reduce((p, n) => p?.[n], spec);
  return { ...inline(spec, target, [...open, $ref]), ...inline(spec, rest, open) };
}

function lean(spec) {
  const nothing = () => null;
  return {
    // Swagger UI would take the whole description apart for each operation that
    // is opened, which takes seconds. All references of ours are within it.
    statePlugins: {
      spec: {
        wrapActions: {
          requestResolvedSubtree: (_, { specActions }) => (path) =>
            specActions.updateResolvedSubtree(path, inline(spec, path.reduce((p, n) => p?.[n], spec))),
        },
      },
    },
    components: {
      // Only the operations: title, servers and authorisation stand above them.
      FrontdeskLayout({ getComponent }) {
        const h = ui.React.createElement;
        return h("div", { className: "swagger-ui" }, h(getComponent("FilterContainer", true)), h(getComponent("operations", true)));
      },
    },
    wrapComponents: { authorizeOperationBtn: () => nothing },
  };
}

/** Names what Swagger UI leaves without a name, for those who hear the page. */
function name(place) {
  for (const e of place.querySelectorAll("select:not([aria-label]), textarea:not([aria-label]), input:not([aria-label])")) {
    const row = e.closest("[data-param-name]");
    const label = row ? row.dataset.paramName
      : e.closest(".filter") ? "Filter by tag"
      : e.closest(".examples-select") ? "Example"
      : e.closest(".content-type-wrapper, .response-control-media-type, .body-param-content-type") ? "Media type"
      : e.tagName === "TEXTAREA" ? "Request body" : "Value";
    e.setAttribute("aria-label", label);
  }
  for (const e of place.querySelectorAll("pre:not([tabindex])")) e.tabIndex = 0;
  for (const e of place.querySelectorAll("table[role=region]")) e.removeAttribute("role");
}

const ui = {};

async function start() {
  const { key } = session();
  at("no-key").hidden = Boolean(key);
  if (!key) return;
  at("loading").hidden = false;
  try {
    const spec = await ask(`openapi.json?api_key=${encodeURIComponent(key)}`);
    // Calls go to where this page is from; its policy allows no other place.
    spec.servers = [{ url: root.href.replace(/\/$/, "") }];
    show(spec);
  } catch (problem) {
    complain("explorer-problem", problem);
  } finally {
    at("loading").hidden = true;
  }
}

function show(spec) {
  const count = Object.values(spec.paths ?? {}).flatMap((p) => Object.keys(p)).filter((m) => ["get", "post", "put", "delete"].includes(m)).length;
  at("explorer-about").textContent = `${count} operations: what your api_key may call.`;
  const scheme = schemeOf(spec);
  let due = 0;
  new MutationObserver(() => {
    due ||= requestAnimationFrame(() => {
      due = 0;
      name(at("explorer"));
    });
  }).observe(at("explorer"), { childList: true, subtree: true });
  const view = SwaggerUIBundle({
    spec,
    domNode: at("explorer"),
    docExpansion: "none",
    defaultModelsExpandDepth: -1,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    filter: true,
    syntaxHighlight: { activated: false },
    persistAuthorization: false,
    validatorUrl: null,
    deepLinking: false,
    supportedSubmitMethods: ["get", "post", "put", "delete"],
    layout: "FrontdeskLayout",
    plugins: [(system) => {
      ui.React = system.React;
      return lean(spec);
    }],
    onComplete: () => watch(({ token }) => {
      if (scheme && token) view.preauthorizeApiKey(scheme, token);
    }),
  });
}

await verify();
start();
