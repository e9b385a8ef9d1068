/**
 * Collects what a translation could not carry: each loss is declared, never silent (docs/design/interface.md 2,
 * docs/design/translation.md 12).
 *
 * The channel's `unsupportedParameters` decides: `Ignore` drops, counts and names the field in `x-tollgate-dropped`;
 * `Reject` refuses the call with 400 and the client's field name. A loss that would change the meaning of a call is
 * refused in both cases.
 */
import { GatewayError } from "#proxy/errors";

export class Losses {
  readonly #policy: "Ignore" | "Reject";
  /** Made on first need: nearly always there is nothing to declare. */
  #dropped: Set<string> | undefined;

  constructor(policy: "Ignore" | "Reject") {
    this.#policy = policy;
  }

  /**
   * A hint of the client that the target cannot take: the call means the same without it.
   * @param field path in the client's body, as the client spells it
   * @throws GatewayError `unsupported_parameter` when the channel rejects
   */
  drop(field: string): void {
    if (this.#policy === "Reject") throw unsupported(field);
    this.#dropped ??= new Set();
    this.#dropped.add(field);
  }

  /**
   * A part of the call without which it would mean something else.
   * @throws GatewayError `unsupported_parameter`, always
   */
  refuse(field: string, reason?: string): never {
    throw unsupported(field, reason);
  }

  /** Fields that were dropped, each once; what stands inside of another goes with it. */
  get dropped(): readonly string[] {
    const all = this.#dropped;
    return all === undefined ? nothing : [...all].filter((field) => !isInside(field, all));
  }
}

const nothing: readonly string[] = [];

function isInside(field: string, all: ReadonlySet<string>): boolean {
  // Names are the client's own, and may be as long as its body.
  if (field.length > pathCharactersMax) return false;
  for (let end = 1; end < field.length; end += 1) {
    if ((field[end] === "." || field[end] === "[") && all.has(field.slice(0, end))) return true;
  }
  return false;
}

/** No place of a published format is further down. */
const pathCharactersMax = 200;

function unsupported(field: string, reason = "is not supported by the selected model."): GatewayError {
  return new GatewayError("unsupported_parameter", `Unsupported parameter: '${field}' ${reason}`, { param: field });
}
