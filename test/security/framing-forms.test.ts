/**
 * docs/design/reliability.md D2: hundreds of forms of `Transfer-Encoding` and `Content-Length`, each followed by a
 * marked second request. Whatever a form is taken for, the second request is seen exactly once and as itself, or the
 * connection ends; what lies inside a body is never a request.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import type { RawClient } from "#test/support/raw-client";
import { waitFor } from "#test/support/wait-for";
import { chatBody, forbiddenMark, rawRequest } from "./rig/raw-request.ts";
import { type Rig, useRig } from "./rig/rig.ts";
import { clientKeys } from "./rig/rig-manifests.ts";

/** Wrong ways to write the header line `name: value`. */
function mutations(name: string, value: string): string[] {
  const controls = [
    "\x01",
    "\x04",
    "\x08",
    "\t",
    "\x0b",
    "\x0c",
    "\x1f",
    " ",
    "\x7f",
    "\x80",
    "\x85",
    "\xa0",
    "\xff",
    "\0",
    "\n",
    "\r",
  ];
  const words = [
    value.toUpperCase(),
    `"${value}"`,
    `'${value}'`,
    `${value},`,
    `,${value}`,
    `,,${value}`,
    `${value}, ${value}`,
    `${value},${value}`,
    `${value};`,
    `${value};q=1`,
    `;${value}`,
    `x, ${value}`,
    `${value}, x`,
    `identity, ${value}`,
    `${value}, identity`,
    `gzip, ${value}`,
    `${value} x`,
    `x ${value}`,
    `x${value}`,
    `${value}x`,
    `${value}-${value}`,
    `(${value})`,
    `<${value}>`,
    `[${value}]`,
    `{${value}}`,
    `${value}\\`,
    `\\${value}`,
    `/${value}`,
    `${value}=`,
    `=${value}`,
    `${value}\r\n ${value}`,
    `\r\n ${value}`,
    `\r\n\t${value}`,
    `${value}\r\n\r\n`,
    "",
    " ",
    "0",
    "null",
    `${value}%00`,
    `%20${value}`,
    `${value}%0d%0a`,
    [...value].join(" "),
    `+${value}`,
    `-${value}`,
    `0${value}`,
    `0x${value}`,
    `${value}.0`,
    `${value}e0`,
    `${value}_0`,
    ` ${value}`,
    `${value}\t`,
  ];
  const names = [
    name.toLowerCase(),
    name.toUpperCase(),
    name.replace("-", "_"),
    name.replace("-", " "),
    name.replace("-", ""),
    name.replace("-", "--"),
    `${name}-`,
    `-${name}`,
    `X-${name}`,
    `${name}s`,
    name.replace("e", "\u00e9"),
    `"${name}"`,
    `${name}:`,
    `:${name}`,
    `${name}\\`,
    `(${name})`,
  ];
  return [
    ...words.map((word) => `${name}: ${word}`),
    ...words.slice(0, 8).map((word) => `${name}:${word}`),
    ...controls.flatMap((control) => [
      `${name}: ${control}${value}`,
      `${name}: ${value}${control}`,
      `${name}${control}: ${value}`,
      `${control}${name}: ${value}`,
      `${name}:${control}${value}`,
      `${name}: ${value.slice(0, 2)}${control}${value.slice(2)}`,
    ]),
    ...names.map((spelling) => `${spelling}: ${value}`),
    `${name} : ${value}`,
    `${name}\r\n: ${value}`,
    `${name}`,
    `${name}: ${value}\r\n${name}: ${value}`,
    `${name}: ${value}\r\n${name}: x`,
    `${name}: x\r\n${name}: ${value}`,
    `${name}: ${value}\r\n${name.toLowerCase()}: ${value}`,
    `X: y\n${name}: ${value}`,
    `X: y\r${name}: ${value}`,
    `X: y\r\n\r${name}: ${value}`,
    `X: y\r\r\n${name}: ${value}`,
    `X:\r\n${name}: ${value}`,
    `${name}: ${value}\nX: y`,
  ];
}

const markLength = forbiddenMark.length + 8;

/** What an attacker hides in a body: a complete request that is served if it is seen as one. Its length never differs. */
function hiddenRequest(mark: string): Buffer {
  return rawRequest({ body: chatBody("open-a", mark.padEnd(markLength, "_")) });
}

interface Probe {
  readonly form: string;
  readonly method: "GET" | "POST";
  /** The lines of the head that frame the body. */
  readonly framing: readonly string[];
  /** Stands before the hidden request. */
  readonly prefix: string;
}

let probeCount = 0;

