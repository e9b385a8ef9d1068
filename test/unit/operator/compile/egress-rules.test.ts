import assert from "node:assert/strict";
import { refuseURL } from "#operator/compile/egress-rules";
import { EgressPolicy } from "#proxy/snapshot/egress-policy";

/** docs/design/reliability.md EG2: whoever may write a channel must not reach what only this machine can. */
describe("refuseURL()", () => {
  const strict = new EgressPolicy([]);
  const open = new EgressPolicy(["0.0.0.0/0", "::/0"]);
  const refuses = (url: string, policy: EgressPolicy) => refuseURL(url, policy, "spec.baseURL") !== undefined;

  for (const host of [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "①②⑦.0.0.1",
    "localhost",
    "LOCALHOST.",
    "api.localhost",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "[fd00::1]",
    "[64:ff9b::a00:1]",
    "[2002:a00:1::]",
  ]) {
    it(`refuses the private ${host} unless the setting opens it`, () => {
      assert.ok(refuses(`http://${host}/v1`, strict));
      assert.ok(!refuses(`http://${host}/v1`, open));
    });
  }
  for (const host of [
    "169.254.169.254",
    "2852039166",
    "0xa9.254.169.254",
    "[::ffff:169.254.169.254]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "0.0.0.0",
    "[::]",
    "224.0.0.1",
    "metadata.google.internal",
    "METADATA.google.internal.",
  ]) {
    it(`never allows ${host}`, () => {
      assert.ok(refuses(`http://${host}/v1`, strict));
      assert.ok(refuses(`http://${host}/v1`, open));
    });
  }
  for (const url of [
    "ftp://models.example",
    "file:///etc/passwd",
    "models.example/v1",
    "https://user:word@models.example",
    "https://models.example/v1?key=1",
    "https://models.example/#a",
  ]) {
    it(`refuses ${url}`, () => assert.ok(refuses(url, open)));
  }
  for (const url of [
    "https://api.openai.com/v1",
    "http://models.example:8000",
    "https://8.8.8.8/v1",
    "http://vllm.models.svc:8000/v1",
  ]) {
    it(`allows ${url}`, () => assert.ok(!refuses(url, strict)));
  }
});
