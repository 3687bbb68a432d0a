// The OpenAPI description, as the explorer reads it: its operations in order,
// references resolved where they are met, and what to find an operation by.

const methods = ["get", "post", "put", "delete"];

/** Reads a description into its operations. */
export function read(spec) {
  const operations = [];
  explain(spec.components?.schemas ?? {});
  for (const [path, item] of Object.entries(spec.paths ?? {})) {
    for (const method of methods) {
      if (item[method]) operations.push({ ...item[method], id: item[method].operationId, path, method: method.toUpperCase(), module: item[method].tags?.[0] ?? "" });
    }
  }
  return { spec, operations, base: spec.servers?.[0]?.url ?? "", byId: new Map(operations.map((o) => [o.id, o])) };
}

/** Gives fields that are sent the words and examples that are told with the record. */
function explain(schemas) {
  for (const [name, schema] of Object.entries(schemas)) {
    const record = schemas[name.replace(/^Whole|^Listed|^.+Create(?=.)|(Create|Update|UpdateOfMany)$/g, "")]?.properties;
    for (const [field, s] of Object.entries(schema.properties ?? {})) {
      const { description = "", examples } = record?.[field] ?? {};
      if (!s.$ref && s !== record?.[field]) schema.properties[field] = { examples, ...s, description: `${description} ${s.description ?? ""}`.trim() };
    }
  }
}

/** What a reference of the description leads to; anything else is itself. */
export function resolve(spec, part) {
  while (part?.$ref?.startsWith("#/")) {
    part = part.$ref.slice(2).split("/").reduce((p, n) => p?.[decodeURIComponent(n).replaceAll("~1", "/").replaceAll("~0", "~")], spec);
  }
  return part;
}

export const typesOf = (schema) => [schema?.type ?? []].flat();
export const isNullable = (schema) => typesOf(schema).includes("null") || schema?.nullable === true;
export const typeOf = (schema) => typesOf(schema).find((t) => t !== "null") ?? "";

/** Does an operation change records, or anything else? */
export const changes = (operation) => operation.method !== "GET";

/** Is an operation called without a session? */
export const isOpen = (operation) => operation.security?.length === 0;

/** The schema of the JSON that an operation takes, or of what it answers. */
export const bodySchema = (spec, operation) => resolve(spec, operation.requestBody?.content?.["application/json"]?.schema);
export function answerSchema(spec, operation) {
  const good = Object.keys(operation.responses ?? {}).find((status) => status.startsWith("2"));
  return resolve(spec, resolve(spec, operation.responses?.[good])?.content?.["application/json"]?.schema);
}

export const parametersOf = (spec, operation) => (operation.parameters ?? []).map((p) => resolve(spec, p));

/** The names of all fields within a schema. */
function namesIn(spec, schema, names = new Set(), depth = 0) {
  const s = resolve(spec, schema);
  if (!s || depth > 4) return names;
  for (const [name, property] of Object.entries(s.properties ?? {})) {
    names.add(name);
    namesIn(spec, property, names, depth + 1);
  }
  if (s.items) namesIn(spec, s.items, names, depth + 1);
  for (const one of s.anyOf ?? []) namesIn(spec, one, names, depth + 1);
  return names;
}

/** Makes a search: words to the operations that have them all, the best first, each with the fields that were meant. */
export function searcher({ spec, operations }) {
  const index = operations.map((operation, place) => ({
    operation,
    place,
    head: `${operation.method} ${operation.path} ${operation.summary} ${operation.module} ${operation.id}`.toLowerCase(),
    fields: [...new Set([
      ...parametersOf(spec, operation).map((p) => p.name.replace(/\[.*/, "")),
      ...namesIn(spec, bodySchema(spec, operation)), ...namesIn(spec, answerSchema(spec, operation)),
    ])],
  }));
  return (text) => {
    const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
    const hits = [];
    for (const { operation, place, head, fields } of index) {
      const meant = new Set();
      let far = 0; // words that only fields have
      const fits = wanted.every((word) => {
        if (head.includes(word)) return true;
        const named = fields.filter((f) => f.toLowerCase().includes(word));
        for (const f of named) meant.add(f);
        far++;
        return named.length > 0;
      });
      if (fits) hits.push({ operation, place, far, meant: [...meant].slice(0, 3) });
    }
    return hits.sort((a, b) => a.far - b.far || a.place - b.place);
  };
}
