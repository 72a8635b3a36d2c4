/** Parts of a dump that its database lacks, in the order of the statements. */
export class LeftOut {
  readonly #counts = new Map<string, number>();

  add(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  /** `grants (12)` */
  texts(): string[] {
    return [...this.#counts].map(([what, count]) => (count === 1 ? what : `${what} (${count})`));
  }
}
