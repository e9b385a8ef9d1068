import assert from "node:assert/strict";
import { AttemptHistory } from "#proxy/route/attempt-history";
import { chatFormatsFor } from "#proxy/route/chat-formats";
import { selectTarget } from "#proxy/route/select-target";
import type { Channel } from "#proxy/snapshot/types.gen";
import { snapshotWith } from "#test/support/snapshot-of";
import { wireChannel, wireCredential, wireRoute } from "#test/support/wire-objects";

const responsesFormat = [{ type: "Responses" as const, path: "/responses" }];
const pool = ["main", "spare"].map((name) => ({ name, weight: 1, state: "Active" as const }));

/** Two targets whose channels have two credentials each; the call is bound to `channel` and `credential`. */
function bound(
  channel: string,
  credential: string | undefined,
  changes: Partial<Channel> = {},
  excluded: readonly string[] = [],
  weight = 1,
): string | undefined {
  const targets = ["a", "b"].map((name) => ({ name, channel: `team-a/${name}`, priority: 0, weight }));
  const route = wireRoute("m", { targets });
  const snapshot = snapshotWith(
    route,
    ...["a", "b"].flatMap((name) => [
      wireChannel(name, { formats: responsesFormat, credentials: pool, ...(name === "a" ? changes : {}) }),
      wireCredential(name, "main", `${name}-main`),
      wireCredential(name, "spare", `${name}-spare`),
    ]),
  );
  const tried = new AttemptHistory();
  for (const name of excluded) tried.addTarget(name);
  const selected = selectTarget({
    route,
    model: "m",
    capability: "Chat",
    formats: chatFormatsFor("Responses"),
    snapshot,
    tried,
    affinity: { channel: `team-a/${channel}`, credential },
    random: () => 0.99,
  });
  return selected && `${selected.target.name} ${selected.credential?.secret}`;
}

describe("selectTarget() of a call that goes on from what a provider keeps", () => {
  for (const row of [
    { name: "takes its channel and credential, whatever chance says", got: () => bound("a", "main"), want: "a a-main" },
    { name: "takes another credential where that made it", got: () => bound("b", "spare"), want: "b b-spare" },
    { name: "takes none where the channel is no target", got: () => bound("c", "main"), want: undefined },
    { name: "takes none where the credential is gone", got: () => bound("a", "former"), want: undefined },
    {
      name: "takes none where the credential is disabled",
      got: () => bound("a", "main", { credentials: [{ name: "main", weight: 1, state: "Disabled" }] }),
      want: undefined,
    },
    {
      name: "takes none where the channel is off",
      got: () => bound("a", "main", { state: "Disabled" }),
      want: undefined,
    },
    {
      name: "takes none where the channel no longer speaks the format",
      got: () => bound("a", "main", { formats: [{ type: "ChatCompletions", path: "/chat/completions" }] }),
      want: undefined,
    },
    { name: "takes none a second time", got: () => bound("a", "main", {}, ["a"]), want: undefined },
    {
      name: "takes a channel that needs no credential",
      got: () => bound("a", undefined, { credentials: [] }),
      want: "a undefined",
    },
    {
      name: "takes its channel though that gets no new calls",
      got: () => bound("a", "main", {}, [], 0),
      want: "a a-main",
    },
    { name: "takes none that now needs one", got: () => bound("a", undefined), want: undefined },
  ]) {
    it(row.name, () => assert.equal(row.got(), row.want));
  }
});
