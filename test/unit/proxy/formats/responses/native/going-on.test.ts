/**
 * pitfall 156: events of an upstream behind signs of life go on with their numbers, however the upstream writes them.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { responsesClient as clientFormat } from "#proxy/formats/responses/native/client-format";
import { responsesUpstream as format } from "#proxy/formats/responses/native/upstream-format";
import { StreamOpening } from "#proxy/formats/stream/stream-opening";
import { runFilter } from "#test/support/calls/run-filter";
import { callOf } from "#test/support/digest/stream-call";

const call = callOf(format, { stream: true });
const response = `{"id":"resp_1","object":"response","status":"in_progress","tools":[{"sequence_number": 7}],"output":[]}`;
const ended = response.replace("in_progress", "completed");

/** An upstream's three events. */
const rows: readonly { readonly name: string; readonly events: readonly string[] }[] = [
  {
    name: "as OpenAI does",
    events: [
      `event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":${response}}`,
      `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":1,"delta":"\\"sequence_number\\":4"}`,
      `event: response.completed\ndata: {"type":"response.completed","sequence_number":2,"response":${ended}}`,
    ],
  },
  {
    name: "number behind the response, with spaces",
    events: [
      `event: response.created\ndata: {"response": ${response}, "sequence_number": 0, "type": "response.created"}`,
      `event: response.output_text.delta\ndata: {"delta": "a", "item": {"sequence_number": 9}, "sequence_number": 1, "type": "response.output_text.delta"}`,
      `event: response.completed\ndata: {"response": ${ended}, "sequence_number": 2, "type": "response.completed"}`,
    ],
  },
  {
    name: "no names",
    events: [
      `data: {"type": "response.created", "sequence_number" : 0, "response": ${response}}`,
      `data: {"type": "response.output_text.delta", "sequence_number" : 1, "delta": "a"}`,
      `data: {"type": "response.completed", "sequence_number" : 2, "response": ${ended}}`,
    ],
  },
  {
    name: "no numbers",
    events: [
      `event: response.created\ndata: { "type": "response.created", "response": {"id":"resp_1"}}`,
      `event: response.output_text.delta\ndata: {"type": "response.output_text.delta", "delta": "a"}`,
      `event: response.completed\ndata: {"type": "response.completed", "response": {"id":"resp_1","status":"completed"}}`,
    ],
  },
  {
    name: "several lines",
    events: [
      `event: response.created\ndata: {"type": "response.created",\ndata: "sequence_number": 0,\ndata: "response": ${response}}`,
      `data: {"type": "response.output_text.delta",\ndata: "sequence_number": 1, "delta": "a"}`,
      `event: response.completed\ndata: {"type": "response.completed", "sequence_number": 2,\ndata: "response": ${ended}}`,
    ],
  },
];

describe("responses: events behind signs of life", () => {
  for (const { name, events } of rows)
    for (const signs of [0, 1, 3]) {
      it(`pitfall 156: ${name}, behind ${signs} signs, and signs between`, () => {
        const opening = new StreamOpening(1, 1, (prefix) => `${prefix}1`, false);
        let text = "";
        for (let sign = 0; sign < signs; sign += 1) text += clientFormat.signOfLife(call, opening).toString("utf8");
        const filter = format.createStreamFilter(call, 1_024 * 1_024);
        const [first = "", ...others] = events;
        text += runMeterPart(`${first}\n\n`);
        text += clientFormat.signOfLife(call, opening, filter).toString("utf8");
        text += runFilter(filter, [others.map((event) => `${event}\n\n`).join("")]);
        assert.equal(filter.isComplete, true);
        const said = text.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));
        const data = said.map((event) => JSON.parse(event.replace(/^event: .*$|^data: /gm, "")));
        assert.deepEqual(
          data.map(({ sequence_number }) => sequence_number),
          [...data.keys()],
          text,
        );
        assert.equal(data[0].type, "response.created");
        assert.equal(data.filter(({ type }) => type === "response.created").length, 1);
        assert.deepEqual(
          said.map((event) => /^event: (.*)/.exec(event)?.[1]),
          data.map(({ type }) => type),
        );
        assert.match(
          text,
          name === "no numbers" ? /./ : /"tools":\[\{"sequence_number": ?7\}\]/,
          "what it shows stays",
        );

        function runMeterPart(part: string): string {
          return filter.push(Buffer.from(part)).map(String).join("");
        }
      });
    }
});
