/** Describes one load whose cost is held against the bare proxy's. */
export interface Scenario {
  readonly name: string;
  readonly body: object;
  /** First path segment: what the upstream replies. */
  readonly answer: string;
  /** Where clients send it; chat completions when absent. */
  readonly path?: string;
  readonly connections: number;
  /** What one unit of work is. */
  readonly unit: "request" | "chunk";
  readonly measure: string;
  readonly limit: number;
  /** `speed`: bare / gateway, higher is better; `cost`: gateway / bare, lower is better. */
  readonly kind: "speed" | "cost";
}
