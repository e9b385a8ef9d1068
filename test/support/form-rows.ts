/** Forms, and how each must be read: docs/design/reliability.md E8 and docs/design/forms.md. One part `model` may come. */
import { field, file, formOf, part } from "./form-server.ts";

export interface FormRow {
  readonly name: string;
  readonly body: Buffer;
  /** Its boundary; `b` where it is not given. */
  readonly boundary?: string;
  /** The parts as `describeForm` says them, or the code of the refusal. */
  readonly outcome: readonly unknown[] | "invalid_form" | "body_too_large";
}

const named = (name: string): string => `Content-Disposition: form-data; name=${name}`;
const model = field("model", "m");
const readModel = ["model", "m"];
const readImage = ["image", "PNG", "a.png", "image/png"];
const image = file("image", "PNG");
const refused = "invalid_form";

/** A form with this one part, a part as it reads. */
const onePart = (name: string, lines: readonly string[], outcome: FormRow["outcome"], content = "m"): FormRow => ({
  name,
  body: formOf([part(lines, content)]),
  outcome,
});
const raw = (name: string, text: string | Buffer, outcome: FormRow["outcome"]): FormRow => ({
  name,
  body: Buffer.from(text),
  outcome,
});

const order: readonly FormRow[] = [
  {
    name: "fields and a file in their order",
    body: formOf([model, image, field("n", "2")]),
    outcome: [readModel, readImage, ["n", "2"]],
  },
  { name: "the model behind the file", body: formOf([image, model]), outcome: [readImage, readModel] },
  { name: "no part at all", body: formOf([]), outcome: [] },
  { name: "parts of one name, where several may come", body: formOf([image, image]), outcome: [readImage, readImage] },
  {
    name: "two fields of a name that may come once",
    body: formOf([model, image, field("model", "x")]),
    outcome: refused,
  },
  {
    name: "a field and a file of a name that may come once",
    body: formOf([model, file("model", "x")]),
    outcome: refused,
  },
  {
    name: "a file whose file name is that of a field",
    body: formOf([file("image", "PNG", "model")]),
    outcome: [["image", "PNG", "model", "image/png"]],
  },
  {
    name: "a file in place of a field",
    body: formOf([file("model", "m", "a.txt", "text/plain")]),
    outcome: [["model", "m", "a.txt", "text/plain"]],
  },
  {
    name: "as many parts as may come",
    body: formOf(Array.from({ length: 40 }, () => field("a", ""))),
    outcome: Array.from({ length: 40 }, () => ["a", ""]),
  },
  {
    name: "one part more than may come",
    body: formOf(Array.from({ length: 41 }, () => field("a", ""))),
    outcome: refused,
  },
  { name: "10,000 parts", body: formOf(Array.from({ length: 10_000 }, () => field("a", ""))), outcome: refused },
  raw("10,000 parts without anything", `--b\r\n${"\r\n--b\r\n".repeat(10_000)}\r\n--b--\r\n`, refused),
];

const names: readonly FormRow[] = [
  onePart("a name that is a token", [named("model")], [readModel]),
  onePart("parameters in capitals", ['CONTENT-DISPOSITION: FORM-DATA; NAME="model"'], [readModel]),
  onePart("no space behind the colon and the semicolon", ['Content-Disposition:form-data;name="model"'], [readModel]),
  onePart("a parameter that nobody knows", [`${named('"model"')}; size=3`], [readModel]),
  onePart("an encoded name", ["Content-Disposition: form-data; name*=UTF-8''model"], refused),
  onePart("a name and an encoded name", [`${named('"a"')}; name*=UTF-8''model`], refused),
  onePart("an encoded file name", [`${named('"a"')}; filename*=UTF-8''b.png`], refused),
  onePart("a name in two pieces", ['Content-Disposition: form-data; name*0="mo"; name*1="del"'], refused),
  onePart("two names", [`${named('"a"')}; name="model"`], refused),
  onePart("two names in different case", [`${named('"a"')}; NAME="model"`], refused),
  onePart("two file names", [`${named('"a"')}; filename="a"; filename="b"`], refused),
  onePart("a quote behind a backslash in the name", [named('"mo\\"del"')], refused),
  onePart("a backslash in the name", [named('"mo\\del"')], refused),
  onePart(
    "a file name with a backslash",
    [`${named('"a"')}; filename="C:\\a.png"`],
    [["a", "m", "C:\\a.png", undefined]],
  ),
  onePart("a file name that ends with a backslash", [`${named('"a"')}; filename="C:\\"`], refused),
  onePart("a quote that is not closed", [named('"model')], refused),
  onePart("text behind the quote", [`${named('"model"')}x`], refused),
  onePart("a semicolon at the end", [`${named('"model"')};`], refused),
  onePart("a name with the escapes of browsers", [named('"a%22%0D%0Ab"')], [['a"\r\nb', "m"]]),
  onePart("a name with any other escape", [named('"mod%65l"')], [["mod%65l", "m"]]),
  onePart("no name", ["Content-Disposition: form-data"], refused),
  onePart("an empty name", [named('""')], refused),
  onePart("a name of 128 characters", [named(`"${"a".repeat(128)}"`)], [["a".repeat(128), "m"]]),
  onePart("a name of 129 characters", [named(`"${"a".repeat(129)}"`)], refused),
  onePart("a name with NUL", [named('"mod\0el"')], refused),
  onePart("a name with a tab", [named('"mod\tel"')], refused),
  onePart("an empty file name", [`${named('"a"')}; filename=""`], [["a", "m", "", undefined]]),
  onePart("a file name in UTF-8", [`${named('"a"')}; filename="größe.png"`], [["a", "m", "größe.png", undefined]]),
  raw("a name that is not UTF-8", Buffer.from(`--b\r\n${named('"m\xff"')}\r\n\r\nm\r\n--b--\r\n`, "latin1"), refused),
  raw(
    "a file name that is not UTF-8",
    Buffer.from(`--b\r\n${named('"a"')}; filename="\xff"\r\n\r\nm\r\n--b--\r\n`, "latin1"),
    refused,
  ),
  ...["__proto__", "constructor", "toString", "hasOwnProperty"].map((name) =>
    onePart(`the name ${name}`, [named(`"${name}"`)], [[name, "m"]]),
  ),
];

