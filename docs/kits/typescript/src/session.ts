import createClient from "openapi-fetch";
import { setTimeout as pause } from "node:timers/promises";
import type { paths } from "./frontdesk.js";
import { Refusal } from "./refusal.js";

export interface Login {
  baseUrl: string;
  apiKey: string;
  username: string;
  password: string;
}

const longestWait = 60; // seconds; more than any Retry-After that is worth waiting for here

/**
 * A client that sends the token, logs in when there is none or it is no longer
 * valid, and comes back once at the time that the service names.
 */
export function connect(login: Login) {
  let token: Promise<string> | undefined;

  function renew(): Promise<string> {
    const next = logIn(login);
    next.catch(() => { if (token === next) token = undefined; }); // the next call tries again
    return (token = next);
  }

  async function send(request: Request): Promise<Response> {
    const again = request.clone(); // a body can be read once
    const used = token ?? renew();
    request.headers.set("token", await used);
    const response = await fetch(request);
    const wait = Number(response.headers.get("Retry-After") ?? 0);

    if (response.status === 401) {
      if (token === used) renew(); // unless somebody else has done it meanwhile
    } else if (wait > 0 && wait <= longestWait && repeatable(request, response)) {
      await pause(wait * 1000);
    } else {
      return response;
    }
    again.headers.set("token", await (token ?? renew()));
    return fetch(again);
  }
  return createClient<paths>({ baseUrl: login.baseUrl, fetch: send, querySerializer: { array: { style: "form", explode: false } } });
}

export type Client = ReturnType<typeof connect>;

async function logIn({ baseUrl, apiKey, username, password }: Login): Promise<string> {
  const { data, error, response } = await createClient<paths>({ baseUrl }).GET("/authenticate", {
    params: { query: { api_key: apiKey, username, password } },
  });
  if (error) throw new Refusal(response.status, error);
  return data.token;
}

/**
 * Whether a refused request does no harm when it is sent again: after 429
 * nothing was done, after 500 nobody knows.
 */
function repeatable(request: Request, response: Response): boolean {
  return response.status === 429 ||
    (response.status >= 500 && (request.method !== "POST" || request.headers.has("Idempotency-Key")));
}
