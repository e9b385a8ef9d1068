/** Codex CLI, run without a person. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { formatNames, useClientsRig } from "#test/support/clients/clients-rig";
import { nodePackages, usePackages } from "#test/support/clients/installed-packages";
import { codex } from "#test/support/clients/programs/codex";
import { agentDeadlineMs, runWholeAgent } from "#test/support/clients/programs/program";
import { describeRun } from "#test/support/clients/run-program";

/** What it says when a stream ends otherwise than HTTP ends it. */
const transportError = /Transport error|error decoding response body/;

describe("clients: Codex CLI", function () {
  this.timeout(agentDeadlineMs + 5_000);
  usePackages(nodePackages);
  const cell = useClientsRig();

  for (const format of formatNames) {
    it(`pitfall 167: an agent with hosted search beside its functions over ${format}`, () =>
      runWholeAgent(codex(), cell(format)));

    it(`pitfall 166: an overloaded ${format} upstream is at capacity, not a broken connection`, async () => {
      const { upstream, origin } = cell(format).play(() => ({ text: "Half of it", failure: "overloaded" }));
      const { run, errors } = await codex().run(origin);
      const said = errors.join("\n");
      assert.notEqual(run.status, 0, describeRun(run));
      assert.doesNotMatch(said, transportError);
      assert.match(said, /Selected model is at capacity|overloaded/, describeRun(run));
      if (format === "Responses") {
        assert.match(said, /Selected model is at capacity\. Please try a different model\./);
        assert.equal(upstream.requests.length, 1, "it does not try again");
      }
    });

    it(`pitfall 166: a spent quota of a ${format} upstream is told in the gateway's words`, async () => {
      const { upstream, origin } = cell(format).play(() => ({ text: "Half of it", failure: "quota" }));
      const { run, errors } = await codex().run(origin);
      assert.deepEqual(upstream.refusals, []);
      assert.notEqual(run.status, 0, describeRun(run));
      assert.ok(errors.length > 0, describeRun(run));
      assert.doesNotMatch(errors.join("\n"), transportError);
    });

    it(`a context that is too long for ${format} is told as such, once`, async () => {
      const { upstream, origin } = cell(format).play(() => ({ text: "Half of it", failure: "contextOverflow" }));
      const { run, errors } = await codex().run(origin);
      assert.notEqual(run.status, 0, describeRun(run));
      assert.match(errors.join("\n"), /ran out of room/, describeRun(run));
      assert.equal(upstream.requests.length, 1, "it does not try again");
    });

    it(`a stream of ${format} that breaks is no success, and tried again`, async () => {
      const { upstream, origin } = cell(format).play(() => ({ text: "Half of it", isCut: true }));
      const { run } = await codex().run(origin);
      assert.notEqual(run.status, 0, describeRun(run));
      assert.equal(upstream.requests.length, 2, describeRun(run));
    });
  }

  it("pitfall 169: a WebSocket that is not served is given up at once and in silence", async () => {
    const agent = codex({ triesWebSocket: true });
    const { gateway } = cell("Responses");
    const before = gateway.records.length;
    await runWholeAgent(agent, cell("Responses"));
    const { run, errors } = await agent.run(cell("Responses").origin);
    assert.doesNotMatch(errors.join("\n"), /WebSocket/, describeRun(run));
    const upgrades = gateway.records.slice(before).filter(({ status }) => status !== 200);
    assert.deepEqual(
      upgrades.map(({ status }) => status),
      [426, 426],
      "one for each of two runs",
    );
  });
});
