/**
 * Recorded streams that break off, to clients of every other format: whatever was said before goes to the client, then
 * an error of its own format and an end that no client takes for a whole answer. At every event, by a clean close, a
 * reset and an error event of the provider.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { readEventFields, splitEvents } from "#proxy/sse/event-fields";
import { protocols, type TranslationRig, useTranslationRig } from "#test/support/conformance/translation-rig";
import { type DigestProtocol, digest } from "#test/support/digest/digest";
import { parseReply } from "#test/support/digest/parse-reply";
import { explainAbsence, type Recorded, readRecorded } from "#test/support/digest/recorded";

const streams = readRecorded()?.filter((reply) => reply.isStream && !reply.id.includes("jsonarray"));

/** Longer streams are cut at this many places. */
const cutsMax = 12;

const errorEvents: Readonly<Record<DigestProtocol, string>> = {
  "openai-chat": 'data: {"error":{"message":"Overloaded","type":"server_error","code":"server_error"}}\n\n',
  "openai-responses":
    'event: error\ndata: {"type":"error","sequence_number":99,"code":"server_error","message":"Overloaded","param":null}\n\n',
  "anthropic-messages":
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  gemini: 'data: {"error":{"code":503,"message":"Overloaded","status":"UNAVAILABLE"}}\r\n\r\n',
};

const signsOfSuccess = /\[DONE\]|"message_stop"|response\.completed|response\.incomplete/;

describe("recorded streams cut on the way to clients of other formats", () => {
  if (streams === undefined) {
    it(explainAbsence("recorded streams cut on the way to clients of other formats"));
    return;
  }
  const rig = useTranslationRig();

  for (const reply of streams) {
    const places = cutPlaces(reply);
    if (places.length === 0) continue;
    for (const to of protocols.filter((protocol) => protocol !== reply.protocol)) {
      it(`tells ${to} clients that ${reply.id.replace(/^upstream\//, "")} broke off`, async () => {
        for (const end of places) {
          const before = reply.bytes().subarray(0, end);
          const manner = end % 3;
          const ending = manner === 2 ? Buffer.from(errorEvents[reply.protocol]) : Buffer.alloc(0);
          await checkCut(rig(), reply, to, Buffer.concat([before, ending]), manner === 1);
        }
      });
    }
  }
});

/** Ends of events before which nothing says that the answer is over; the first event stands before each. */
function cutPlaces(reply: Recorded): number[] {
  const bytes = reply.bytes();
  const ends: number[] = [];
  let end = 0;
  for (const event of splitEvents(bytes)) {
    end += event.length;
    const { data } = readEventFields(event);
    if (data === undefined) continue;
    const said = digest(reply.protocol, bytes.subarray(0, end));
    if (said.finish !== null || said.error !== null) break;
    ends.push(end);
  }
  if (ends.length <= cutsMax) return ends;
  return Array.from({ length: cutsMax }, (_, index) => ends[Math.floor((index * ends.length) / cutsMax)] ?? 0);
}

async function checkCut(
  rig: TranslationRig,
  reply: Recorded,
  to: DigestProtocol,
  body: Buffer,
  isReset: boolean,
): Promise<void> {
  const said = digest(reply.protocol, body);
  const headers = { "content-type": "text/event-stream" };
  rig.upstream.replyWith(
    isReset
      ? { headers, body: Buffer.concat([body, Buffer.from(" ")]), cutAt: body.length, cutWith: "reset" }
      : { headers, body },
  );
  const answer = await rig.call(to, reply.protocol, true);
  const place = `after ${body.length} bytes, ${isReset ? "reset" : "closed"}`;
  assert.doesNotMatch(answer.body.toString(), signsOfSuccess, place);
  const told = digest(to, answer.body, answer.status);
  assert.equal(told.status, "error", place);
  if (answer.status !== 200) {
    // Nothing had been said: a proper status is better than a stream that begins with an error.
    assert.equal(said.text + said.refusal, "", place);
    return;
  }
  assert.equal(answer.isComplete, to !== "gemini", `the stream ends as its format wants ${place}`);
  assert.ok((parseReply(answer.body).events ?? []).length > 0);
  // A reset may overtake what stands in the kernel's buffers.
  const before = said.text + said.refusal;
  // What stands for a file is no text of the upstream's.
  const got = (told.text + told.refusal).replace("[image omitted]", "");
  assert.ok(
    isReset ? before.startsWith(got) : before === got,
    `${place}: ${JSON.stringify(got)} of ${JSON.stringify(before)}`,
  );
}
