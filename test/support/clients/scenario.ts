/**
 * Scripted answers apart from any wire format: a scenario is asked for the next turn at each request, and each format
 * writes that turn as its provider would.
 */

export interface ScriptedCall {
  readonly name: string;
  readonly arguments: object;
}

/** Failures of which each provider speaks in its own words. */
export type Failure = "overloaded" | "quota" | "contextOverflow";

export interface Turn {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Behind the text the stream says that it failed, in the format's own event, and ends cleanly. */
  readonly failure?: Failure;
  /** Behind the text the connection breaks. */
  readonly isCut?: true;
  /** No turn at all but a reply with this error status. */
  readonly status?: number;
}

/** A request as a scenario sees it. */
export interface Question {
  readonly model: string;
  readonly isStream: boolean;
  /** Names of the functions that the model may call. */
  readonly tools: readonly string[];
  /** Texts of the tools' results, in order. */
  readonly results: readonly string[];
}

export type Scenario = (question: Question) => Turn;

/** Usage that every scripted reply reports. */
export const usage = { input: 120, output: 45 } as const;

/** What `agentScenario` says last when a client gave it these results. */
export function finalText(results: readonly string[]): string {
  return `All done: ${results.map((result) => result.trim()).join(" / ")}`;
}

/**
 * Text and a call, then two calls at once, then a text that quotes all three results. Requests without functions, which
 * programs send beside their conversation, get a short text.
 *
 * @param call makes the client's own tool do something that shows this word in its result
 */
export function agentScenario(call: (word: string) => ScriptedCall): Scenario {
  return ({ tools, results }) => {
    if (tools.length === 0) return { text: "A short answer." };
    switch (results.length) {
      case 0:
        return { thinking: "One step first.", text: "I run the first step.", calls: [call("alpha")] };
      case 1:
        return { text: "Now two at once.", calls: [call("beta"), call("gamma")] };
      default:
        return { text: finalText(results) };
    }
  };
}
