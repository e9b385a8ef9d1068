/**
 * Adapts a reply between reader and writer to what the client asked for, where the request was written for the upstream
 * in other terms (`ReplyAdaptation`): it applies the filters of `neutral/filters/` in their order.
 */

import type { ReplyAdaptation } from "#proxy/formats/translator";
import { CutAtStop } from "#proxy/neutral/filters/cut-at-stop";
import type { ReplyFilter } from "#proxy/neutral/filters/filter";
import { OutputToolAsText } from "#proxy/neutral/filters/output-tool-as-text";
import { RefuseMalformedCall } from "#proxy/neutral/filters/refuse-malformed-call";
import { RenameKeys } from "#proxy/neutral/filters/rename-keys";
import { RenameTools, UnwrapCustomTools } from "#proxy/neutral/filters/rename-tools";
import { StripFence, UnwrapMember } from "#proxy/neutral/filters/whole-text";
import type { ReplyEvent } from "#proxy/neutral/reply";

export class ReplyAdapter {
  readonly #filters: readonly ReplyFilter[];

  /**
   * @param promptTokens as estimated before the call
   * @param candidates that the upstream was asked for
   * @param isWhole the reply came as one body, and everything of it is there
   */
  constructor(adaptation: ReplyAdaptation, promptTokens: number, candidates = 1, isWhole = false) {
    this.#filters = filtersOf(adaptation, promptTokens, candidates, isWhole);
  }

  /** Every event passes as it is. */
  get changesNothing(): boolean {
    return this.#filters.length === 0;
  }

  /** The response is complete for the client; the upstream need not say more. */
  get isCut(): boolean {
    return this.#filters.some((filter) => filter.isCut === true);
  }

  /** Something of the reply waits here until it is whole. */
  get gathers(): boolean {
    return this.#filters.some((filter) => filter.gathers === true);
  }

  adapt(event: ReplyEvent): readonly ReplyEvent[] {
    let events: readonly ReplyEvent[] = [event];
    for (const filter of this.#filters) {
      const [only] = events;
      events =
        events.length === 1 && only !== undefined ? filter.apply(only) : events.flatMap((it) => filter.apply(it));
    }
    return events;
  }
}

function filtersOf(
  adaptation: ReplyAdaptation,
  promptTokens: number,
  candidates: number,
  isWhole: boolean,
): readonly ReplyFilter[] {
  const filters: ReplyFilter[] = [];
  if (adaptation.refusesMalformedCall === true) filters.push(new RefuseMalformedCall());
  const { argumentKeys, toolNames, customTools, outputTool, unwrapMember, stop } = adaptation;
  if (argumentKeys !== undefined) filters.push(new RenameKeys(argumentKeys));
  if (toolNames !== undefined && toolNames.size > 0) filters.push(new RenameTools(toolNames));
  if (outputTool !== undefined) filters.push(new OutputToolAsText(outputTool));
  if (customTools !== undefined && customTools.size > 0) filters.push(new UnwrapCustomTools(customTools));
  if (adaptation.isFencedJson === true) filters.push(new StripFence());
  if (unwrapMember !== undefined) filters.push(new UnwrapMember(unwrapMember));
  const sequences = stop?.filter((sequence) => sequence !== "") ?? [];
  if (sequences.length > 0) filters.push(new CutAtStop(sequences, promptTokens, candidates, isWhole));
  return filters;
}