const heads: readonly FormRow[] = [
  onePart("a folded head", ["Content-Disposition: form-data;", ' name="model"'], [readModel]),
  onePart("a name that is folded", ['Content-Disposition: form-data; name="mo', ' del"'], [["mo del", "m"]]),
  onePart("another disposition", ['Content-Disposition: attachment; name="model"'], refused),
  onePart("a disposition that begins like it", ['Content-Disposition: form-datax; name="model"'], refused),
  onePart("no disposition", ["Content-Type: text/plain"], refused),
  onePart("two dispositions", [named('"a"'), named('"model"')], refused),
  onePart("two types", [named('"a"'), "Content-Type: text/plain", "Content-Type: text/plain"], refused),
  onePart("a space in front of the colon", ['Content-Disposition : form-data; name="model"'], refused),
  onePart("a line without a colon in front", ["model", named('"model"')], refused),
  onePart("other fields", [named('"model"'), "Content-Length: 999", "X-Other: 1", "__proto__: 1"], [readModel]),
  onePart("32 lines", [named('"model"'), ...Array.from({ length: 31 }, (_, index) => `X-${index}: 1`)], [readModel]),
  onePart("33 lines", [named('"model"'), ...Array.from({ length: 32 }, (_, index) => `X-${index}: 1`)], refused),
  onePart("a head of nearly 8 KiB", [named('"model"'), `X-Long: ${"x".repeat(8_000)}`], [readModel]),
  onePart("a head of more than 8 KiB", [named('"model"'), `X-Long: ${"x".repeat(8_192)}`], refused),
  onePart("a head of 1 MB", [named('"model"'), `X-Long: ${"x".repeat(1_000_000)}`], refused),
  onePart("a name of a field of 1 MB", [named('"model"'), `X-${"x".repeat(1_000_000)}: 1`], refused),
  onePart("base64", [named('"model"'), "Content-Transfer-Encoding: base64"], refused, "bQ=="),
  onePart("quoted-printable", [named('"model"'), "Content-Transfer-Encoding: Quoted-Printable"], refused),
  onePart("an encoding that is none", [named('"model"'), "Content-Transfer-Encoding: BINARY"], [readModel]),
  onePart("a nested form", [named('"model"'), "Content-Type: multipart/mixed; boundary=c"], refused),
  onePart(
    "a nested form as a file",
    [`${named('"a"')}; filename="a"`, "Content-Type: multipart/mixed; boundary=c"],
    refused,
  ),
  onePart("a type that is none", [`${named('"a"')}; filename="a"`, "Content-Type: png"], refused),
  onePart("an empty type", [`${named('"a"')}; filename="a"`, "Content-Type: "], refused),
  onePart("a type with control characters", [`${named('"a"')}; filename="a"`, "Content-Type: image/png;\0"], refused),
  onePart(
    "a file's type with its parameters",
    [`${named('"a"')}; filename="a"`, "Content-Type: text/plain; charset=x"],
    [["a", "m", "a", "text/plain; charset=x"]],
  ),
  onePart("a field of JSON", [named('"model"'), "Content-Type: application/json"], [readModel]),
  onePart("a field in UTF-8", [named('"model"'), 'Content-Type: Text/Plain; charset="UTF-8"'], [readModel]),
  onePart("a field in UTF-16", [named('"model"'), "Content-Type: text/plain; charset=utf-16"], refused),
  onePart("a field of bytes", [named('"model"'), "Content-Type: application/octet-stream"], refused),
  raw(
    "lines of a head that end with LF",
    `--b\r\n${named('"a"')}\nContent-Type: text/plain\r\n\r\nm\r\n--b--\r\n`,
    refused,
  ),
  raw(
    "lines of a head that end with CR",
    `--b\r\n${named('"a"')}\rContent-Type: text/plain\r\n\r\nm\r\n--b--\r\n`,
    refused,
  ),
  raw("a head without an empty line", `--b\r\n${named('"model"')}\r\n--b--\r\n`, refused),
  raw("a part of two bytes", "--b\r\n\r\n--b--\r\n", refused),
];

