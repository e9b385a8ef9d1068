/** A Secret or ConfigMap kept in memory, with the API server's manners: whoever writes over something unread is refused. */
import type { OwnedData, VersionedData } from "#operator/certificates/owned-data";

export class MemoryOwnedData implements OwnedData {
  #held: VersionedData | undefined;
  #version = 0;
  writes = 0;
  failure: Error | undefined;

  async read(): Promise<VersionedData | undefined> {
    if (this.failure !== undefined) throw this.failure;
    return this.#held;
  }

  async write(data: Readonly<Record<string, string>>, version: string | undefined): Promise<boolean> {
    if (this.failure !== undefined) throw this.failure;
    if (this.#held?.version !== version) return false;
    this.#version += 1;
    this.writes += 1;
    this.#held = { data: { ...data }, version: `${this.#version}` };
    return true;
  }

  get data(): Readonly<Record<string, string>> | undefined {
    return this.#held?.data;
  }

  delete(): void {
    this.#held = undefined;
  }
}
