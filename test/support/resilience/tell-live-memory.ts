/**
 * Loaded into a program under test (`memoryFlags`): answers its parent's question for the memory that is still in use
 * after a full collection. What the kernel counts as resident grows with the pace of collections; only this shows a leak.
 */
export const liveMemoryQuestion = "live memory?";

export interface LiveMemory {
  readonly liveBytes: number;
}

process.on("message", (message) => {
  if (message !== liveMemoryQuestion) return;
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.({ liveBytes: heapUsed + external } satisfies LiveMemory);
});
process.channel?.unref();
