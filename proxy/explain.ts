/** The dry run of one decision over the live configuration, for `/debug/explain`: the same `decide()` that enforces. */
import { describeLiveness } from "./authenticate/find-key.ts";
import { decide } from "./authorize/decide.ts";
import { parseIpAddress } from "./http/address/ip-address.ts";
import type { Protocol } from "./protocols/wire.ts";
import type { Snapshot } from "./snapshot/snapshot.ts";
import type { Capability } from "./snapshot/types.gen.ts";

export interface ExplainQuestion {
  /** `namespace/name`; never the key itself. */
  readonly key: string;
  readonly model: string;
  readonly address?: string | undefined;
  readonly protocol?: Protocol | undefined;
  readonly capability?: Capability | undefined;
}

export interface Explanation {
  readonly allowed: boolean;
  /** Error code of the refusal; absent when allowed. */
  readonly refused?: string;
  readonly message: string;
  readonly route?: string;
  /** Targets in the order in which they would be considered. */
  readonly targets?: readonly {
    readonly channel: string;
    readonly priority: number;
    readonly weight: number;
    readonly state: string;
  }[];
}

/** @param nowMs milliseconds since the epoch: keys live by the clock */
export function explain(question: ExplainQuestion, snapshot: Snapshot, nowMs: number): Explanation {
  const [namespace = "", name = ""] = question.key.split("/");
  const key = snapshot.keyByName(namespace, name);
  if (key === undefined)
    return {
      allowed: false,
      refused: "unknown_key",
      message: `There is no key ${question.key} in the live configuration.`,
    };
  const problems = key.credentials.map((credential) => describeLiveness({ key, credential }, nowMs));
  if (problems.every((problem) => problem !== undefined)) {
    const refused = problems[0] ?? "unknown_key";
    return {
      allowed: false,
      refused,
      message: `No credential of ${question.key} is live: ${problems.join(", ") || "it has none"}.`,
    };
  }
  const decision = decide({
    key,
    snapshot,
    protocol: question.protocol ?? "OpenAI",
    capability: question.capability ?? "Chat",
    model: question.model,
    clientAddress: question.address === undefined ? undefined : parseIpAddress(question.address),
  });
  if (!decision.allowed) return { allowed: false, refused: decision.refused, message: decision.message };
  const { route } = decision;
  return {
    allowed: true,
    message: `The call would go to the route ${route.namespace}/${route.name}.`,
    route: `${route.namespace}/${route.name}`,
    targets: [...route.targets]
      .sort((a, b) => a.priority - b.priority || b.weight - a.weight)
      .map(({ channel, priority, weight }) => ({
        channel,
        priority,
        weight,
        state: snapshot.channel(channel)?.state ?? "Missing",
      })),
  };
}
