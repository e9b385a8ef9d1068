/**
 * Fits tool names for an upstream: a bijection for one request (docs/design/translation.md 5.1).
 *
 * A writer asks `toUpstream` for every name it writes (definitions, history, tool choice) and hands `changed` to the
 * adaptation of the reply, which puts the client's names back. Names that are fine stay as they are, and no changed
 * name ever equals another one.
 */
import { FittedNames, type NameRule } from "./fitted-names.ts";

/** By whose rule names are formed. */
export type NamingVendor = "openai" | "anthropic" | "google";

const plain: NameRule = { valid: /^[a-zA-Z0-9_-]{1,64}$/, foreign: /[^a-zA-Z0-9_-]/g, firstValid: /^./ };
const rules: Readonly<Record<NamingVendor, NameRule>> = {
  openai: plain,
  anthropic: plain,
  // Newer models take 128 characters, older ones 64: the shorter limit holds everywhere
  // (docs/design/generate-content.md 3.4).
  google: {
    valid: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
    foreign: /[^a-zA-Z0-9_.:-]/g,
    firstValid: /^[a-zA-Z_]/,
  },
};

export class ToolNames extends FittedNames {
  /**
   * @param names all names known beforehand: those that are valid keep theirs, whatever the others become
   * @param reserved names that the upstream's own tools have: no tool of the client gets one
   */
  constructor(vendor: NamingVendor, names?: Iterable<string>, reserved?: ReadonlySet<string>) {
    super(rules[vendor], names, reserved);
  }
}
