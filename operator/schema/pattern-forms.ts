/**
 * Describes the patterns of the CRDs in words, with examples where they help, because few people read regular
 * expressions. A test checks that every pattern of the schemas is described.
 */

interface Form {
  readonly words: string;
  readonly examples: readonly string[];
}

const label: Form = {
  words:
    "a label's name: letters, digits, '-', '_' and '.', with a letter or digit at both ends, perhaps a domain and '/' before",
  examples: ["team", "example.com/team"],
};
const modelCharacters = "letters, digits, '.', '_', ':', '/', '@' and '-'";

/** By pattern; a test reads them. */
export const patternForms: ReadonlyMap<string, Form> = new Map([
  [
    "^([0-9]{1,5}(h|m|s|ms)){1,4}$",
    { words: "a duration: whole numbers with h, m, s or ms", examples: ["30s", "1m30s", "500ms"] },
  ],
  [
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
    { words: "a date and time with seconds and zone", examples: ["2026-12-31T23:59:59Z", "2026-12-31T23:59:59+01:00"] },
  ],
  [
    "^[0-9]{1,15}(\\.[0-9]{1,6})?[kMG]?$",
    {
      words: "an amount: digits, perhaps a point and at most 6 decimals, perhaps k, M or G",
      examples: ["250", "0.15", "200k"],
    },
  ],
  [
    "^[0-9]{1,9}(\\.[0-9]{1,6})?$",
    { words: "an amount: at most 9 digits, perhaps a point and at most 6 decimals", examples: ["2", "0.15"] },
  ],
  [
    "^-?[0-9]{1,9}(\\.[0-9]{1,6})?$",
    { words: "a number: at most 9 digits, perhaps a point and at most 6 decimals", examples: ["2", "-1", "0.5"] },
  ],
  [
    "^[a-z0-9]([a-z0-9-]*[a-z0-9])?$",
    { words: "a name: lower-case letters, digits and '-', with a letter or digit at both ends", examples: ["team-a"] },
  ],
  [
    "^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$",
    {
      words: "a name: lower-case letters, digits, '-' and '.', with a letter or digit at both ends of each part",
      examples: ["gpt-5.4-mini"],
    },
  ],
  [
    "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
    label,
  ],
  ["^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$", label],
  [
    '^/[!-"$->@-~]*$',
    {
      words: "a path: '/' and then printable characters, without blanks, '?' and '#'",
      examples: ["/v1/chat/completions"],
    },
  ],
  ["^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", { words: "a header's name: letters, digits and '-'", examples: ["x-team"] }],
  ["^[\\t -~]*$", { words: "a header's value: printable ASCII characters, blanks and tabs", examples: [] }],
  [
    "^[-._a-zA-Z0-9]+$",
    { words: "an entry's name: letters, digits, '-', '_' and '.'", examples: ["apiKey", "ca.crt"] },
  ],
  [
    "^[A-Za-z0-9*][A-Za-z0-9._:/@*-]*$",
    { words: `a model's name: ${modelCharacters}, perhaps '*'`, examples: ["gpt-5-mini", "claude-*"] },
  ],
  [
    "^[A-Za-z0-9][A-Za-z0-9._:/@-]*$",
    { words: `a model's name: ${modelCharacters}, without '*'`, examples: ["gpt-5-mini"] },
  ],
  [
    "^[A-Za-z0-9._~-]+$",
    { words: "a query parameter's name: letters, digits, '.', '_', '~' and '-'", examples: ["key"] },
  ],
  [
    "^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$",
    {
      words: "a host name: letters, digits, '-' and '.', with a letter or digit at both ends",
      examples: ["models.internal"],
    },
  ],
  ["^[A-Za-z0-9][A-Za-z0-9.-]*$", { words: "a version: letters, digits, '.' and '-'", examples: ["2024-10-21", "v1"] }],
  [
    "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
    { words: "a reason: one word of letters, digits, '_', ',' and ':'", examples: ["Valid"] },
  ],
  ["^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$", { words: "a time zone's name", examples: ["Europe/Berlin", "UTC"] }],
  [
    "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$",
    {
      words: "a field's name: letters, digits and '_', parts joined by '.'",
      examples: ["max_tokens", "generationConfig.topK"],
    },
  ],
  ["^[a-f0-9]{12}$", { words: "the first 12 digits of a SHA-256 digest, in lower-case hex", examples: [] }],
  [
    "^[a-f0-9]{64}$",
    { words: "a SHA-256 digest: 64 digits in lower-case hex, as `tollgate key` prints it", examples: [] },
  ],
  [
    "^[a-z0-9][a-z0-9.:-]*$",
    { words: "a project's name: lower-case letters, digits, '.', ':' and '-'", examples: ["my-project"] },
  ],
  [
    "^sk-[A-Za-z0-9_-]*$",
    { words: "the beginning of a key: 'sk-' and then letters, digits, '_' and '-'", examples: ["sk-team-"] },
  ],
  [
    "^(?:(?:[A-Za-z0-9+/][\\r\\n]*){4})*(?:(?:[A-Za-z0-9+/][\\r\\n]*){2}(?:=[\\r\\n]*){2}|(?:[A-Za-z0-9+/][\\r\\n]*){3}=[\\r\\n]*)?$",
    { words: "base64; plain text goes under stringData", examples: [] },
  ],
]);

/** The form that a pattern accepts, in words; undefined when it is not described. */
export function formOf(pattern: string): string | undefined {
  const form = patternForms.get(pattern);
  if (form === undefined || form.examples.length === 0) return form?.words;
  const others = form.examples.slice(0, -1).join(", ");
  return `${form.words}; such as ${others === "" ? "" : `${others} or `}${form.examples.at(-1)}`;
}
