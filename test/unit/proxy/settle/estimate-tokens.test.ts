import assert from "node:assert/strict";
import { createTokenEstimator, roughTokens, type TokenEstimator } from "#proxy/settle/estimate-tokens";

describe("estimate-tokens", function () {
  this.timeout(20_000);
  let estimator: TokenEstimator;
  beforeEach(() => {
    estimator = createTokenEstimator();
  });
  afterEach(() => estimator.close());

  it("counts known texts as the o200k tokenizer does", async () => {
    assert.equal(await estimator.estimate("hello world"), 2);
    assert.equal(await estimator.estimate("tiktoken is great!"), 6);
    assert.equal(await estimator.estimate(""), 0);
  });

  it("takes the names of special tokens as plain text", async () => {
    assert.ok((await estimator.estimate("a <|endoftext|> b")) > 5);
  });

  it("stays within 5 % where a long text is counted in slices", async () => {
    const sentence = "It was the best of times, it was the worst of times; ";
    const one = await estimator.estimate(sentence.repeat(10));
    const many = await estimator.estimate(sentence.repeat(10_000));
    assert.ok(Math.abs(many / (one * 1_000) - 1) < 0.05, `${many} against ${one * 1_000}`);
  });

  it("does not hold the event loop while a long text is counted", async () => {
    await estimator.estimate("warm");
    let longestMs = 0;
    let lastMs = performance.now();
    const timer = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - lastMs);
      lastMs = performance.now();
    }, 1);
    await estimator.estimate("words and words again ".repeat(100_000));
    clearInterval(timer);
    assert.ok(longestMs < 100, `${longestMs} ms`);
  });

  it("counts a long text of Chinese without punctuation before it gives up", async function () {
    // It gives up by the clock, and the machine may be busy.
    this.retries(2);
    // A different word in every slice: the tokenizer remembers those it has seen.
    let state = 1;
    const characters = Array.from({ length: 250_000 }, () => {
      state = (state * 48_271) % 0x7fff_ffff;
      return String.fromCharCode(0x4e00 + (state % 3_000));
    });
    const text = characters.join("");
    assert.notEqual(await estimator.estimate(text), roughTokens(text));
  });

  it("is not stopped by a word of a hundred thousand letters", async () => {
    const tokens = await estimator.estimate("a".repeat(100_000));
    assert.ok(tokens > 10_000 && tokens < 20_000, String(tokens));
  });

  it("may be started before the first text, and does not start again once closed", async () => {
    const warm = createTokenEstimator();
    warm.warm();
    warm.warm();
    assert.equal(await warm.estimate("hello world"), 2);
    await warm.close();
    warm.warm();
    assert.equal(await warm.estimate("x".repeat(40)), 10);
  });

  it("counts roughly at once when too much waits already", async () => {
    const bounded = createTokenEstimator({ queuedCharactersMax: 10 });
    assert.equal(await bounded.estimate("x".repeat(40)), 10);
    await bounded.close();
  });

  it("counts roughly when the thread takes too long, and answers those that still wait when closed", async () => {
    const hasty = createTokenEstimator({ timeoutMs: 1 });
    const text = "impatient ".repeat(1_000);
    assert.equal(await hasty.estimate(text), roughTokens(text));
    const waiting = estimator.estimate(text);
    await estimator.close();
    assert.equal(await waiting, roughTokens(text));
    await hasty.close();
  });
});
