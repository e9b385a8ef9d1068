/** Runs the store's thread: handles one request after the other, so that a stored response is found by the next one. */
import { parentPort, workerData } from "node:worker_threads";
import { ResponseDatabase } from "./response-database.ts";
import type { NumberedQuestion, ResponseStoreReply, ResponseStoreStart } from "./store-messages.ts";

const { folder, limits }: ResponseStoreStart = workerData;
const database = new ResponseDatabase(folder, limits);

if (database.wasDamaged) {
  parentPort?.postMessage({
    number: 0,
    problem: "the database was damaged and was created anew",
  } satisfies ResponseStoreReply);
}

parentPort?.on("message", (asked: NumberedQuestion) => {
  let reply: ResponseStoreReply;
  try {
    reply = replyTo(asked);
  } catch (error) {
    reply = { number: asked.number, problem: error instanceof Error ? error.message : String(error) };
  }
  parentPort?.postMessage(reply);
  if (asked.question.type === "close") parentPort?.close();
});

function replyTo({ number, nowMs, question }: NumberedQuestion): ResponseStoreReply {
  switch (question.type) {
    case "keep":
      database.keep(question.row, nowMs);
      return { number };
    case "get":
      return { number, bodies: listOf(database.get(question.owner, question.id, nowMs)) };
    case "chain":
      return { number, bodies: database.chain(question.owner, question.id, nowMs) };
    case "find-item":
      return { number, bodies: listOf(database.findItem(question.owner, question.id, nowMs)) };
    case "size":
      return { number, bytes: database.sizeOf(question.asked, question.owner, question.id, nowMs) };
    case "remove":
      return { number, isDone: database.remove(question.owner, question.id, nowMs) };
    default:
      database.close();
      return { number };
  }
}

function listOf(body: string | undefined): readonly string[] | undefined {
  return body === undefined ? undefined : [body];
}
