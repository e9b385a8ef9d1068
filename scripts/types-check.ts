/** Checks the types of the whole tree with TypeScript; says what is wrong on the terminal. */
import { runTool } from "./run.ts";

/** @returns whether there is no error */
export function checkTypes(): boolean {
  const startedMs = performance.now();
  const { status } = runTool("typescript/bin/tsc", ["-p", "tsconfig.json"], "inherit");
  console.log(`types: ${status === 0 ? "ok" : "errors, see above"} (${Math.round(performance.now() - startedMs)} ms)`);
  return status === 0;
}
