import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { FormServer, field, file, formOf } from "#test/support/form-server";

const model = field("model", "m");

interface Row {
  readonly name: string;
  readonly body: Buffer;
  readonly type?: string;
  /** Parts, or the code of the refusal. */
  readonly outcome: unknown;
}

/** docs/design/reliability.md E8. */
const rows: readonly Row[] = [
  {
    name: "fields and a file, in their order",
    body: formOf([file("image", "PNG"), model, field("n", "2")]),
    outcome: [
      ["image", "PNG", "a.png", "image/png"],
      ["model", "m"],
      ["n", "2"],
    ],
  },
  { name: "a form without parts", body: formOf([]), outcome: [] },
  { name: "two parts of a name that may come once", body: formOf([model, model]), outcome: "invalid_form" },
];

describe("readForm", () => {
  let server: FormServer;

  before(async () => {
    server = await FormServer.start({ single: ["model"] });
  });
  after(() => server.close());
  afterEach(() => {
    assert.deepEqual([server.inFlight.bytes, server.spool.bytes, readdirSync(server.folder)], [0, 0, []]);
  });

  for (const { name, body, type, outcome } of rows) {
    it(`reads or refuses ${name}`, async () => {
      assert.deepEqual(await server.outcome(body, type === undefined ? {} : { type }), outcome);
    });
  }

  it("keeps a large file on disk", async () => {
    const content = Buffer.alloc(3_000_000);
    for (let index = 0; index < content.length; index += 1) content[index] = (index * 31) % 251;
    const outcome = await server.outcome(formOf([file("image", content), model]));
    assert.deepEqual(outcome, [
      ["image", content.toString("latin1"), "a.png", "image/png"],
      ["model", "m"],
    ]);
  });
});
