import createClient from "openapi-fetch";
import type { paths } from "../openapi-typescript/schema.js";
import { attempt, change, fields, login, order, sort, type Seen } from "./flow.js";

export async function flow(baseUrl: string, api_key: string): Promise<Seen> {
  const session = await createClient<paths>({ baseUrl }).GET("/authenticate", { params: { query: { api_key, ...login } } });
  const api = createClient<paths>({ baseUrl, headers: { token: session.data!.token } });
  const id = (await api.POST("/order", { body: order })).data!.data.id;
  const list = await api.GET("/order", { params: { query: { fields, sort, page_size: 1 } } });
  const path = { id };
  const updated = await api.PUT("/order/{id}", { params: { path }, body: change });
  const anyOf = await attempt(async () => {
    const { data, response } = await api.GET("/order", { params: { query: { "id[in]": "1,2" } } });
    if (!data) throw response;
    return data.data;
  });
  const deleted = await api.DELETE("/order/{id}", { params: { path } });
  return { listed: list.data!.data[0]!.reference!, updated: updated.data!.data.order_status!, anyOf, deleted: deleted.response.status };
}