const contents: readonly FormRow[] = [
  { name: "an empty field", body: formOf([field("model", "")]), outcome: [["model", ""]] },
  { name: "an empty file", body: formOf([file("image", "")]), outcome: [["image", "", "a.png", "image/png"]] },
  { name: "text with line breaks", body: formOf([field("a", "\r\n\n\r1\r\n")]), outcome: [["a", "\r\n\n\r1\r\n"]] },
  { name: "text with a byte order mark", body: formOf([field("a", "\ufeffé")]), outcome: [["a", "\ufeffé"]] },
  { name: "text that is not UTF-8", body: formOf([field("a", Buffer.of(0x6d, 0xff))]), outcome: refused },
  { name: "text that is cut within a character", body: formOf([field("a", Buffer.of(0xc3))]), outcome: refused },
  { name: "a charset that is said by a field", body: formOf([field("_charset_", "utf-16")]), outcome: refused },
  { name: "utf-8, said by a field", body: formOf([field("_charset_", "UTF-8")]), outcome: [["_charset_", "UTF-8"]] },
  {
    name: "a file of any bytes",
    body: formOf([file("image", Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)))]),
    outcome: [
      ["image", Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)).join(""), "a.png", "image/png"],
    ],
  },
];

const boundaries: readonly FormRow[] = [
  {
    name: "a boundary of 70 characters",
    boundary: "b".repeat(70),
    body: formOf([model], "b".repeat(70)),
    outcome: [readModel],
  },
  {
    name: "a boundary with every kind of character",
    boundary: "a'()+_,-./:=? 0",
    body: formOf([model], "a'()+_,-./:=? 0"),
    outcome: [readModel],
  },
  { name: "the boundary within a line", body: formOf([field("a", "x--b--")]), outcome: [["a", "x--b--"]] },
  { name: "the boundary behind LF", body: formOf([field("a", "x\n--b--\nx")]), outcome: [["a", "x\n--b--\nx"]] },
  {
    name: "what looks like the boundary for a while",
    boundary: "bbbx",
    body: formOf([field("a", "\r\n--bbby\r\n\r\n--\r\n--bbb")], "bbbx"),
    outcome: [["a", "\r\n--bbby\r\n\r\n--\r\n--bbb"]],
  },
  { name: "the boundary at the beginning of a line", body: formOf([field("a", "x\r\n--by")]), outcome: refused },
  { name: "another form's boundary", boundary: "c", body: formOf([model]), outcome: refused },
  raw("spaces behind the boundary", `--b \r\n${named('"model"')}\r\n\r\nm\r\n--b--\r\n`, refused),
  raw("a line break in front", `\r\n--b\r\n${named('"model"')}\r\n\r\nm\r\n--b--\r\n`, [readModel]),
  raw("text in front", `text\r\n--b\r\n${named('"model"')}\r\n\r\nm\r\n--b--\r\n`, refused),
  raw("1 MB of text in front", `${"x".repeat(1_000_000)}\r\n--b\r\n${named('"model"')}\r\n\r\nm\r\n--b--\r\n`, refused),
  raw("text behind the end", `${formOf([model])}text\r\n--b\r\n${named('"model"')}\r\n\r\nx\r\n--b--\r\n`, [readModel]),
  raw("1 MB of text behind the end", `${formOf([model])}${"x".repeat(1_000_000)}`, [readModel]),
  raw("no line break behind the end", `--b\r\n${named('"model"')}\r\n\r\nm\r\n--b--`, [readModel]),
  raw("LF in place of every line break", formOf([model]).toString().replaceAll("\r\n", "\n"), refused),
  raw("CR in place of every line break", formOf([model]).toString().replaceAll("\r\n", "\r"), refused),
  raw("nothing", "", refused),
  raw("an end without its last boundary", `--b\r\n${named('"model"')}\r\n\r\nm`, refused),
  raw("an end without the line break of its last boundary", `--b\r\n${named('"model"')}\r\n\r\nm--b--`, refused),
  raw("an end within a head", `--b\r\n${named('"model"')}\r\n`, refused),
  raw("an end behind a boundary that is not the last", `--b\r\n${named('"model"')}\r\n\r\nm\r\n--b`, refused),
  raw("an end behind half of the last boundary", `--b\r\n${named('"model"')}\r\n\r\nm\r\n--b-`, refused),
];

export const formRows: readonly FormRow[] = [...order, ...names, ...heads, ...contents, ...boundaries];
