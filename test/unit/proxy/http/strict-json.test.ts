import assert from "node:assert/strict";
import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { GatewayError } from "../../../../proxy/errors.ts";
import {
  readJson,
  readNumber,
  readString,
  readText,
  type ScannedObject,
  scanJsonObject,
  scanMembers,
} from "../../../../proxy/http/strict-json.ts";

const options = { depthMax: 64, keysMax: 50_000 };

function scan(text: string | Buffer, watch?: readonly string[]): ScannedObject {
  return scanJsonObject(Buffer.from(text), watch === undefined ? options : { ...options, watch });
}

/** What the scanner says against the bytes: undefined when it takes them. */
function refusal(bytes: Buffer | string): string | undefined {
  try {
    scanJsonObject(Buffer.from(bytes), options);
    return undefined;
  } catch (error) {
    assert.ok(error instanceof GatewayError, `not a GatewayError: ${String(error)}`);
    assert.equal(error.code, "invalid_json");
    return error.message;
  }
}

/** JSON.parse on strict UTF-8; undefined when it refuses. */
function parse(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

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
  { name: "a second model", text: '{"model":"good","model":"bad"}', says: /"model" stands twice.*byte 16/ },
  { name: "a second model by an escape", text: '{"model":"good","mod\\u0065l":"bad"}', says: /"model" stands twice/ },
  { name: "a second unknown member", text: '{"x":1,"y":2,"x":1}', says: /"x" stands twice/ },
  { name: "a second __proto__", text: '{"__proto__":1,"__proto__":2}', says: /stands twice/ },
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
    assert.equal(message, "The body is not valid JSON: a comma or } should stand here (byte 21).");
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

  it("gives members in order with exact ranges", () => {
    const body = scan(' { "model" : "m" , "n":1.50,"x":[ 1 ] } ');
    const seen = body.members.map((member) => [member.name, member.kind, readText(body, member)]);
    assert.deepEqual(seen, [
      ["model", "string", '"m"'],
      ["n", "number", "1.50"],
      ["x", "array", "[ 1 ]"],
    ]);
    assert.equal(body.bytes[body.start], 0x7b);
    assert.equal(body.bytes[body.end - 1], 0x7d);
    assert.equal(body.member("absent"), undefined);
  });

  it("reads no inherited name as a member", () => {
    const body = scan("{}");
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      assert.equal(body.member(name), undefined);
    }
  });

  for (const levels of [64, 65, 1_000, 5_000, 1_000_000]) {
    const verdict = levels > 64 ? "refuses" : "accepts";
    it(`${verdict} ${levels} levels, of arrays and of objects`, () => {
      const arrays = `{"a":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;
      const objects = `${'{"a":'.repeat(levels - 1)}{}${"}".repeat(levels - 1)}`;
      for (const text of [arrays, objects]) {
        if (levels > 64) assert.match(refusal(text) ?? "", /more than 64 levels/);
        else assert.equal(refusal(text), undefined);
      }
    });
  }

  it("counts keys of all objects together", () => {
    const keys = (count: number): string => `{"a":[${Array.from({ length: count - 1 }, () => '{"b":1}').join(",")}]}`;
    assert.equal(refusal(keys(50_000)), undefined);
    assert.match(refusal(keys(50_001)) ?? "", /more than 50000 keys/);
  });

  it("bounds the members of the object it keeps", () => {
    const members = (count: number): string =>
      `{${Array.from({ length: count }, (_, index) => `"k${index}":1`).join()}}`;
    assert.equal(refusal(members(4_096)), undefined);
    assert.match(refusal(members(4_097)) ?? "", /more than 4096 members/);
  });

  it("judges the costliest megabytes in a few milliseconds each", () => {
    const megabytes = 8;
    const fill = (text: string): string => text.repeat(Math.floor((megabytes << 20) / text.length));
    const costly = ["0,", "[],", '"",', '{"b":1},'].map((item) => `{"a":[${fill(item)}0]}`);
    costly.push(...["\\n", "\\nx", "\\u00e9", "\\ud83d\\ude00"].map((escaped) => `{"a":"${fill(escaped)}"}`));
    costly.push(`{${fill(" ")}}`, `{"a":${fill("1")}}`, `{"a":"${fill("é")}`, `${fill("[")}`, `{"a":${fill("[")}`);
    for (const text of costly) {
      const bytes = Buffer.from(text);
      // The best of three: other programs on the machine make caches cold.
      const tries = [1, 2, 3].map(() => {
        const start = process.cpuUsage();
        refusal(bytes);
        return process.cpuUsage(start).user;
      });
      const user = Math.min(...tries);
      // Measured: at most 3 ms a megabyte. The bound is loose for slow machines and tight enough for anything quadratic.
      assert.ok(user / 1_000 < 25 * megabytes, `${user / 1_000} ms for ${text.slice(0, 20)}`);
    }
  });

  it("counts items of all arrays together", () => {
    assert.equal(refusal(`{"a":[${"0,".repeat(250_000)}0],"b":[${"0,".repeat(250_000)}0]}`), undefined);
    assert.match(refusal(`{"a":[${"0,".repeat(1_000_000)}0]}`) ?? "", /more than 500000 array items/);
  });

  it("takes a string of ten megabytes", () => assert.equal(refusal(`{"a":"${"x".repeat(10_000_000)}"}`), undefined));

  it("leaves Object.prototype alone", () => {
    const before = JSON.stringify(Object.getOwnPropertyNames(Object.prototype));
    scan('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}', ["polluted"]);
    assert.equal(JSON.stringify(Object.getOwnPropertyNames(Object.prototype)), before);
    assert.equal(Reflect.get({}, "polluted"), undefined);
  });

  it("finds special bytes at every offset of a string and at every alignment", () => {
    for (const special of ['"', "\\", "\n"]) {
      for (let length = 0; length < 40; length += 1) {
        for (let shift = 0; shift < 4; shift += 1) {
          const text = `{"${"k".repeat(shift + 1)}":"${"é".repeat(length % 3)}${"x".repeat(length)}${special}`;
          const backing = Buffer.alloc(text.length + 64);
          const bytes = backing.subarray(shift, shift + backing.write(text, shift));
          assert.throws(() => scanJsonObject(bytes, options), { code: "invalid_json" }, `${special} at ${length}`);
          const whole = Buffer.concat([Buffer.alloc(shift), Buffer.from(`{"a":"${"x".repeat(length)}","b":"y"}`)]);
          const body = scanJsonObject(whole.subarray(shift), options);
          assert.equal(readString(body, body.member("a")), "x".repeat(length));
        }
      }
    }
  });
});

function assertReadsAs(body: ScannedObject, value: unknown): void {
  assert.ok(typeof value === "object" && value !== null);
  const expected = new Map(Object.entries(value));
  assert.deepEqual(new Set(body.members.map((member) => member.name)), new Set(expected.keys()));
  for (const member of body.members) {
    assert.deepEqual(readJson(body, member), expected.get(member.name));
    assert.equal(body.member(member.name), member);
  }
}

/** Refusals that `JSON.parse` does not share, as the head of strict-json.ts lists them. */
const stricter = /top level|stands twice|half of a surrogate|must be spelled|levels of nesting/;

describe("scanJsonObject against JSON.parse", () => {
  const text = fc
    .tuple(fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue()), fc.nat(3))
    .map(([value, indent]) => JSON.stringify(value, undefined, indent));

  it("reads every member of every object alike", () => {
    fc.assert(
      fc.property(text, (source) => {
        const message = refusal(source);
        if (message === undefined) assertReadsAs(scan(source), JSON.parse(source));
        else assert.match(message, stricter);
      }),
      { numRuns: 2_000 },
    );
  });

  it("accepts and refuses the same mutated bytes", () => {
    const edit = fc.tuple(
      fc.nat(),
      fc.nat(2),
      fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('{}[]",:\\0-.e \n'))),
    );
    fc.assert(
      fc.property(text, fc.array(edit, { minLength: 1, maxLength: 3 }), (source, edits) => {
        const bytes = [...Buffer.from(source)];
        for (const [position, removed, byte] of edits) bytes.splice(position % (bytes.length + 1), removed, byte);
        const mutated = Buffer.from(bytes);
        const message = refusal(mutated);
        const value = parse(mutated);
        if (message === undefined) assertReadsAs(scan(mutated), value);
        else if (value !== undefined) assert.match(message, stricter, mutated.toString());
      }),
      { numRuns: 10_000 },
    );
  });
});

