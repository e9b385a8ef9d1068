/**
 * Flags of Node for a proxy: garbage collector settings that fit a gateway's allocations, and no debugger by signal.
 *
 * A request makes some 45 KB of short-lived objects, and its bodies are outside of the heap. Measured: with V8's own
 * limits a 1 MB body costs a third more, because every 64 MB of bodies force a full collection of a heap that holds all
 * keys; counted together with the heap they do not. A larger young generation halves the copying of small calls.
 */
export const proxyNodeFlags: readonly string[] = [
  "--external-memory-accounted-in-global-limit",
  "--max-semi-space-size=32",
  "--disable-sigusr1",
  "--disable-warning=ExperimentalWarning",
];
