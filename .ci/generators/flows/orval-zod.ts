import { createOrderBody, listOrdersQueryParams, listOrdersResponse, updateOrderResponse } from "../orval-zod/zod.js";
import { attempt, change, fields, login, order, sort, type Seen } from "./flow.js";

/** Schemas alone: the calls are fetch, and what is sent and answered is held to the schemas. */
export async function flow(base: string, api_key: string): Promise<Seen> {
  const call = async (method: string, path: string, headers: Record<string, string>, body?: unknown) => {
    const answer = await fetch(base + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    if (!answer.ok) throw answer;
    return answer.json();
  };
  const { token } = await call("GET", `/authenticate?${new URLSearchParams({ api_key, ...login })}`, {});
  const { data } = await call("POST", "/order", { token }, createOrderBody.parse(order));
  const { page: _, ...query } = listOrdersQueryParams.parse({ fields, sort, page_size: 1 });
  const list = listOrdersResponse.parse(await call("GET", `/order?${new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)]))}`, { token }));
  const updated = updateOrderResponse.parse(await call("PUT", `/order/${data.id}`, { token }, change));
  const anyOf = await attempt(async () => listOrdersResponse.parse(await call("GET", "/order?id[in]=1%2C2", { token })).data);
  const { successCode } = await call("DELETE", `/order/${data.id}`, { token });
  return { listed: list.data[0]!.reference!, updated: updated.data.order_status!, anyOf, deleted: successCode };
}
