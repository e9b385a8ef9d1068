/**
 * Reads the head of a part: its name, its file name and its type.
 *
 * Two programs must not read two names in it (docs/design/reliability.md E8), so a field or a parameter that stands twice,
 * an encoded one (`name*=`), and any encoding of the content is refused. What a part says beside these is ignored, as
 * RFC 7578 section 4.8 has it, and does not go on.
 */
import { invalidForm } from "./invalid-form.ts";
import { readParameters } from "./parameters.ts";

export interface PartHead {
  readonly name: string;
  /** There for a file, perhaps empty. A part without one is a field, whatever its type. */
  readonly filename: string | undefined;
  readonly contentType: string | undefined;
}

const nameCharsMax = 128;
const disposition = /^form-data[ \t]*(?=;|$)/i;
const type = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+\/[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*(?=;|$)/;
const printable = /^[ -~]{1,255}$/;
const fieldTypes: ReadonlySet<string> = new Set(["text/plain", "application/json"]);
const fieldCharsets: ReadonlySet<string> = new Set(["utf-8", "us-ascii"]);
/** These say that the bytes are what they are; base64 and quoted-printable would hide what a file or a name is. */
const plainEncodings: ReadonlySet<string> = new Set(["7bit", "8bit", "binary"]);
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Values of each field of the head by its name in lower case, as Latin-1 text. */
export type PartHeaders = ReadonlyMap<string, readonly string[]>;

/** @throws GatewayError `invalid_form` */
export function readPartHead(headers: PartHeaders): PartHead {
  const value = onlyValue(headers, "content-disposition");
  if (value === undefined || !disposition.test(value)) {
    throw invalidForm("each part needs 'Content-Disposition: form-data' in its head");
  }
  const parameters = readParameters(value.replace(disposition, ""));
  if (parameters === undefined) throw invalidForm("a 'Content-Disposition' cannot be read");
  if ([...parameters.keys()].some((parameter) => parameter.includes("*"))) {
    throw invalidForm("'name*' and 'filename*' are not taken; use 'name' and 'filename' in UTF-8");
  }
  const name = toName(parameters.get("name"));
  const filename = toText(parameters.get("filename"), "a file name");
  const contentType = onlyValue(headers, "content-type");
  checkEncoding(onlyValue(headers, "content-transfer-encoding"), name);
  checkType(contentType, filename !== undefined, name);
  return { name, filename, contentType };
}

/** @throws GatewayError `invalid_form` where the field stands twice */
function onlyValue(headers: PartHeaders, name: string): string | undefined {
  const values = headers.get(name) ?? [];
  if (values.length > 1) throw invalidForm(`a part has more than one '${name}'`);
  return values[0]?.trim();
}

function toName(value: string | undefined): string {
  const name = toText(value, "a name");
  if (name === undefined || name === "") throw invalidForm("each part needs a name");
  if (name.length > nameCharsMax) throw invalidForm(`a name is longer than ${nameCharsMax} characters`);
  if (name.includes("\\")) throw invalidForm("a name holds a backslash");
  return name;
}

/** The three escapes of browsers and no others (https://html.spec.whatwg.org/#multipart-form-data). */
function toText(value: string | undefined, what: string): string | undefined {
  if (value === undefined) return undefined;
  const escaped = value.replace(/%(?:22|0[dD]|0[aA])/g, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
  try {
    return utf8.decode(Buffer.from(escaped, "latin1"));
  } catch {
    throw invalidForm(`${what} is not UTF-8`);
  }
}

function checkEncoding(encoding: string | undefined, name: string): void {
  if (encoding === undefined || plainEncodings.has(encoding.toLowerCase())) return;
  throw invalidForm(`'Content-Transfer-Encoding' of '${name}' must be left out`, name);
}

function checkType(contentType: string | undefined, isFile: boolean, name: string): void {
  if (contentType === undefined) return;
  const kind = type.exec(contentType)?.[0].trim().toLowerCase();
  if (kind === undefined || !printable.test(contentType)) throw invalidForm(`the type of '${name}' is not valid`, name);
  if (kind.startsWith("multipart/")) throw invalidForm(`the part '${name}' holds another form`, name);
  if (isFile) return;
  const charset = readParameters(contentType.replace(type, ""))?.get("charset")?.toLowerCase() ?? "utf-8";
  if (!fieldTypes.has(kind) || !fieldCharsets.has(charset)) {
    throw invalidForm(`'${name}' must be text in UTF-8, or a file with a 'filename'`, name);
  }
}
