/**
 * The parts of the process that a command may use: streams, environment and stop signals. `main.ts` makes them once.
 */
import { type AccessLog, accessLogDestination, createAccessLog } from "#proxy/observe/access-log";
import { createLogger, type Logger, type LogLevel } from "#proxy/observe/logger";
import type { Settings } from "./settings/read-settings.ts";

export interface OutputStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface ProgramIo {
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Standard input as text, for raw keys. */
  readonly readStdin: () => Promise<string>;
  readonly readFile: (path: string) => string;
  /** Aborted by SIGTERM, SIGINT or, in a child, by the end of its parent. */
  readonly stop: AbortSignal;
  /** Aborted by a second SIGINT, just before the process ends without waiting: children must not live on. */
  readonly cut: AbortSignal;
}

/** Colours on a terminal, unless `NO_COLOR` says otherwise (no-color.org). */
export function isColored(stream: OutputStream, environment: ProgramIo["environment"]): boolean {
  return stream.isTTY === true && (environment["NO_COLOR"] ?? "") === "";
}

export function openLogger(settings: Settings, io: ProgramIo): Logger {
  return createLogger({
    format: logFormat(settings, io.stderr),
    level: readLevel(settings.text("logs.level")),
    destination: io.stderr,
    colors: isColored(io.stderr, io.environment),
  });
}

/** @returns undefined when no access log is wanted */
export function openAccessLog(settings: Settings, io: ProgramIo): AccessLog | undefined {
  if (!settings.flag("logs.access")) return undefined;
  return createAccessLog({
    format: logFormat(settings, io.stdout),
    destination: accessLogDestination(1),
    colors: isColored(io.stdout, io.environment),
  });
}

function logFormat(settings: Settings, stream: OutputStream): "json" | "text" {
  const format = settings.text("logs.format");
  if (format === "json" || format === "text") return format;
  return stream.isTTY === true ? "text" : "json";
}

function readLevel(text: string): LogLevel {
  switch (text) {
    case "debug":
    case "warn":
    case "error":
    case "silent":
      return text;
    default:
      return "info";
  }
}
