/**
 * The support matrix of translation, from the goldens that prove each cell: what a client of one format may say to an
 * upstream of another, what is dropped on the way and what is refused.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { projectRoot } from "#scripts/run";
import type { GeneratedFile } from "./generated-file.ts";

const names = ["ChatCompletions", "Responses", "Messages", "GenerateContent"] as const;
type Name = (typeof names)[number];

interface Golden {
  readonly feature: string;
  readonly expected?: Partial<Record<Name, Partial<Record<Name, Outcome>>>>;
}

type Outcome = string | { readonly refused?: string; readonly dropped?: readonly string[] };

const introduction = `# Translation between formats

<!-- Generated from test/golden/translation by \`npm run generate\`; do not edit. -->

A client of any of the four chat formats reaches a channel of any other. What both sides can say is carried; what the
upstream cannot take is **dropped** and named in the header \`x-tollgate-dropped\` and in the counter
\`tollgate_dropped_parameters_total\`, or answered with 400 where the channel says \`unsupportedParameters: Reject\`; what
would change the meaning of a call is **refused** with 400 in both cases. Same-format calls are never translated: where
only one of client and channel streams, the answer is told in the other manner with all it says, and what a whole answer
has no place for (\`response.audio\`, events of unknown types) is named and counted in the same two places.

Models are the vendors' newest (\`gpt-5.4\`, \`claude-sonnet-4-6\`, \`gemini-3-pro\`); older and compatible ones take less.
Each cell is a golden: the file beside the row holds what was said and what went out, byte for byte.

Two things of requests. Claude Code's attribution line (\`x-anthropic-billing-header:\` at the head of the system text) is left
out for upstreams of other formats, and not named among what was dropped: it is for Anthropic's accounting, says nothing to
a model, and its hash, another one in each request, would keep every other prompt cache from finding a prefix. Thinking
that a ChatCompletions upstream sent as \`reasoning_content\` or \`reasoning\` goes back to that channel in the same member of
the message with its calls, whatever the model is called; thinking of anybody else never does. In a conversation that holds
such thinking a message with calls and none says a space, since servers that want it back refuse a message without.

Tools that a Responses client runs itself (\`local_shell\`, \`shell\` on the user's machine, \`apply_patch\`, \`tool_search\` with
\`execution: client\`) are functions for other upstreams, in the history as well, and their calls come back as items of the
tool's own type. Tools in \`additional_tools\` items, and what such a search found, are offered like those at the top.

Where an upstream tells no usage, or zeros for an answer with output, Messages and Responses clients are told the estimate
that is billed; clients of the other formats are told none.

Four things of answers that are not as one might expect. A turn that a Messages upstream pauses (\`pause_turn\`, while
it searches the web) is continued by the gateway, up to five times and within the client's cap, for clients of other
formats, who see one answer with the sum of the usage; where a limit has no room for one more request the turn ends there,
as \`stop\`. What Gemini ends with \`CONTINUATION\` is half an answer, and is told as one: \`length\` in chat completions,
\`incomplete\` (\`max_output_tokens\`) in Responses, \`pause_turn\` in Messages, whose clients send it back to have the rest;
with a call it is told as any answer with a call. Why a Messages upstream refused (\`stop_details.explanation\`) reaches generateContent clients alone, since
for others it would read as text of the model. Thinking is shown to Responses clients
as a summary whether they asked for one or not.

## Searches, and other tools that a provider runs

A search goes to the provider's own tool. Beside functions, Gemini from generation 3 on wants to be asked for what its tools
did (\`toolConfig.includeServerSideToolInvocations\`) and wants that back in the next turn: the parts travel sealed, for this
channel and key alone, in reasoning items, in thinking blocks (without thinking, and in a proxy's memory, under the id of the
call that follows) or in the \`extra_content\` of the call of a chat client, where they stand in front of that call. Calls are
then checked against their schemas (\`VALIDATED\`), for Google takes no other automatic mode there. Gemini 2.5, Vertex AI and
compatible servers take no mixture: the search is dropped and named.

What was searched for is shown as \`web_search_call\`, as \`server_tool_use\` with its result, or as \`webSearchQueries\`; behind the
text where the provider tells it last. Chat completions have no place for it, and nothing is said. Such items of the gateway's
own are no loss when they come back, and never reach a provider. A source that holds for a whole block of Claude's has that
block as its segment.

Pages that Google reads (\`urlContext\`) and code that it runs are refused where the other provider has no such tool here, and
dropped and named beside functions: an answer without the page would mean something else. They are not mapped to other
vendors' tools of the kind, which are paid for and limited in other ways than the caller asked for.

## Signatures of calls from elsewhere

Google refuses a call of the current turn whose step has no thought signature. Calls that came from another format or channel
are sent with the value that Google documents for them (\`skip_thought_signature_validator\`), the first of each step. The other
way round, the first call of an answer for a generateContent client has a \`thoughtSignature\` in any case where the client names
a model that signs its calls (\`gemini-3...\` and newer): clients take a missing one for lost, and say so. It is a sealed
envelope with nothing in it, and not Google's value, which is no base64 of the plain alphabet and which some clients fail to
decode. Coming back it tells other providers nothing; Google gets its own value in its place.

## Wishes about the context

\`context_management\` that clears old thinking or tool results (\`clear_thinking_...\`, \`clear_tool_uses_...\`) or compacts the
conversation (\`compact_...\`, \`compaction\`) is dropped and named: it only saves context, and without it the model sees more, but
nothing that the client did not send. Where the client wants to be given the summary (\`pause_after_compaction\`), and for edits
that nobody knows, the call is refused.`;

export async function generateTranslationMatrix(): Promise<readonly GeneratedFile[]> {
  const lines = [introduction];
  for (const client of names) {
    const upstreams = names.filter((name) => name !== client);
    lines.push("", `## Requests of ${client} clients`, "");
    lines.push(`| What the client says | ${upstreams.map((name) => `to ${name}`).join(" | ")} | Golden |`);
    lines.push("| --- | --- | --- | --- | --- |");
    for (const { file, golden } of readGoldens("requests")) {
      const row = golden.expected?.[client];
      if (row === undefined) continue;
      const cells = upstreams.map((upstream) => describe(row[upstream]));
      lines.push(`| ${golden.feature} | ${cells.join(" | ")} | \`${file}\` |`);
    }
  }
  lines.push(
    "",
    "## Answers",
    "",
    "| What the upstream says | of | to clients of | Golden |",
    "| --- | --- | --- | --- |",
  );
  for (const { file, golden } of readGoldens("replies")) {
    const upstreams = names.filter((name) => golden.expected?.[name] !== undefined);
    lines.push(`| ${golden.feature} | ${upstreams.join(", ")} | every other format | \`${file}\` |`);
  }
  lines.push("");
  return [{ path: join(projectRoot, "docs", "translation.md"), content: lines.join("\n") }];
}

function readGoldens(folder: string): { readonly file: string; readonly golden: Golden }[] {
  const path = join(projectRoot, "test", "golden", "translation", folder);
  return readdirSync(path)
    .sort()
    .map((file) => ({ file, golden: parse(readFileSync(join(path, file), "utf8")) }));
}

function describe(outcome: Outcome | undefined): string {
  if (outcome === undefined || typeof outcome === "string") return "";
  if (outcome.refused !== undefined) return "refused";
  if (outcome.dropped === undefined) return "carried";
  return `carried, without ${outcome.dropped.map((field) => `\`${field}\``).join(", ")}`;
}
