import assert from "node:assert/strict";
import { MessageSplicer } from "#proxy/formats/messages/translate/paused-turn/splice-turn";
import type { PausedTurn } from "#proxy/formats/turn-splicer";
import { InFlightBytes } from "#proxy/http/in-flight-bytes";
import type { SentRequest, UpstreamControl, UpstreamHandler } from "#proxy/http1/client/upstream";
import { ContinuingUpstream } from "#proxy/upstream/continuing-upstream";
import { HeldReply } from "#proxy/upstream/reply/held-reply";
import { lastStep, pausedStep, stepEvents } from "#test/support/translation/messages-turn";

const paused = Buffer.from(String(stepEvents(pausedStep, 1).body));
const last = Buffer.from(String(stepEvents(lastStep, 2).body));
const request: SentRequest<Buffer> = {
  path: "/v1/messages",
  headers: ["x-trace", "1"],
  body: Buffer.from('{"max_tokens":100000,"messages":[{"role":"user","content":"hi"}]}'),
  connectTimeoutMs: 0,
};
const success = ["content-type", "text/event-stream"];

const limits = { eventBytesMax: 1_000_000, responseBytesMax: 1_000_000 };

/** A connection that says what is done to it. */
class Control implements UpstreamControl {
  readonly done: string[] = [];
  abort(): void {
    this.done.push("abort");
  }
  pause(): void {
    this.done.push("pause");
  }
  resume(): void {
    this.done.push("resume");
  }
}

class Turn {
  readonly sent: { readonly request: SentRequest; readonly handler: UpstreamHandler }[] = [];
  readonly heard: string[] = [];
  readonly inFlight = new InFlightBytes(1_000_000);
  control: UpstreamControl | undefined;
  text = "";
  progress = 0;
  /** Called with each piece of the reply. */
  onPiece: () => void = () => undefined;

  constructor(mayContinue: (turn: PausedTurn) => boolean | Promise<boolean> = () => true, inFlight?: InFlightBytes) {
    const upstream = new ContinuingUpstream({
      upstream: { send: (sent, handler) => this.sent.push({ request: sent, handler }) },
      splicer: new MessageSplicer(request.body, limits),
      held: new HeldReply(inFlight ?? this.inFlight),
      mayContinue,
    });
    upstream.send(request, {
      onStart: (control) => {
        this.control = control;
        this.heard.push("start");
      },
      onHead: (status) => this.heard.push(`head ${status}`),
      onData: (chunk) => {
        this.text += chunk.toString();
        this.onPiece();
      },
      onEnd: () => this.heard.push("end"),
      onError: (error) => this.heard.push(`error ${error.message}`),
      progress: () => {
        this.progress += 1;
      },
      awaitHead: () => this.heard.push("await head"),
      headCame: () => this.heard.push("head came"),
    });
  }

