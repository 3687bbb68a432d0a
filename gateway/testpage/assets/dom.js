// Elements, made without any text becoming markup.

export const at = (id) => document.getElementById(id);

/** Makes an element with properties, attributes (in attr) and children; what is null or false is left out. */
export function el(tag, { attr = {}, data = {}, ...properties } = {}, ...children) {
  const e = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attr)) if (value !== null && value !== false) e.setAttribute(name, value);
  Object.assign(e.dataset, data);
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

/** The little Markdown of descriptions: paragraphs, quotes, lists, code and strong words. */
export function prose(text) {
  return text.split(/\n{2,}/).map((part) => {
    const lines = part.split("\n");
    const list = lines.filter((l) => l.startsWith("- "));
    const rest = lines.filter((l) => !l.startsWith("- ")).join(" ");
    const quote = rest.startsWith("> ");
    return [
      rest && el(quote ? "blockquote" : "p", {}, words(quote ? rest.slice(2) : rest)),
      list.length > 0 && el("ul", { className: "points" }, list.map((l) => el("li", {}, words(l.slice(2))))),
    ];
  }).flat().filter(Boolean);
}

/** The words of one line, with `code` and **strong** as elements. */
export function words(line) {
  return line.replaceAll(/\\([<>])/g, "$1").split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((w) =>
    w.startsWith("`") ? el("code", { textContent: w.slice(1, -1) }) : w.startsWith("**") ? el("strong", { textContent: w.slice(2, -2) }) : w);
}
