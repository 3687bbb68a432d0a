import { client } from "../hey-api/client.gen.js";
import { authenticate, createOrder, deleteOrder, listOrders, updateOrder } from "../hey-api/sdk.gen.js";
import { attempt, change, fields, login, order, sort, type Seen } from "./flow.js";

export async function flow(baseUrl: string, api_key: string): Promise<Seen> {
  client.setConfig({ baseUrl });
  const session = await authenticate({ query: { api_key, ...login } });
  client.setConfig({ baseUrl, headers: { token: session.data!.token } });
  const id = (await createOrder({ body: order })).data!.data.id;
  const list = await listOrders({ query: { fields, sort, page_size: 1 } });
  const updated = await updateOrder({ path: { id }, body: change });
  const anyOf = await attempt(async () => {
    const { data, response } = await listOrders({ query: { "id[in]": "1,2" } });
    if (!data) throw response;
    return data.data;
  });
  const deleted = await deleteOrder({ path: { id } });
  return { listed: list.data!.data[0]!.reference!, updated: updated.data!.data.order_status!, anyOf, deleted: deleted.response!.status };
}
