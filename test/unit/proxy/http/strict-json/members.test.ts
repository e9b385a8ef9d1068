import assert from "node:assert/strict";
import { readJson, readNumber, readString, readText, scanJsonObject, scanMembers } from "#proxy/json/strict-json";
import { options, scan } from "#test/support/scan-json";

describe("scanJsonObject, members", () => {
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
      message: /"a" occurs twice/,
    });
  });
});
