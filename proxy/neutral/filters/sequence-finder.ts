/**
 * Finds the first of several sequences in a text that arrives in pieces (Aho and Corasick): one walk over a tree of all
 * their beginnings, so that the work grows with the text alone, however many or alike the sequences are.
 */

/** Where a text stands: all that must be known of it when its next piece comes. */
export interface Place {
  /** The text ends with the first so many characters of the sequence, and with no longer beginning of any. */
  readonly length: number;
  readonly sequence: string;
  /** By the next character. */
  readonly next: Map<number, Place>;
  /** The longest shorter beginning that the text ends with as well. */
  shorter: Place | undefined;
  /** The longest sequence that is whole here. */
  found: string | undefined;
}

export class SequenceFinder {
  readonly start: Place = newPlace("", 0);

  /** @param sequences none of them empty */
  constructor(sequences: readonly string[]) {
    for (const sequence of sequences) this.#add(sequence);
    const places = [this.start];
    for (const place of places) {
      for (const [code, next] of place.next) {
        next.shorter = place.shorter === undefined ? this.start : this.#step(place.shorter, code);
        next.found ??= next.shorter.found;
        places.push(next);
      }
    }
  }

  /** Reads on, up to the end of the text or of the first sequence found. */
  read(from: Place, text: string): { readonly place: Place; readonly characters: number } {
    let place = from;
    for (let index = 0; index < text.length; index += 1) {
      place = this.#step(place, text.charCodeAt(index));
      if (place.found !== undefined) return { place, characters: index + 1 };
    }
    return { place, characters: text.length };
  }

  #add(sequence: string): void {
    let place = this.start;
    for (let index = 0; index < sequence.length; index += 1) {
      const code = sequence.charCodeAt(index);
      let next = place.next.get(code);
      if (next === undefined) {
        next = newPlace(sequence, index + 1);
        place.next.set(code, next);
      }
      place = next;
    }
    place.found = sequence;
  }

  #step(from: Place, code: number): Place {
    for (let place: Place | undefined = from; place !== undefined; place = place.shorter) {
      const next = place.next.get(code);
      if (next !== undefined) return next;
    }
    return this.start;
  }
}

function newPlace(sequence: string, length: number): Place {
  return { sequence, length, next: new Map(), shorter: undefined, found: undefined };
}
