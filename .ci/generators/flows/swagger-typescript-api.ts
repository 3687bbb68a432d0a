import { Api } from "../swagger-typescript-api/client.js";
import { attempt, change, fields, login, order, sort, type Seen } from "./flow.js";

export async function flow(baseUrl: string, api_key: string): Promise<Seen> {
  const session = await new Api({ baseUrl }).authenticate.authenticate({ api_key, ...login });
  const api = new Api({ baseUrl, baseApiParams: { headers: { token: session.data.token } } });
  const id = (await api.order.createOrder(order)).data.data.id;
  const list = await api.order.listOrders({ fields, sort, page_size: 1 });
  const updated = await api.order.updateOrder(id, change);
  const anyOf = await attempt(async () => (await api.order.listOrders({ "id[in]": "1,2" })).data.data);
  const deleted = await api.order.deleteOrder(id);
  return { listed: list.data.data[0]!.reference!, updated: updated.data.data.order_status!, anyOf, deleted: deleted.status };
}
