import assert from "node:assert/strict";
import { removeSealedState } from "#proxy/formats/responses/translate/remove-sealed-state";

const own = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" };
const sealed = {
  type: "reasoning",
  id: "rs_2",
  summary: [{ type: "summary_text", text: "T" }],
  encrypted_content: "tg1.AA.BB",
};
const message = { role: "user", content: "tg1.AA.BB" };

describe("responses: removeSealedState", () => {
  for (const row of [
    { name: "keeps a body without any", input: [own, message], want: [own, message] },
    { name: "takes out reasoning that was sealed here", input: [own, sealed, message], want: [own, message] },
    { name: "keeps a text", input: "tg1.AA.BB", want: "tg1.AA.BB" },
    {
      name: "keeps reasoning without state",
      input: [{ ...own, encrypted_content: null }],
      want: [{ ...own, encrypted_content: null }],
    },
  ]) {
    it(row.name, () =>
      assert.deepEqual(removeSealedState({ model: "m", input: row.input }), { model: "m", input: row.want }),
    );
  }

  it("is the same object when nothing was taken out", () => {
    const body = { model: "m", input: [own] };
    assert.equal(removeSealedState(body), body);
  });
});
