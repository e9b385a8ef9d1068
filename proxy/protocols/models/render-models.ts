import type { Protocol } from "../wire.ts";
export function renderModelList(_p: Protocol, _m: readonly unknown[], _u: string): Buffer {
  return Buffer.from("{}");
}
export function renderModel(_p: Protocol, _m: unknown): Buffer {
  return Buffer.from("{}");
}
