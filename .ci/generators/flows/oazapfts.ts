import { authenticate, createOrder, defaults, deleteOrder, listOrders, updateOrder } from "../oazapfts/client.js";
import { attempt, change, fields, login, order, sort, type Seen } from "./flow.js";

export async function flow(baseUrl: string, api_key: string): Promise<Seen> {
  defaults.baseUrl = baseUrl;
  const session = await authenticate(api_key, login.username, login.password);
  if (session.status !== 200) throw session;
  defaults.headers = { token: session.data.token };
  const made = await createOrder(order);
  if (made.status !== 201) throw made;
  const id = made.data.data.id;
  const list = await listOrders({ fields, sort, pageSize: 1 });
  const updated = await updateOrder(id, change);
  if (list.status !== 200 || updated.status !== 200) throw updated;
  const anyOf = await attempt(async () => {
    const found = await listOrders({ idIn: "1,2" });
    if (found.status !== 200) throw found;
    return found.data.data;
  });
  const deleted = await deleteOrder(id);
  return { listed: list.data.data[0]!.reference!, updated: updated.data.data.order_status!, anyOf, deleted: deleted.status };
}
