/** What every official SDK can be asked to do, whatever its format: one driver a format and generation. */
export interface ToolTalk {
  /** Arguments of the call in the first turn. */
  readonly args: unknown;
  /** Reasoning shown in the first turn. */
  readonly thought: string;
  /** Text of the second turn, after the tool's result. */
  readonly text: string;
}

export interface SdkDriver {
  /** Generation of the SDK and format. */
  readonly name: string;
  text(model: string, prompt: string, stream: boolean): Promise<string>;
  /** Asks for the weather with one tool, answers the call with `sunny`, over two turns as the SDK's users write them. */
  useTool(model: string, options: { readonly stream: boolean; readonly thinks: boolean }): Promise<ToolTalk>;
  /** An answer that fits `citySchema`, as the SDK parses it. */
  structured(model: string): Promise<unknown>;
  describeImage(model: string): Promise<string>;
}

export const weatherQuestion = "what is the weather?";
