/**
 * docs/design/reliability.md Q: secrets and prompts are planted everywhere, a run goes through success, refusal,
 * upstream errors, aborts and bad manifests at log level debug, and then nothing that the program wrote or showed holds
 * any of them, in raw, base64, hex, URL or JSON spelling, whole or as a slice of twelve characters.
 */
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "mocha";
import { waitFor } from "#test/support/wait-for";
import { rawRequest } from "./rig/raw-request.ts";
import { naturalReply, type Rig, useRig } from "./rig/rig.ts";
import { channelSecret, clientKeys } from "./rig/rig-manifests.ts";

/** Distinct words, none a part of another or of anything the program says by itself. */
const planted = {
  "client key": clientKeys.good,
  "suspended key": clientKeys.suspended,
  "unknown key": "sk-Qz7unknownWvX3kkP0rTq9",
  "channel key": channelSecret,
  prompt: "Vq8promptZk2/xyzzy+plugh Qw5",
  metadata: "Jm4metadataLp9Rt6Bn1",
  user: "Hx3userEf7Gk2Wd8@Zs5",
  "safety id": "Ty6safetyUi0Op2As4",
  "query key": "sk-Lk9queryMn8Bv7Cx6Za5",
  header: "Po1headerIu2Yt3Re4Wq5",
  "Secret value": "Df6secretvalueGh7Jk8Ql9",
  "reply text": "Nb2replyMj3Hg4Fd5Sa6",
  "channel header": "Xs7channelheaderEd8Cv9",
  "manifest text": "Rf5brokenTg6Yh7Uj8Ik9",
} as const;

const badManifests = `apiVersion: v1
kind: Secret
metadata: {name: other, namespace: default}
stringData: {apiKey: "${planted["Secret value"]}", another: "${planted["Secret value"]}"}
---
apiVersion: v1
kind: Secret
metadata: {name: Bad_Name, namespace: default}
data: {apiKey: "${planted["Secret value"]} is no base64 !!"}
---
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: wrong, namespace: default}
spec: {credentials: [{name: main, secretKeyRef: {name: other, key: apiKey}}], sk: 1}
---
apiVersion: tollgate.dev/v1alpha1
kind: ApiKey
metadata: {name: short, namespace: default}
spec: {credentials: [{name: main, secretKeyRef: {name: other, key: another}}]}
---
apiVersion: tollgate.dev/v1alpha1
kind: Channel
metadata: {name: headed, namespace: default}
spec:
  provider: OpenAICompatible
  baseURL: http://127.0.0.1:9/v1
  formats: [{type: ChatCompletions}]
  credentials: [{name: main, secretKeyRef: {name: channel, key: apiKey}}]
  headers: {set: [{name: x-extra, value: "${planted["channel header"]}"}]}
`;

describe("Q: what the program writes and shows", function () {
  this.timeout(60_000);
  const rig = useRig({
    manifests: () => ({
      "bad.yaml": badManifests,
      "broken.yaml": `apiVersion: v1\nkind: Secret\nstringData: {apiKey: "${planted["manifest text"]}\n`,
    }),
  });

  it("holds none of what was planted", async () => {
    const answers = await run(rig());
    const { gateway } = rig();
    await waitFor("the access log", () => gateway.accessLog.length > 20);
    const shown = await Promise.all(
      [
        `${gateway.adminOrigin}/metrics`,
        `${gateway.adminOrigin}/debug/config`,
        `${gateway.adminOrigin}/debug/explain?key=default/good&model=open-a`,
        `${gateway.adminOrigin}/debug/explain?key=${planted["query key"]}&model=open-a`,
        `${gateway.operatorOrigin}/metrics`,
        `${gateway.operatorOrigin}/debug/fleet`,
      ].map(async (url) => (await fetch(url)).text()),
    );
    await gateway.stop();
    const files = await filesOf(gateway.dataFolder);
    const places: [string, Buffer][] = [
      ["output", Buffer.from(gateway.logs)],
      ...answers.map((answer, index): [string, Buffer] => [`answer ${index}`, answer]),
      ...shown.map((text, index): [string, Buffer] => [`page ${index}`, Buffer.from(text)]),
      ...files,
    ];
    assert.ok(files.length > 0 && gateway.logs.length > 1_000);
    const hits = places.flatMap(([place, bytes]) => findPlanted(bytes).map((name) => `${name} in ${place}`));
    console.log(
      `      Q canaries found ${hits.length} limit 0 in ${places.length} places ${hits.length === 0 ? "ok" : "EXCEEDED"}`,
    );
    assert.deepEqual(hits, []);
  });

  it("would find each of them in every spelling", () => {
    for (const [name, secret] of Object.entries(planted)) {
      for (const spelling of spellingsOf(secret)) {
        assert.ok(findPlanted(Buffer.from(`x ${spelling} y`)).includes(name), `${name} as ${spelling}`);
      }
      const slices = slicesOf(secret);
      assert.ok(slices.length > 0);
      for (const slice of slices) assert.ok(findPlanted(Buffer.from(slice)).includes(name));
    }
  });
});

