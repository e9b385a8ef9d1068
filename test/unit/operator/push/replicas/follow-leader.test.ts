import assert from "node:assert/strict";
import { setImmediate as joinBatch } from "node:timers/promises";
import type { Leadership } from "#operator/kubernetes/leader-election/leadership";
import { type FollowingLeader, followLeader } from "#operator/push/replicas/follow-leader";
import { PeerSummaries } from "#operator/push/replicas/peer-summaries";
import { readSummary, type Summary, SummaryError, writeLacked, writeSummary } from "#operator/push/replicas/summary";
import { emptySums } from "#proxy/snapshot/digest";
import { ManualTimers } from "#test/support/manual-timers";

const report = { type: "report", keys: [], accounts: [], ejected: [] } as const;

function summaryOf(...proxies: string[]): Summary {
  return {
    operator: "run-1",
    joining: [],
    groups: [{ digest: "d", sums: emptySums(), proxies, rejects: [], untold: [] }],
    old: [],
  };
}

describe("followLeader()", () => {
  let timers: ManualTimers;
  let posts: { readonly address: string; readonly path: string; readonly body: string }[];
  let leader: string | undefined;
  let isLeader: boolean;
  let proxies: string[];
  let old: Summary["old"];
  let failure: Error | undefined;
  let answer: unknown;
  let heard: (readonly string[])[];
  let onPost: () => void;
  let tellFleet: () => void;
  let tellLeadership: () => void;
  let following: FollowingLeader;

  beforeEach(() => {
    timers = new ManualTimers();
    posts = [];
    leader = "10.0.0.1:8443";
    isLeader = false;
    proxies = ["proxy-1"];
    old = [];
    failure = undefined;
    answer = undefined;
    heard = [];
    onPost = () => {};
    tellFleet = () => {};
    tellLeadership = () => {};
    const leadership: Leadership = {
      isLeader: () => isLeader,
      leaderAddress: () => leader,
      onChange(listener) {
        tellLeadership = listener;
        return () => {};
      },
    };
    following = followLeader({
      fleet: {
        setLackedElsewhere: (lacked) => heard.push(lacked),
        summary: (operator) => ({ ...summaryOf(...proxies), operator, old }),
        onChange(listener) {
          tellFleet = listener;
          return () => {};
        },
      },
      leadership,
      client: {
        async post(address, path, body) {
          if (failure !== undefined) throw failure;
          posts.push({ address, path, body });
          onPost();
          return answer;
        },
        close() {},
      },
      operator: "run-1",
      everyMs: 10_000,
      timers,
    });
  });

  async function advance(byMs: number): Promise<void> {
    for (let passed = 0; passed < byMs; passed += 50) {
      timers.advance(Math.min(50, byMs - passed));
      await joinBatch();
    }
  }
  const told = () => posts.map(({ body }) => readSummary(JSON.parse(body)).groups[0]?.proxies.join() ?? "");

  it("tells soon after a change, once for many, and regularly", async () => {
    await advance(100);
    assert.deepEqual(told(), ["proxy-1"]);
    for (let change = 0; change < 20; change += 1) tellFleet();
    await advance(500);
    assert.equal(posts.length, 1, "nothing changed in meaning");
    proxies = ["proxy-1", "proxy-2"];
    tellFleet();
    await advance(100);
    assert.deepEqual(told(), ["proxy-1", "proxy-1,proxy-2"]);
    await advance(10_100);
    assert.equal(posts.length, 3);
  });

  it("is not put off by changes that do not end", async () => {
    await advance(100);
    for (let change = 0; change < 20; change += 1) {
      proxies = [`proxy-${change}`];
      tellFleet();
      timers.advance(40);
      await joinBatch();
    }
    assert.ok(posts.length >= 8, `${posts.length} posts`);
  });

  it("tells all of it again after a failure, and to whoever leads next", async () => {
    await advance(100);
    failure = new Error("connection refused");
    proxies = ["proxy-2"];
    tellFleet();
    await advance(2_000);
    assert.equal(posts.length, 1);
    failure = undefined;
    await advance(1_000);
    assert.deepEqual(told(), ["proxy-1", "proxy-2"]);
    leader = "10.0.0.2:8443";
    tellLeadership();
    await advance(100);
    assert.deepEqual(posts.at(-1)?.address, "10.0.0.2:8443");
  });

  it("tells nobody while it leads, and while nobody does", async () => {
    isLeader = true;
    await advance(500);
    assert.equal(following.report("proxy-1", report), false);
    isLeader = false;
    leader = undefined;
    tellLeadership();
    await advance(500);
    assert.deepEqual(posts, []);
  });

  it("does not listen to the answer of an operator that led until now", async () => {
    answer = JSON.parse(writeLacked(new Set(["key.maxInFlight"])));
    onPost = () => {
      isLeader = true;
    };
    await advance(100);
    assert.equal(posts.length, 1);
    assert.deepEqual(heard, []);
  });

  it("hears in answer what proxies of other operators lack, and that nothing is lacking where the answer is empty", async () => {
    await advance(100);
    assert.equal(posts.length, 1);
    assert.deepEqual(heard.splice(0), [[]]);
    answer = JSON.parse(writeLacked(new Set(["key.maxInFlight"])));
    proxies = ["proxy-2"];
    tellFleet();
    await advance(100);
    assert.deepEqual(heard, [["key.maxInFlight"]]);
  });

  it("holds to what the former leader said at the first word of the next, who may not have heard of all", async () => {
    answer = JSON.parse(writeLacked(new Set(["key.maxInFlight"])));
    await advance(100);
    answer = undefined;
    leader = "10.0.0.2:8443";
    tellLeadership();
    await advance(100);
    assert.deepEqual(heard.splice(0), [["key.maxInFlight"], ["key.maxInFlight"]]);
    await advance(10_100);
    assert.deepEqual(heard, [[]]);
  });

  it("hands reports on after the summary, and keeps a bounded number", async () => {
    leader = undefined;
    for (let count = 0; count < 700; count += 1) assert.equal(following.report(`proxy/${count}`, report), true);
    leader = "10.0.0.1:8443";
    tellLeadership();
    await advance(30_000);
    const reports = posts.filter(({ path }) => path.startsWith("/reports/"));
    assert.equal(posts[0]?.path, "/summary");
    assert.equal(reports.length, 500);
    assert.equal(reports[0]?.path, "/reports/proxy%2F200");
  });

  it("says at its end that nobody is connected here any more", async () => {
    await advance(100);
    await following.close();
    assert.deepEqual(readSummary(JSON.parse(posts.at(-1)?.body ?? "")).groups, []);
    assert.equal(timers.waiting, 0);
  });

  it("says with its last word which proxies that leave with it are too old: they come back elsewhere", async () => {
    old = [{ proxy: "proxy-1", lacks: ["key.maxInFlight"] }];
    await advance(100);
    const before = old;
    proxies = [];
    old = [];
    await following.close();
    const last = readSummary(JSON.parse(posts.at(-1)?.body ?? ""));
    assert.deepEqual([last.groups, last.old], [[], before]);
  });
});

