/** What machine a table of figures was measured on. */
import { cpus, totalmem } from "node:os";

export function describeMachine(): string {
  return `${cpus().length} x ${cpus()[0]?.model ?? "CPU"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`;
}
