import assert from "node:assert/strict";
import fc from "fast-check";
import { assertReadsAs, refusal, scan } from "#test/support/scan-json";

const accepted = [
  "{}",
  " \t\r\n{ } \n",
  '{"":0}',
  '{"a":null,"b":true,"c":false}',
  '{"a":-0,"b":-0.0,"c":0e0,"d":1E+2,"e":1e-2,"f":0.5e10,"g":1e400,"h":123456789012345678901234567890}',
  '{"a":[],"b":[[]],"c":[[],{}],"d":[1,"2",null]}',
  '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u00e9\\uD83D\\uDE00\\uFFFF"}',
  '{"a":"\u007f\u0080\u2028\u2029\u{1f600}"}',
  '{"__proto__":{"x":1},"constructor":2,"toString":3,"hasOwnProperty":4}',
  '{"a":{"b":1,"b":2}}',
  '{"models":1,"streams":2,"N_":3,"generation_config":{},"generationConfig":{}}',
];

const refused: { name: string; text: string | Buffer; says?: RegExp }[] = [
  ...[
    "[]",
    '"text"',
    "1",
    "null",
    "true",
    " ",
    "{",
    "}",
    '{"a"',
    '{"a":',
    '{"a":}',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{,"a":1}',
    '{"a":1,,"b":2}',
    '{"a" 1}',
    '{"a"::1}',
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    "{null:1}",
    '{"a":1 "b":2}',
    '{"a":[}',
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[1 2]}',
    '{"a":[1}',
    '{"a":[1]',
    '{"a":{]}',
    '{"a":1]',
    '{"a":(1)}',
    '{"a":"',
    '{"a":"x',
    '{"a":"\\',
    '{"a":"\\"',
    '{"a":"\\u',
    '{"a":"\\u00"}',
    '{"a":"\\u00g0"}',
    '{"a":"\\u 041"}',
    '{"a":"\\x41"}',
    '{"a":"\\a"}',
    '{"a":"\\\'"}',
    '{"a":"\\0"}',
    '{"a":"\\U0041"}',
    '{"a":"\n"}',
    '{"a":"\t"}',
    '{"a":"\u0000"}',
    '{"a":"\u001f"}',
    '{"a\n":1}',
    '{"a":01}',
    '{"a":-01}',
    '{"a":00}',
    '{"a":-}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":1.}',
    '{"a":1.e1}',
    '{"a":1e}',
    '{"a":1e+}',
    '{"a":1e1.5}',
    '{"a":0x10}',
    '{"a":1_000}',
    '{"a":1a}',
    '{"a":--1}',
    '{"a":-NaN}',
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":-Infinity}',
    '{"a":nul}',
    '{"a":nulll}',
    '{"a":True}',
    '{"a":tru',
    '{"a":FALSE}',
    '{"a":undefined}',
    '{"a":1}//comment',
    '{"a":/**/1}',
    '{"a":1}{"a":1}',
    '{"a":1}x',
    '{"a":1}\u0000',
    '{"a":\u00a01}',
    '{\u2003"a":1}',
    '{"a":1\u000c}',
    '{"a":`1`}',
    '{"a":"x"y}',
    '{"a":"x","a"}',
  ].map((text) => ({ name: JSON.stringify(text), text })),
  { name: "nothing at all", text: "", says: /body is empty/ },
  { name: "a byte order mark", text: '\ufeff{"a":1}', says: /byte order mark/ },
  { name: "UTF-16 little endian", text: Buffer.from('{"a":1}', "utf16le"), says: /UTF-16/ },
  { name: "UTF-16 with a mark", text: Buffer.from('\ufeff{"a":1}', "utf16le"), says: /UTF-16/ },
  { name: "a lone continuation byte", text: Buffer.from('{"a":"\x80"}', "latin1"), says: /not UTF-8.*byte 6/ },
  { name: "an overlong slash", text: Buffer.from('{"a":"\xc0\xaf"}', "latin1"), says: /not UTF-8/ },
  { name: "a surrogate in UTF-8", text: Buffer.from('{"a":"\xed\xa0\x80"}', "latin1"), says: /not UTF-8/ },
  { name: "a code point beyond Unicode", text: Buffer.from('{"a":"\xf4\x90\x80\x80"}', "latin1"), says: /not UTF-8/ },
  { name: "a high surrogate alone", text: '{"a":"\\ud800"}', says: /half of a surrogate/ },
  { name: "a low surrogate alone", text: '{"a":"\\udc00x"}', says: /half of a surrogate/ },
  { name: "two high surrogates", text: '{"a":"\\ud800\\ud800"}', says: /half of a surrogate/ },
  { name: "a high surrogate and a character", text: '{"a":"\\ud800\\u0041"}', says: /half of a surrogate/ },
  { name: "a half pair in a key", text: '{"x":{"\\udfff":1}}', says: /half of a surrogate/ },
  { name: "a second model", text: '{"model":"good","model":"bad"}', says: /"model" occurs twice.*byte 16/ },
  { name: "a second model by an escape", text: '{"model":"good","mod\\u0065l":"bad"}', says: /"model" occurs twice/ },
  { name: "a second unknown member", text: '{"x":1,"y":2,"x":1}', says: /"x" occurs twice/ },
  { name: "a second __proto__", text: '{"__proto__":1,"__proto__":2}', says: /occurs twice/ },
  { name: "Model", text: '{"Model":"x"}', says: /must be spelled "model"/ },
  { name: "MODEL beside model", text: '{"model":"a","MODEL":"b"}', says: /must be spelled "model"/ },
  { name: "Stream", text: '{"Stream":true}', says: /must be spelled "stream"/ },
  { name: "N", text: '{"N":3}', says: /must be spelled "n"/ },
  { name: "stream with a long s", text: '{"\u017ftream":true}', says: /must be spelled "stream"/ },
  { name: "a Kelvin sign in max_tokens", text: '{"max_to\u212aens":1}', says: /must be spelled "max_tokens"/ },
  { name: "generationconfig", text: '{"generationconfig":{}}', says: /must be spelled "generationConfig"/ },
];

describe("scanJsonObject", () => {
  for (const text of accepted) {
    it(`accepts ${JSON.stringify(text)}`, () => {
      assert.equal(refusal(text), undefined);
      assertReadsAs(scan(text), JSON.parse(text));
    });
  }

  for (const { name, text, says } of refused) {
    it(`refuses ${name}`, () => {
      const message = refusal(text);
      assert.ok(message !== undefined, "it was accepted");
      if (says !== undefined) assert.match(message, says);
    });
  }

  it("names the byte at fault and what to do, never a value", () => {
    const message = refusal('{"model":"sk-secret" "x":1}');
    assert.equal(message, "The body is not valid JSON: expected a comma or } (byte 21).");
  });

  it("names the first byte that is not UTF-8, wherever it stands", () => {
    const character = fc.constantFrom("a", "é", "日", "\u{1f600}");
    fc.assert(
      fc.property(
        fc.array(character),
        fc.constantFrom("80", "ff", "c3", "e697", "f09f98"),
        fc.nat(9),
        (good, bad, run) => {
          const before = Buffer.from(`{"a":"${good.join("")}`);
          const bytes = Buffer.concat([before, Buffer.from(bad.repeat(1 + run), "hex"), Buffer.from('xyz"}')]);
          assert.match(refusal(bytes) ?? "", new RegExp(`not UTF-8.*byte ${before.length}\\)`));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
