import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { FinishedCandidates } from "#proxy/formats/stream/finished-candidates";

/** Notes the beginning of so many candidates, and the end of the first ones. */
function noted(candidates: FinishedCandidates, begun: number, finished: number): FinishedCandidates {
  for (let index = 0; index < begun; index += 1) candidates.note(index, false);
  for (let index = 0; index < finished; index += 1) candidates.note(index, true);
  return candidates;
}

describe("candidates of a stream", () => {
  for (const row of [
    { name: "none that began", asked: undefined, begun: 0, finished: 0, areWhole: false },
    { name: "one that ended", asked: undefined, begun: 1, finished: 1, areWhole: true },
    { name: "one of two that ended", asked: undefined, begun: 2, finished: 1, areWhole: false },
    { name: "127 of the 128 that chat may ask for", asked: undefined, begun: 128, finished: 127, areWhole: false },
    { name: "299 of 300 that were asked for", asked: 300, begun: 300, finished: 299, areWhole: false },
    { name: "300 of 300 that were asked for", asked: 300, begun: 300, finished: 300, areWhole: true },
    {
      name: "indexes of more than were asked for, which count something else",
      asked: 2,
      begun: 3,
      finished: 1,
      areWhole: true,
    },
  ]) {
    it(`are ${row.areWhole ? "" : "not "}whole with ${row.name}`, () => {
      assert.equal(noted(new FinishedCandidates(row.asked), row.begun, row.finished).areWhole, row.areWhole);
    });
  }

  it("are whole where the whole reply ended", () => {
    const candidates = noted(new FinishedCandidates(), 2, 0);
    candidates.noteEnd();
    assert.equal(candidates.areWhole, true);
  });
});
