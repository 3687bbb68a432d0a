// Has an agent do fifty tasks with the tools of /mcp, by the SDK that its protocol has for TypeScript: what it
// knows of the interface is what tools tell it. A colleague works beside it. Tells of each task how many calls
// of tools it took, as JSON.
// node agent.mjs BASE TOKEN COLLEAGUE'S-TOKEN
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [base, ...tokens] = process.argv.slice(2);
let calls = 0;

async function connected(token) {
  const client = new Client({ name: "fifty-tasks", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(base + "/mcp"), { requestInit: { headers: { token } } }));
  return async (name, args) => {
    calls++;
    const told = await client.callTool({ name, arguments: args });
    if (!told.structuredContent) throw new Error(`${name} ${JSON.stringify(args)}: ${told.content[0].text}`);
    return told.structuredContent;
  };
}

const me = await connected(tokens[0]);
const colleague = await connected(tokens[1]);

/** What somebody else does costs the agent no calls. */
async function beside(work) {
  const before = calls;
  const result = await work();
  calls = before;
  return result;
}

function must(told, status) {
  if (told.status !== status) throw new Error(`${told.status} instead of ${status}: ${JSON.stringify(told.body)}`);
  return told;
}

async function change(tool, args) {
  return must(await tool("commit", { ticket: must(await tool("rehearse", args), 200).ticket }), args.operation === "create" ? 201 : 200).body.data;
}

const named = async (name) => must(await me("list", { resource: "contact", query: { "name[contains]": name.slice(0, 12), page_size: 5, fields: "id,name,note" } }), 200).body.data.find((c) => c.name === name);

/** Fills a record in by what is said to be missing of it. */
async function filled(resource, record, missing) {
  const [described] = must(await me("describe", { resource }), 200).body.data;
  for (const { field } of missing) {
    const f = described.fields.find((one) => one.name === field);
    if (!f) continue;
    if (f.reference) record[field] = must(await me("list", { resource: f.reference, query: { page_size: 1 } }), 200).body.data[0].id;
    else if (f.custom_validation?.includes("|")) record[field] = f.custom_validation.split("|")[1];
    else record[field] = { timestamp: "2026-07-01", int4: 1, float8: 1 }[f.datatype] ?? "x";
  }
  return record;
}

const tasks = {
  async find(contact) {
    const { id } = await named(contact.name);
    const orders = must(await me("list", { resource: "order", query: { contact_id: id, total: 1, page_size: 1, sort: "-order_date", fields: "id,order_status" } }), 200).body;
    const all = await beside(async () => (await colleague("list", { resource: "order", query: { contact_id: contact.id, page_size: 1000 } })).body.data);
    return orders.total === all.length && (all.length === 0 || orders.data.length === 1);
  },
  async correct(contact) {
    const { id } = await named(contact.name);
    const wrong = await me("rehearse", { operation: "update", resource: "contact", id, record: { langauge: "nl", note: "called" } });
    const meant = /Did you mean (\w+)\?/.exec(wrong.help[0].cure)[1];
    const now = await change(me, { operation: "update", resource: "contact", id, record: { [meant]: "nl", note: "called" } });
    return now.language === "nl" && now.note === "called";
  },
  async order(contact) {
    const { id } = await named(contact.name);
    let record = { contact_id: id, orderlines: [{ description: "Oil filter", quantity: 2, price: 12.95 }] };
    const first = await me("rehearse", { operation: "create", resource: "order", record });
    const missing = first.body.errors ?? [first.body];
    record = await filled("order", record, missing.filter((e) => !e.field.includes("[")));
    const line = missing.filter((e) => e.field.includes("[")).map((e) => ({ field: e.field.split(".")[1] }));
    await filled("orderline", record.orderlines[0], line);
    const made = await change(me, { operation: "create", resource: "order", record });
    return made.contact_id === id && made.total_excl === 25.9;
  },
  async conflict(contact) {
    const { id } = await named(contact.name);
    const { ticket } = must(await me("rehearse", { operation: "update", resource: "contact", id, record: { note: "mine" } }), 200);
    await beside(() => change(colleague, { operation: "update", resource: "contact", id, record: { note: "theirs", payment_days: 21 } }));
    must(await me("commit", { ticket }), 412);
    const now = must(await me("get", { resource: "contact", id }), 200).body.data;
    const both = await change(me, { operation: "update", resource: "contact", id, record: { note: now.note + ", mine" } });
    return both.note === "theirs, mine" && both.payment_days === 21;
  },
  async copy(contact) {
    const copy = new Map();
    let { cursor } = must(await me("changes", {}), 200).body;
    for (const c of must(await me("list", { resource: "contact", query: { page_size: 1000 } }), 200).body.data) copy.set(c.id, c);
    await beside(async () => {
      await change(colleague, { operation: "update", resource: "contact", id: contact.id, record: { note: "copied" } });
      const gone = await change(colleague, { operation: "create", resource: "contact", record: { kind: "person", name: "Gone" } });
      await change(colleague, { operation: "create", resource: "contact", record: { kind: "person", name: "Stays" } });
      await change(colleague, { operation: "delete", resource: "contact", id: gone.id });
    });
    for (let more = true; more; ) {
      const page = must(await me("changes", { after: cursor, resource: "contact", records: 1 }), 200).body;
      for (const c of page.data) c.record ? copy.set(c.id, c.record) : copy.delete(c.id);
      ({ cursor, more } = page);
    }
    const all = await beside(async () => (await colleague("list", { resource: "contact", query: { page_size: 1000 } })).body.data);
    return JSON.stringify([...copy.values()].sort((a, b) => a.id - b.id)) === JSON.stringify(all);
  },
};

const contacts = await beside(async () => (await colleague("list", { resource: "contact", query: { page_size: 100, sort: "id" } })).body.data);
const names = contacts.map((c) => c.name);
const distinct = contacts.filter((c) => !c.is_system && names.filter((n) => n === c.name).length === 1);
const told = [];
for (const [kind, task] of Object.entries(tasks)) {
  for (const contact of distinct.splice(0, 10)) {
    calls = 0;
    let done = false, why = "";
    try {
      done = await task(contact);
    } catch (e) {
      why = String(e);
    }
    told.push({ kind, calls, done, why });
  }
}
console.log(JSON.stringify(told));
