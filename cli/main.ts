/**
 * The `tollgate` program: reads the command and its settings, and runs it.
 *
 * It is the only file that touches `process`: arguments, environment, signals and the exit status (0 success, 1
 * failure, 2 wrong usage). Commands are loaded when they are called, so that `tollgate key` need not load a gateway.
 */
import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { renderCommandHelp, renderProgramHelp } from "./help.ts";
import { isColored, type ProgramIo } from "./program-io.ts";
import { readSettings, type SettingsReading, UsageError } from "./settings/read-settings.ts";
import { type Command, commands } from "./settings/setting-list.ts";

const program = fileURLToPath(import.meta.url);

// Loading a proxy from its sources takes a second, half of it for compiling them. The cache is beside the packages and as
// trusted as they are; where it cannot be written, as in an image, nothing is cached and nothing fails.
enableCompileCache(join(dirname(program), "..", "node_modules", ".cache", "compiled"));

async function main(given: readonly string[], io: ProgramIo): Promise<number> {
  const [name, ...flags] = given;
  const colored = isColored(io.stdout, io.environment);
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    io.stdout.write(renderProgramHelp(readVersion(), colored));
    return name === undefined ? 2 : 0;
  }
  if (name === "--version") {
    io.stdout.write(`${readVersion()}\n`);
    return 0;
  }
  const command = commands.find((known) => known === name);
  if (command === undefined)
    throw new UsageError([`unknown command "${name}": the commands are ${commands.join(", ")}`]);
  const reading = readSettings(command, { flags, variables: io.environment, readFile: io.readFile });
  if (reading.isHelpWanted) {
    io.stdout.write(renderCommandHelp(command, colored, Math.min(io.stdout.columns ?? 100, 110)));
    return 0;
  }
  for (const warning of reading.warnings) io.stderr.write(`tollgate: ${warning}\n`);
  return run(command, reading, io);
}

async function run(command: Command, { settings, positionals }: SettingsReading, io: ProgramIo): Promise<number> {
  switch (command) {
    case "standalone":
      return (await import("./commands/standalone.ts")).runStandalone(settings, io, program, tellParent());
    case "operator":
      return (await import("./commands/operator.ts")).runOperatorCommand(settings, io);
    case "proxy":
      return (await import("./commands/proxy.ts")).runProxyCommand(settings, io, tellParent());
    case "validate":
      return (await import("./validate.ts")).validateCommand(
        positionals,
        { stdout: io.stdout, stderr: io.stderr, isTerminal: isColored(io.stdout, io.environment) },
        settings.list("egress.allowCIDRs"),
      );
    case "explain":
      return (await import("./commands/explain.ts")).runExplain(settings, io);
    case "key":
      return (await import("./commands/key.ts")).runKey(settings.text("namespace"), settings.text("name"), io);
  }
}

function tellParent(): ((message: object) => void) | undefined {
  return process.send === undefined ? undefined : (message) => process.send?.(message);
}

function readVersion(): string {
  const file: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  );
  return file.version;
}

/** A terminal signals the whole group and parents forward the signal: one that comes this soon is the same signal. */
const sameWishMs = 500;

/**
 * The first signal ends the program in order. A Ctrl-C after it comes from a person who does not want to wait, and ends it
 * at once; another SIGTERM does not, because container runtimes repeat it.
 */
function stopOnSignals(): Pick<ProgramIo, "stop" | "cut"> {
  const [stop, cut] = [new AbortController(), new AbortController()];
  let firstAtMs: number | undefined;
  for (const signal of ["SIGTERM", "SIGINT"]) {
    process.on(signal, () => {
      firstAtMs ??= performance.now();
      stop.abort();
      if (signal === "SIGTERM" || performance.now() - firstAtMs < sameWishMs) return;
      process.stderr.write("tollgate: ended at once by a second signal; open calls are cut off\n");
      cut.abort();
      process.exit(1);
    });
  }
  process.on("SIGHUP", () => stop.abort());
  // Node would open a debugger on this signal, which sees every secret (docs/design/reliability.md K7).
  process.on("SIGUSR1", () => undefined);
  if (process.send !== undefined) process.on("disconnect", () => stop.abort());
  return { stop: stop.signal, cut: cut.signal };
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

const io: ProgramIo = {
  stdout: process.stdout,
  stderr: process.stderr,
  environment: process.env,
  readStdin,
  readFile: (path) => readFileSync(path, "utf8"),
  ...stopOnSignals(),
};

// The command has ended, so the process ends too: a proxy that could not open its port must not live on as an orphan.
process.exit(await main(process.argv.slice(2), io).catch((error: unknown) => report(error, io)));

/** @returns the exit status */
function report(error: unknown, { stderr }: ProgramIo): number {
  if (!(error instanceof UsageError)) {
    stderr.write(`tollgate: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
  for (const problem of error.problems) stderr.write(`tollgate: ${problem}\n`);
  stderr.write("`tollgate --help` and `tollgate COMMAND --help` show the commands and settings.\n");
  return 2;
}
