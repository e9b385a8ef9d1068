/** A call whose client leaves before its response has ended. */
import { request } from "node:http";
import type { HttpCall } from "./http-call.ts";

/**
 * Sends a call and leaves.
 * @param when resolves when it is time; it is given what resolves with the first bytes of the response
 */
export async function leaveHttpCall(
  { origin, path, headers = {}, body }: HttpCall,
  when: (begun: Promise<void>) => Promise<unknown>,
): Promise<void> {
  const { hostname, port } = new URL(origin);
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const sent = request({ hostname, port, path, method: "POST", headers }, (response) => {
    response.on("error", () => undefined).on("data", () => resolve());
  });
  sent.on("error", () => undefined);
  sent.end(body);
  await when(begun);
  sent.destroy();
}
