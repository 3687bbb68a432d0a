/** What a flow saw: an order of its own from the list, what it became, and what a list of values was answered. */
export interface Seen { listed: string; updated: string; anyOf: string; deleted: number }

export const login = { username: "demo", password: "demo" };
export const order = { contact_id: 1, kind: "workshop", order_status: "open", order_date: "2026-07-01T10:00:00+02:00", reference: "generated" } as const;
export const change = { order_status: "in_progress" } as const;
export const fields = "id,reference";
export const sort = "-id";

/** The status of a refusal, however a client tells it. */
export function told(problem: unknown): string {
  const p = problem as { status?: number; response?: { status?: number }; message?: string };
  return `refused with ${p.status ?? p.response?.status ?? p.message}`;
}

export async function attempt(ask: () => Promise<{ id?: number | undefined }[] | undefined>): Promise<string> {
  try {
    return `${(await ask())?.length} found`;
  } catch (problem) {
    return told(problem);
  }
}
