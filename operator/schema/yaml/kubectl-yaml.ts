/**
 * Adapts the YAML 1.1 parser to `kubectl` (Go), which reads some plain values and plain names differently.
 *
 * Times and binary values stay text, as do `1:30` and texts that only resemble a number. A name without quotes is read
 * as a value first: `on:` becomes the member `true`. Pure.
 */
import { Document, isScalar, type ScalarTag, type Tags } from "yaml";

const untouched = ["timestamp", "binary", "omap", "pairs", "set"];

const digits = /\d/;
const goInteger = /^[-+]?0(?:[oO][0-7_]+|[xX][0-9a-fA-F_]+|[bB][01_]+)$/;

/** `0o10` and `0X1f`, which YAML 1.1 does not know. */
const integerOfGo: ScalarTag = {
  identify: () => false,
  default: true,
  tag: "tag:yaml.org,2002:int",
  test: goInteger,
  resolve: (text) => {
    const number = Number(text.replace(/^[-+]|_/g, "").toLowerCase());
    return text.startsWith("-") ? -number : number;
  },
};

/** Options of the general parser with which it reads values as kubectl does. */
export const kubectlOptions = { version: "1.1", schema: "yaml-1.1", customTags: kubectlTags } as const;

function kubectlTags(tags: Tags): Tags {
  const kept = tags.filter((tag) => {
    if (typeof tag === "string") return !untouched.includes(tag);
    const name = tag.tag.replace("tag:yaml.org,2002:", "");
    return !untouched.includes(name) && tag.format !== "TIME";
  });
  return [integerOfGo, ...kept.map((tag) => (isNumber(tag) ? textUnlessFinite(tag) : tag))];
}

const isNumber = (tag: Tags[number]): tag is ScalarTag =>
  typeof tag !== "string" && (tag.format === "EXP" || (tag.tag === "tag:yaml.org,2002:float" && !("format" in tag)));

/** `e1` and `1e400` are text; `.inf` is not a JSON value, and the problem is reported at its place. */
function textUnlessFinite(tag: ScalarTag): ScalarTag {
  return {
    ...tag,
    resolve: (text, onError, options) => {
      const isNamed = text.toLowerCase().endsWith("inf") || text.toLowerCase().endsWith("nan");
      const isInRange = digits.test(text) && Number.isFinite(Number.parseFloat(text.replace(/_/g, "")));
      return isNamed || isInRange ? tag.resolve(text, onError, options) : text;
    },
  };
}

const plainTags = new Document(null, kubectlOptions).schema.tags.filter(
  (tag): tag is ScalarTag => tag.default === true && "test" in tag,
);

/** All others are text whatever the tags are, and most values are: `ApiKey`, `monthly`. */
const mayBeOtherThanText = /^(?:[-+.~\d]|[yYnNtTfFoO].{0,4}$|$)/;

/**
 * What kubectl makes of a value without quotes. The general parser's own tags decide, so each rule stands once.
 *
 * @param text of one line or of several, folded already
 * @throws Error when the general parser would report a fault
 */
export function readPlainValue(text: string): unknown {
  if (!mayBeOtherThanText.test(text)) return text;
  const tag = plainTags.find(({ test }) => test?.test(text));
  if (tag === undefined) return text;
  const fail = (message: string): never => {
    throw new Error(message);
  };
  const value = tag.resolve(text, fail, {});
  return isScalar(value) ? value.value : value;
}

const trueNames = /^(?:[yY]|yes|Yes|YES|on|On|ON|True|TRUE)$/;
const falseNames = /^(?:[nN]|no|No|NO|off|Off|OFF|False|FALSE)$/;
const nullNames = /^(?:~|null|Null|NULL)?$/;
const numberNames = /^[-+]?\.?\d[\d_]*(?:\.[\d_]*)?(?:[eE][-+]?\d+)?$|^[-+]?\.(?:inf|Inf|INF)$|^\.(?:nan|NaN|NAN)$/;
/** Numbers that are written as they are read. */
const plainInteger = /^(?:0|-?[1-9]\d{0,17})$/;

/**
 * The value that kubectl reads from a name without quotes, when that may not be the name itself.
 *
 * @param text as it is in the file
 * @returns in words for a person; undefined where the name stays what it is
 */
export function otherReadingOf(text: string): string | undefined {
  if (trueNames.test(text)) return "the boolean true";
  if (falseNames.test(text)) return "the boolean false";
  if (nullNames.test(text)) return "null";
  const isNumber = (numberNames.test(text) || goInteger.test(text)) && !plainInteger.test(text);
  return isNumber ? "a number" : undefined;
}
