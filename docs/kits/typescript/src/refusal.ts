import type { components } from "./frontdesk.js";

type Answer = components["schemas"]["Error"];
export type Violation = components["schemas"]["Violation"];

/** An answer that is an error. Go by the reasons; the messages are for people. */
export class Refusal extends Error {
  readonly requestId: string;
  readonly violations: Violation[]; // all that is wrong

  constructor(readonly status: number, answer: Answer) {
    super(`status ${status}: ${answer.message} (request ${answer.request_id})`);
    this.requestId = answer.request_id;
    this.violations = answer.errors ?? [answer];
  }
}
