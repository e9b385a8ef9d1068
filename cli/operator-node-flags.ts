/**
 * Flags of Node for an operator of a cluster: a small young generation, and no debugger by signal.
 *
 * Reading a cluster makes much garbage and keeps little: with V8's own limit the young generation grows to tens of
 * mebibytes and stays so. Measured with 10,000 keys: 205 MiB resident instead of 300, in the same time.
 */
export const operatorNodeFlags: readonly string[] = ["--max-semi-space-size=4", "--disable-sigusr1"];
