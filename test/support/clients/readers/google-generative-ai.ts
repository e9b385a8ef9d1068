/**
 * `@google/generative-ai` 0.24: the reader of LangChain in JavaScript, which throws where nobody can catch. It loses the
 * signatures of calls in a stream, so that it can use no functions there with Gemini 3 itself.
 */
import { question, report, stepResult, stepTool, turnsMax } from "./reader.ts";

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

interface Reply {
  text(): string;
  functionCalls(): readonly Call[] | undefined;
  readonly usageMetadata?: { readonly candidatesTokenCount?: number };
}

interface Chat {
  sendMessage(message: unknown): Promise<{ readonly response: Reply }>;
  sendMessageStream(
    message: unknown,
  ): Promise<{ readonly stream: AsyncIterable<Reply>; readonly response: Promise<Reply> }>;
}

interface GenerativeAi {
  readonly GoogleGenerativeAI: new (
    key: string,
  ) => {
    getGenerativeModel(model: object, options: object): { startChat(): Chat };
  };
}

await report(async (task, load, told) => {
  const { GoogleGenerativeAI }: GenerativeAi = load("@google/generative-ai");
  const declaration = { name: stepTool.name, description: stepTool.description, parameters: stepTool.schema };
  const tools = task.hasTool ? { tools: [{ functionDeclarations: [declaration] }] } : {};
  const chat = new GoogleGenerativeAI(task.key)
    .getGenerativeModel({ model: task.model, ...tools }, { baseUrl: task.origin })
    .startChat();
  let message: unknown = question;
  let outputTokens: number | undefined;
  for (let turn = 0; turn < turnsMax; turn += 1) {
    const reply = task.isStream ? await streamed(chat, message, told) : (await chat.sendMessage(message)).response;
    told.text = reply.text();
    outputTokens = reply.usageMetadata?.candidatesTokenCount;
    const calls = reply.functionCalls() ?? [];
    if (calls.length === 0) break;
    message = calls.map(({ name, args }) => ({
      functionResponse: { name, response: { output: stepResult(args["word"]) } },
    }));
  }
  return outputTokens === undefined ? {} : { outputTokens };
});

async function streamed(chat: Chat, message: unknown, told: { text: string }): Promise<Reply> {
  const { stream, response } = await chat.sendMessageStream(message);
  told.text = "";
  for await (const chunk of stream) told.text += chunk.text();
  return await response;
}