describe("PeerSummaries", () => {
  it("forgets a follower that falls silent, and believes the newest word about a proxy first", () => {
    const timers = new ManualTimers();
    const summaries = new PeerSummaries(30_000, timers);
    let changes = 0;
    summaries.onChange(() => {
      changes += 1;
    });
    summaries.accept("operator-1", summaryOf("proxy-1"));
    timers.advance(20_000);
    summaries.accept("operator-2", summaryOf("proxy-2"));
    assert.deepEqual(
      [...summaries.groups()].map(({ via }) => via),
      ["operator-2", "operator-1"],
    );
    timers.advance(10_000);
    assert.deepEqual(
      [...summaries.groups()].map(({ via }) => via),
      ["operator-2"],
    );
    assert.equal(changes, 3);
    summaries.clear();
    assert.equal(summaries.peers, 0);
    assert.equal(timers.waiting, 0);
  });

  it("takes no more followers than anybody runs", () => {
    const summaries = new PeerSummaries(30_000, new ManualTimers());
    for (let index = 0; index < 200; index += 1) summaries.accept(`operator-${index}`, summaryOf("proxy"));
    assert.equal(summaries.peers, 64);
  });
});

describe("readSummary()", () => {
  it("reads what writeSummary wrote", () => {
    const summary: Summary = {
      operator: "run-1",
      joining: ["proxy-3"],
      groups: [
        {
          digest: "d",
          sums: emptySums().fill(7n),
          proxies: ["proxy-1", "proxy-2"],
          rejects: [{ proxy: "proxy-1", id: "key/a/b", message: "/state" }],
          untold: ["proxy-2"],
        },
      ],
      old: [{ proxy: "proxy-3", lacks: ["key.maxInFlight"] }],
    };
    assert.deepEqual(readSummary(JSON.parse(writeSummary(summary))), summary);
  });

  it("counts proxies of too many groups as joining, and never loses one", () => {
    const groups = Array.from({ length: 100 }, (_, index) => ({
      digest: `${index}`,
      sums: emptySums(),
      proxies: [`proxy-${index}`],
      rejects: [],
      untold: [],
    }));
    const read = readSummary(JSON.parse(writeSummary({ operator: "run-1", groups, joining: [], old: [] })));
    const names = [...read.joining, ...read.groups.flatMap(({ proxies }) => proxies)];
    assert.equal(new Set(names).size, 100);
    assert.ok(read.groups.length <= 32);
  });

  it("names every object that is refused before any of them twice, and the proxies whose refusals have no room", () => {
    const rejectsOf = (proxy: string, from: number, count: number) =>
      Array.from({ length: count }, (_, index) => ({ proxy, id: `key/a/${from + index}`, message: "/state" }));
    const groups = [
      {
        digest: "one",
        sums: emptySums(),
        proxies: ["same-1", "same-2", "none"],
        rejects: [...rejectsOf("same-1", 0, 600), ...rejectsOf("same-2", 0, 600)],
        untold: [],
      },
      { digest: "two", sums: emptySums(), proxies: ["more"], rejects: rejectsOf("more", 600, 500), untold: [] },
    ];
    const read = readSummary(JSON.parse(writeSummary({ operator: "run-1", groups, joining: [], old: [] })));
    const rejects = read.groups.flatMap((one) => one.rejects);
    assert.equal(rejects.length, 1_000);
    assert.equal(new Set(rejects.map(({ id }) => id)).size, 1_000);
    assert.deepEqual(
      read.groups.map(({ untold }) => untold),
      [[], ["more"]],
    );
  });

  it("takes the word of an operator that knows nothing of capabilities, nor of refusals left out", () => {
    assert.deepEqual(readSummary(base()).old, []);
    assert.deepEqual(readSummary({ ...base(), groups: [group()] }).groups[0]?.untold, []);
  });

  for (const row of [
    { name: "no object", value: [] },
    { name: "a proxy that lacks a number", value: { ...base(), old: [{ proxy: "p", lacks: [1] }] } },
    { name: "another type", value: { type: "report" } },
    { name: "sums of another length", value: { ...base(), groups: [{ ...group(), sums: "AAAA" }] } },
    { name: "a proxy without a name", value: { ...base(), groups: [{ ...group(), proxies: [1] }] } },
    { name: "too many proxies", value: { ...base(), joining: Array.from({ length: 10_001 }, () => "p") } },
    { name: "too many groups", value: { ...base(), groups: Array.from({ length: 40 }, group) } },
    { name: "a reject without an id", value: { ...base(), groups: [{ ...group(), rejects: [{ proxy: "p" }] }] } },
  ]) {
    it(`refuses ${row.name}`, () => assert.throws(() => readSummary(row.value), SummaryError));
  }

  function base() {
    return { type: "summary", operator: "run-1", groups: [], joining: [] };
  }
  function group() {
    const sums = Buffer.alloc(2048).toString("base64");
    return { digest: "d", sums, proxies: ["p"], rejects: [] };
  }
});
