/** The privacy table of docs/design/interface.md 3 in every format, for each setting of a channel. */
import assert from "node:assert/strict";
import { describe, it } from "mocha";
import { useCapture } from "#test/support/conformance/capture";
import { callForms } from "#test/support/conformance/chat-calls";
import { channelManifest, keyManifest, routeManifest } from "#test/support/conformance/manifests";

const settings = {
  usual: {},
  closed: { privacy: { store: "ForceFalse", clientMetadata: "Strip" } },
  open: { privacy: { safetyIdentifier: "Forward", streamObfuscation: "Forward" } },
} as const;
type Setting = keyof typeof settings;
type Format = (typeof callForms)[number]["format"];

const everyFormat: readonly Format[] = ["ChatCompletions", "Responses", "Messages", "GenerateContent"];
const openaiFormats: readonly Format[] = ["ChatCompletions", "Responses"];
const absent = Symbol("absent");

interface Row {
  readonly name: string;
  readonly setting: Setting;
  readonly formats: readonly Format[];
  readonly stream?: boolean;
  readonly sends: object;
  /** Members that the upstream must see so; `absent`: must not see. */
  readonly arrives: Readonly<Record<string, unknown>>;
}

const usage = { include_usage: true };

const rows: readonly Row[] = [
  ...[true, false].map((store) => ({
    name: `store ${store} passes by default`,
    setting: "usual" as const,
    formats: everyFormat,
    sends: { store },
    arrives: { store },
  })),
  {
    name: "store is not invented by default",
    setting: "usual",
    formats: everyFormat,
    sends: {},
    arrives: { store: absent },
  },
  {
    name: "store true becomes false where a channel disables it",
    setting: "closed",
    formats: everyFormat,
    sends: { store: true },
    arrives: { store: false },
  },
  {
    name: "an absent store becomes false where a channel disables it: the upstream's own default may be true",
    setting: "closed",
    formats: openaiFormats,
    sends: {},
    arrives: { store: false },
  },
  {
    name: "an absent store stays absent in formats whose provider knows no such field",
    setting: "closed",
    formats: ["Messages", "GenerateContent"],
    sends: {},
    arrives: { store: absent },
  },
  ...(["usual", "closed"] as const).map((setting) => ({
    name: `safety_identifier is filtered out unless a channel allows it (${setting})`,
    setting,
    formats: everyFormat,
    sends: { safety_identifier: "person-1" },
    arrives: { safety_identifier: absent },
  })),
  {
    name: "safety_identifier passes where a channel allows it",
    setting: "open",
    formats: everyFormat,
    sends: { safety_identifier: "person-1" },
    arrives: { safety_identifier: "person-1" },
  },
  ...[true, false].map((include_obfuscation) => ({
    name: `include_obfuscation ${include_obfuscation} is filtered out by default, and nothing beside it`,
    setting: "usual" as const,
    formats: ["ChatCompletions" as const],
    stream: true,
    sends: { stream_options: { ...usage, include_obfuscation, x_other: 1 } },
    arrives: { stream_options: { ...usage, x_other: 1 } },
  })),
  {
    name: "stream_options goes with its last member",
    setting: "usual",
    formats: ["Responses"],
    stream: true,
    sends: { stream_options: { include_obfuscation: true } },
    arrives: { stream_options: absent },
  },
  {
    name: "include_obfuscation passes where a channel allows it",
    setting: "open",
    formats: ["ChatCompletions"],
    stream: true,
    sends: { stream_options: { ...usage, include_obfuscation: true } },
    arrives: { stream_options: { ...usage, include_obfuscation: true } },
  },
  {
    name: "include_obfuscation passes where a channel allows it",
    setting: "open",
    formats: ["Responses"],
    stream: true,
    sends: { stream_options: { include_obfuscation: false } },
    arrives: { stream_options: { include_obfuscation: false } },
  },
  {
    name: "metadata and user pass by default",
    setting: "usual",
    formats: openaiFormats,
    sends: { metadata: { trace: "1" }, user: "person-1" },
    arrives: { metadata: { trace: "1" }, user: "person-1" },
  },
  {
    name: "metadata passes by default",
    setting: "usual",
    formats: ["Messages", "GenerateContent"],
    sends: { metadata: { user_id: "person-1" } },
    arrives: { metadata: { user_id: "person-1" } },
  },
  {
    name: "metadata and user are stripped where a channel says so",
    setting: "closed",
    formats: everyFormat,
    sends: { metadata: { user_id: "person-1" }, user: "person-1" },
    arrives: { metadata: absent, user: absent },
  },
  {
    name: "labels are stripped with them",
    setting: "closed",
    formats: ["GenerateContent"],
    sends: { labels: { team: "a" } },
    arrives: { labels: absent },
  },
  {
    name: "user as an object arrives as the text that providers take",
    setting: "usual",
    formats: openaiFormats,
    sends: { user: { id: "person-1", plan: "gold" } },
    arrives: { user: "person-1" },
  },
  {
    name: "user arrives where this format has it",
    setting: "usual",
    formats: ["Messages"],
    sends: { user: "person-1" },
    arrives: { user: absent, metadata: { user_id: "person-1" } },
  },
];

describe("privacy through the gateway", () => {
  const capture = useCapture((origin) => [
    keyManifest("main"),
    ...Object.entries(settings).flatMap(([name, spec]) => [channelManifest(name, origin, spec), routeManifest(name)]),
  ]);

  for (const row of rows) {
    for (const form of callForms.filter(({ format }) => row.formats.includes(format))) {
      it(`${row.name}, in ${form.format}`, async () => {
        const { stream = false } = row;
        const body = await capture().forwarded({ form, model: row.setting, stream, body: row.sends });
        for (const [member, value] of Object.entries(row.arrives)) {
          if (value === absent) assert.equal(member in body, false, `${member}: ${JSON.stringify(body[member])}`);
          else assert.deepEqual(body[member], value, member);
        }
      });
    }
  }

  for (const form of callForms) {
    it(`filters a name that is spelled with escapes, in ${form.format}`, async () => {
      const usual = JSON.stringify(form.body("usual", false)).slice(1);
      const { answer, received } = await capture().send({
        form,
        model: "usual",
        body: `{"\\u0073afety_\\u0069dentifier":"person-1",${usual}`,
      });
      assert.equal(answer.status, 200);
      assert.equal(received?.body.includes("person-1"), false);
    });

    if (openaiFormats.includes(form.format)) {
      it(`filters an option that is spelled with escapes, in ${form.format}`, async () => {
        const usual = JSON.stringify(form.body("usual", false)).slice(1);
        for (const name of ["include\\u005fobfuscation", "\\u0069nclude_obfuscation"]) {
          const body = `{"stream_options":{"${name}":true,"x_other":1},${usual}`;
          assert.deepEqual((await capture().forwarded({ form, model: "usual", body }))["stream_options"], {
            x_other: 1,
          });
        }
      });
    }

    it(`never shows whom a call concerns to the access log, in ${form.format}`, async () => {
      const marked = { safety_identifier: "mark-of-a-person", metadata: { user_id: "mark-of-a-person" } };
      const { answer } = await capture().send({ form, model: "usual", body: marked });
      const record = await capture().gateway.recordOf(answer.header("x-request-id") ?? "");
      const shown = JSON.stringify(record, (_, value) => (typeof value === "bigint" ? `${value}` : value));
      assert.equal(shown.includes("mark-of-a-person"), false);
    });
  }
});
