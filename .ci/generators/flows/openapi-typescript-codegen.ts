import { AuthenticationService, OpenAPI, SalesService } from "../openapi-typescript-codegen/index.js";
import { attempt, change, fields, login, order, sort, type Seen } from "./flow.js";

export async function flow(baseUrl: string, apiKey: string): Promise<Seen> {
  OpenAPI.BASE = baseUrl;
  const session = await AuthenticationService.authenticate({ apiKey, ...login });
  OpenAPI.HEADERS = { token: session.token };
  const id = (await SalesService.createOrder({ requestBody: order })).data.id;
  const list = await SalesService.listOrders({ fields, sort, pageSize: 1 });
  const updated = await SalesService.updateOrder({ id, requestBody: change });
  const anyOf = await attempt(async () => (await SalesService.listOrders({ idIn: "1,2" })).data);
  const deleted = await SalesService.deleteOrder({ id });
  return { listed: list.data[0]!.reference!, updated: updated.data.order_status!, anyOf, deleted: deleted.successCode };
}