/** @returns what the refusals and errors said; replies of the upstream are the client's own business */
async function run(rig: Rig): Promise<Buffer[]> {
  const body = JSON.stringify({
    model: "open-a",
    messages: [{ role: "user", content: planted.prompt }],
    metadata: { trace: planted.metadata },
    user: planted.user,
    safety_identifier: planted["safety id"],
  });
  const headers = [`X-Custom: ${planted.header}`, `User-Agent: ${planted.header}`];
  const answers: Buffer[] = [];
  const send = async (request: Parameters<typeof rawRequest>[0]): Promise<void> => {
    const response = await rig.exchange(rawRequest({ headers, body, ...request }));
    if (response.status !== 200) answers.push(Buffer.from(`${response.headers.flat().join("\n")}\n${response.body}`));
  };
  const stream = `${body.slice(0, -1)},"stream":true}`;
  const messages = JSON.stringify({
    model: "open-a",
    max_tokens: 5,
    messages: [{ role: "user", content: planted.prompt }],
    metadata: { user_id: planted.user },
  });
  const contents = JSON.stringify({ contents: [{ parts: [{ text: planted.prompt }] }] });
  // Served.
  await send({});
  await send({ body: stream });
  await send({ target: "/v1/messages", body: messages });
  await send({
    target: "/v1/responses",
    body: JSON.stringify({ model: "open-a", input: planted.prompt, metadata: { trace: planted.metadata } }),
  });
  await send({ key: null, target: `/v1beta/models/open-a:generateContent?key=${clientKeys.good}`, body: contents });
  // Refused.
  await send({ key: clientKeys.suspended });
  await send({ key: planted["unknown key"] });
  await send({
    key: null,
    target: `/v1beta/models/open-a:generateContent?key=${planted["query key"]}`,
    body: contents,
  });
  await send({ key: null, target: `/v1/chat/completions?key=${planted["query key"]}` });
  await send({ key: null, target: `/${planted.header}/${planted["query key"]}` });
  await send({ target: "/v1/models/nosuch:generateContent", body: contents });
  await send({ key: clientKeys.spent });
  await send({ key: clientKeys.spent });
  await send({ body: body.slice(0, -1) });
  await send({ body: `{"model":"${planted.prompt}",` });
  await send({ body: body.replace("}", `},"n":"${planted.metadata}"`) });
  await send({ body: JSON.stringify({ model: "open-a", messages: planted.prompt, temperature: planted.user }) });
  await send({ type: planted.header });
  await send({ headers: [`Host: ${planted.header}`] });
  await send({ headers: [`Expect: ${planted.header}`] });
  await send({ headers: [`Bad Header: ${planted.header}`] });
  // Upstreams that fail.
  const message = `${channelSecret} ${planted["reply text"]}`;
  for (const reply of [
    { status: 500, body: message },
    { status: 401, body: JSON.stringify({ error: { message, code: message } }) },
    {
      status: 429,
      body: JSON.stringify({ error: { message } }),
      headers: { "retry-after": "1", "x-key": channelSecret },
    },
    { status: 200, body: `not json ${message}` },
    { status: 302, headers: { location: `http://127.0.0.1/${channelSecret}` } },
    { resetAtOnce: true },
    { body: `{"${planted["reply text"]}`, cutAt: 10 },
    { raw: `HTTP/1.1 200 OK\r\nX-${planted["reply text"]}\r\n\r\n` },
  ]) {
    rig.upstream.replyWith(reply);
    await send({});
    await send({ body: stream }).catch(() => undefined);
  }
  // Clients that leave.
  rig.upstream.replyWith({ delayHeadMs: 2_000, body: "{}" });
  for (const cut of [30, 400]) {
    const client = await rig.connect();
    const count = rig.upstream.requests.length;
    const bytes = rawRequest({ headers, body });
    client.write(bytes.subarray(0, cut === 400 ? bytes.length : bytes.length - cut));
    if (cut === 400) await waitFor("the upstream's turn", () => rig.upstream.requests.length > count);
    client.reset();
  }
  rig.upstream.replyWith(naturalReply);
  await send({});
  return answers;
}

function spellingsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    bytes.toString("base64"),
    bytes.toString("base64url"),
    bytes.toString("hex"),
    bytes.toString("hex").toUpperCase(),
    encodeURIComponent(secret),
    [...bytes].map((byte) => `%${byte.toString(16)}`).join(""),
    JSON.stringify(secret).slice(1, -1),
    [...secret].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  ];
}

/** Every slice of twelve characters that tells one secret from the names and digits that the rig's keys share. */
function slicesOf(secret: string): string[] {
  const slices = Array.from({ length: secret.length - 11 }, (_, start) => secret.slice(start, start + 12));
  return slices.filter((slice) => !slice.includes("canary-"));
}

/** Needles of each secret: its spellings, its slices, and its middle in base64 wherever it begins. */
const needles = Object.entries(planted).map(([name, secret]) => {
  const inBase64 = [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift, "x"), Buffer.from(secret)]).toString("base64");
    return text.slice(Math.ceil((shift * 4) / 3) + 1, -4);
  });
  return { name, texts: [...spellingsOf(secret), ...slicesOf(secret), ...inBase64] };
});

function findPlanted(bytes: Buffer): string[] {
  return needles.flatMap(({ name, texts }) => (texts.some((text) => bytes.includes(text)) ? [name] : []));
}

/** All files of the data folder but the Secrets that the operator was asked to make. */
async function filesOf(folder: string): Promise<[string, Buffer][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths
      .filter((path) => !path.includes("/secrets/"))
      .map(async (path): Promise<[string, Buffer]> => [path, await readFile(path)]),
  );
}
