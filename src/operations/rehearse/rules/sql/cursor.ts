/** A token of a statement, without blanks and comments. */
export interface SqlToken {
  kind: 'word' | 'name' | 'text' | 'other';
  /** A word as written, a name and a text without quotes. */
  value: string;
  /** Offsets in the text. */
  at: number;
  end: number;
}

export interface SqlName {
  schema: string | null;
  name: string;
}

/** Reads the tokens of a statement from left to right. What it does not find, it leaves. */
export class SqlCursor {
  readonly #tokens: readonly SqlToken[];
  readonly #fold: (word: string) => string;
  #at = 0;

  /** `fold` is what the server does to names without quotes. */
  constructor(tokens: readonly SqlToken[], fold: (word: string) => string) {
    this.#tokens = tokens;
    this.#fold = fold;
  }

  get ended(): boolean {
    return this.#at >= this.#tokens.length;
  }

  /** Takes these words, in lower case, when all of them follow. */
  words(...words: string[]): boolean {
    const follow = words.every((word, offset) => isWord(this.#tokens[this.#at + offset], word));
    if (follow) this.#at += words.length;
    return follow;
  }

  /** Takes the first of the words that follows, and returns it. */
  oneOf<Word extends string>(...words: readonly Word[]): Word | null {
    return words.find((word) => this.words(...word.split(' '))) ?? null;
  }

  symbol(symbol: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== 'other' || token.value !== symbol) return false;
    this.#at += 1;
    return true;
  }

  /** `name`, `schema.name` or `database.schema.name`. */
  name(): SqlName | null {
    const parts = [];
    do {
      const token = this.#tokens[this.#at];
      if (token?.kind !== 'word' && token?.kind !== 'name') break;
      parts.push(this.#written(token));
      this.#at += 1;
    } while (this.symbol('.'));
    const name = parts.at(-1);
    return name === undefined ? null : { schema: parts.at(-2) ?? null, name };
  }

  column(): string {
    return this.name()?.name ?? '';
  }

  next(): SqlToken | null {
    const token = this.#tokens[this.#at] ?? null;
    this.#at += 1;
    return token;
  }

  /** Takes a group in parentheses; without its end, all that follows. */
  group(): SqlCursor | null {
    if (!this.symbol('(')) return null;
    const from = this.#at;
    this.#skipGroup();
    const isClosed = isSymbol(this.#tokens[this.#at - 1], ')');
    return this.#part(from, isClosed ? this.#at - 1 : this.#at);
  }

  /** Takes all that follows, divided at commas outside of parentheses. */
  items(): SqlCursor[] {
    const items = [];
    let from = this.#at;
    while (!this.ended) {
      if (this.symbol(',')) {
        items.push(this.#part(from, this.#at - 1));
        from = this.#at;
      } else if (this.symbol('(')) this.#skipGroup();
      else this.#at += 1;
    }
    if (from < this.#at) items.push(this.#part(from, this.#at));
    return items;
  }

  /** Takes the tokens until one of the words outside of parentheses. */
  until(...words: string[]): SqlCursor {
    const from = this.#at;
    while (!this.ended && !words.some((word) => isWord(this.#tokens[this.#at], word))) {
      if (this.symbol('(')) this.#skipGroup();
      else this.#at += 1;
    }
    return this.#part(from, this.#at);
  }

  /** Takes tokens until these words were taken; reports whether they were found. */
  past(...words: string[]): boolean {
    while (!this.ended) {
      if (this.words(...words)) return true;
      this.#at += 1;
    }
    return false;
  }

  /** Reports whether a word follows anywhere outside of parentheses; takes nothing. */
  has(...words: string[]): boolean {
    const from = this.#at;
    let found = false;
    while (!this.ended && !found) {
      if (this.words(...words)) found = true;
      else if (this.symbol('(')) this.#skipGroup();
      else this.#at += 1;
    }
    this.#at = from;
    return found;
  }

  /** The remaining tokens, normalized: `varchar(20)`, `lower(name)`, `'text'`. */
  text(): string {
    let text = '';
    let last: SqlToken | null = null;
    for (const token of this.#tokens.slice(this.#at)) {
      const isTight = token.kind === 'other' || last === null || last.kind === 'other';
      text += isTight ? shown(token) : ` ${shown(token)}`;
      last = token;
    }
    return text;
  }

  /** A copy at the same place. */
  copy(): SqlCursor {
    return this.#part(this.#at, this.#tokens.length);
  }

  #part(from: number, to: number): SqlCursor {
    return new SqlCursor(this.#tokens.slice(from, to), this.#fold);
  }

  #skipGroup(): void {
    for (let depth = 1; depth > 0 && !this.ended; this.#at += 1) {
      if (isSymbol(this.#tokens[this.#at], '(')) depth += 1;
      if (isSymbol(this.#tokens[this.#at], ')')) depth -= 1;
    }
  }

  #written({ kind, value }: SqlToken): string {
    return kind === 'word' ? this.#fold(value) : value;
  }
}

/** The first words of a statement in lower case; another token is an empty one. */
export function firstWords(tokens: readonly SqlToken[]): string {
  const first = tokens.slice(0, 4).map(({ kind, value }) => (kind === 'word' ? value.toLowerCase() : ''));
  return first.join(' ');
}

function isWord(token: SqlToken | undefined, word: string): boolean {
  return token?.kind === 'word' && token.value.length === word.length && token.value.toLowerCase() === word;
}

function isSymbol(token: SqlToken | undefined, symbol: string): boolean {
  return token?.kind === 'other' && token.value === symbol;
}

function shown({ kind, value }: SqlToken): string {
  if (kind === 'text') return `'${value}'`;
  return kind === 'name' ? `"${value}"` : value.toLowerCase();
}