describe("watched keys", () => {
  const watch = ["file_id", "fileUri", "é"];

  it("are reported with their path and value, at any depth below the top", () => {
    const body = scan(
      '{"messages":[{"role":"user"},{"content":[{"file":{"file_id":"f-1"}},{"file_id":2}]}],"x":{"file\\u0055ri":[]}}',
      watch,
    );
    const seen = body.hits.map((hit) => [hit.path, hit.key, hit.kind, readText(body, hit)]);
    assert.deepEqual(seen, [
      [["messages", 1, "content", 0, "file", "file_id"], "file_id", "string", '"f-1"'],
      [["messages", 1, "content", 1, "file_id"], "file_id", "number", "2"],
      [["x", "fileUri"], "fileUri", "array", "[]"],
    ]);
  });

  it("tells user data by its path", () => {
    const body = scan('{"tools":[{"args":{"file_id":"mine"}}],"file_id":"top"}', watch);
    assert.deepEqual(
      body.hits.map((hit) => hit.path),
      [["tools", 0, "args", "file_id"]],
    );
  });

  it("are no members, text or longer keys that merely hold the name", () => {
    const body = scan('{"a":{"xfile_id":1,"file_idx":1,"file-id":1,"File_id":1,"b":"file_id"}}', watch);
    assert.deepEqual(body.hits, []);
  });

  it("may hold each other", () => {
    const body = scan('{"a":{"file_id":{"file_id":{"é":1}}}}', watch);
    assert.deepEqual(
      body.hits.map((hit) => hit.path.join(".")),
      ["a.file_id.file_id.é", "a.file_id.file_id", "a.file_id"],
    );
  });
});

