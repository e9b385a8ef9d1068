import assert from "node:assert/strict";
import { GatewayError } from "#proxy/errors";
import { isForm, readBoundary } from "#proxy/multipart/form-content-type";

const form = "multipart/form-data";

/** The boundary, or the code of the refusal. */
function outcomeOf(types: readonly string[]): string {
  try {
    return readBoundary(types.flatMap((type) => ["Content-Type", type]));
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return error.code;
  }
}

describe("readBoundary (E7, E8)", () => {
  for (const { types, outcome } of [
    { types: [`${form}; boundary=b`], outcome: "b" },
    { types: [`${form};boundary=b`], outcome: "b" },
    { types: [`${form} ; boundary=b`], outcome: "b" },
    { types: [`MultiPart/FORM-Data; Boundary=b`], outcome: "b" },
    { types: [`${form}; boundary="b"`], outcome: "b" },
    { types: [`${form}; boundary="a b:c"`], outcome: "a b:c" },
    {
      types: [`${form}; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW`],
      outcome: "----WebKitFormBoundary7MA4YWxkTrZu0gW",
    },
    { types: [`${form}; charset=utf-8; boundary=b`], outcome: "b" },
    { types: [`${form}; boundary=b; charset="UTF-8"`], outcome: "b" },
    { types: [`${form}; boundary=${"b".repeat(70)}`], outcome: "b".repeat(70) },
    { types: [`${form}; boundary=${"b".repeat(71)}`], outcome: "invalid_form" },
    { types: [`${form}; boundary=`], outcome: "invalid_form" },
    { types: [`${form}; boundary=""`], outcome: "invalid_form" },
    { types: [`${form}; boundary="b "`], outcome: "invalid_form" },
    { types: [`${form}; boundary="ä"`], outcome: "invalid_form" },
    { types: [`${form}; boundary="a\\"b"`], outcome: "invalid_form" },
    { types: [`${form}; boundary=a;b`], outcome: "invalid_form" },
    { types: [`${form}; boundary=a, b`], outcome: "invalid_form" },
    { types: [`${form}; boundary=a; boundary=a`], outcome: "invalid_form" },
    { types: [`${form}; boundary=a; BOUNDARY=b`], outcome: "invalid_form" },
    { types: [`${form}; boundary*=utf-8''b`], outcome: "invalid_form" },
    { types: [form], outcome: "invalid_form" },
    { types: [`${form};`], outcome: "invalid_form" },
    { types: [`${form}; charset=iso-8859-1; boundary=b`], outcome: "unsupported_media_type" },
    { types: [`${form}; boundary=b`, `${form}; boundary=b`], outcome: "unsupported_media_type" },
    { types: [`${form}; boundary=b`, "application/json"], outcome: "unsupported_media_type" },
    { types: [], outcome: "unsupported_media_type" },
    { types: [""], outcome: "unsupported_media_type" },
    { types: ["application/json"], outcome: "unsupported_media_type" },
    { types: ["application/json;boundary=b"], outcome: "unsupported_media_type" },
    { types: ["text/plain; boundary=b"], outcome: "unsupported_media_type" },
    { types: ["application/x-www-form-urlencoded"], outcome: "unsupported_media_type" },
    { types: ["multipart/mixed; boundary=b"], outcome: "unsupported_media_type" },
    { types: ["multipart/form-data-x; boundary=b"], outcome: "unsupported_media_type" },
    { types: ["multipart/form-data, multipart/form-data; boundary=b"], outcome: "unsupported_media_type" },
    { types: [` ${form}; boundary=b`], outcome: "unsupported_media_type" },
  ]) {
    it(`makes ${outcome.slice(0, 40)} of ${JSON.stringify(types).slice(0, 90)}`, () => {
      assert.equal(outcomeOf(types), outcome);
    });
  }
});

describe("isForm", () => {
  for (const { type, expected } of [
    { type: `${form}; boundary=b`, expected: true },
    { type: form, expected: true },
    { type: "application/json", expected: false },
    { type: "multipart/mixed; boundary=b", expected: false },
  ]) {
    it(`says ${expected} of ${type}`, () => assert.equal(isForm(["content-type", type]), expected));
  }
});
