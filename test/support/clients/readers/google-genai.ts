/** `@google/genai` 1.30: its own reader of streams, which Gemini CLI has in its bundle. */
import { question, report, stepResult, stepTool, turnsMax } from "./reader.ts";

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly functionCall?: {
    readonly id?: string;
    readonly name?: string;
    readonly args?: Readonly<Record<string, unknown>>;
  };
}

interface Chunk {
  readonly candidates?: readonly { readonly content?: { readonly parts?: readonly Part[] } }[];
  readonly usageMetadata?: { readonly candidatesTokenCount?: number };
}

interface Genai {
  readonly GoogleGenAI: new (
    options: object,
  ) => {
    readonly models: {
      generateContent(call: object): Promise<Chunk>;
      generateContentStream(call: object): Promise<AsyncIterable<Chunk>>;
    };
  };
}

await report(async (task, load, told) => {
  const { GoogleGenAI }: Genai = load("@google/genai");
  const { models } = new GoogleGenAI({ apiKey: task.key, httpOptions: { baseUrl: task.origin } });
  const declaration = { name: stepTool.name, description: stepTool.description, parametersJsonSchema: stepTool.schema };
  const config = task.hasTool ? { tools: [{ functionDeclarations: [declaration] }] } : {};
  const contents: object[] = [{ role: "user", parts: [{ text: question }] }];
  let outputTokens: number | undefined;
  for (let turn = 0; turn < turnsMax; turn += 1) {
    const call = { model: task.model, contents, config };
    const chunks = task.isStream ? await models.generateContentStream(call) : [await models.generateContent(call)];
    const parts: Part[] = [];
    told.text = "";
    for await (const chunk of chunks) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
      told.text = parts.map((part) => (part.thought === true ? "" : (part.text ?? ""))).join("");
      outputTokens = chunk.usageMetadata?.candidatesTokenCount ?? outputTokens;
    }
    const calls = parts.flatMap((part) => part.functionCall ?? []);
    if (calls.length === 0) break;
    const results = calls.map(({ id, name, args }) => ({
      functionResponse: { ...(id === undefined ? {} : { id }), name, response: { output: stepResult(args?.["word"]) } },
    }));
    contents.push({ role: "model", parts }, { role: "user", parts: results });
  }
  return outputTokens === undefined ? {} : { outputTokens };
});
