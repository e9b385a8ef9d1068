/** Reads the form that an upstream got, with Node's own reader of forms. */
import type { ReceivedRequest } from "#test/support/fake-upstream";

/** A file of a form. */
export interface SentFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Name and content of each part, in their order. */
export async function partsOf(
  request: Pick<ReceivedRequest, "headers" | "body"> | undefined,
): Promise<readonly (readonly [name: string, content: string | SentFile])[]> {
  const headers = { "content-type": String(request?.headers["content-type"]) };
  const form = await new Response(new Uint8Array(request?.body ?? Buffer.alloc(0)), { headers }).formData();
  return Promise.all(
    [...form.entries()].map(async ([name, value]) => {
      if (typeof value === "string") return [name, value] as const;
      return [name, { name: value.name, type: value.type, bytes: Buffer.from(await value.arrayBuffer()) }] as const;
    }),
  );
}