describe("counts of a scan", () => {
  const data = "QUJD".repeat(100);
  const rows = [
    { name: "a data URL", text: `{"url":"data:image/png;base64,${data}"}`, isData: true },
    { name: "a data URL with parameters", text: `{"x":["data:audio/L16;rate=16000;base64,${data}"]}`, isData: true },
    { name: "file_data in the URL-safe alphabet", text: `{"file_data":"${"_-8A".repeat(100)}"}`, isData: true },
    { name: "data", text: `{"source":{"data":"${data}"}}`, isData: true },
    { name: "text that begins like a data URL", text: `{"text":"data:image/png;base64,${data}"}`, isData: false },
    { name: "prose under data", text: `{"data":"${"some words of prose ".repeat(20)}"}`, isData: false },
    { name: "a data URL that is not base64", text: `{"url":"data:text/plain,${data}"}`, isData: false },
    { name: "base64 under another key", text: `{"note":"${data}"}`, isData: false },
  ];
  for (const { name, text, isData } of rows) {
    it(`take ${name} for ${isData ? "data" : "text"}`, () => {
      const body = scan(text);
      const longest = Math.max(...text.split('"').map((part) => part.length));
      assert.equal(body.dataBytes, isData ? longest : 0);
      assert.equal(body.textBytes, isData ? 0 : longest);
      assert.equal(body.stringBytes, longest);
    });
  }

  it("hold strings as spelled and keys apart", () => {
    const body = scan('{"ab":"\\n","c":["xyz",1,{"de":"é"}]}');
    assert.equal(body.stringBytes, 2 + 3 + 2);
    assert.equal(body.keyBytes, 2 + 1 + 2);
  });
});

describe("readers of values", () => {
  const body = scan('{"s":"\\u0061\\n","n":1.5,"big":1e400,"o":{"x":[1]},"z":null,"e":""}');

  it("read strings and numbers of their kind only", () => {
    assert.equal(readString(body, body.member("s")), "a\n");
    assert.equal(readString(body, body.member("e")), "");
    assert.equal(readString(body, body.member("n")), undefined);
    assert.equal(readString(body, undefined), undefined);
    assert.equal(readNumber(body, body.member("n")), 1.5);
    assert.equal(readNumber(body, body.member("big")), undefined);
    assert.equal(readNumber(body, body.member("s")), undefined);
  });

  it("parse just the value asked for", () => {
    const member = body.member("o");
    assert.ok(member);
    assert.deepEqual(readJson(body, member), { x: [1] });
  });
});

describe("scanMembers", () => {
  it("gives the members of an object inside, and refuses duplicates there", () => {
    const body = scan('{"generationConfig": {"candidateCount":1,"x":{"y":1}} ,"stream_options":{"a":1,"\\u0061":2}}');
    const [config, streamOptions] = body.members;
    assert.ok(config && streamOptions);
    const inner = scanMembers(body.bytes, config.valueStart, config.valueEnd);
    assert.deepEqual(
      inner.members.map((member) => member.name),
      ["candidateCount", "x"],
    );
    assert.equal(readNumber(inner, inner.member("candidateCount")), 1);
    assert.throws(() => scanMembers(body.bytes, streamOptions.valueStart, streamOptions.valueEnd), {
      code: "invalid_json",
      message: /"a" stands twice/,
    });
  });
});
