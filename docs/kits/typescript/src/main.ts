// Shows the generated client at work: it logs in, lists, creates once, updates
// what nobody else has changed, reads every error of an answer, and walks a list
// to its end.
import { randomUUID } from "node:crypto";
import { Refusal } from "./refusal.js";
import { connect, type Client } from "./session.js";
import type { components } from "./frontdesk.js";

async function list(api: Client) {
  const { data, error, response } = await api.GET("/order", {
    params: { query: { order_status: "open", page_size: 2, total: 1 } },
  });
  if (error) throw new Refusal(response.status, error);
  console.log(`open orders: ${data.total}`);
}

async function createAndUpdate(api: Client) {
  // One key for what is to be done once, kept until it is known to be done.
  const once = { header: { "Idempotency-Key": randomUUID() } };
  const order: components["schemas"]["OrderCreate"] = {
    contact_id: 1, kind: "workshop", order_status: "open", order_date: "2026-07-01T10:00:00+02:00", reference: "PO-118",
  };
  let id = 0, etag = "";
  for (let n = 0; n < 2; n++) { // as after an answer that got lost on its way
    const { data, error, response } = await api.POST("/order", { params: once, body: order });
    if (error) throw new Refusal(response.status, error);
    id = data.data.id;
    etag = response.headers.get("ETag")!;
    console.log(`created order ${id}, replayed: ${response.headers.has("Idempotent-Replayed")}`);
  }
  for (let n = 0; n < 2; n++) { // the second time the ETag is out of date
    const { data, error, response } = await api.PUT("/order/{id}", {
      params: { path: { id }, header: { "If-Match": etag } },
      body: { order_status: "in_progress" },
    });
    if (response.status === 412) console.log(`not updated: ${error!.message}`);
    else if (error) throw new Refusal(response.status, error);
    else console.log(`order is now ${data.data.order_status}`);
  }
}

/** Sends an order with three faults, and reads them all of one answer. */
async function mistaken(api: Client) {
  const { error, response } = await api.POST("/order", {
    // @ts-expect-error the compiler knows the kinds of orders
    body: { contact_id: 1, kind: "repair", order_status: "open", order_date: "soon", delivery_date: "later" },
  });
  if (!error) throw new Error(`status ${response.status} where a refusal was expected`);
  const refused = new Refusal(response.status, error);
  console.log(`refused with status ${refused.status}`);
  for (const v of refused.violations) console.log(`- ${v.message} (${v.reason})`);
}

/** Reads all orders, page by page, each after the last one of the page before. */
async function walk(api: Client) {
  let orders = 0, pages = 0, after = 0;
  for (let more = true; more; pages++) {
    const { data, error, response } = await api.GET("/order", { params: { query: { after, page_size: 100, fields: "id" } } });
    if (error) throw new Refusal(response.status, error);
    orders += data.data.length;
    more = data.next !== null;
    after = data.data.at(-1)?.id ?? after;
  }
  console.log(`walked ${orders} orders on ${pages} pages`);
}

const api = connect({
  baseUrl: process.env["BASE"] ?? "http://127.0.0.1:8080/webservice_v2",
  apiKey: "11111111-1111-4111-8111-111111111111", username: "demo", password: "demo",
});
for (const step of [list, createAndUpdate, mistaken, walk]) await step(api);