describe("D2: forms of framing", function () {
  this.timeout(90_000);
  const rig = useRig();
  const length = hiddenRequest("").length;
  const lastChunk = "0\r\n\r\n";

  for (const method of ["POST", "GET"] as const) {
    for (const [name, other] of [
      ["no Content-Length", undefined],
      ["a Content-Length that covers all", `Content-Length: ${length + lastChunk.length}`],
      ["a short Content-Length", `Content-Length: ${lastChunk.length}`],
      ["a long Content-Length", `Content-Length: ${length + 50}`],
    ] as const) {
      it(`${method}: Transfer-Encoding with ${name}`, () => {
        const framed = (form: string): string[] => (other === undefined ? [form] : [other, form]);
        const forms = mutations("Transfer-Encoding", "chunked");
        return runAll(
          rig(),
          forms.map((form) => ({ form, method, framing: framed(form), prefix: lastChunk })),
        );
      });
    }
    for (const [name, other] of [
      ["nothing else", undefined],
      ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
      ["Content-Length: 0 behind", "Content-Length: 0"],
    ] as const) {
      it(`${method}: Content-Length with ${name}`, () => {
        const framed = (form: string): string[] => (other === undefined ? [form] : [form, other]);
        const prefix = other === undefined ? "" : lastChunk;
        const forms = mutations("Content-Length", String(length + prefix.length));
        return runAll(
          rig(),
          forms.map((form) => ({ form, method, framing: framed(form), prefix })),
        );
      });
    }
  }

  it("sent as many forms as it promises", () => {
    console.log(`      D2 forms sent ${probeCount}`);
    assert.ok(probeCount >= 1_300);
  });
});

async function runAll(rig: Rig, probes: readonly Probe[]): Promise<void> {
  const width = 8;
  for (let start = 0; start < probes.length; start += width) {
    await Promise.all(probes.slice(start, start + width).map((probe) => run(rig, probe)));
  }
}

/** The hidden request is served once where a strict reader sees it, and reaches nobody where it does not. */
async function run(rig: Rig, probe: Probe): Promise<void> {
  probeCount += 1;
  const isHonest = seesHidden(bytesOf(probe, forbiddenMark), hiddenRequest(forbiddenMark));
  const mark = isHonest ? `honest-${probeCount}` : `${forbiddenMark}-${probeCount}`;
  const client = await rig.connect();
  try {
    client.write(bytesOf(probe, mark));
    const first = await client.readResponse(8_000);
    assert.ok([200, 400, 401, 404, 431].includes(first.status), `status ${first.status}`);
    const text = first.body.toString();
    assert.equal(text.includes("echo"), false, "the answer to the hidden request came first");
    // A parser may be stricter than the strict reader: then the connection ends.
    const isSecond = isHonest && (await hasNext(client));
    if (isSecond) assert.match((await client.readResponse()).body.toString(), new RegExp(`echo ${mark}|"error"`));
    client.end();
    const rest = await client.readToEnd(8_000);
    assert.equal(rest.includes("echo"), false, "the hidden request was answered");
  } catch (error) {
    // A reset is a closed connection; everything else fails.
    if (client.error === undefined || client.received.includes("echo")) {
      throw new Error(`${probe.method} ${JSON.stringify(probe.form)}: ${String(error)}`, { cause: error });
    }
  } finally {
    client.close();
  }
}

function hasNext(client: RawClient): Promise<boolean> {
  return waitFor("more bytes or the end", () =>
    client.received.length > 0 ? { is: true } : client.isEnded && { is: false },
  ).then(({ is }) => is);
}

function bytesOf(probe: Probe, mark: string): Buffer {
  const head = rawRequest({
    method: probe.method,
    target: probe.method === "GET" ? "/v1/models" : "/v1/chat/completions",
    key: probe.method === "GET" ? clientKeys.good : clientKeys.unknown,
    framing: "none",
    body: "",
    headers: ["Content-Type: application/json", ...probe.framing],
  });
  return Buffer.concat([head, Buffer.from(probe.prefix), hiddenRequest(mark)]);
}

/** A strict reader of RFC 9112: whether what follows the first request is the hidden one. */
function seesHidden(bytes: Buffer, hidden: Buffer): boolean {
  const headEnd = bytes.indexOf("\r\n\r\n");
  const [, ...lines] = bytes.subarray(0, headEnd).toString("latin1").split("\r\n");
  const fields = lines.map((line) => /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/s.exec(line));
  if (fields.some((field) => field === null || /[\0-\x08\x0a-\x1f\x7f]/.test(field[2] ?? ""))) return false;
  const values = (name: string): string[] =>
    fields.flatMap((field) => (field?.[1]?.toLowerCase() === name ? [field[2] ?? ""] : []));
  const codings = values("transfer-encoding");
  const lengths = values("content-length");
  if (values("transfer_encoding").length + values("content_length").length > 0) return false;
  let bodyEnd = headEnd + 4;
  if (codings.length > 0) {
    if (codings.length > 1 || lengths.length > 0 || codings[0]?.toLowerCase() !== "chunked") return false;
    if (!bytes.subarray(bodyEnd).toString("latin1").startsWith("0\r\n\r\n")) return false;
    bodyEnd += 5;
  } else if (lengths.length > 0) {
    if (lengths.length > 1 || !/^[0-9]+$/.test(lengths[0] ?? "")) return false;
    bodyEnd += Number(lengths[0]);
  }
  // Empty lines before a request are skipped (RFC 9112 section 2.2).
  while (bytes.subarray(bodyEnd, bodyEnd + 2).toString() === "\r\n") bodyEnd += 2;
  return bytes.subarray(bodyEnd).equals(hidden);
}
