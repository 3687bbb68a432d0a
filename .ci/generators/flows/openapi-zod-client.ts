import { createApiClient } from "../openapi-zod-client/client.js";
import { attempt, change, fields, login, order, sort, type Seen } from "./flow.js";

// Its types are deeper than the compiler follows: they are left aside here.
const clientOf: (base: string, options?: object) => any = createApiClient;

/** Its client holds every request and every answer to the schemas, while it runs. */
export async function flow(base: string, api_key: string): Promise<Seen> {
  const { token } = await clientOf(base).authenticate({ queries: { api_key, ...login } });
  const api = clientOf(base, { axiosConfig: { headers: { token } } });
  const id = (await api.createOrder(order)).data.id;
  const list = await api.listOrders({ queries: { fields, sort, page_size: 1 } });
  const params = { id };
  const updated = await api.updateOrder(change, { params });
  const anyOf = await attempt(async () => (await api.listOrders({ queries: { "id[in]": "1,2" } })).data);
  const deleted = await api.deleteOrder(undefined, { params });
  return { listed: list.data[0]!.reference!, updated: updated.data.order_status!, anyOf, deleted: deleted.successCode };
}
