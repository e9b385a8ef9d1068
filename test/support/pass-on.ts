import type { Compilation, CompileChanges } from "../../operator/compile/compilation.ts";

/** As the pipeline does when the publisher has taken what was compiled. */
export function passOn(compilation: Compilation, { upserts, removes }: CompileChanges): void {
  compilation.passOn(upserts.keys());
  compilation.passOn(removes);
}