  /** Replies to the request under way as far as given. */
  reply(body: Buffer, { isEnded = true, status = 200, headers = success } = {}): Control {
    const control = new Control();
    const { handler } = this.sent.at(-1) ?? assert.fail("nothing was sent");
    handler.onStart(control);
    handler.onHead(status, headers);
    handler.onData(body);
    if (isEnded) handler.onEnd();
    return control;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("an upstream whose paused turns are continued", () => {
  it("is one exchange to whoever asked", async () => {
    const asked = new Turn();
    asked.reply(paused);
    await turn();
    assert.equal(asked.sent.length, 2);
    const [, second] = asked.sent;
    assert.deepEqual([second?.request.path, second?.request.headers], [request.path, request.headers]);
    asked.reply(last);
    assert.deepEqual(asked.heard, ["start", "head 200", "await head", "head came", "end"]);
    assert.match(asked.text, /It rains/);
    assert.equal(asked.inFlight.bytes, 0);
  });

  it("passes on what is no success, and encodings that nobody here reads, as they come", () => {
    for (const odd of [
      { status: 429, headers: success },
      { status: 200, headers: ["content-encoding", "gzip"] },
    ]) {
      const asked = new Turn();
      asked.reply(paused, odd);
      assert.deepEqual(asked.heard, ["start", `head ${odd.status}`, "end"]);
      assert.equal(asked.text, paused.toString());
    }
  });

  it("is left in the request that runs, and sends none after it was left", async () => {
    let allow: (isAllowed: boolean) => void = () => undefined;
    const asked = new Turn(() => new Promise((resolve) => (allow = resolve)));
    asked.reply(paused);
    asked.control?.abort();
    allow(true);
    await turn();
    assert.equal(asked.sent.length, 1);
    assert.deepEqual(asked.heard, ["start", "head 200"]);

    const later = new Turn();
    later.reply(paused);
    await turn();
    const control = later.reply(last.subarray(0, 400), { isEnded: false });
    later.control?.abort();
    assert.deepEqual(control.done, ["abort"]);
    later.sent.at(-1)?.handler.onData(last.subarray(400));
    later.sent.at(-1)?.handler.onEnd();
    assert.deepEqual(later.heard, ["start", "head 200", "await head", "head came"]);
    assert.equal(later.inFlight.bytes, 0);
  });

  it("closes a connection that opens after it was left", async () => {
    const asked = new Turn();
    asked.reply(paused);
    await turn();
    asked.control?.abort();
    assert.deepEqual(asked.reply(Buffer.alloc(0)).done, ["abort"]);
  });

  it("holds back whichever request runs while its reader is slow", async () => {
    const asked = new Turn();
    const first = asked.reply(paused.subarray(0, 50), { isEnded: false });
    asked.control?.pause();
    assert.deepEqual(first.done, ["pause"]);
    const { handler } = asked.sent[0] ?? assert.fail();
    handler.onData(paused.subarray(50));
    handler.onEnd();
    await turn();
    const second = asked.reply(last.subarray(0, 50), { isEnded: false });
    asked.control?.resume();
    assert.deepEqual(second.done, ["pause", "resume"]);
  });

  it("counts interim replies of every request as one reply's", async () => {
    const asked = new Turn();
    asked.reply(paused);
    await turn();
    asked.sent.at(-1)?.handler.onHead(103, []);
    asked.reply(last);
    assert.deepEqual(asked.heard, ["start", "head 200", "await head", "head 103", "head came", "end"]);
  });

  it("leaves a connection alone that has heard its end: it serves others", async () => {
    let allow: (isAllowed: boolean) => void = () => undefined;
    const asked = new Turn(() => new Promise((resolve) => (allow = resolve)));
    const first = asked.reply(paused);
    asked.control?.pause();
    asked.control?.resume();
    asked.control?.abort();
    allow(true);
    await turn();
    assert.deepEqual(first.done, []);

    const capped = new Turn(() => false);
    capped.onPiece = () => capped.control?.pause();
    const second = capped.reply(paused);
    await turn();
    assert.deepEqual(capped.heard, ["start", "head 200", "end"]);
    assert.deepEqual(second.done, ["pause"], "while its body came");
  });

  it("holds nothing once it was left within a piece of the reply", () => {
    const asked = new Turn();
    asked.onPiece = () => asked.control?.abort();
    const long = { ...pausedStep, content: [{ type: "text", text: "x".repeat(200_000) }] };
    asked.reply(Buffer.from(String(stepEvents(long, 1).body)));
    assert.equal(asked.inFlight.bytes, 0);
  });

  it("goes on from a message that is whole though its connection broke, and fails for any other", async () => {
    const asked = new Turn();
    asked.reply(paused, { isEnded: false });
    asked.sent[0]?.handler.onError(new Error("reset"));
    await turn();
    asked.reply(last);
    assert.equal(asked.heard.at(-1), "end");
    const half = new Turn();
    half.reply(paused.subarray(0, 400), { isEnded: false });
    half.sent[0]?.handler.onError(new Error("reset"));
    assert.deepEqual(half.heard, ["start", "head 200", "error reset"]);
  });

  it("counts bytes of an object as progress, which must be whole first", () => {
    const asked = new Turn();
    asked.reply(Buffer.from('{"content":'), { isEnded: false });
    assert.deepEqual([asked.progress, asked.text], [1, ""]);
    asked.sent[0]?.handler.onData(Buffer.from("[]}"));
    asked.sent[0]?.handler.onEnd();
    assert.deepEqual([asked.progress, asked.text], [2, '{"content":[]}']);
  });

  it("ends with the pause where there is no room to keep the turn, or for its next request", async () => {
    for (const length of [200_000, 100_000]) {
      const full = new InFlightBytes(10);
      const asked = new Turn(() => assert.fail("not asked"), full);
      const long = { ...pausedStep, content: [{ type: "text", text: "x".repeat(length) }] };
      asked.reply(Buffer.from(String(stepEvents(long, 1).body)));
      await turn();
      assert.equal(asked.heard.at(-1), "end");
      assert.match(asked.text, /pause_turn/);
      assert.equal(full.bytes, 0);
    }
  });

  it("goes on at once where a paused message's body stays open, and leaves it", async () => {
    const asked = new Turn();
    const control = asked.reply(paused, { isEnded: false });
    assert.deepEqual(control.done, []);
    await turn();
    await turn();
    assert.deepEqual(control.done, ["abort"]);
    asked.reply(last);
    assert.equal(asked.heard.at(-1), "end");
  });

  it("hears a refusal as far as it says something, and leaves the rest", async () => {
    const asked = new Turn();
    asked.reply(paused);
    await turn();
    const before = asked.progress;
    const control = asked.reply(Buffer.alloc(1_000, "x"), { isEnded: false, status: 529 });
    assert.equal(asked.progress, before + 1);
    asked.sent.at(-1)?.handler.onData(Buffer.alloc(300_000, "x"));
    assert.deepEqual(control.done, ["abort"]);
    assert.match(asked.text, /overloaded_error/);
    assert.equal(asked.heard.at(-1), "end");
  });

  it("fails where finding room fails, or our own code does", async () => {
    const asked = new Turn(() => Promise.reject(new Error("no store")));
    asked.reply(paused);
    await turn();
    assert.deepEqual(asked.heard, ["start", "head 200", "error no store"]);
    const broken = new Turn();
    broken.onPiece = () => assert.fail("a bug");
    const control = broken.reply(paused, { isEnded: false });
    assert.deepEqual([broken.heard.at(-1), control.done], ["error a bug", ["abort"]]);
    assert.equal(asked.inFlight.bytes + broken.inFlight.bytes, 0);
  });
});
