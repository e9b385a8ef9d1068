/**
 * Writes operational messages: JSON lines (pino) for machines, one readable line each on a terminal.
 *
 * Callers give fields they have chosen; a `Secret` shows as `[secret]`. Of an error only name, code and message go
 * out, the stack at level `debug` alone: messages of libraries may hold values.
 */

import picocolors from "picocolors";
import { pino } from "pino";
import { oneLine } from "./one-line.ts";

export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** The same logger with fields that every line carries. */
  child(fields: LogFields): Logger;
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface LoggerOptions {
  readonly format: "json" | "text";
  readonly level: LogLevel;
  /** Where lines go, for example `process.stderr`. */
  readonly destination: { write(line: string): unknown };
  readonly colors?: boolean;
}

/** Ascending severity. */
const levelOrder = ["debug", "info", "warn", "error", "silent"] as const;

interface LevelledSink {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Creates the logger of one program. */
export function createLogger(options: LoggerOptions): Logger {
  const isVerbose = options.level === "debug";
  const sink = options.format === "json" ? jsonSink(options) : textSink(options);
  return wrap(sink, {}, isVerbose);
}

/** A logger that says nothing: for tests and embedded use. */
export const silentLogger: Logger = createLogger({
  format: "text",
  level: "silent",
  destination: { write: () => true },
});

function wrap(sink: LevelledSink, bound: LogFields, isVerbose: boolean): Logger {
  const prepare = (fields: LogFields | undefined): object => {
    const all: Record<string, unknown> = { ...bound, ...fields };
    for (const [name, value] of Object.entries(all))
      if (value instanceof Error) all[name] = describeError(value, isVerbose);
    return all;
  };
  return {
    debug: (message, fields) => sink.debug(prepare(fields), message),
    info: (message, fields) => sink.info(prepare(fields), message),
    warn: (message, fields) => sink.warn(prepare(fields), message),
    error: (message, fields) => sink.error(prepare(fields), message),
    child: (fields) => wrap(sink, { ...bound, ...fields }, isVerbose),
  };
}

function describeError(error: Error, isVerbose: boolean): object {
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const cause = error.cause instanceof Error ? { cause: describeError(error.cause, isVerbose) } : {};
  return { name: error.name, ...code, message: error.message, ...cause, ...(isVerbose ? { stack: error.stack } : {}) };
}

function jsonSink(options: LoggerOptions): LevelledSink {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      messageKey: "message",
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => void options.destination.write(line) },
  );
}

function textSink(options: LoggerOptions): LevelledSink {
  const colors = picocolors.createColors(options.colors ?? false);
  const least = levelOrder.indexOf(options.level);
  const paint = { debug: colors.gray, info: colors.green, warn: colors.yellow, error: colors.red };
  const line =
    (level: "debug" | "info" | "warn" | "error") =>
    (fields: object, message: string): void => {
      if (levelOrder.indexOf(level) < least) return;
      const time = colors.dim(new Date().toISOString().slice(11, 23));
      const rest = Object.entries(fields)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${colors.dim(`${name}=`)}${describeValue(value)}`);
      options.destination.write(`${[time, paint[level](level.padEnd(5)), oneLine(message), ...rest].join(" ")}\n`);
    };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function describeValue(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return oneLine(
    text === undefined ? String(value) : /\s/.test(text) && typeof value === "string" ? JSON.stringify(text) : text,
  );
}
