/** Describes one load whose cost is held against the bare proxy's. */
export interface Scenario {
  readonly name: string;
  readonly body: object;
  /** Sent as `file` of a form, which has the members of the body as its fields. */
  readonly file?: Buffer;
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

const boundary = "tollgate-bench";

/** What is sent, byte by byte; a form begins with its boundary. */
export function bytesOf({ body, file }: Pick<Scenario, "body" | "file">): Buffer {
  if (file === undefined) return Buffer.from(JSON.stringify(body));
  const fields = Object.entries(body).map(([name, value]) => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`;
    return `${head}\r\n\r\n${value}\r\n`;
  });
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`;
  return Buffer.concat([Buffer.from(fields.join("") + head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}
