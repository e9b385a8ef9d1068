/**
 * `tollgate explain`: explains which decision the proxy would take on a call, and why, from a folder of manifests.
 *
 * It compiles and decides with the code of operator and proxy. The key is given by name, or its raw text by standard
 * input, because a command line would put it into the process list and the shell's history. Exit status 0 when the call
 * would be served, 1 when not.
 */
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import picocolors from "picocolors";
import { isColored, type ProgramIo } from "#cli/program-io";
import { readEnvironmentSecrets, toFleetSettings } from "#cli/settings/operator-settings";
import { type Settings, UsageError } from "#cli/settings/read-settings";
import { type Compiled, compile } from "#operator/compile/compile";
import { FolderSource } from "#operator/source/folder";
import { type ExplainQuestion, type Explanation, explain, readFormat } from "#proxy/explain";
import { emptySnapshot, type IndexedSnapshot, SnapshotDraft } from "#proxy/snapshot/build-index";
import { objectVersion } from "#proxy/snapshot/digest";
import type { WireObject } from "#proxy/snapshot/types.gen";

export async function runExplain(settings: Settings, io: ProgramIo): Promise<number> {
  const { snapshot, compiled } = await compileFolder(settings, io);
  const key = await findKey(settings, snapshot, io);
  const question: ExplainQuestion = {
    ...key,
    model: settings.text("model"),
    address: settings.optionalText("ip") ?? "127.0.0.1",
    format: readFormat(settings.text("format")),
  };
  const explanation = explain(question, snapshot, Date.now());
  io.stdout.write(render(explanation, question.key, isColored(io.stdout, io.environment)));
  const verdicts = describeVerdicts(`key/${question.key}`, compiled);
  if (verdicts !== undefined) io.stdout.write(`  operator    ${verdicts}\n`);
  return explanation.allowed ? 0 : 1;
}

interface CompiledFolder {
  readonly snapshot: IndexedSnapshot;
  readonly compiled: Compiled;
}

/** Compiles the manifests, with the Secrets that `generate` has written into the data folder. */
async function compileFolder(settings: Settings, io: ProgramIo): Promise<CompiledFolder> {
  const source = new FolderSource({
    folder: resolve(settings.text("manifests")),
    secretsFolder: join(resolve(settings.text("data")), "secrets"),
    secretsFromEnvironment: readEnvironmentSecrets(settings, io.environment).secrets,
  });
  try {
    await source.start();
    const resources = source.current();
    for (const { origin, field, message } of resources.problems) {
      io.stderr.write(`tollgate: ${origin.file}:${origin.line} ${field === undefined ? "" : `${field}: `}${message}\n`);
    }
    const compiled = compile(resources, toFleetSettings(settings));
    const draft = new SnapshotDraft(emptySnapshot);
    for (const [id, object] of compiled.objects) put(draft, id, object);
    return { snapshot: draft.finish(1), compiled };
  } finally {
    await source.close();
  }
}

/** The operator's messages about an object with a problem; undefined when there is none. */
function describeVerdicts(id: string, compiled: Compiled): string | undefined {
  const result = compiled.results.get(id);
  if (result === undefined) return undefined;
  const bad = [result.accepted, result.resolvedRefs].filter(
    (verdict) => verdict !== undefined && verdict.status !== "True",
  );
  return bad.length === 0 ? undefined : bad.map((verdict) => `${verdict?.reason}: ${verdict?.message}`).join(" ");
}

function put(draft: SnapshotDraft, id: string, object: WireObject): void {
  const { version, size } = objectVersion(id, object);
  draft.put(id, version, size, object);
}

async function findKey(
  settings: Settings,
  snapshot: IndexedSnapshot,
  io: ProgramIo,
): Promise<Pick<ExplainQuestion, "key" | "credential">> {
  const name = settings.optionalText("key");
  if (name !== undefined) return { key: name };
  const secret = (await io.readStdin()).trim();
  if (secret === "")
    throw new UsageError(["name a key with --key NAMESPACE/NAME, or give a raw key on standard input"]);
  const found = snapshot.findKey(createHash("sha256").update(secret).digest("hex"));
  if (found === undefined)
    throw new Error("no key of these manifests matches the raw key: a call with it is refused with 401");
  return { key: `${found.key.namespace}/${found.key.name}`, credential: found.credential.name };
}

function render(explanation: Explanation, key: string, colored: boolean): string {
  const colors = picocolors.createColors(colored);
  const {
    allowed,
    status,
    refused,
    message,
    account,
    credentials = [],
    route,
    targets = [],
    limits = [],
  } = explanation;
  const verdict = allowed ? colors.green("allowed") : colors.red(`refused: ${status} ${refused ?? ""}`);
  const row = (name: string, text: string): string => `  ${name.padEnd(12)}${text}`;
  const lines = [
    `${verdict}  ${message}`,
    row("key", key),
    ...credentials.map(({ name, state }) => row("credential", `${name}: ${state}`)),
    ...(account === undefined ? [] : [row("account", account)]),
    ...(route === undefined ? [] : [row("route", route)]),
    ...targets.map((target) =>
      row(
        "target",
        `${target.channel} as ${target.upstreamModel}, priority ${target.priority}, weight ${target.weight}, usable: ${target.usable}`,
      ),
    ),
    ...limits.map((limit) => row("limit", `${limit.text} (${limit.name}, of the ${limit.from})`)),
  ];
  return `${lines.join("\n")}\n`;
}
