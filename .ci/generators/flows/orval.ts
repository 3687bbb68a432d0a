import { authenticate, createOrder, deleteOrder, listOrders, updateOrder } from "../orval/client.js";
import { attempt, change, fields, login, order, sort, type Seen } from "./flow.js";

/** Its addresses have no base: that is for the fetch of the program. */
function at(base: string) {
  const plain = globalThis.fetch;
  globalThis.fetch = (address, options) => plain(base + String(address), options);
  return () => { globalThis.fetch = plain; };
}

export async function flow(base: string, api_key: string): Promise<Seen> {
  const back = at(base);
  try {
    const session = await authenticate({ api_key, ...login });
    if (session.status !== 200) throw session;
    const options = { headers: { token: session.data.token } };
    const made = await createOrder(order, options);
    if (made.status !== 201) throw made;
    const id = made.data.data.id;
    const list = await listOrders({ fields, sort, page_size: 1 }, options);
    if (list.status !== 200) throw list;
    const updated = await updateOrder(id, change, options);
    if (updated.status !== 200) throw updated;
    const anyOf = await attempt(async () => {
      const found = await listOrders({ "id[in]": "1,2" }, options);
      if (found.status !== 200) throw found;
      return found.data.data;
    });
    const deleted = await deleteOrder(id, options);
    return { listed: list.data.data[0]!.reference!, updated: updated.data.data.order_status!, anyOf, deleted: deleted.status };
  } finally {
    back();
  }
}
