// Keeps a copy of some records in a JSON file. With a database it would be a table, and the
// cursor a row of another one: what matters is that both are stored together.
//
//     node dist/copy.js copy.json                  brings the copy up to date, as from cron
//     node dist/copy.js copy.json --follow 5       goes on, and asks every 5 seconds
//
// The recipe, and what else there is to know, is chapter 9 of docs/integrators.md.
import { readFile, rename, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { Refusal } from "./refusal.js";
import { connect } from "./session.js";
import type { components } from "./frontdesk.js";

type Change = components["schemas"]["ChangesPage"]["data"][number];
type Stored = NonNullable<Change["record"]>;
type Resource = "contact" | "order";
const resources: Resource[] = ["contact", "order"];

interface Copy {
  cursor: string | null;
  records: { [resource in Resource]: { [id: number]: Stored } };
}

const env = process.env;
const api = connect({
  baseUrl: env["BASE"] ?? "http://127.0.0.1:8080/webservice_v2",
  apiKey: env["API_KEY"] ?? "11111111-1111-4111-8111-111111111111",
  username: env["FRONTDESK_USER"] ?? "demo", password: env["FRONTDESK_PASSWORD"] ?? "demo",
});

/** Asks again, each time later, while nobody answers or the service fails. */
async function insist<A extends { error?: components["schemas"]["Error"] | undefined; response: Response }>(ask: () => Promise<A>): Promise<A> {
  for (let wait = 1; ; wait *= 2) {
    try {
      const answer = await ask();
      const { status } = answer.response;
      if (wait > 256 || !answer.error || (status !== 429 && status < 500)) return answer;
    } catch (failed) {
      if (failed instanceof Refusal && failed.status !== 429 && failed.status < 500) throw failed; // the login
      if (wait > 256) throw failed;
    }
    await pause(Math.min(wait, 30) * 1000);
  }
}

/** A page of a list: the records after an id. */
async function list(resource: Resource, after: number) {
  const params = { query: { after, page_size: 1000 } };
  const { data, error, response } = await insist(async () => (resource === "contact" ? await api.GET("/contact", { params }) : await api.GET("/order", { params })));
  if (!data) throw new Refusal(response.status, error!);
  return data;
}

/** A page of changes; undefined if the cursor is gone. */
async function changes(after: string | null) {
  const resource = resources.join(",");
  const query = after === null ? { resource } : { resource, after, records: 1 as const, page_size: 1000 };
  const { data, error, response } = await insist(async () => await api.GET("/changes", { params: { query } }));
  if (!data && response.status !== 410) throw new Refusal(response.status, error!);
  return data;
}

/** The cursor first, then all records: what changes meanwhile comes after the cursor. */
async function readEverything(): Promise<Copy> {
  const copy: Copy = { cursor: (await changes(null))!.cursor, records: { contact: {}, order: {} } };
  for (const resource of resources) {
    for (let after = 0, more = true; more; ) {
      const page = await list(resource, after);
      for (const record of page.data) copy.records[resource][(after = record.id!)] = record as Stored; // whole, as no `fields` were chosen
      more = page.next !== null;
    }
  }
  return copy;
}

async function catchUp(copy: Copy, file: string): Promise<Copy> {
  for (let more = true; more; ) {
    if (copy.cursor === null) copy = await readEverything();
    const page = await changes(copy.cursor);
    if (!page) { // the cursor is gone
      copy.cursor = null;
      continue;
    }
    for (const { resource, id, record } of page.data as (Change & { resource: Resource })[]) {
      if (record) copy.records[resource][id] = record;
      else delete copy.records[resource][id];
    }
    copy.cursor = page.cursor;
    await writeFile(file + ".new", JSON.stringify(copy)); // the records and the cursor together, or neither
    await rename(file + ".new", file);
    more = page.more;
  }
  return copy;
}

const [file = "copy.json", follow, every = "5"] = process.argv.slice(2);
const found = await readFile(file, "utf8").catch(() => '{"cursor": null}');
let copy = await catchUp(JSON.parse(found) as Copy, file);
while (follow === "--follow") {
  await pause(Number(every) * 1000);
  copy = await catchUp(copy, file);
}
for (const resource of resources) console.log(resource, Object.keys(copy.records[resource]).length);
