import { type Definition, refused } from './checked-definition.ts';
import type { Token } from './tokens.ts';

/** Reads the tokens of a part of a definition from left to right; what the grammar does not know is refused. */
export class TokenCursor {
  readonly #definition: Definition;
  readonly #tokens: Token[];
  /** Name of the part in messages: `a column`. */
  readonly #part: string;
  #at = 0;

  constructor(definition: Definition, tokens: Token[], part: string) {
    this.#definition = definition;
    this.#tokens = tokens;
    this.#part = part;
  }

  get ended(): boolean {
    return this.#at >= this.#tokens.length;
  }

  get #next(): Token | undefined {
    return this.#tokens[this.#at];
  }

  /** Takes these words, in upper case, when all of them follow. */
  words(...words: string[]): boolean {
    const follow = words.every((word, at) => {
      const token = this.#tokens[this.#at + at];
      return token?.kind === 'word' && token.value === word;
    });
    if (follow) this.#at += words.length;
    return follow;
  }

  /** The next word in upper case, where the pattern matches it; a number is a word. */
  word(pattern: RegExp): string | null {
    const token = this.#next;
    if (token?.kind !== 'word' || !pattern.test(token.value)) return null;
    this.#at += 1;
    return token.value;
  }

  name(): boolean {
    return this.#kind('name');
  }

  text(): boolean {
    return this.#kind('text');
  }

  symbol(...symbols: string[]): boolean {
    const token = this.#next;
    if (token?.kind !== 'other' || !symbols.includes(token.text)) return false;
    this.#at += 1;
    return true;
  }

  /**
   * Takes a group in parentheses. Returns its tokens, or `null` when no group follows; throws when parentheses are not
   * balanced.
   */
  group(): TokenCursor | null {
    if (!this.symbol('(')) return null;
    const from = this.#at;
    for (let depth = 1; this.#at < this.#tokens.length; this.#at += 1) {
      if (this.#next?.text === '(') depth += 1;
      if (this.#next?.text === ')') depth -= 1;
      if (depth > 0) continue;
      const inner = this.#tokens.slice(from, this.#at);
      this.#at += 1;
      return new TokenCursor(this.#definition, inner, this.#part);
    }
    throw refused(this.#definition, 'parentheses in it are not balanced');
  }

  /** Takes one, or refuses what is there instead. */
  need<Found>(found: Found): NonNullable<Found> {
    if (found === null || found === undefined || found === false) throw this.refusal();
    return found as NonNullable<Found>;
  }

  end(): void {
    if (!this.ended) throw this.refusal();
  }

  refusal(): Error {
    return refused(this.#definition, `${this.#next?.text ?? 'nothing'} is not a part of ${this.#part}`);
  }

  #kind(kind: Token['kind']): boolean {
    if (this.#next?.kind !== kind) return false;
    this.#at += 1;
    return true;
  }
}
