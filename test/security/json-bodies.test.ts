/**
 * docs/design/reliability.md E1 to E3, E5, E9 and E10 on the wire: what a JSON body may be, and that nobody reads it in
 * two ways.
 */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { chatBody, forbiddenMark, rawRequest } from "./rig/raw-request.ts";
import { assertNoSecret, checkRefusal, errorCode, useRig } from "./rig/rig.ts";
import { clientKeys } from "./rig/rig-manifests.ts";

const messages = `"messages":[{"role":"user","content":"${forbiddenMark}"}]`;
const served = `"model":"open-a","messages":[{"role":"user","content":"x"}]`;

describe("JSON bodies", () => {
  const rig = useRig();

  function refuses(name: string, body: string | Buffer, code?: string): void {
    it(`refuses ${name}`, () => {
      const refusal = { name, bytes: rawRequest({ body }), status: 400, connection: "open" } as const;
      return checkRefusal(rig(), code === undefined ? refusal : { ...refusal, code });
    });
  }

  describe("E1: duplicates", () => {
    const { narrow } = clientKeys;
    for (const [name, body] of [
      ["model allowed, then forbidden", `{"model":"open-a",${messages},"model":"closed"}`],
      ["model forbidden, then allowed", `{"model":"closed",${messages},"model":"open-a"}`],
      ["model twice the same", `{"model":"open-a",${messages},"model":"open-a"}`],
      ["an escaped duplicate", `{"model":"open-a",${messages},"mod\\u0065l":"closed"}`],
      ["an escaped original", `{"\\u006dodel":"closed",${messages},"model":"open-a"}`],
      ["Model beside model", `{"model":"open-a",${messages},"Model":"closed"}`],
      ["MODEL beside model", `{"MODEL":"closed",${messages},"model":"open-a"}`],
      ["model with a Kelvin-like fold", `{"model":"open-a",${messages},"ſtream":true,"stream":false}`],
      ["stream", `{"model":"open-a",${messages},"stream":false,"stream":true}`],
      ["n", `{"model":"open-a",${messages},"n":1,"n":100}`],
      ["max_tokens", `{"model":"open-a",${messages},"max_tokens":1,"max_tokens":1000000}`],
      ["messages", `{"model":"open-a",${messages},${messages}}`],
    ] as const) {
      it(`refuses ${name}`, () =>
        checkRefusal(rig(), { name, bytes: rawRequest({ key: narrow, body }), status: 400, connection: "open" }));
    }
  });

  describe("E2: what is no JSON, or no object", () => {
    const inside = (text: string): string => `{"model":"open-a",${messages},"x":${text}}`;
    for (const text of [
      "",
      ",",
      "[1,]",
      "[,1]",
      "[1,,2]",
      "[1 2]",
      "[",
      "]",
      "{",
      "}",
      '{"a"}',
      '{"a":}',
      '{"a":1,}',
      "{a:1}",
      "{'a':1}",
      '{"a" 1}',
      '{"a":1 "b":2}',
      "{1:1}",
      "{null:1}",
      "nul",
      "tru",
      "True",
      "NULL",
      "nulll",
      "NaN",
      "Infinity",
      "-Infinity",
      "undefined",
      "-",
      "+1",
      "01",
      "-01",
      ".5",
      "1.",
      "1.e1",
      "1e",
      "1e+",
      "0x1",
      "1_0",
      "1,0",
      "٣",
      "--1",
      "1-",
      "0e",
      "1eE2",
      "2.e3",
      '"a',
      "'a'",
      '"\\x41"',
      '"\\u12"',
      '"\\u12G4"',
      '"\\',
      '"a\nb"',
      '"a\tb"',
      '"\0"',
      '"\x1f"',
      '"\\a"',
      '"\\uD800\\u"',
      "// c\n1",
      "/* c */ 1",
      "# c\n1",
      "1;",
      "a",
      "\\u0031",
      "\ufeff1",
      "\u00a01",
      "1\u2028",
      "\u000b1",
      "\f1",
    ]) {
      refuses(`${JSON.stringify(text)} as a value`, inside(text), "invalid_json");
    }
    for (const [name, body] of [
      ["only spaces", "   "],
      ["a string", '"x"'],
      ["a number", "1"],
      ["null", "null"],
      ["an array", `[{${served}}]`],
      ["two values", `{"model":"open-a",${messages}}{}`],
      ["two lines of JSON", `{"model":"open-a",${messages}}\n{"model":"open-a"}`],
      ["a trailing comma", `{"model":"open-a",${messages}},`],
      ["a trailing NUL", `{"model":"open-a",${messages}}\0`],
      ["a byte order mark", Buffer.from(`\ufeff{"model":"open-a",${messages}}`)],
      ["UTF-16", Buffer.from(`{"model":"open-a",${messages}}`, "utf16le")],
      ["UTF-16 with a mark", Buffer.from(`\ufeff{"model":"open-a",${messages}}`, "utf16le")],
      ["a lone continuation byte", Buffer.from(`{"model":"open-a",${messages},"x":"\x80"}`, "latin1")],
      ["an overlong slash", Buffer.from(`{"model":"open-a",${messages},"x":"\xc0\xaf"}`, "latin1")],
      ["an encoded surrogate", Buffer.from(`{"model":"open-a",${messages},"x":"\xed\xa0\x80"}`, "latin1")],
      ["a byte beyond Unicode", Buffer.from(`{"model":"open-a",${messages},"x":"\xf5\x80\x80\x80"}`, "latin1")],
      ["a cut character", Buffer.from(`{"model":"open-a",${messages},"x":"\xe2\x82"}`, "latin1")],
      ["a form", `model=open-a&x=${forbiddenMark}`],
    ] as const) {
      refuses(name, body);
    }

    for (const text of [
      "0",
      "-0",
      "1e5",
      "1E-5",
      "1.5e+10",
      '""',
      '"\\u0000"',
      '"\\ud83d\\ude00"',
      '"é😀"',
      "[]",
      "{}",
      "[[]]",
      "null",
      " [ 1 , 2 ] ",
      '"\\/\\b\\f\\n\\r\\t\\"\\\\"',
      '"\u007f"',
      '"\u2028"',
      '{"":1}',
    ]) {
      it(`serves ${JSON.stringify(text)} as an unknown value, and sends it on as it is`, async () => {
        const body = `{${served},"x_unknown":${text}}`;
        const response = await rig().exchange(rawRequest({ body }));
        assert.equal(response.status, 200, response.body.toString());
        assert.equal(String(rig().upstream.requests.at(-1)?.body).includes(`"x_unknown":${text}`), true);
      });
    }
  });

  describe("E3: numbers", () => {
    for (const [field, value] of [
      ["n", "0"],
      ["n", "-1"],
      ["n", "1.5"],
      ["n", '"1"'],
      ["n", "1e400"],
      ["max_tokens", "1.5"],
      ["max_tokens", "-1"],
      ["max_tokens", "1e400"],
      ["max_tokens", "9007199254740993"],
      ["max_tokens", "1".repeat(400)],
      ["max_tokens", '"5"'],
      ["max_completion_tokens", "0.1"],
      ["temperature", "1e400"],
      ["temperature", "-0.1"],
      ["temperature", "2.1"],
      ["temperature", '"1"'],
      ["top_p", "-1"],
      ["top_p", "1.01"],
      ["top_logprobs", "21"],
      ["top_logprobs", "-1"],
      ["frequency_penalty", "2.01"],
      ["presence_penalty", "-2.5"],
      ["stream", '"true"'],
      ["stream", "1"],
    ] as const) {
      refuses(`${field} of ${value.slice(0, 20)}`, `{"model":"open-a",${messages},"${field}":${value}}`);
    }
    for (const text of [
      "9007199254740993",
      "1e400",
      "-0",
      "0.1000000000000000055511151231257827",
      "1".repeat(400),
      "1E2",
      "100e-2",
    ]) {
      it(`sends ${text.slice(0, 20)} on byte by byte where nobody reads it`, async () => {
        const response = await rig().exchange(rawRequest({ body: `{${served},"x_number":${text}}` }));
        assert.equal(response.status, 200);
        assert.ok(String(rig().upstream.requests.at(-1)?.body).includes(`"x_number":${text}`));
      });
    }
  });

  describe("E5: names of the prototype", () => {
    for (const name of [
      "__proto__",
      "constructor",
      "prototype",
      "toString",
      "hasOwnProperty",
      "valueOf",
      "__defineGetter__",
    ]) {
      it(`${name} is a name like any other, at each level`, async () => {
        const poison = `{"${name}":{"polluted":true,"model":"closed","n":0,"prototype":{"polluted":true}}}`;
        const body = `{${served},"${name}":{"polluted":true,"model":"closed"},"metadata":${poison.replace(/true/g, '"x"').replace(/\{"polluted.*$/, '"x"}')},"x_deep":[${poison}]}`;
        const response = await rig().exchange(
          rawRequest({ body, headers: [`${name}: x`], target: `/v1/chat/completions?${name}=x` }),
        );
        assertNoSecret(response);
        assert.ok([200, 400].includes(response.status), response.body.toString());
        const after = await rig().exchange(rawRequest({ body: "{}" }));
        assert.equal(errorCode(after), "missing_required_parameter");
        assert.equal((await rig().exchange(rawRequest({ body: chatBody() }))).status, 200);
      });

      it(`{"${name}": ...} gives no required field by inheritance`, async () => {
        const body = `{"${name}":{"model":"open-a","messages":[{"role":"user","content":"${forbiddenMark}"}]}}`;
        assert.equal((await rig().exchange(rawRequest({ body }))).status, 400);
      });
    }
  });

  describe("E9: data URIs", () => {
    it("of any kind pass as data and are never fetched or decoded", async function () {
      this.timeout(20_000);
      for (const uri of [
        "data:text/html;base64,PHNjcmlwdD4=",
        "data:image/svg+xml,<svg onload=alert(1)>",
        "data:image/png;base64,%%%",
        "data:,",
        `data:image/png;base64,${"A".repeat(5_000_000)}`,
      ]) {
        const content = [{ type: "image_url", image_url: { url: uri } }];
        const body = JSON.stringify({ model: "open-a", messages: [{ role: "user", content }] });
        const response = await rig().exchange(rawRequest({ body }), 10_000);
        assert.ok([200, 400].includes(response.status), `${uri.slice(0, 30)}: ${response.status}`);
        assertNoSecret(response);
      }
    });
  });

  describe("E10: the same call in other words", () => {
    const user = '{"role":"user","content":"hello"}';
    for (const [name, body] of [
      ["spaces", `  {\n\t"model" : "open-a" , "messages" : [ ${user} ]\r\n}  `],
      ["another order", `{"messages":[${user}],"model":"open-a"}`],
      ["escapes", `{"\\u006dodel":"open\\u002da","mess\\u0061ges":[{"role":"\\u0075ser","content":"h\\u0065llo"}]}`],
    ] as const) {
      it(`${name}: same route, same model upstream`, async () => {
        const response = await rig().exchange(rawRequest({ body }));
        assert.equal(response.status, 200, response.body.toString());
        const sent = JSON.parse(String(rig().upstream.requests.at(-1)?.body));
        assert.deepEqual(sent, JSON.parse(body));
      });
    }
  });
});
