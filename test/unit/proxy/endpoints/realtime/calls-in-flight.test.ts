/** Calls of a session that has ended hold nothing. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { CallsInFlight, type CallTerms } from "#proxy/endpoints/realtime/usage/calls-in-flight";
import { ConversationSize } from "#proxy/endpoints/realtime/usage/conversation-size";
import { nothingAdded } from "#proxy/endpoints/realtime/usage/message-size";
import { GatewayError } from "#proxy/errors";

describe("CallsInFlight", () => {
  it("gives back what comes true when the session has ended", async () => {
    const ledger: string[] = [];
    let reserved: () => void = () => undefined;
    const reservation = {
      reserve: () =>
        new Promise<void>((resolve) => {
          reserved = resolve;
        }),
      release: async (wasSent: boolean) => void ledger.push(`released ${wasSent}`),
      settle: async () => void ledger.push("settled"),
    };
    const terms = { reservation, fleet: { defaultOutputReserve: 100 }, route: {} } as unknown as CallTerms;
    const calls = new CallsInFlight(new ConversationSize(), async () => 0);
    const asked = { eventId: "r1", outputCap: 10, own: nothingAdded, isOutOfBand: false, metadata: undefined };
    const asking = calls.ask(asked, terms);
    await calls.end(new GatewayError("upstream_error", ""), "SD");
    reserved();
    await asking;
    assert.deepEqual(ledger, ["released false"]);
    assert.equal(calls.isIdle, true);
  });
});
